package hosted

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// plain is a source of one cluster: objects by need, everything else was not collected.
type plain struct {
	name    string
	now     time.Time
	objects map[evidence.Need][]evidence.Object
	texts   map[evidence.TextQuery][]evidence.Text
	fail    error
	notes   []evidence.Coverage
}

func (p plain) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "test", Name: p.name, API: "https://" + p.name, Now: p.now, Notes: p.notes}, p.fail
}

func (p plain) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	list, ok := p.objects[need]
	switch {
	case p.fail != nil:
		return nil, p.fail
	case !ok:
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected}
	}
	return append([]evidence.Object(nil), list...), nil
}

func (p plain) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if list, ok := p.texts[q]; ok {
		return append([]evidence.Text(nil), list...), nil
	}
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected}
}

func object(r evidence.Resource, namespace, name string) evidence.Object {
	return evidence.Object{Resource: r, Namespace: namespace, Name: name, Content: map[string]any{}}
}

var (
	ref       = evidence.Hosted{Namespace: "clusters", Name: "prod", ControlPlane: "clusters-prod"}
	monday    = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	errDefect = errors.New("a defect")
	pods      = evidence.HostedPods.In("")
)

func clusters() (management, own plain) {
	management = plain{name: "hub", now: monday, objects: map[evidence.Need][]evidence.Object{
		evidence.Objects(pods, "clusters-prod"):   {object(pods, "clusters-prod", "ignition-server-1")},
		evidence.Objects(evidence.Nodes, ""):      {object(evidence.Nodes, "", "hub-node")},
		evidence.Objects(evidence.Agents, "labs"): {object(evidence.Agents, "labs", "a")},
	}}
	own = plain{name: "prod", now: monday.Add(time.Hour), objects: map[evidence.Need][]evidence.Object{
		evidence.Objects(evidence.Nodes, ""): {object(evidence.Nodes, "", "worker0")},
	}}
	return management, own
}

// TestList: what is asked of the management cluster comes from its real namespace and
// is marked as its own; everything else is the hosted cluster's.
func TestList(t *testing.T) {
	management, own := clusters()
	s := &Source{Ref: ref, Management: management, Cluster: own}
	nodes, err := s.List(t.Context(), evidence.Nodes, "")
	if err != nil || len(nodes) != 1 || nodes[0].Name != "worker0" || nodes[0].Loc.Cluster != "" {
		t.Errorf("nodes %v, %v", nodes, err)
	}
	list, err := s.List(t.Context(), evidence.HostedPods, evidence.ControlPlaneNamespace)
	if err != nil || len(list) != 1 || list[0].Resource != evidence.HostedPods || list[0].Loc.Cluster != evidence.Management || list[0].Namespace != "clusters-prod" {
		t.Errorf("pods of the control plane %v, %v", list, err)
	}
	if list, err := s.List(t.Context(), evidence.HostedAgents, evidence.AgentsNamespace); list != nil || err != nil {
		t.Errorf("a platform without Agents has %v, %v", list, err)
	}
	_, err = s.List(t.Context(), evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	if u, ok := evidence.AsUnavailable(err); !ok || u.Need != evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace) {
		t.Errorf("the failed read is named %v", err)
	}
	management.fail = errDefect
	if _, err := (&Source{Ref: ref, Management: management, Cluster: own}).List(t.Context(), evidence.HostedPods, evidence.ControlPlaneNamespace); !errors.Is(err, errDefect) {
		t.Errorf("a defect became %v", err)
	}
}

// TestNoWay: a hosted cluster that cannot be read is unknown, and never the management
// cluster instead.
func TestNoWay(t *testing.T) {
	management, _ := clusters()
	why := &evidence.Unavailable{Why: evidence.Unreachable, Detail: "connection refused", Supply: evidence.Supply{Kind: evidence.SupplyKubeconfig}}
	for _, s := range []*Source{{Ref: ref, Management: management}, {Ref: ref, Management: management, Why: why}} {
		_, err := s.List(t.Context(), evidence.Nodes, "")
		u, ok := evidence.AsUnavailable(err)
		if !ok || u.Need != evidence.Objects(evidence.Nodes, "") || s.Why != nil && (u.Supply != why.Supply || u.Why != why.Why) {
			t.Errorf("nodes: %v", err)
		}
		if _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-dns"}); err == nil {
			t.Error("logs were read without a cluster")
		}
		d, err := s.Describe(t.Context())
		if err != nil || d.API != "" || d.Hosted == nil || *d.Hosted != ref || d.Name != "hub" {
			t.Errorf("described as %+v, %v", d, err)
		}
	}
	if why.Need != (evidence.Need{}) {
		t.Error("the shared reason was changed")
	}
}

// TestTexts: logs of the control plane come from the management cluster, screens from
// wherever they were given.
func TestTexts(t *testing.T) {
	management, own := clusters()
	log := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "clusters-prod", Container: "ignition-server"}
	screen := evidence.TextQuery{Kind: evidence.Console}
	management.texts = map[evidence.TextQuery][]evidence.Text{log: {{Pod: "ignition-server-1"}}, screen: {{Host: "worker1"}}}
	own.texts = map[evidence.TextQuery][]evidence.Text{screen: {{Host: "worker0"}}}
	s := &Source{Ref: ref, Management: management, Cluster: own}
	asked := log
	asked.Cluster, asked.Namespace = evidence.Management, evidence.ControlPlaneNamespace
	if list, err := s.Texts(t.Context(), asked); err != nil || len(list) != 1 || list[0].Cluster != evidence.Management {
		t.Errorf("logs %v, %v", list, err)
	}
	asked.Namespace = evidence.AgentsNamespace
	if _, err := s.Texts(t.Context(), asked); err == nil {
		t.Error("logs of a namespace that the platform does not have")
	}
	if list, err := s.Texts(t.Context(), screen); err != nil || len(list) != 2 {
		t.Errorf("screens %v, %v", list, err)
	}
	if list, err := (&Source{Ref: ref, Management: management}).Texts(t.Context(), screen); err != nil || len(list) != 1 {
		t.Errorf("screens without a way to the cluster %v, %v", list, err)
	}
}

// TestDescribe: the newest time counts, and a note that this source answers is gone.
func TestDescribe(t *testing.T) {
	management, own := clusters()
	management.notes = []evidence.Coverage{{Need: "nested"}, {Need: "other"}}
	own.notes = []evidence.Coverage{{Need: "own"}}
	d, err := (&Source{Ref: ref, Management: management, Cluster: own, Skip: []string{"nested"}}).Describe(t.Context())
	if err != nil || d.API != "https://prod" || !d.Now.Equal(own.now) || len(d.Notes) != 2 || d.Notes[0].Need != "other" || d.Notes[1].Need != "own" {
		t.Errorf("%+v, %v", d, err)
	}
	if len(management.notes) != 2 || management.notes[0].Need != "nested" {
		t.Error("the notes of the management cluster were changed")
	}
}

// TestProbe: the answer of the hosted API is an object, recorded ones are replayed, and
// an archive that has none was not asked.
func TestProbe(t *testing.T) {
	management, own := clusters()
	live := &Source{Ref: ref, Management: management, Cluster: own, Reach: func(context.Context) (Answer, error) {
		return Answer{Asked: true, Server: "https://prod:6443", Detail: "timeout", At: monday, From: "here"}, nil
	}}
	list, err := live.List(t.Context(), evidence.HostedProbes, evidence.HostedNamespace)
	if err != nil || len(list) != 1 || list[0].Name != "prod" || evidence.String(list[0].Content, "status", "detail") != "timeout" {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := (&Source{Ref: ref, Management: management, Reach: func(context.Context) (Answer, error) { return Answer{}, errDefect }}).
		List(t.Context(), evidence.HostedProbes, evidence.HostedNamespace); !errors.Is(err, errDefect) {
		t.Errorf("a defect became %v", err)
	}
	archived := &Source{Ref: ref, Management: management}
	_, err = archived.List(t.Context(), evidence.HostedProbes, evidence.HostedNamespace)
	if u, ok := evidence.AsUnavailable(err); !ok || u.Why != evidence.NotAsked || u.Supply.IsZero() {
		t.Errorf("nobody asked: %v", err)
	}
	plainProbes := evidence.HostedProbes.In("")
	management.objects[evidence.Objects(plainProbes, "clusters")] = []evidence.Object{object(plainProbes, "clusters", "prod")}
	if list, err := archived.List(t.Context(), evidence.HostedProbes, evidence.HostedNamespace); err != nil || len(list) != 1 || list[0].Resource != evidence.HostedProbes {
		t.Errorf("the recorded answer: %v, %v", list, err)
	}
}

func TestPick(t *testing.T) {
	two := []evidence.Hosted{{Namespace: "clusters", Name: "b"}, {Namespace: "clusters", Name: "a"}}
	tests := []struct {
		name, want, got, err string
		list                 []evidence.Hosted
	}{
		{name: "the only one", list: two[:1], got: "clusters/b"},
		{name: "the named one", list: two, want: "clusters/a", got: "clusters/a"},
		{name: "not told which", list: two, err: "it holds several hosted clusters; name one with --hosted: clusters/a, clusters/b"},
		{name: "another one", list: two, want: "clusters/c", err: "--hosted clusters/c: there is no such HostedCluster; there are: clusters/a, clusters/b"},
		{name: "none at all", want: "clusters/c", err: "--hosted clusters/c: there is no HostedCluster at all"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Pick(tt.list, tt.want)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || got.String() != tt.got {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	if ns, name, err := Parse("clusters/prod"); err != nil || ns != "clusters" || name != "prod" {
		t.Errorf("%q %q %v", ns, name, err)
	}
	for _, wrong := range []string{"", "prod", "/prod", "clusters/", "a/b/c"} {
		if _, _, err := Parse(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if got := ControlPlaneOf("clusters", "prod.eu.example"); got != "clusters-prod-eu-example" {
		t.Error(got)
	}
}

// TestGather: of several archives of one cluster, one that looked is enough; a part of
// a list stays a part.
func TestGather(t *testing.T) {
	management, own := clusters()
	partial := partly{plain{objects: map[evidence.Need][]evidence.Object{evidence.Objects(evidence.Nodes, ""): {object(evidence.Nodes, "", "worker9")}}}}
	if list, err := (joined{management, own}).List(t.Context(), evidence.Nodes, ""); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	list, err := joined{own, partial}.List(t.Context(), evidence.Nodes, "")
	if _, ok := evidence.AsUnavailable(err); !ok || len(list) != 2 {
		t.Errorf("a part: %v, %v", list, err)
	}
	if list, err := (joined{own, management}).List(t.Context(), pods, "clusters-prod"); err != nil || len(list) != 1 {
		t.Errorf("only one has it: %v, %v", list, err)
	}
	if _, err := (joined{own, management}).List(t.Context(), evidence.CSRs, ""); err == nil {
		t.Error("what nobody has was read")
	}
	if _, err := (joined{own, plain{fail: errDefect}}).List(t.Context(), evidence.Nodes, ""); !errors.Is(err, errDefect) {
		t.Errorf("a defect became %v", err)
	}
	damaged := partly{plain{}}
	for name, both := range map[string]joined{"before": {damaged, own}, "behind": {own, damaged}} {
		list, err := both.List(t.Context(), evidence.Nodes, "")
		if whyOf(err) != evidence.Damaged || len(list) != 1 {
			t.Errorf("one that is damaged %s one that looked: %v, %v", name, list, err)
		}
		if _, err := (joined{both[0], both[1], partial, management}).List(t.Context(), evidence.CSRs, ""); whyOf(err) != evidence.Damaged {
			t.Errorf("damaged %s: %v", name, err)
		}
	}
	if d, err := (joined{management, own}).Describe(t.Context()); err != nil || d.Name != "hub" || !d.Now.Equal(own.now) {
		t.Errorf("%+v, %v", d, err)
	}
}

func whyOf(err error) evidence.Why {
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return ""
	}
	return u.Why
}

// partly hands out what it has as a part.
type partly struct{ plain }

func (p partly) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, _ := p.plain.List(ctx, r, namespace)
	return list, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.Damaged}
}
