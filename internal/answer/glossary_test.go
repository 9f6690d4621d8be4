package answer

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// capitals are what screens print as a state or a first line.
var capitals = regexp.MustCompile(`^[A-Z][A-Z]+(?:[ ,:]+[A-Z]+)*$`)

// TestHeadlinesAreExplained: each text in capitals that the first lines are made of, here and in other rooms, is in the
// glossary.
func TestHeadlinesAreExplained(t *testing.T) {
	heads := []string{"HOST", "ROLE", "STAGE", "STATE", "FOR", "CLUSTER", "ANSWER", "VERSION", "PLATFORM", "WHY", "TEXT", "HOSTS DONE", "TOOK", "USUAL"} // of columns
	parts := []string{"ACCEPTED FINDING", "ACCEPTED FINDINGS", "NOTHING WRONG FOUND BUT", "CHANGE", "CHANGES", "READY"}
	seen := 0
	for _, file := range []string{"words.go", "text.go", "scan.go", "../fleet/print.go", "../update/print.go", "../baseline/print.go", "../watch/screen/frame.go",
		"../serve/page.go"} {
		for _, words := range literals(t, file) {
			words = strings.Trim(words, " :")
			if !capitals.MatchString(words) || slices.Contains(heads, words) || slices.Contains(parts, words) {
				continue
			}
			if seen++; len(WordsOf(words)) == 0 {
				t.Errorf("%s prints %q, and `explain` does not know it", file, words)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d first lines were found: the test does not see them", seen)
	}
	for class, h := range headlines {
		if len(WordsOf(h.Words)) == 0 {
			t.Errorf("%s: %q is not in the glossary", class, h.Words)
		}
	}
}

// literals are the strings of a file.
func literals(t *testing.T, file string) (list []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				list = append(list, s)
			}
		}
		return true
	})
	return list
}

func TestWordsOf(t *testing.T) {
	for text, want := range map[string]string{
		"settling": "AS EXPECTED", "ruled out": "ruled out", "candidate": "possible causes", "Not decided": "NOT DECIDED", "symptom": "symptom",
		"? TOO LITTLE COLLECTED": "TOO LITTLE COLLECTED", "NO KNOWN SIGN OF TROUBLE": "NO KNOWN SIGN OF TROUBLE",
		"NOTHING WRONG FOUND BUT 3 ACCEPTED FINDINGS":                 "NOTHING WRONG FOUND BUT N ACCEPTED FINDINGS",
		"IN PROGRESS, AS EXPECTED":                                    "IN PROGRESS|AS EXPECTED",
		"BROKEN, LIKELY CAUSE: REPLACE A NODE, 2 ACCEPTED":            "BROKEN|LIKELY CAUSE|REPLACE A NODE|ACCEPTED",
		"✗ BROKEN, CAUSE KNOWN: 1 cause, fix it on the host":          "BROKEN|CAUSE KNOWN",
		"? UNDECIDED: control0 gets HTTP 500; cause unknown":          "UNDECIDED",
		"NOT OPENSHIFT, NOTHING WRONG IN WHAT WAS READ: k3s was seen": "NOT OPENSHIFT|NOTHING WRONG IN WHAT WAS READ",
		"failed: connection refused":                                  "", // a line of a log
		"error: undecided":                                            "",
		"ERROR, BROKEN":                                               "",
		"":                                                            "",
	} {
		var names []string
		for _, w := range WordsOf(text) {
			names = append(names, w.Names[0])
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestGlossary: each spelling is there once, no stage has it, and the page has the meaning and a command.
func TestGlossary(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Glossary() {
		for _, n := range w.Names {
			if seen[folded(n)] {
				t.Errorf("%q is there twice", n)
			}
			seen[folded(n)] = true
		}
		if w.Means == "" || len(w.Next) == 0 {
			t.Errorf("%s has no meaning or no command", w.Names[0])
		}
	}
	for _, s := range fault.Stages() {
		if seen[folded(string(s))] {
			t.Errorf("%s is a stage and a word", s)
		}
	}
	var b bytes.Buffer
	if err := WordPage(&b, WordsOf("LIKELY CAUSE"), Options{Command: "rollcall", Style: page.Style{Width: 80}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Prove it") || !strings.Contains(b.String(), "Next: rollcall diagnose") {
		t.Errorf("the page is\n%s", b.String())
	}
}
