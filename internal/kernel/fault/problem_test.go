package fault

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// problems loads and checks a catalog of one file, and returns a line for each problem.
func problems(t *testing.T, text string) []string {
	t.Helper()
	c, err := Load(Named("ours", fstest.MapFS{"x/pool-empty.yaml": {Data: []byte(text)}}))
	list, other := ProblemsOf(err)
	if other != nil {
		t.Fatal(other)
	}
	var lines []string
	for _, p := range append(list, compiler(t).Check(c)...).Sorted() {
		lines = append(lines, p.Error())
	}
	return lines
}

// TestAllProblemsAtOnce has mistakes of every kind in one file: of the form, of words, of
// types, and in expressions that YAML folds and quotes.
func TestAllProblemsAtOnce(t *testing.T) {
	got := problems(t, `id: pool-empty
titel: pool {pool} serves {served.nom}
layer: 7
for: pool
severity: fatal
given: {served: {fact: pool-served}, asked: pool-served}
when: >-
  served.name == "" &&
    served.updatd == 0 && missing.x
since: 'served.name == ''x'' ? served.since : served.sinse'
settles: {within: soon}
support:
  - "served.name == \"\" && served.nodes.size() == 0 and true"
  - served.updated == "3"
explains:
  - {fault: pool-empty, on: sideways, strenght: likely}
means: x
refs: [{repo: a/b}]
refs: [{repo: a/b}]
remedies: wait
`)
	want := []string{
		`ours/x/pool-empty.yaml:2:1: titel: there is no such field; did you mean title?`,
		`ours/x/pool-empty.yaml:2:34: title: undefined field "nom" of fact pool-served; did you mean name?`,
		`ours/x/pool-empty.yaml:3:8: layer: want a text, got the number 7; write "7"`,
		`ours/x/pool-empty.yaml:5:11: severity: "fatal" is not one of info, warning, error`,
		`ours/x/pool-empty.yaml:6:45: given.asked: want a mapping, got "pool-served"; write {fact: pool-served}`,
		`ours/x/pool-empty.yaml:9:11: when: undefined field "updatd" of fact pool-served; did you mean updated?`,
		`ours/x/pool-empty.yaml:9:27: when: undeclared reference to "missing"; the names here are served, this; add it to given, as missing: {fact: FACT}`,
		`ours/x/pool-empty.yaml:10:53: since: undefined field "sinse" of fact pool-served; did you mean since?`,
		`ours/x/pool-empty.yaml:11:19: settles.within: "soon" is not a duration; write it as 30m, 2h or 1h30m`,
		`ours/x/pool-empty.yaml:13:54: support[0]: Syntax error: mismatched input 'and' expecting <EOF>; check brackets and quotes; and, or, not are && || !`,
		`ours/x/pool-empty.yaml:14:20: support[1]: == does not take (int, string); compare values of one type; convert with int(), string(), duration() or timestamp()`,
		`ours/x/pool-empty.yaml:16:29: explains[0].on: "sideways" is not one of ` + join(Relations()),
		`ours/x/pool-empty.yaml:16:39: explains[0].strenght: there is no such field; did you mean strength?`,
		`ours/x/pool-empty.yaml:19:1: refs: the field is there twice, first in line 18; keep one of them`,
		`ours/x/pool-empty.yaml:20:11: remedies: want a list, got "wait"; write [wait]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A message repeats a few characters of a file that is none of ours, and no more: it may have
// a secret, and aliases may repeat it.
func TestProblemsAreShort(t *testing.T) {
	secret := strings.Repeat("eyJhbGciOiJSUzI1NiIsImtpZCI6Ik", 40)
	for _, text := range []string{secret, "id: x\nexplains: " + secret, "id: x\ngiven: " + secret, "id: x\nsettles: " + secret, "id: x\ntitle: [" + secret + "]"} {
		for _, p := range problems(t, text) {
			if strings.Contains(p, secret[:60]) {
				t.Errorf("%.200s", p)
			}
		}
	}
}

func TestProblemsOfWholeFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":           {"id: pool-empty\ntitle: a: b\n", "pool-empty.yaml:2:1: this is no YAML"},
		"nothing":           {"", "pool-empty.yaml:1:1: the file is empty"},
		"no kind":           {strings.Replace(sound, "for: pool", "for: node", 1), "pool-empty.yaml:4:6: for: \"node\" is not one of"},
		"a list":            {"- id: pool-empty\n", "pool-empty.yaml:1:1: want a mapping, got a list"},
		"two documents":     {sound + "---\n" + sound, "a second document"},
		"a title is needed": {strings.Replace(sound, "title:", "#", 1), "pool-empty.yaml:1:1: title: is missing; write one sentence"},
		"a range":           {sound + "versions: about 4.14\n", `pool-empty.yaml:14:11: versions: "about 4.14" is not a range`},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, c.text)
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("problems %q, want one with %q", got, c.want)
			}
		})
	}
}

// TestCommandInSentence: a command stands in a field of its own, where it can be copied and
// is read by tests. A page to read, and a tool's name, are not commands.
func TestCommandInSentence(t *testing.T) {
	for text, want := range map[string]string{
		"Delete it with `oc delete csr NAME`, then look.":               "oc delete",
		"if it is missing: sudo hostnamectl set-hostname NAME":          "sudo hostnamectl",
		"the host is in the list of `rollcall csr list`":                "rollcall csr list",
		"With yes, run systemctl restart kubelet":                       "systemctl restart",
		"Where rpm-ostree hangs, restart it.":                           "",
		"use set-clock-by-ntp: rollcall explain set-clock-by-ntp":       "",
		"the last nmcli command before the error is the one that fails": "",
		"With an oc older than 4.14, use the script.":                   "",
	} {
		var wrong mistakes
		checkFolded(&wrong, Where{"steps", 0, "do"}, text)
		if got := len(wrong) == 1; got != (want != "") {
			t.Errorf("%q: %d problems, want %q", text, len(wrong), want)
		}
	}
}
