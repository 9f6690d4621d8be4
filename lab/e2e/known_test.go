package e2e

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// violation is an answer that is false, or healthier than it may be.
type violation struct {
	id string // the same each time the same is wrong
	of sample
}

// known is a violation that the tool is known to have. It is a debt: whoever fixes the
// cause takes the entry out, and the test fails until that is done.
type known struct {
	// test is the name of the test; * stands for every one of its rows, and of a row that
	// is joined with others its own name is enough.
	test   string
	id     string // of the violation; * stands for anything
	reason string // what is true, and what is to be fixed
	// sometimes: it depends on the moment at which is asked, so that one run may not
	// see it.
	sometimes bool
}

// knownViolations is everything of which the tests of this package know that the tool
// answers it wrongly.
var knownViolations = []known{}

// settle compares what was found with what is known.
func settle(t *testing.T, found []violation) {
	t.Helper()
	needed := make([]bool, len(knownViolations))
	reported := map[string]int{}
	for _, v := range found {
		i := slices.IndexFunc(knownViolations, func(k known) bool { return k.about(t.Name()) && matches(k.id, v.id) })
		if i >= 0 {
			needed[i] = true
			continue
		}
		if reported[v.id]++; reported[v.id] == 1 {
			t.Errorf("%s\n\tfirst: %s", v.id, v.of)
			v.keep(t)
		}
	}
	for id, n := range reported {
		if n > 1 {
			t.Logf("%d times: %s", n, id)
		}
	}
	for i, k := range knownViolations {
		switch {
		case !k.about(t.Name()):
		case needed[i]:
			t.Logf("known: %s (%s)", k.id, k.reason)
		case !k.sometimes:
			t.Errorf("known, and not found any more: take %q out of knownViolations (%s)", k.id, k.reason)
		}
	}
}

// about says whether the entry is about the test of that name.
func (k known) about(name string) bool {
	test, row := path.Split(k.test)
	in, joined := path.Split(name)
	if test != in {
		return false
	}
	if row == "*" {
		return true
	}
	rows := strings.Split(joined, "+")
	for part := range strings.SplitSeq(row, "+") {
		if !slices.Contains(rows, part) {
			return false
		}
	}
	return true
}

// keep writes the whole answer to where somebody wants the timelines.
func (v violation) keep(t *testing.T) {
	t.Helper()
	dir := os.Getenv(timelines)
	if dir == "" {
		return
	}
	name := fmt.Sprintf("lab-answer-%s-%s.json", strings.ReplaceAll(t.Name(), "/", "-"), v.of.at.UTC().Format("150405"))
	if err := os.WriteFile(filepath.Join(dir, name), []byte(v.of.raw), 0o644); err != nil {
		t.Error(err)
	}
}

// matches compares an id with a pattern.
func matches(pattern, id string) bool {
	flat := strings.NewReplacer("/", "|", "[", "(", "]", ")", "\n", " ")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(id))
	return err == nil && ok
}

func TestKnownViolationsAreWhole(t *testing.T) {
	for _, k := range knownViolations {
		if k.test == "" || k.id == "" || k.reason == "" {
			t.Errorf("%+v: test, id and reason are needed", k)
		}
		if _, err := path.Match(k.id, ""); err != nil {
			t.Errorf("%q: %v", k.id, err)
		}
	}
}
