package message

import (
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// TestLeaves: the endpoints of the catalog have leaves that errors can have; another one is named
// with its place and what was meant.
func TestLeaves(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckLeaves(logline.Leaves()).Err(); err != nil {
		t.Error(err)
	}
	own := "program: box\nrefs: [{repo: a/b, path: c}]\nendpoints:\n- {id: box, name: the box, next: ping it, faults: {refussed: mcs-refused}}\n"
	c, err = fault.Load(catalog.FS, fstest.MapFS{"messages/box.yaml": {Data: []byte(own)}})
	if err != nil {
		t.Fatal(err)
	}
	list := c.CheckLeaves(logline.Leaves())
	if len(list) != 1 || list[0].Line != 4 || list[0].Field != "endpoints[0].faults" || list[0].Hint != "did you mean refused?" {
		t.Errorf("%v, want the misspelled leaf at line 4", list)
	}
}
