package fault

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestReported: messages of all files refer to a list of reported errors by its name, and what is wrong with a list is
// reported where it is.
func TestReported(t *testing.T) {
	files := func(list, message string) fstest.MapFS {
		return fstest.MapFS{
			"messages/first.yaml":  {Data: []byte("program: first\nrefs: [{repo: a/b, path: c}]\n" + list + "\n")},
			"messages/second.yaml": {Data: []byte("program: second\nrefs: [{repo: a/b, path: c}]\nmessages:\n- {text: it broke, " + message + "}\n")},
			"power/dark.yaml": {Data: []byte("id: dark\ntitle: t\nlayer: power\nfor: host\nseverity: info\nmeans: m\nwhen: 'true'\n" +
				"noRemedy: none\nrefs: [{repo: a/b, path: c}]\n")},
		}
	}
	const list = "reported: {lamps: [{match: no light, failure: it is dark, next: look, causes: [dark], ref: a/b c}]}"
	const message = "failure: it broke, next: look, reportedBy: lamps"
	c, err := Load(files(list, message))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ReportedBy("lamps"); len(got) != 1 || got[0].Failure != "it is dark" {
		t.Errorf("the list is %v", got)
	}
	for name, c := range map[string]struct{ list, message, want string }{
		"no such list":     {list, strings.Replace(message, "lamps", "lamp", 1), `messages[0].reportedBy: no list of reported errors is called "lamp"; did you mean lamps?`},
		"no such fault":    {strings.Replace(list, "[dark]", "[darc]", 1), message, `reported.lamps[0].causes[0]: the fault "darc" is not in the catalog`},
		"no next":          {strings.Replace(list, "next: look, ", "", 1), message, "reported.lamps[0].next: is missing"},
		"a wrong match":    {strings.Replace(list, "no light", "'(no light'", 1), message, "reported.lamps[0].match: "},
		"of a normal line": {list, "normal: it is well, reportedBy: lamps", "messages[0].reportedBy: only for a failure"},
		"of the same file": {list + "\nmessages: [{text: it cracked, failure: it cracked, next: look, reportedBy: none}]", message, `no list of reported errors is called "none"`},
	} {
		if _, err := Load(files(c.list, c.message)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
