package fault

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// served is a fact: name, nodes, updated and since in this order; a nil is unknown.
type served [4]any

var servedFields = []FieldType{
	{"name", reflect.TypeFor[string]()}, {"nodes", reflect.TypeFor[[]string]()},
	{"updated", reflect.TypeFor[int64]()}, {"since", reflect.TypeFor[time.Time]()},
}

func (s served) Field(i int) (any, error) {
	if s[i] == nil {
		return nil, errors.New("unknown")
	}
	return s[i], nil
}

const sound = `id: pool-empty
title: pool {pool} serves {served.name} to {served.nodes}
layer: machine-config
for: pool
severity: error
given: {served: {fact: pool-served}}
when: served.name == "" && served.updated == 0
since: served.since
settles: {within: 30m, unless: served.updated > 3}
support: [served.updated == 0]
explains: [{fault: pool-empty, on: same, strength: likely, when: served.since < effect.since}]
means: nothing to serve
refs: [{repo: openshift/machine-config-operator}]
`

func load(t *testing.T, text string) (*Catalog, error) {
	t.Helper()
	return Load(fstest.MapFS{"machine-config/pool-empty.yaml": {Data: []byte(text)}})
}

func compiler(t *testing.T) *Compiler {
	t.Helper()
	c, err := NewCompiler([]FactType{{Name: "pool-served", For: Pool, Fields: servedFields, Needs: []string{"machineconfigpools"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"an unknown field", "means:", "meens:", "12:1: meens: there is no such field; did you mean means?"},
		{"an id that is not kebab case", "id: pool-empty", "id: Pool_Empty", "not kebab case"},
		{"a file of another name", "id: pool-empty", "id: other", "must be named other.yaml"},
		{"an unknown kind", "for: pool", "for: puddle", "4:6: for: \"puddle\" is not one of"},
		{"an unknown severity", "severity: error", "severity: fatal", "severity: \"fatal\" is not one of info, warning, error"},
		{"an unknown relation", "on: same", "on: sideways", "11:36: explains[0].on: \"sideways\" is not one of"},
		{"an unknown strength", "strength: likely", "strength: strong", "explains[0].strength: \"strong\" is not one of certain, likely, possible"},
		{"an edge that leads nowhere", "fault: pool-empty, on", "fault: nothing, on", "not in the catalog"},
		{"a fault without a source", "refs: [{repo: openshift/machine-config-operator}]", "refs: []", "names its source"},
		{"a duration that is none", "within: 30m", "within: soon", "9:19: settles.within: \"soon\" is not a duration; write it as 30m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, strings.Replace(sound, tt.old, tt.new, 1))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := load(t, sound); err != nil {
		t.Errorf("the sound entry: %v", err)
	}
}

func TestLoadRefusesTwice(t *testing.T) {
	_, err := Load(
		fstest.MapFS{"a/pool-empty.yaml": {Data: []byte(sound)}},
		fstest.MapFS{"b/pool-empty.yaml": {Data: []byte(sound)}},
	)
	if err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("error %v, want one that says the id is taken", err)
	}
}

func TestCheckFindsMistakes(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"an unknown field of a fact", "served.updated == 0\nsince", "served.updatd == 0\nsince", "7:34: when: undefined field \"updatd\" of fact pool-served; did you mean updated?"},
		{"an unknown variable", "support: [served.updated == 0]", "support: [asked.failures > 0]", "10:11: support[0]: undeclared reference to \"asked\""},
		{"a condition that is no bool", "support: [served.updated == 0]", "support: [served.updated]", "is int, not bool; write a comparison"},
		{"a since that is no time", "since: served.since", "since: served.name", "is string, not timestamp"},
		{"a title with an unknown field", "{served.name}", "{served.nom}", "2:34: title: undefined field \"nom\" of fact pool-served; did you mean name?"},
		{"an unknown fact", "pool-served", "pool-served-2", "6:24: given.served.fact: there is no fact \"pool-served-2\"; did you mean pool-served?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			catalog, err := load(t, strings.Replace(sound, tt.old, tt.new, 1))
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, err := range compiler(t).Check(catalog) {
				all = append(all, err.Error())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("mistakes:\n%s\nwant one with %q", got, tt.want)
			}
		})
	}
	catalog, err := load(t, sound)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := compiler(t).Check(catalog); len(wrong) > 0 {
		t.Errorf("the sound entry: %v", wrong)
	}
}

func TestEvalIsPartial(t *testing.T) {
	catalog, err := load(t, sound)
	if err != nil {
		t.Fatal(err)
	}
	f := catalog.Faults[0]
	c := compiler(t)
	tests := []struct {
		name, expr string
		in         Record
		want       bool
		unknown    []string
	}{
		{"known", f.When, served{"", []string(nil), int64(0), time.Time{}}, true, nil},
		{"a whole fact is missing", f.When, nil, false, []string{"served"}},
		{"a field is missing and matters", f.When, served{0: ""}, false, []string{"served.updated"}},
		{"a field is missing and does not matter", f.When, served{0: "x"}, false, nil},
		{"two fields are missing", f.When, served{}, false, []string{"served.name", "served.updated"}},
		{"a part of a call is missing", "served.name.startsWith('x')", served{}, false, []string{"served.name"}},
		{"a list is missing", "served.nodes.exists(n, n == 'a')", served{}, false, []string{"served.nodes"}},
		{"an element is looked for in a list that is missing", "'a' in served.nodes", served{}, false, []string{"served.nodes"}},
		{"a time is missing", "this.now - served.since > duration('1h')", served{}, false, []string{"served.since"}},
		{"a condition is missing", "served.updated > 0 ? true : false", served{}, false, []string{"served.updated"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := c.Compile(f, tt.expr)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Eval(map[string]any{"this": This{Now: time.Unix(0, 0)}, "served": Var{Name: "served", Record: tt.in}})
			if err != nil {
				t.Fatal(err)
			}
			if r.True() != tt.want {
				t.Errorf("%s = %v, want %v", tt.expr, r.Value, tt.want)
			}
			if diff := cmp.Diff(tt.unknown, r.Unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFillTitle(t *testing.T) {
	catalog, err := load(t, sound)
	if err != nil {
		t.Fatal(err)
	}
	f, c := catalog.Faults[0], compiler(t)
	got := FillTitle(f, f.Title, "master", func(expr string) string {
		p, err := c.Compile(f, expr)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Eval(map[string]any{"served": Var{Name: "served", Record: served{0: "rendered-x", 1: []string{"a", "b"}}}})
		if err != nil {
			t.Fatal(err)
		}
		return Show(r)
	})
	if want := "pool master serves rendered-x to a, b"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}

// TestFillTitleWithoutValues: a value that is not there leaves no gap in a title.
func TestFillTitleWithoutValues(t *testing.T) {
	f := &Fault{For: Host}
	for _, c := range []struct{ title, general, want string }{
		{"the inspection of {host} failed: {x.message}", "", "the inspection of h failed"},
		{"{host} differs from others ({x.what})", "", "h differs from others"},
		{"{host}: {x.url}: no route", "", "h: no route"},
		{"{x.container} of {host} crash-loops: {x.said}", "", "CONTAINER of h crash-loops"},
		{"operator {x.operator} has a status of {host}", "", "operator OPERATOR has a status of h"},
		{"{host} is well", "", "h is well"},
		{"{x.container} of {host} crash-loops: {x.said}", "a container of the host crash-loops", "a container of h crash-loops"},
		{"{host} cannot reach {x.registry}, which it pulls from", "the host cannot reach its registry", "h cannot reach its registry"},
		{"{x.a} is on {host}", "{host} has an A", "h has an A"},
		{"{x.a} is on {host}", "there is an A", "there is an A (h)"},
		{"host {host}: {x.says}", "a host reports something", "h reports something"},
	} {
		f.Title, f.General = c.title, c.general
		if got := FillTitle(f, c.title, "h", func(string) string { return "" }); got != c.want {
			t.Errorf("%q: got %q, want %q", c.title, got, c.want)
		}
	}
}

// TestSpan: a duration has as many digits as a reader needs.
func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-time.Second: "in the future", 119 * time.Second: "119s", 2 * time.Minute: "2m", 90 * time.Minute: "1h30m", 47 * time.Hour: "47h",
		2*day + time.Hour: "2d1h", 7*day + 23*time.Hour: "7d23h", 8*day + 23*time.Hour: "8d", 729 * day: "729d", 1203*day + 23*time.Hour: "3y",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
