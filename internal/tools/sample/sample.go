// Package sample picks what the largest tests run. `go test ./...` runs a sample of them,
// the same one each time, in which every kind of case is there; with ROLLCALL_WHOLE=1, as
// .ci/run sets it, and with ROLLCALL_FULL=1, they run whole.
package sample

import (
	"hash/fnv"
	"os"
	"strings"
)

// Whole reports whether the tests run whole.
func Whole() bool { return os.Getenv("ROLLCALL_WHOLE") != "" || os.Getenv("ROLLCALL_FULL") != "" }

// Full reports whether also runs what takes minutes and is therefore only in `.ci/run full`.
func Full() bool { return os.Getenv("ROLLCALL_FULL") != "" }

// Has reports whether a case is in the sample, in which about one of n is. The key names the
// case. All are in it where the tests run whole.
func Has(n uint64, key ...string) bool { return Whole() || One(n, key...) }

// One reports whether a case is one of n: the same ones in each run, also where the tests run
// whole.
func One(n uint64, key ...string) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(key, "\x00")))
	return h.Sum64()%n == 0
}
