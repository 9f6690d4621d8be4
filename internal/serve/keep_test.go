package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/service"
)

// cluster holds objects as an API server does: versions, uids, and names that are taken.
type cluster struct {
	objects map[string]kube.Object
	version int
	down    bool
	lost    bool // the next write is done, and its answer is lost
}

func newCluster() *cluster { return &cluster{objects: map[string]kube.Object{}} }

var errDown = errors.New("no answer, password=hunter2hunter2")

func (c *cluster) store(r kube.Ref, o kube.Object, uid string) error {
	c.version++
	o = maps.Clone(o)
	meta := maps.Clone(o["metadata"].(map[string]any))
	meta["uid"], meta["resourceVersion"] = uid, fmt.Sprint(c.version)
	o["metadata"] = meta
	c.objects[r.String()] = o
	if c.lost {
		c.lost = false
		return errDown
	}
	return nil
}

func (c *cluster) List(_ context.Context, r kube.Ref) ([]kube.Object, error) {
	if c.down {
		return nil, errDown
	}
	var list []kube.Object
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		if o := c.objects[key]; evidence.String(o, "metadata", "namespace") == r.Namespace && o["kind"] == "ConfigMap" {
			list = append(list, o)
		}
	}
	return list, nil
}

func (c *cluster) Create(_ context.Context, r kube.Ref, o kube.Object) error {
	if c.down {
		return errDown
	}
	if _, taken := c.objects[r.String()]; taken {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: r.Resource}, r.Name)
	}
	return c.store(r, o, fmt.Sprintf("uid-%d", c.version))
}

func (c *cluster) Update(_ context.Context, r kube.Ref, o kube.Object) error {
	if c.down {
		return errDown
	}
	have := c.objects[r.String()]
	if v := evidence.String(have, "metadata", "resourceVersion"); v == "" || v != evidence.String(o, "metadata", "resourceVersion") {
		return apierrors.NewConflict(schema.GroupResource{Resource: r.Resource}, r.Name, errors.New("changed"))
	}
	return c.store(r, o, evidence.String(have, "metadata", "uid"))
}

func (c *cluster) Delete(_ context.Context, r kube.Ref, uid string) error {
	if c.down {
		return errDown
	}
	if evidence.String(c.objects[r.String()], "metadata", "uid") != uid {
		return apierrors.NewConflict(schema.GroupResource{Resource: r.Resource}, r.Name, errors.New("another"))
	}
	delete(c.objects, r.String())
	return nil
}

// keeping is a keeper in its term, without its goroutine.
func keeping(c *cluster) *Keeper {
	k := &Keeper{API: c, Events: true, Records: "rollcall", Identity: "pod_1", Clean: hidden, Hide: hidden}
	k.begin(NewMetrics("v1"), slog.New(slog.DiscardHandler))
	return k
}

func hidden(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }

// provenAnswer has one proven cause.
func provenAnswer(at time.Time) *Reading {
	d := brokenAnswer(at, 0)
	k := fault.Key{Fault: "pool-source-missing", Subject: fault.Subject{Kind: fault.Pool, Name: "worker"}}
	d.Roots[0].Cases = []diagnosis.Case{{Key: k, Title: "pool worker waits for hunter2 # <b>x</b>", Confidence: diagnosis.Proven,
		Evidence: []evidence.Item{{Locator: evidence.Locator{Source: "prod"}, Excerpt: "the source is not there"}}}}
	return &Reading{Diagnosis: d}
}

// incidentsIn are the records of a cluster.
func incidentsIn(t *testing.T, c *cluster) []Incident {
	t.Helper()
	list, err := Incidents(t.Context(), c, "rollcall")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRecords: a cause has a record after it was proven for 5 minutes, which ends 5 minutes after it was gone; a break begins
// anew; another replica continues it; a lost answer makes no second one.
func TestRecords(t *testing.T) {
	c, at := newCluster(), noon
	k := keeping(c)
	k.Events = false
	next := func(r *Reading, after time.Duration, changes ...follow.Event) {
		at = at.Add(after)
		k.take(t.Context(), answered{reading: r, changes: changes, at: at})
	}
	healthy := func() *Reading { return &Reading{Diagnosis: healthyAnswer(at)} }
	next(provenAnswer(at), 0)
	next(healthy(), 4*time.Minute)
	next(provenAnswer(at), time.Minute)
	next(provenAnswer(at), 4*time.Minute)
	if list := incidentsIn(t, c); len(list) != 0 {
		t.Fatalf("%d records of a cause that was not proven for 5 minutes without a break", len(list))
	}
	c.lost = true
	next(provenAnswer(at), time.Minute)
	next(provenAnswer(at), time.Minute)
	list := incidentsIn(t, c)
	if len(list) != 1 || list[0].State != recordOpen || !list[0].Proven.Equal(noon.Add(5*time.Minute)) {
		t.Fatalf("records %+v", list)
	}
	for _, want := range []string{"# Incident record:", "Proven since 2026-05-01T12:05:00Z, and open", "the source is not there"} {
		if !strings.Contains(list[0].Record, want) {
			t.Errorf("the record has no %q:\n%s", want, list[0].Record)
		}
	}
	if all := fmt.Sprint(c.objects); strings.Contains(all, "hunter2") || strings.Contains(list[0].Record, "<b>") {
		t.Errorf("it has a secret, or markup:\n%s", all)
	}

	k = keeping(c) // another replica
	k.Events = false
	next(provenAnswer(at), time.Minute, follow.Event{Type: follow.HostMoved, Time: at, Text: "worker0: ready -> joined"})
	next(healthy(), time.Minute)
	next(provenAnswer(at), 4*time.Minute)                                   // a short break ends nothing
	for _, outcome := range []fault.Outcome{fault.Unknown, fault.Present} { // what is not known, or no cause of its own, is not gone
		r := healthy()
		r.Diagnosis.Findings = []diagnosis.Finding{{Fault: "pool-source-missing", Outcome: outcome}}
		next(r, 10*time.Minute)
		next(r, 10*time.Minute)
	}
	if list := incidentsIn(t, c); list[0].State != recordOpen {
		t.Fatalf("it ended while it was not known: %+v", list)
	}
	next(healthy(), time.Minute)
	gone := at
	next(healthy(), 6*time.Minute)
	list = incidentsIn(t, c)
	if len(list) != 1 || list[0].State != recordEnded || !list[0].Ended.Equal(gone) {
		t.Fatalf("records %+v, want one that ended at %s", list, gone)
	}
	for _, want := range []string{"gone since", "worker0: ready -> joined", "# Incident record:"} {
		if strings.Count(list[0].Record, want) != 1 {
			t.Errorf("the record does not have %q once:\n%s", want, list[0].Record)
		}
	}
	next(provenAnswer(at), time.Hour)
	next(provenAnswer(at), 6*time.Minute)
	if list := incidentsIn(t, c); len(list) != 2 || list[1].State != recordOpen {
		t.Errorf("the second time: %+v", list)
	}
}

// TestRecordsOfOthers: a record that somebody changed meanwhile is read again, and other ConfigMaps are left alone.
func TestRecordsOfOthers(t *testing.T) {
	c := newCluster()
	own := recordRef("rollcall", "other")
	if err := c.Create(t.Context(), own, kube.Object{"kind": "ConfigMap", "metadata": map[string]any{"name": "other", "namespace": "rollcall"}}); err != nil {
		t.Fatal(err)
	}
	k := keeping(c)
	k.Events = false
	take := func(after time.Duration, events ...follow.Event) {
		k.take(t.Context(), answered{reading: provenAnswer(noon), at: noon.Add(after), changes: events})
	}
	take(0)
	take(6 * time.Minute)
	name := incidentsIn(t, c)[0].Name
	o := c.objects[recordRef("rollcall", name).String()]
	if err := c.store(recordRef("rollcall", name), o, evidence.String(o, "metadata", "uid")); err != nil { // somebody writes it
		t.Fatal(err)
	}
	moved := follow.Event{Type: follow.HostMoved, Time: noon, Text: "worker0: moved"}
	take(7*time.Minute, moved)
	take(8 * time.Minute)
	if list := incidentsIn(t, c); len(list) != 1 || !strings.Contains(list[0].Record, moved.Text) {
		t.Errorf("after a conflict: %+v", list)
	}
	if _, ok := c.objects[own.String()]; !ok {
		t.Error("a ConfigMap without the label is gone")
	}
}

// TestRecordsAreBounded: 50 are kept, the open ones among them, and each is at most 64 KiB.
func TestRecordsAreBounded(t *testing.T) {
	c, at := newCluster(), noon
	k := keeping(c)
	k.Events = false
	for range mostRecords + 5 {
		r := provenAnswer(at)
		r.Diagnosis.Roots[0].Means = strings.Repeat("long words ", 8_000)
		for _, step := range []time.Duration{0, 6 * time.Minute} {
			at = at.Add(step)
			k.take(t.Context(), answered{reading: r, at: at})
		}
		for _, step := range []time.Duration{time.Minute, 6 * time.Minute} {
			at = at.Add(step)
			k.take(t.Context(), answered{reading: &Reading{Diagnosis: healthyAnswer(at)}, at: at})
		}
	}
	list := incidentsIn(t, c)
	if len(list) != mostRecords {
		t.Errorf("%d records, want %d", len(list), mostRecords)
	}
	for _, i := range list {
		if len(i.Record) > maxRecord || len(i.Record) < maxRecord/2 {
			t.Errorf("a record of %d bytes", len(i.Record))
		}
	}
}

// TestWritesThatFail: an API server that is away stops nothing, and what it missed is written afterwards.
func TestWritesThatFail(t *testing.T) {
	c := newCluster()
	k := keeping(c)
	c.down = true
	found := follow.Event{Type: follow.CauseFound, Text: "a cause", Cause: &follow.Cause{Fault: "pool-source-missing"}}
	k.take(t.Context(), answered{reading: provenAnswer(noon), at: noon, changes: []follow.Event{found}})
	c.down = false
	for _, after := range []time.Duration{time.Minute, 7 * time.Minute} {
		k.take(t.Context(), answered{reading: provenAnswer(noon), at: noon.Add(after)})
	}
	if list := incidentsIn(t, c); len(list) != 1 {
		t.Errorf("%d records", len(list))
	}
	values := exported(t, k.metrics)
	if values["rollcall_writes_total result=failed what=event"] != 1 || values["rollcall_writes_total result=failed what=record"] != 1 ||
		values["rollcall_writes_total result=written what=record"] != 1 {
		t.Errorf("metrics %v", values)
	}
}

// TestEvents: a cause and a host have an Event each, on the object that they are about; what only waits has none; of many at
// once the first are written and the others counted.
func TestEvents(t *testing.T) {
	c := newCluster()
	k := keeping(c)
	k.Records = ""
	failed := &follow.Step{Stage: fault.Registered, State: diagnosis.StageFailed}
	from := &follow.Step{Stage: fault.ClientCert, State: diagnosis.StageWaiting}
	changes := []follow.Event{
		{Type: follow.HostMoved, Text: "worker1: failed, hunter2", Hosts: []string{"worker1"}, From: from, To: failed},
		{Type: follow.HostMoved, Text: "worker2: ready", Hosts: []string{"worker2"}, From: from, To: &follow.Step{Stage: fault.Ready, State: diagnosis.StageWaiting}},
		{Type: follow.HostMoved, Text: "worker3: joined", Hosts: []string{"worker3"}, From: from, To: &follow.Step{Stage: fault.ConfigDone, State: diagnosis.StagePassed}},
		{Type: follow.StillWatching, Text: "still"},
		{Type: follow.CauseCleared, Text: "no longer: a cause", Cause: &follow.Cause{Fault: "mcs-tls-expired"}},
	}
	for range 2 { // the same change of the same minute is one Event, also by another replica
		k.take(t.Context(), answered{reading: provenAnswer(noon), at: noon, changes: changes})
		k = keeping(c)
		k.Records = ""
	}
	var got []string
	for _, o := range c.objects {
		about := o["regarding"].(map[string]any)
		got = append(got, fmt.Sprintf("%s %s %s/%s %v: %s", o["type"], o["reason"], about["kind"], about["name"], about["uid"], o["note"]))
	}
	slices.Sort(got)
	want := []string{
		"Normal HostJoined Node/worker3 worker3: worker3: joined",
		"Normal McsTlsExpiredOver ClusterVersion/version <nil>: no longer: a cause",
		"Warning HostFailed Node/worker1 worker1: worker1: failed, [redacted]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("worker%d", i)
	}
	c = newCluster()
	k = keeping(c)
	k.Records = ""
	k.take(t.Context(), answered{reading: provenAnswer(noon), at: noon, changes: []follow.Event{{Type: follow.HostMoved, Hosts: many, From: from, To: failed}}})
	if left := exported(t, k.metrics)["rollcall_writes_total result=left-out what=event"]; len(c.objects) != service.EventBurst || left != 75 {
		t.Errorf("%d events, %v left out", len(c.objects), left)
	}
}

// TestRegarding: every kind of subject has an object without a namespace.
func TestRegarding(t *testing.T) {
	for _, s := range []fault.Subject{{Kind: fault.Host, Name: "w0"}, {Kind: fault.Pool, Name: "worker"}, {Kind: fault.CSR, Name: "csr-1"},
		{Kind: fault.Operator, Name: "etcd"}, {Kind: fault.NodePool, Name: "np", Namespace: "clusters", Cluster: "management"},
		{Kind: fault.Host, Name: fault.Unnamed}, {Kind: fault.Cluster}} {
		if ref := regarding(s); ref["kind"] == "" || ref["name"] == "" || ref["name"] == fault.Unnamed || ref["namespace"] != nil {
			t.Errorf("%v: %v", s, ref)
		}
	}
}
