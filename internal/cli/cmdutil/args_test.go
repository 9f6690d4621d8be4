package cmdutil

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/session"
)

// TestArgs: what is refused is named, and the mistake is one of usage.
func TestArgs(t *testing.T) {
	a := (&surroundings{}).frame()
	a.Name = "oc rollcall"
	for _, c := range []struct {
		name  string
		check cobra.PositionalArgs
		args  []string
		want  string // "": accepted
	}{
		{"at most one, none", AtMostOne("FILE"), nil, ""},
		{"at most one, one", AtMostOne("FILE"), []string{"a"}, ""},
		{"at most one, two", AtMostOne("FILE"), []string{"a", "b"}, `"b": only one FILE can be given`},
		{"exactly one, one", a.ExactlyOne("ID", "list faults"), []string{"a"}, ""},
		{"exactly one, none", a.ExactlyOne("ID", "list faults"), nil, "ID is missing; `oc rollcall list faults` lists them"},
		{"exactly one, none, of oc", a.ExactlyOne("CSR", "oc get csr"), nil, "CSR is missing; `oc get csr` lists them"},
		{"exactly one, two", a.ExactlyOne("ID", "list faults"), []string{"a", "b"}, `"b": only one ID can be given`},
		{"no argument", NoArgs, nil, ""},
		{"an argument", NoArgs, []string{"a", "b"}, `"a": this command takes no argument`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(&cobra.Command{}, c.args)
			var usage *session.UsageError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &usage) || err.Error() != c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if First(nil) != "" || First([]string{"a", "b"}) != "a" {
		t.Error("First is not the first argument")
	}
}

// TestPrintData: one value in both formats, and an output that takes nothing is an error.
func TestPrintData(t *testing.T) {
	value := struct {
		Name  string   `json:"name"`
		Hosts []string `json:"hosts"`
	}{"a", []string{"m0"}}
	for _, c := range []struct {
		format string
		value  any
		want   string
		err    string
	}{
		{"json", value, "{\n  \"name\": \"a\",\n  \"hosts\": [\n    \"m0\"\n  ]\n}\n", ""},
		{"yaml", value, "hosts:\n- m0\nname: a\n", ""},
		{"json", math.Inf(1), "", "encode the answer: "},
	} {
		s := &surroundings{}
		err := s.frame().PrintData(c.format, c.value)
		if got := s.out.String(); got != c.want || c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%s: %q, %v; want %q, %s", c.format, got, err, c.want, c.err)
		}
	}
	a := (&surroundings{}).frame()
	closed, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	a.IO.Out = closed
	if err := a.PrintData("json", value); err == nil || !strings.HasPrefix(err.Error(), "write the answer: ") {
		t.Errorf("a closed output: %v", err)
	}
}

// TestExample: the command, and below it what it is for.
func TestExample(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"diagnose", "  rollcall diagnose\n      all of it\n"},
		{"", "  rollcall\n      all of it\n"},
	} {
		if got := Example("rollcall", c.words, "all of it"); got != c.want {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
	if got := JoinWords([]string{"a", "b"}); got != "a b" {
		t.Errorf("%q", got)
	}
}
