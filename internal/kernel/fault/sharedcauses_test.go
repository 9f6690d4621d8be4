package fault

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestSharedCauses: messages of all files get the list that they refer to, and a name that is wrong
// is reported where it is.
func TestSharedCauses(t *testing.T) {
	files := func(first, second string) fstest.MapFS {
		const head = "\nrefs: [{repo: a/b, path: c}]\nmessages:\n"
		return fstest.MapFS{
			"messages/first.yaml":  {Data: []byte("program: first" + first + head + "- {text: it failed, failure: it failed, next: look, causesOf: known}\n")},
			"messages/second.yaml": {Data: []byte("program: second" + second + head + "- {text: it broke, failure: it broke, next: look, causesOf: known}\n")},
			"power/dark.yaml": {Data: []byte("id: dark\ntitle: t\nlayer: power\nfor: host\nseverity: info\nmeans: m\nwhen: 'true'\n" +
				"noRemedy: none\nrefs: [{repo: a/b, path: c}]\n")},
		}
	}
	const list = "\nshared: {known: [{fault: dark, tells: [no light]}]}"
	c, err := Load(files(list, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Messages {
		if got := m.Messages[0].Causes; len(got) != 1 || got[0].Fault != "dark" {
			t.Errorf("%s: the causes are %v", m.Program, got)
		}
	}
	for name, c := range map[string]struct{ first, second, want string }{
		"no such list":   {strings.Replace(list, "known", "knowm", 1), "", `messages[0].causesOf: no list of shared causes is called "known"; did you mean knowm?`},
		"two lists":      {list, list, "messages/second.yaml:2:10: shared.known: another list has this name"},
		"no such fault":  {strings.Replace(list, "dark", "darc", 1), "", `shared.known[0].fault: the fault "darc" is not in the catalog`},
		"a short signal": {strings.Replace(list, "no light", "no", 1), "", "shared.known[0].tells[0]: it has fewer than 4 characters"},
	} {
		if _, err := Load(files(c.first, c.second)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
