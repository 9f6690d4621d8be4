package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/page"
)

// TestURL: where the pages are published, each cause has the address of its page in every format; where not, none has.
func TestURL(t *testing.T) {
	d := answertest.DesyncProven()
	for _, format := range []string{"text", "html", "json", "yaml", "sarif"} {
		for _, base := range []string{"", "https://docs.example.com/rollcall/"} {
			var b bytes.Buffer
			o := options(page.Style{Width: page.NoWrap})
			o.Docs = base
			var err error
			if format == "html" {
				err = HTML(&b, d, o)
			} else {
				err = Answer(&b, format, d, o)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := base + "#catalog/faults/" + d.Roots[0].Fault
			if has := strings.Contains(b.String(), want); has != (base != "") {
				t.Errorf("%s with %q: has %q: %t", format, base, want, has)
			}
		}
	}
}
