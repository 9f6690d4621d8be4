package answer

import (
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// paths writes what was measured of the paths to the hosts, also where nothing is wrong with it.
func (t *text) paths() {
	const most = 6
	list := t.d.Paths
	if len(list) == 0 {
		return
	}
	t.Blank()
	t.Lead(0, page.Bold.Span("Paths to the hosts, as measured"), "", page.Plain, "", 0)
	if !t.o.Wide {
		list = list[:min(len(list), most)]
	}
	for _, p := range list {
		t.Lead(2, page.Plain.Span(p.From+" to "+p.Host+": "), "  ", page.Plain, measured(p), 0)
	}
	if n := len(t.d.Paths) - len(list); n > 0 {
		t.Line(2, page.Dim.Span(fmt.Sprintf("and %d more: -o wide", n)))
	}
}

func measured(p diagnosis.Path) string {
	delay, size := "no time measured", "no size measured"
	switch {
	case p.Sent > 0 && p.Lost == p.Sent:
		delay = fmt.Sprintf("%d of %d lost", p.Lost, p.Sent)
	case p.Sent > 0:
		delay = fmt.Sprintf("median %.1f ms, at most %.1f ms", p.Median, p.Max)
		if p.Lost > 0 {
			delay += fmt.Sprintf(", %d of %d lost", p.Lost, p.Sent)
		}
		delay += " (" + p.Method + ")"
	}
	switch {
	case p.Size == 0:
	case p.Passed >= p.Size:
		size = fmt.Sprintf("packets of %d bytes arrive", p.Passed)
	case p.Passed > 0:
		size = fmt.Sprintf("packets of %d bytes arrive, of %d do not", p.Passed, p.Size)
	default:
		size = fmt.Sprintf("packets of %d bytes do not arrive", p.Size)
	}
	return delay + "; " + size
}
