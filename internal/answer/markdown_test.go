package answer

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rollcall-project/rollcall/internal/page"
)

func TestMarkdownGolden(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := renderMarkdown(&out, s.make(), options(page.Style{})); err != nil {
				t.Fatal(err)
			}
			golden(t, "markdown-"+s.name+".md", out.Bytes())
		})
	}
}

// The record lists what Rollcall did, and leaves a row for what people did.
func TestMarkdownDone(t *testing.T) {
	o := options(page.Style{})
	o.Done = []Deed{{At: time.Date(2026, 5, 1, 11, 0, 0, 0, time.UTC), What: "plan-1: a | b", Result: "repaired"}}
	var out bytes.Buffer
	if err := renderMarkdown(&out, samples[0].make(), o); err != nil {
		t.Fatal(err)
	}
	if want := "| 2026-05-01T11:00:00Z | Rollcall, on this machine | plan-1: a \\| b | repaired |\n| | | | |\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}

var ownHeading = regexp.MustCompile(`^#{1,3} (Incident record|Accepted|Cause|What to do|Proof|Effects|Ruled out|Hosts|Timeline|What was done|Open questions|When to open a support case)`)

// TestMarkdownEscapesForeignText: names and logs out of a cluster make no heading, no
// link, no element and no line of their own.
func TestMarkdownEscapesForeignText(t *testing.T) {
	for _, s := range samples {
		d := poison(t, s.make(), "state", "outcome", "stage", "kind", "class", "severity", "strength", "by", "cause", "fix", "applies")
		var out bytes.Buffer
		if err := renderMarkdown(&out, d, hostileOptions()); err != nil {
			t.Fatal(err)
		}
		for l := range strings.SplitSeq(out.String(), "\n") {
			if strings.HasPrefix(l, "#") && !ownHeading.MatchString(l) {
				t.Errorf("%s: a heading of its own: %.80q", s.name, l)
			}
			if !strings.HasPrefix(l, "    ") && strings.Contains(l, "<img") { // an indented block shows it as it is
				t.Errorf("%s: an element: %.120q", s.name, l)
			}
		}
		for _, r := range out.String() {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%s: %U reaches the record", s.name, r)
			}
		}
	}
}

// TestUndoCommand: a command in a record is copied as it is.
func TestUndoCommand(t *testing.T) {
	for text, want := range map[string]bool{
		`write back what was there: oc patch mcp master -p '{"name":"OLD_NAME"}'`: true, "None is needed.": false, "rollcall fix undo PLAN": true,
		"boot the host again": false,
	} {
		if hasCommand.MatchString(text) != want {
			t.Errorf("%q: a command is in it: %v", text, !want)
		}
	}
}
