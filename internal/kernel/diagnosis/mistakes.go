package diagnosis

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Mistakes counts the causes by severity, in the words of a preflight: "2 mistakes, 1
// warning"; "" if there are none.
func (d *Diagnosis) Mistakes() string {
	n := map[fault.Severity]int{}
	for _, r := range d.Roots {
		n[r.Severity] += len(r.Cases)
	}
	var words []string
	for _, kind := range []struct {
		severity fault.Severity
		word     string
	}{{fault.Error, "mistake"}, {fault.Warning, "warning"}, {fault.Info, "note"}} {
		switch k := n[kind.severity]; k {
		case 0:
		case 1:
			words = append(words, "1 "+kind.word)
		default:
			words = append(words, fmt.Sprintf("%d %ss", k, kind.word))
		}
	}
	return strings.Join(words, ", ")
}
