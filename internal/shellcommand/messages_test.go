package shellcommand

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// clause ends a command in the words of a message.
var clause = regexp.MustCompile(`[;:,(]|\. |, or | or | and | then `)

// TestNextOfMessagesReads: what a failure without a proven cause tells to run changes nothing.
func TestNextOfMessagesReads(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	reads := func(program, text, next string) {
		for _, part := range clause.Split(next, -1) {
			part = strings.TrimSpace(part)
			if cmd, ok := Parse(part); ok && cmd.Effect == Changes && !elsewhere.MatchString(part) {
				t.Errorf("%s: %q: next changes something: %s (%s)", program, text, part, cmd.Does)
			}
		}
	}
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			reads(file.Program, m.Text, m.Next)
		}
		for _, e := range file.Endpoints {
			reads(file.Program, e.Name, e.Next)
		}
	}
}
