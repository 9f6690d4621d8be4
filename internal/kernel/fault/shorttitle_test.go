package fault_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// A title without its values is a sentence: what is missing is at its end or in parentheses,
// and it has a verb.
func TestShortTitleIsASentence(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	inside := regexp.MustCompile(` \{[a-zA-Z][a-zA-Z0-9_.]*\},`)
	onlySubject := regexp.MustCompile(`^(?:\w+ )?\{\w+\}: \{[a-zA-Z.]+\}$`)
	hole := regexp.MustCompile(`\{([a-zA-Z][a-zA-Z0-9_.]*)\}`)
	for _, f := range c.Faults {
		short := fault.ShortTitle(f)
		if f.General == "" && inside.MatchString(strings.ReplaceAll(f.Title, " {"+string(f.For)+"},", "")) {
			t.Errorf("%s: %q is %q without its values: it needs general", f.ID, f.Title, short)
		}
		if len(strings.Fields(short)) < 3 || strings.ContainsAny(short, "{}") || strings.HasSuffix(short, ",") {
			t.Errorf("%s: %q is no sentence", f.ID, short)
		}
		for _, title := range []string{f.Title, f.General} { // what an answer shows where no value is known
			filled := fault.ParseTitle(f, title).Fill("x", func(string) string { return "" })
			own := hole.ReplaceAllString(f.Title+f.General, "")
			for _, m := range hole.FindAllStringSubmatch(title, -1) {
				if in := strings.ToUpper(m[1][strings.LastIndexByte(m[1], '.')+1:]); strings.Contains(filled, in) && !strings.Contains(own, in) {
					t.Errorf("%s: %q is %q without its values: %s is in an answer", f.ID, title, filled, in)
				}
			}
		}
		if f.General == "" && onlySubject.MatchString(f.Title) {
			t.Errorf("%s: nothing is left of %q but its subject: it needs general", f.ID, f.Title)
		}
	}
}

// TestTitleWithoutValues: the title of a named subject of which no value is known is a sentence, too:
// no name of a value is in it, and what only explains a value is gone with it.
func TestTitleWithoutValues(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	hole := regexp.MustCompile(`\{[a-zA-Z][a-zA-Z0-9_.]*\}`)
	dangling := regexp.MustCompile(`\b(?:to|on|in|of|from|itself|resolve|reach|reports|Secret|Node|through), (?:which|so|its|a)\b`)
	for _, f := range c.Faults {
		got := fault.FillTitle(f, f.Title, "w1", func(string) string { return "" })
		for _, name := range hole.FindAllString(f.Title, -1) {
			name = strings.ToUpper(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "{}"))
			if regexp.MustCompile(`\b`+name+`\b`).MatchString(got) && !strings.Contains(f.Title+f.General, name) {
				t.Errorf("%s: %q has the name of a value: it needs general", f.ID, got)
			}
		}
		if len(strings.Fields(got)) < 3 || strings.ContainsAny(got, "{}<>") || dangling.MatchString(got) {
			t.Errorf("%s: %q is no sentence: it needs general", f.ID, got)
		}
	}
}

func TestTitleOf(t *testing.T) {
	f := &fault.Fault{For: fault.Host, Title: "{host} does not reach {pull.registry}, which it uses: {pull.said}", General: "{host} does not reach its registry"}
	for _, tt := range []struct {
		names map[string]string
		want  string
	}{
		{nil, "the host does not reach its registry"},
		{map[string]string{"host": "w1"}, "w1 does not reach its registry"},
		{map[string]string{"host": "w1", "pull.registry": "r.example.com", "pull.said": "timeout"}, "w1 does not reach r.example.com, which it uses: timeout"},
	} {
		if got := fault.TitleOf(f, tt.names); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.names, got, tt.want)
		}
	}
	f.General = ""
	f.Title = "the kubelet of {host} does not run: {units.kubelet}"
	if got := fault.TitleOf(f, map[string]string{"host": "w1"}); got != "the kubelet of w1 does not run" {
		t.Error(got)
	}
}
