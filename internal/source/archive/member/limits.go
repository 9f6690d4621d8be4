package member

import (
	"fmt"
	"strings"
)

// Each limit is far above what real archives hold and far below what would hurt.
const (
	// maxPath bounds one name, as Linux does (PATH_MAX).
	maxPath = 4096
	// maxParts bounds the directories that a name goes through. Real ones have some
	// twenty.
	maxParts = 64
	// maxStream bounds a packed tar after decompression. The largest must-gather
	// that was reported has 32 GiB (openshift/must-gather#558).
	maxStream = 128 << 30
	// maxDictionary bounds the window of xz and zstd. xz -9 has 64 MiB; zstd asks for
	// its --long=27, 128 MiB, without being told to.
	maxDictionary = 128 << 20
	// maxRatio is the bound of unpacked to packed size once ratioFrom was unpacked.
	// Objects reach 17, logs less; deflate itself can give 1,032.
	maxRatio  = 500
	ratioFrom = 256 << 20
)

// Budget is how many bytes of a packed tar are kept in memory, compressed. A member is kept
// when an eighth of its size fits (spool.full): one that does not compress may take eight
// times the budget, and is the last one then. What does not fit is read again from the
// stream, one pass for members that are read in order. The garbage collector lets the heap
// grow to twice of what is kept.
type Budget struct{ Objects, Texts int64 }

// DefaultBudget fits the must-gathers of CI, which have 16 to 42 MB.
var DefaultBudget = Budget{Objects: 24 << 20, Texts: 32 << 20}

// LimitError says that a container breaks a limit. It ends the reading of the container.
type LimitError struct{ What string }

// Error implements error.
func (l *LimitError) Error() string { return l.What }

// TooLong reports whether a name is too long to be looked at.
func TooLong(p string) bool { return len(p) > maxPath || strings.Count(p, "/") >= maxParts }

// errRatio is why something unpacks to more than real archives do.
func errRatio() error {
	return &LimitError{fmt.Sprintf("it unpacks to more than %d times its size, which logs and objects never do", maxRatio)}
}
