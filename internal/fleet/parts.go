package fleet

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Part is one of several equal parts of the work, for as many processes.
type Part struct{ Index, Of int }

// ParsePart reads INDEX/OF, which counts from 0 as the index of a pod of a Job does.
func ParsePart(text string) (Part, error) {
	if text == "" {
		return Part{0, 1}, nil
	}
	first, second, _ := strings.Cut(text, "/")
	index, err := strconv.Atoi(first)
	of, errOf := strconv.Atoi(second)
	if err != nil || errOf != nil || of < 1 || index < 0 || index >= of || of > 10000 {
		return Part{}, fmt.Errorf("--part %q: write it as INDEX/OF, from 0/4 to 3/4 for four parts", text)
	}
	return Part{index, of}, nil
}

// String is the part in the name of a file.
func (p Part) String() string { return fmt.Sprintf("%d-of-%d", p.Index, p.Of) }

// Has reports whether a cluster belongs to the part. It depends on the name alone: that others come or go does not
// change it.
func (p Part) Has(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32()%uint32(p.Of)) == p.Index //nolint:gosec // both are small
}
