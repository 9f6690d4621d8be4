package message

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// A kubelet begins its loop before the first check of the container runtime, and then says that the runtime
// is down (kubernetes/kubernetes:pkg/kubelet/kubelet.go, syncLoop; runtime.go, runtimeErrors).
const (
	loopBegins = "Starting kubelet main sync loop"
	loopWaits  = "kipping pod synchronization"
	startLines = 10 // of the first second of the loop
)

// dropStarting drops what lines show that a kubelet prints in the first second of its loop.
func dropStarting(b []byte, f *found) {
	waits := func(h hit) bool { return strings.Contains(h.text, loopWaits) }
	if !slices.ContainsFunc(f.hits, waits) {
		return
	}
	began := map[int]string{} // the host, by line
	number := 0
	for line := range bytes.Lines(b) {
		if number++; bytes.Contains(line, []byte(loopBegins)) {
			began[number] = originOf(logline.Parse(line)).host
		}
	}
	f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
		if !waits(h) {
			return false
		}
		for back := range startLines {
			if host, ok := began[h.line-back-1]; ok && host == h.from.host {
				return true
			}
		}
		return false
	})
}
