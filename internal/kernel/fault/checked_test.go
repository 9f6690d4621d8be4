package fault_test

import (
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestBuiltIn: the built-in catalog, whose remedies are decoded when they are asked for, is
// what the files say when they are decoded and checked at once.
func TestBuiltIn(t *testing.T) {
	got, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fault.Load(os.DirFS("../../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Faults) == 0 || len(got.Remedies()) == 0 {
		t.Fatalf("%d faults, %d remedies", len(got.Faults), len(got.Remedies()))
	}
	for _, list := range [][2]any{
		{got.Faults, want.Faults}, {got.Remedies(), want.Remedies()}, {got.Refused, want.Refused}, {got.Messages, want.Messages}, {got.Commands, want.Commands},
	} {
		if !reflect.DeepEqual(list[0], list[1]) {
			t.Errorf("%T: not what the files say", list[0])
		}
	}
	for _, r := range got.Remedies() {
		if known, ok := got.Remedy(r.ID); !ok || known != r {
			t.Errorf("%s: decoded twice", r.ID)
		}
		if file, root := got.File(r); file != "remedies/"+r.ID+".yaml" || root != 0 {
			t.Errorf("%s: in the file %s of root %d", r.ID, file, root)
		}
	}
}

// checkedFiles is a root as that of the built-in catalog.
type checkedFiles struct{ fs.FS }

func (checkedFiles) Checked() {}

// TestCheckedRoot: what cannot be decoded is reported with its place, a fault at once, a
// remedy when it is asked for; a later root does not replace a remedy that is not decoded.
func TestCheckedRoot(t *testing.T) {
	root := fault.Named("built-in", checkedFiles{fstest.MapFS{
		"wall/a.yaml":          {Data: []byte("id: a\ntitle: 5\nremedies: [broken]\n")},
		"remedies/broken.yaml": {Data: []byte("id: broken\nstep: []\n")},
	}})
	own := fault.Named("own", fstest.MapFS{"remedies/broken.yaml": {Data: []byte("id: broken\n")}})
	c, err := fault.Load(root, own)
	problems, other := fault.ProblemsOf(err)
	if other != nil {
		t.Fatal(other)
	}
	for _, want := range []string{
		`built-in/wall/a.yaml:2:8: title: want a text, got the number 5; write "5"`,
		`own/remedies/broken.yaml:1:5: id: the id "broken" is taken by built-in/remedies/broken.yaml`,
	} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("have\n%v\nwant %s", problems, want)
		}
	}
	defer func() {
		text, _ := recover().(string)
		if want := "built-in/remedies/broken.yaml:2:1: step: there is no such field; did you mean steps?"; !strings.Contains(text, want) {
			t.Errorf("have %q, want %s", text, want)
		}
	}()
	c.Remedy("broken")
}
