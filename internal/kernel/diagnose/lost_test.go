package diagnose

import (
	"context"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// box is a fact about what a list lacks.
type box struct {
	Gone   facts.Field[bool] `cel:"gone"`   // a list lacks it
	Broken facts.Field[bool] `cel:"broken"` // another object refers to what the list lacks
	Logged facts.Field[bool] `cel:"logged"` // a line of a log says so
}

var boxFact = facts.Define("box", fault.Host, "a box", []evidence.Need{evidence.Objects(evidence.Nodes, "")},
	func(ctx context.Context, w *facts.World, s fault.Subject) (box, error) {
		var b box
		if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
			return b, err
		}
		b.Gone.Set(true, evidence.Listed(evidence.Nodes, "", "none is "+s.Name))
		b.Broken.Set(true, evidence.Dangling(evidence.Nodes, "", "a Machine refers to "+s.Name))
		b.Logged.Set(true, evidence.Item{Locator: evidence.Locator{Path: "kubelet.log", Line: 3}, Excerpt: "node not found"})
		return b, nil
	})

// shelf has one Node, in a file of its own or in a list.
type shelf struct {
	emptySource
	alone bool
}

func (s shelf) List(ctx context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	if r != evidence.Nodes {
		return s.emptySource.List(ctx, r, ns)
	}
	return []evidence.Object{{Resource: r, Name: "other", Content: map[string]any{"metadata": map[string]any{"name": "other"}}, Alone: s.alone}}, nil
}

// TestLost: where each object has a file of its own, one that is missing may be lost. What rests
// on that alone is marked, and what something else shows, too, is not.
func TestLost(t *testing.T) {
	for name, tt := range map[string]struct {
		when, support string
		alone         bool
		outcome       fault.Outcome
		lost, seen    bool
	}{
		"a list":                              {"it.gone", "", false, fault.Present, false, false},
		"files":                               {"it.gone", "", true, fault.Present, true, false},
		"files, and the line is a condition":  {"it.gone && it.logged", "", true, fault.Present, true, false},
		"files, and the line is enough":       {"it.gone || it.logged", "", true, fault.Present, false, false},
		"files, and the line supports it":     {"it.gone", "it.logged", true, fault.Present, true, true},
		"files, and the list supports it":     {"it.gone", "it.gone", true, fault.Present, true, false},
		"the line, and the list supports it":  {"it.logged", "it.gone", true, fault.Present, false, true},
		"absent by a list":                    {"!it.gone", "", false, fault.Absent, false, false},
		"absent by files":                     {"!it.gone", "", true, fault.Absent, false, false},
		"absent, as the reference is broken":  {"!it.broken", "", true, fault.Unknown, true, false},
		"absent, and the line is enough":      {"!it.broken && !it.logged", "", true, fault.Absent, false, false},
		"absent, the list shows what is lost": {"!it.broken", "", false, fault.Absent, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := evaluateBox(t, tt.when, tt.support, tt.alone)
			if got.Outcome != tt.outcome || (got.Lost != nil) != tt.lost || got.Seen != tt.seen {
				t.Errorf("%s, lost %v, seen %t; want %s, %t, %t", got.Outcome, got.Lost, got.Seen, tt.outcome, tt.lost, tt.seen)
			}
			if got.Outcome == fault.Unknown && got.Reason == "" {
				t.Error("it is unknown and has no reason")
			}
		})
	}
}

func evaluateBox(t *testing.T, when, support string, alone bool) diagnosis.Finding {
	t.Helper()
	text := "id: box\ntitle: box\nlayer: wall\nfor: host\nseverity: error\nmeans: a box\nrefs: [{repo: wall}]\ngiven: {it: {fact: box}}\nstandsAlone: true\nremedies: [switch]\nwhen: '" + when + "'\n"
	if support != "" {
		text += "support: ['" + support + "']\n"
	}
	catalog, err := fault.Load(fstest.MapFS{"wall/box.yaml": {Data: []byte(text)}, "remedies/switch.yaml": {Data: []byte(switchRemedy)}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(catalog, []facts.Fact{boxFact}, wall{}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	set, err := scan.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := facts.NewWorld(reader.New(set, clean, nil, reader.Limits{}, shelf{alone: alone}), noon)
	f, _ := catalog.Fault("box")
	got, err := e.Evaluate(t.Context(), w, f, fault.Subject{Kind: fault.Host, Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestRestsOnAList: the cause that rests on files alone is likely, also where an effect of it is
// seen, which may have another cause. A support that needs no list makes it proven.
func TestRestsOnAList(t *testing.T) {
	listed := evidence.Listed(evidence.Nodes, "", "none is a")
	lost := &listed
	for name, tt := range map[string]struct {
		finding diagnosis.Finding
		want    diagnosis.Confidence
	}{
		"no list":              {diagnosis.Finding{Support: 1, Seen: true}, diagnosis.Proven},
		"files":                {diagnosis.Finding{Lost: lost}, diagnosis.Likely},
		"the list supports it": {diagnosis.Finding{Lost: lost, Support: 1}, diagnosis.Likely},
		"a line supports it":   {diagnosis.Finding{Lost: lost, Support: 1, Seen: true}, diagnosis.Proven},
	} {
		t.Run(name, func(t *testing.T) {
			catalog, err := fault.Load(fstest.MapFS{"wall/x.yaml": {Data: []byte("id: x\ntitle: x\nlayer: wall\nfor: host\nseverity: info\nmeans: x\nrefs: [{repo: wall}]\nwhen: 'true'\nnoRemedy: none is needed\n")}})
			if err != nil {
				t.Fatal(err)
			}
			tt.finding.Fault, tt.finding.Outcome = "x", fault.Present
			tt.finding.Subject = fault.Subject{Kind: fault.Host, Name: "a"}
			g := &graph{engine: &Engine{catalog: catalog}, findings: []diagnosis.Finding{tt.finding, {Fault: "x", Outcome: fault.Present, Subject: fault.Subject{Kind: fault.Host, Name: "b"}}}}
			if got, why, _ := g.confidence(0, []int{0}); got != tt.want {
				t.Errorf("%s (%s), want %s", got, why, tt.want)
			}
		})
	}
}
