package diagnose

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lamp is a fact of a world that is small enough to see through: which lamps of
// a host are lit, which cannot be seen, and since when.
type lamp struct {
	Lit   facts.Field[bool]      `cel:"lit"`
	Seen  facts.Field[bool]      `cel:"seen"`
	Since facts.Field[time.Time] `cel:"since"`
	Made  facts.Field[time.Time] `cel:"made"`
}

// wall says for each host and lamp what a test wants: "lit", "dark", "unseen" or "none".
type wall map[string]map[string]string

func (wl wall) fact(name string) facts.Fact {
	return facts.Define("lamp-"+name, fault.Host, "lamp "+name, nil,
		func(_ context.Context, _ *facts.World, s fault.Subject) (lamp, error) {
			var f lamp
			loc := evidence.Locator{Source: "wall", Path: "hosts/" + s.Name, Field: name}
			lit := func(since time.Time) {
				f.Lit.Set(true, evidence.Item{Locator: loc, Excerpt: name + " is lit", Time: since})
				f.Since.Set(since)
			}
			switch wl[s.Name][name] {
			case "lit":
				lit(noon.Add(-time.Hour))
			case "fresh":
				lit(noon.Add(-time.Minute))
			case "timeless":
				lit(time.Time{})
			case "timeless, new":
				lit(time.Time{})
				f.Made.Set(noon.Add(-time.Minute))
			case "timeless, old":
				lit(time.Time{})
				f.Made.Set(noon.Add(-time.Hour))
			case "unseen":
				return f, &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.Forbidden, Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: name}}
			case "uncollected":
				return f, &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.NotCollected}
			case "half":
				lit(noon.Add(-time.Hour))
				f.Seen.Miss(&evidence.Unavailable{Need: evidence.Objects(evidence.Pods, "x"), Why: evidence.NotCollected, Supply: evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods"}})
			case "none":
				return f, facts.NotApplicable("%s has no lamp %s", s.Name, name)
			}
			facts.Complete(&f)
			return f, nil
		})
}

func (wl wall) Subjects(_ context.Context, _ *facts.World, k fault.Kind) ([]fault.Subject, error) {
	if k == fault.Pool {
		return nil, &evidence.Unavailable{Need: evidence.Objects(evidence.MachineConfigPools, ""), Why: evidence.Forbidden, Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "pools"}}
	}
	if k != fault.Host {
		return nil, nil
	}
	var list []fault.Subject
	for name := range wl {
		list = append(list, fault.Subject{Kind: fault.Host, Name: name})
	}
	slices.SortFunc(list, func(a, b fault.Subject) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (wl wall) Relate(ctx context.Context, w *facts.World, r fault.Relation, from fault.Subject) ([]fault.Subject, bool, error) {
	all, _ := wl.Subjects(ctx, w, fault.Host)
	switch r {
	case fault.Same:
		return []fault.Subject{from}, true, nil
	case fault.AllHosts:
		return all, true, nil
	case fault.CSRsOfHost:
		return nil, true, nil
	}
	return all, false, nil
}

func (wl wall) Describe(context.Context, *facts.World) (diagnosis.ClusterInfo, error) {
	return diagnosis.ClusterInfo{Version: "4.20.3"}, nil
}

func (wl wall) Hosts(ctx context.Context, w *facts.World, _ []diagnosis.Finding) ([]diagnosis.HostState, error) {
	all, _ := wl.Subjects(ctx, w, fault.Host)
	var list []diagnosis.HostState
	for _, s := range all {
		list = append(list, diagnosis.HostState{Name: s.Name, Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed})
	}
	return list, nil
}

// emptySource is a source in which nothing was collected.
type emptySource struct{}

func (emptySource) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "wall", Name: "wall", Now: noon}, nil
}

func (emptySource) List(_ context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	return nil, &evidence.Unavailable{Need: evidence.Objects(r, ns), Why: evidence.NotCollected}
}

func (emptySource) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected}
}

const switchRemedy = `
id: switch
title: switch {host} off
by: cluster
risk: none
steps: [{do: Switch it off.}]
verify: {expect: it is dark}
refs: [{repo: wall}]
`

func run(t *testing.T, wl wall, entries map[string]string) *diagnosis.Diagnosis {
	t.Helper()
	return runAccepting(t, wl, entries, nil)
}

func runAccepting(t *testing.T, wl wall, entries map[string]string, accept Accepter) *diagnosis.Diagnosis {
	t.Helper()
	files := fstest.MapFS{"remedies/switch.yaml": &fstest.MapFile{Data: []byte(switchRemedy)}}
	lamps := map[string]bool{}
	for id, body := range entries {
		if strings.HasPrefix(id, "remedies/") {
			files[id+".yaml"] = &fstest.MapFile{Data: []byte(body)}
			continue
		}
		text := "id: " + id + "\ntitle: " + id + "\nlayer: wall\nmeans: a lamp\nrefs: [{repo: wall}]\n" + body
		if !strings.Contains(body, "severity:") {
			text += "severity: error\n"
		}
		kind := fault.Host
		if strings.Contains(body, "for: pool") {
			kind = fault.Pool
		} else {
			text += "for: host\n"
		}
		files["wall/"+id+".yaml"] = &fstest.MapFile{Data: []byte(text)}
		lamps[id] = kind == fault.Pool
		if !strings.Contains(body, "given:") {
			text += "\ngiven: {it: {fact: lamp-" + id + "}}\nsince: it.since\n"
			if !strings.Contains(body, "when:") {
				text += "when: it.lit\n"
			}
			files["wall/"+id+".yaml"].Data = []byte(text)
		}
	}
	catalog, err := fault.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	var list []facts.Fact
	for id, pool := range lamps {
		f := wl.fact(id)
		if pool {
			f.For = fault.Pool
		}
		list = append(list, f)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	set, err := scan.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Run(context.Background(), Options{
		Catalog: catalog, Facts: list, Relater: wl, Cluster: wl, Roll: wl, Clock: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler),
		Accept: accept, Reader: reader.New(set, clean, nil, reader.Limits{}, emptySource{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func roots(d *diagnosis.Diagnosis) (list []string) {
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			list = append(list, c.Fault+" "+c.Subject.Name+" "+string(c.Confidence))
		}
	}
	return list
}

func TestRoots(t *testing.T) {
	const stands = "standsAlone: true\nremedies: [switch]\n"
	explains := func(what, on, strength string) string {
		return "explains: [{fault: " + what + ", on: " + on + ", strength: " + strength + "}]\n"
	}
	tests := []struct {
		name        string
		wall        wall
		entries     map[string]string
		roots       []string
		deadlocks   int
		unexplained []string
		suspects    []string
		verdict     diagnosis.VerdictClass
	}{
		{name: "nothing is lit", wall: wall{"a": {}}, entries: map[string]string{"x": stands}, verdict: diagnosis.Healthy},
		{name: "a cause and its symptom", wall: wall{"a": {"x": "lit", "y": "lit"}},
			entries: map[string]string{"x": stands + explains("y", "same", "certain"), "y": ""},
			roots:   []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "a likely edge does not demote", wall: wall{"a": {"x": "lit", "y": "lit"}},
			entries: map[string]string{"x": stands + explains("y", "same", "likely"), "y": stands},
			roots:   []string{"x a proven", "y a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "an edge over a relation that is not known is not certain", wall: wall{"a": {"x": "lit", "y": "lit"}},
			entries: map[string]string{"x": stands + explains("y", "hosts-of-pool", "certain"), "y": stands},
			roots:   []string{"x a proven", "y a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "two independent roots are both said", wall: wall{"a": {"x": "lit"}, "b": {"y": "lit"}},
			entries: map[string]string{"x": stands, "y": stands},
			roots:   []string{"x a proven", "y b proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "a ring with a member that stands alone", wall: wall{"a": {"x": "lit", "y": "lit", "z": "lit"}},
			entries: map[string]string{"x": stands + explains("y", "same", "certain"), "y": "explains: [{fault: x, on: same, strength: certain}, {fault: z, on: same, strength: certain}]\n", "z": ""},
			roots:   []string{"x a proven"}, deadlocks: 1, verdict: diagnosis.RecoverableInPlace},
		{name: "a ring that a cause outside explains is no deadlock", wall: wall{"a": {"w": "lit", "x": "lit", "y": "lit"}},
			entries: map[string]string{"w": stands + explains("x", "same", "certain"), "x": stands + explains("y", "same", "certain"), "y": explains("x", "same", "certain")},
			roots:   []string{"w a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "a symptom without a cause has suspects", wall: wall{"a": {"x": "unseen", "y": "lit"}},
			entries:     map[string]string{"x": stands + explains("y", "same", "certain"), "y": ""},
			unexplained: []string{"y a"}, suspects: []string{"x a: role verb=list resource=x"}, verdict: diagnosis.Undetermined},
		{name: "causes whose subjects cannot be listed are suspects", wall: wall{"a": {"y": "lit"}},
			entries:     map[string]string{"x": "for: pool\n" + stands + explains("y", "hosts-of-pool", "certain"), "y": ""},
			unexplained: []string{"y a"}, suspects: []string{"x ?: role verb=list resource=pools"}, verdict: diagnosis.Undetermined},
		{name: "an unknown before the root lowers it", wall: wall{"a": {"x": "unseen", "y": "lit"}},
			entries: map[string]string{"x": stands + explains("y", "same", "certain"), "y": stands},
			roots:   []string{"y a likely"}, verdict: diagnosis.RecoverableInPlace},
		{name: "support that did not hold lowers it", wall: wall{"a": {"x": "lit"}},
			entries: map[string]string{"x": stands + "support: [it.seen]\n"},
			roots:   []string{"x a likely"}, verdict: diagnosis.RecoverableInPlace},
		{name: "what still settles explains its symptom", wall: wall{"a": {"x": "fresh", "y": "lit"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n" + explains("y", "same", "certain"), "y": ""},
			verdict: diagnosis.Settling},
		{name: "what still settles hides no fault whose own time is over", wall: wall{"a": {"x": "fresh", "y": "lit"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n" + explains("y", "same", "certain"), "y": stands + "settles: {within: 30m}\n"},
			roots:   []string{"y a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "what still settles hides no fault whose mechanism was seen", wall: wall{"a": {"x": "fresh", "y": "lit"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n" + explains("y", "same", "certain"), "y": stands + "support: [it.lit]\n"},
			roots:   []string{"y a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "a present fault explains through what still settles", wall: wall{"a": {"w": "lit", "x": "fresh", "y": "lit"}},
			entries: map[string]string{"w": stands + explains("x", "same", "certain"), "x": stands + "settles: {within: 30m}\n" + explains("y", "same", "certain"),
				"y": stands + "settles: {within: 30m}\n"},
			roots: []string{"w a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "settled long ago", wall: wall{"a": {"x": "lit"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n"},
			roots:   []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "what may settle needs a beginning", wall: wall{"a": {"x": "timeless"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m}\n"}, verdict: diagnosis.Undetermined},
		{name: "what is new cannot have been lit for long", wall: wall{"a": {"x": "timeless, new"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m, earliest: it.made}\n"}, verdict: diagnosis.Settling},
		{name: "what is old can", wall: wall{"a": {"x": "timeless, old"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m, earliest: it.made}\n"}, verdict: diagnosis.Undetermined},
		{name: "it does not where it is not normal even now", wall: wall{"a": {"x": "timeless"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m, unless: it.lit}\n"},
			roots:   []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "a warning does not answer for an error", wall: wall{"a": {"x": "lit", "y": "lit"}},
			entries: map[string]string{"x": stands + "severity: warning\n", "y": ""},
			roots:   []string{"x a proven"}, unexplained: []string{"y a"}, verdict: diagnosis.Undetermined},
		{name: "not normal even now", wall: wall{"a": {"x": "fresh"}},
			entries: map[string]string{"x": stands + "settles: {within: 30m, unless: it.lit}\n"},
			roots:   []string{"x a proven"}, verdict: diagnosis.RecoverableInPlace},
		{name: "counter-evidence", wall: wall{"a": {"x": "lit"}},
			entries: map[string]string{"x": stands + "refute: it.lit\n"}, verdict: diagnosis.Healthy},
		{name: "a root without a repair", wall: wall{"a": {"x": "lit"}},
			entries: map[string]string{"x": "standsAlone: true\n"},
			roots:   []string{"x a proven"}, verdict: diagnosis.Undetermined},
		{name: "not for this version", wall: wall{"a": {"x": "lit"}},
			entries: map[string]string{"x": stands + "versions: \"<4.19\"\n"}, verdict: diagnosis.Healthy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := run(t, tt.wall, tt.entries)
			if diff := cmp.Diff(tt.roots, roots(d)); diff != "" {
				t.Errorf("roots (-want +got):\n%s", diff)
			}
			if len(d.Deadlocks) != tt.deadlocks {
				t.Errorf("%d deadlocks, want %d", len(d.Deadlocks), tt.deadlocks)
			}
			var open, suspects []string
			for _, u := range d.Unexplained {
				open = append(open, u.Fault+" "+u.Subject.Name)
				for _, s := range u.Suspects {
					suspects = append(suspects, s.Fault+" "+s.Subject.Name+": "+s.Supply.String())
				}
			}
			if diff := cmp.Diff(tt.unexplained, open); diff != "" {
				t.Errorf("unexplained (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.suspects, suspects); diff != "" {
				t.Errorf("suspects (-want +got):\n%s", diff)
			}
			if d.Verdict.Class != tt.verdict {
				t.Errorf("verdict %s (%s), want %s", d.Verdict.Class, d.Verdict.Reason, tt.verdict)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name, lamp, when string
		want             fault.Outcome
		missing          []string
	}{
		{"lit", "lit", "it.lit", fault.Present, nil},
		{"dark", "", "it.lit", fault.Absent, nil},
		{"unseen", "unseen", "it.lit", fault.Unknown, []string{"lamp-x"}},
		{"not applicable", "none", "it.lit", fault.NotApplicable, nil},
		{"the unknown field matters", "half", "it.lit && it.seen", fault.Unknown, []string{"lamp-x"}},
		{"the unknown field does not matter", "half", "it.lit || it.seen", fault.Present, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := run(t, wall{"a": {"x": tt.lamp}}, map[string]string{"x": "when: " + tt.when + "\n"})
			got := d.Findings[0]
			if got.Outcome != tt.want {
				t.Fatalf("outcome %s (%s), want %s", got.Outcome, got.Reason, tt.want)
			}
			if diff := cmp.Diff(tt.missing, got.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if got.Outcome == fault.Unknown && got.Reason == "" {
				t.Error("an unknown finding gives no reason")
			}
		})
	}
}

// TestHeldUp: what is still normal is no longer known to be where a list was withheld that
// would show what blocks it.
func TestHeldUp(t *testing.T) {
	const slow = "settles: {within: 30m}\n"
	for _, tt := range []struct {
		name, lamp, strength string
		want                 diagnosis.VerdictClass
	}{
		{"not there", "", "certain", diagnosis.Settling},
		{"refused", "unseen", "certain", diagnosis.Undetermined},
		{"refused, and likely", "unseen", "likely", diagnosis.Undetermined},
		{"refused, and hardly a cause", "unseen", "possible", diagnosis.Settling},
		{"does not apply", "none", "certain", diagnosis.Settling},
		{"never collected", "uncollected", "certain", diagnosis.Settling},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := run(t, wall{"a": {"effect": "fresh", "cause": tt.lamp}}, map[string]string{
				"effect": slow, "cause": "severity: warning\nstandsAlone: true\nexplains: [{fault: effect, on: same, strength: " + tt.strength + "}]\n",
			})
			got := verdict(withPremises(d))
			if got.Class != tt.want {
				t.Errorf("%s (%s), want %s", got.Class, got.Reason, tt.want)
			}
			if want := "cause of host/a was not checked: lamp-cause"; tt.want == diagnosis.Undetermined && !strings.Contains(got.Reason, want) {
				t.Errorf("reason %q, want %q in it", got.Reason, want)
			}
		})
	}
}

// withPremises takes the coverage away: the wall has none of the kinds of a cluster.
func withPremises(d *diagnosis.Diagnosis) *diagnosis.Diagnosis {
	d.Coverage = nil
	return d
}

// TestDeterministic: the same evidence gives the same answer, in the same order.
func TestDeterministic(t *testing.T) {
	wl := wall{"a": {"x": "lit", "y": "lit"}, "b": {"x": "unseen", "y": "lit"}, "c": {"y": "lit"}}
	entries := map[string]string{
		"x": "standsAlone: true\nexplains: [{fault: y, on: all-hosts, strength: certain}]\n",
		"y": "explains: [{fault: x, on: same, strength: likely}]\n",
	}
	first := run(t, wl, entries)
	for range 20 {
		if diff := cmp.Diff(first, run(t, wl, entries)); diff != "" {
			t.Fatalf("the answer changed (-first +now):\n%s", diff)
		}
	}
}
