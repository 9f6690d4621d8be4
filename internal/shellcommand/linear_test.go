package shellcommand

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

// beginnings begin something that never ends.
var beginnings = []string{"$(", "oc get $(", "$(oc get ", "oc delete node $(oc get nodes | grep $(", "`", "\"", "'", "(", "oc get '", "bash -c '", "ssh h \"",
	"sudo ", "xargs ", "timeout ", "| ", "oc get | ", "oc ", "# ", "x#", "[#", "\\", "\\\n", "do ", "then ", "for a in ", "for a in $(", "while read ",
	"2> ", "> ", "{ ", "- [ ] ", "a=", "${", "oc exec -- ", "oc debug node/a -- ", "a@b$ "}

// TestLinear: reading a text that is nothing but beginnings takes four times the steps where it is four times as long. The
// steps are the bytes that are made on the way, which no other load changes.
func TestLinear(t *testing.T) {
	for name, read := range map[string]func(string){
		"Calls": func(text string) { Calls(text) },
		"Parse": func(text string) { Parse(text) },
	} {
		for _, b := range beginnings {
			made := func(size int) float64 {
				text := "oc get nodes " + strings.Repeat(b, size/len(b))
				least := math.Inf(1) // what is made once, and anew after a collection of garbage, is not the text's
				for range 5 {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					read(text)
					runtime.ReadMemStats(&after)
					least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
				}
				return least
			}
			if small, large := made(4<<10), made(16<<10); large > 8*small {
				t.Errorf("%s of %q: %.0f bytes for 4 kB, %.0f for 16 kB", name, b, small, large)
			}
		}
	}
}
