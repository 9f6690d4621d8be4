package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/service"
)

// Bounds of the records.
const (
	provenFor   = 5 * time.Minute // how long a cause is proven before it has a record, and is gone before the record ends
	mostRecords = 50              // those that ended first are deleted
	maxRecord   = 64 << 10        // bytes of one
	mostSteps   = 100             // changes that one record lists
)

// Labels and annotations of a record, and the key of its text.
const (
	RecordLabel = "rollcall.dev/incident" // open or ended
	recordOpen  = "open"
	recordEnded = "ended"

	recordFault  = "rollcall.dev/fault"
	recordTitle  = "rollcall.dev/title"
	recordProven = "rollcall.dev/proven" // since when it is proven
	recordEnd    = "rollcall.dev/ended"
	recordDigest = "rollcall.dev/cause-sha256" // of what digestOf takes
	RecordKey    = "record.md"
)

// records keeps a document for each cause that stays proven, as ConfigMaps: they survive without storage, which is
// what is missing where hosts are.
type records struct {
	keeper *Keeper
	read   bool                 // the records of before are known
	proven map[string]time.Time // since when a cause is proven without a break, by fault
	open   map[string]*incident // by fault
	ended  []stored             // the oldest first
}

// incident is a cause that has a record.
type incident struct {
	stored
	gone  time.Time // since when it is not seen; zero: it is
	steps []string
	dirty bool // something is not written yet
	body  string
}

// stored is a record as it is in the cluster.
type stored struct {
	name, uid, version string
	fault, title       string
	proven, ended      time.Time
	digest             string
}

// step takes the next answer.
func (r *records) step(ctx context.Context, p answered) {
	if !r.known(ctx) {
		return // what is open is not known: a second record of the same incident would be written
	}
	now := map[string]diagnosis.Root{}
	for _, root := range p.reading.Diagnosis.Roots {
		if _, twice := now[root.Fault]; !twice && root.Severity.Rank() > fault.Info.Rank() && root.Cases[0].Confidence == diagnosis.Proven {
			now[root.Fault] = root
		}
	}
	for id := range r.proven {
		if _, still := now[id]; !still {
			delete(r.proven, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		r.seen(now[id], p)
	}
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		i := r.open[id]
		r.note(i, p)
		switch _, still := now[id]; {
		case still:
		case mayBe(p.reading.Diagnosis, id): // not proven now, an effect of another cause, or not known: it is not gone
			i.gone = time.Time{}
		default:
			r.missing(i, p.at)
		}
		r.write(ctx, i)
	}
	r.prune(ctx)
}

// seen is a proven cause of this answer.
func (r *records) seen(root diagnosis.Root, p answered) {
	since, ok := r.proven[root.Fault]
	if !ok {
		since = p.at
		r.proven[root.Fault] = since
	}
	i := r.open[root.Fault]
	switch {
	case i != nil:
		i.gone = time.Time{}
	case p.at.Sub(since) >= provenFor:
		i = &incident{stored: stored{fault: root.Fault, title: root.Cases[0].Title, proven: since}}
		i.name = "rollcall-" + since.UTC().Format("20060102-150405") + "-" + root.Fault
		r.open[root.Fault] = i
	default:
		return
	}
	// The evidence of a cause changes with each log line; a record is written again where its subjects or its words do.
	if digest := digestOf(root); digest != i.digest {
		i.digest, i.dirty = digest, true
		i.body = r.document(p, root)
	}
}

// digestOf is of what a cause is and where, and of what proves it first.
func digestOf(root diagnosis.Root) string {
	h := sha256.New()
	fmt.Fprintln(h, root.Fault)
	for i := range root.Cases {
		c := &root.Cases[i]
		fmt.Fprintln(h, c.Subject, c.Title)
		if len(c.Evidence) > 0 {
			fmt.Fprintln(h, c.Evidence[0].Locator)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// mayBe reports whether a fault is present, or not known, at any subject.
func mayBe(d *diagnosis.Diagnosis, id string) bool {
	return slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool {
		return f.Fault == id && (f.Outcome == fault.Present || f.Outcome == fault.Unknown)
	})
}

// missing is an open incident whose cause an answer does not have.
func (r *records) missing(i *incident, at time.Time) {
	if i.gone.IsZero() {
		i.gone = at
	}
	if at.Sub(i.gone) >= provenFor {
		i.ended, i.dirty = i.gone, true
	}
}

// note keeps what changed while the incident was open.
func (r *records) note(i *incident, p answered) {
	for _, c := range p.changes {
		if c.Type == follow.StillWatching || c.Type == follow.Started {
			continue
		}
		i.steps, i.dirty = append(i.steps, c.Time.UTC().Format(time.RFC3339)+"  "+r.keeper.Clean(strings.TrimSpace(c.Text))), true
	}
	if extra := len(i.steps) - mostSteps; extra > 0 {
		i.steps = slices.Delete(i.steps, 0, extra)
	}
}

// document is the incident record of an answer, as `diagnose -o markdown` writes it, with this cause alone.
func (r *records) document(p answered, root diagnosis.Root) string {
	d := *p.reading.Diagnosis
	d.Roots = []diagnosis.Root{root}
	var out bytes.Buffer
	if err := answer.Answer(&out, "markdown", &d, p.reading.Report); err != nil {
		r.keeper.log.Warn("a record has no document", "fault", root.Fault, "error", err.Error())
	}
	return out.String()
}

// text is the document with what is known of the incident above and what changed below.
func (i *incident) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Proven since %s", i.proven.UTC().Format(time.RFC3339))
	if i.ended.IsZero() {
		b.WriteString(", and open.\n\n")
	} else {
		fmt.Fprintf(&b, ", gone since %s, after %s.\n\n", i.ended.UTC().Format(time.RFC3339), fault.Span(i.ended.Sub(i.proven)))
	}
	var tail strings.Builder
	if len(i.steps) > 0 {
		fmt.Fprintf(&tail, "\n## What changed\n\n")
		for _, s := range i.steps {
			fmt.Fprintf(&tail, "    %s\n", s)
		}
	}
	end := service.Shorten(tail.String(), maxRecord/4)
	b.WriteString(service.Shorten(i.body, maxRecord-b.Len()-len(end)))
	b.WriteString(end)
	return b.String()
}

// write writes an incident that changed. What fails is tried again with the next answer.
func (r *records) write(ctx context.Context, i *incident) {
	if !i.dirty {
		return
	}
	k := r.keeper
	ref := recordRef(k.Records, i.name)
	o := i.object(k)
	err := within(ctx, func(ctx context.Context) error {
		if i.uid == "" {
			return k.API.Create(ctx, ref, o)
		}
		return k.API.Update(ctx, ref, o)
	})
	done := k.wrote(ctx, kindRecord, i.name, err)
	r.read = false // its version is new, or another writer was there: it is read before the next write
	if !done {
		return
	}
	i.dirty = false
	if !i.ended.IsZero() {
		delete(r.open, i.fault)
	}
}

func recordRef(namespace, name string) kube.Ref {
	return kube.Ref{Version: "v1", Resource: "configmaps", Namespace: namespace, Name: name}
}

// object is the ConfigMap of an incident.
func (i *incident) object(k *Keeper) kube.Object {
	state := recordOpen
	notes := map[string]any{
		recordFault: i.fault, recordTitle: service.Shorten(k.Clean(i.title), 1024), recordProven: i.proven.UTC().Format(time.RFC3339), recordDigest: i.digest,
	}
	if !i.ended.IsZero() {
		state = recordEnded
		notes[recordEnd] = i.ended.UTC().Format(time.RFC3339)
	}
	meta := map[string]any{
		"name": i.name, "namespace": k.Records, "annotations": notes,
		"labels": map[string]any{RecordLabel: state, openshift.ManagedByLabel: name},
	}
	if i.uid != "" {
		meta["uid"], meta["resourceVersion"] = i.uid, i.version
	}
	return kube.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{RecordKey: k.Hide(i.text())}}
}

// known reads the records that the cluster has, where that is needed, and reports whether they are known.
func (r *records) known(ctx context.Context) bool {
	if r.read {
		return true
	}
	if r.proven == nil {
		r.proven, r.open = map[string]time.Time{}, map[string]*incident{}
	}
	var list []kube.Object
	err := within(ctx, func(ctx context.Context) (err error) {
		list, err = r.keeper.API.List(ctx, recordRef(r.keeper.Records, ""))
		return err
	})
	if err != nil {
		r.keeper.wrote(ctx, kindRecord, "the records", err)
		return false
	}
	r.read, r.ended = true, nil
	for _, o := range list {
		s := storedOf(o)
		switch evidence.String(o, "metadata", "labels", RecordLabel) {
		case recordEnded:
			r.ended = append(r.ended, s)
		case recordOpen:
			r.adopt(s, evidence.String(o, "data", RecordKey))
		}
	}
	slices.SortFunc(r.ended, func(a, b stored) int { return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.name, b.name)) })
	return true
}

// adopt continues an open record, of this replica or of one before it.
func (r *records) adopt(s stored, text string) {
	i := r.open[s.fault]
	if i == nil {
		_, body, _ := strings.Cut(text, "\n\n") // without the line above it
		body, steps, _ := strings.Cut(body, "\n## What changed\n\n")
		i = &incident{stored: s, body: body}
		for line := range strings.SplitSeq(steps, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				i.steps = append(i.steps, line)
			}
		}
		r.open[s.fault] = i
		return
	}
	if i.name == s.name {
		i.uid, i.version = s.uid, s.version
	}
}

func storedOf(o kube.Object) stored {
	note := func(key string) string { return evidence.String(o, "metadata", "annotations", key) }
	at := func(key string) time.Time {
		t, _ := time.Parse(time.RFC3339, note(key)) // zero where somebody changed it
		return t
	}
	return stored{
		name: evidence.String(o, "metadata", "name"), uid: evidence.String(o, "metadata", "uid"), version: evidence.String(o, "metadata", "resourceVersion"),
		fault: note(recordFault), title: note(recordTitle), proven: at(recordProven), ended: at(recordEnd), digest: note(recordDigest),
	}
}

// prune deletes the records that ended first, where there are too many. An open one is never deleted.
func (r *records) prune(ctx context.Context) {
	for len(r.ended) > 0 && len(r.ended)+len(r.open) > mostRecords {
		s := r.ended[0]
		err := within(ctx, func(ctx context.Context) error {
			return r.keeper.API.Delete(ctx, recordRef(r.keeper.Records, s.name), s.uid)
		})
		if !r.keeper.wrote(ctx, kindRecord, s.name, err) {
			return
		}
		r.ended = r.ended[1:]
	}
}

// Incident is a record as a reader sees it. Its text is foreign: whoever may write ConfigMaps may have changed it.
type Incident struct {
	Name   string    `json:"name"`
	State  string    `json:"state"` // open or ended
	Fault  string    `json:"fault"`
	Title  string    `json:"title"`
	Proven time.Time `json:"proven"`         // since when
	Ended  time.Time `json:"ended,omitzero"` // since when it was gone
	Record string    `json:"record,omitempty"`
}

// Incidents lists the records of a namespace, the newest last.
func Incidents(ctx context.Context, api API, namespace string) ([]Incident, error) {
	list, err := api.List(ctx, recordRef(namespace, ""))
	if err != nil {
		return nil, err
	}
	var found []Incident
	for _, o := range list {
		state := evidence.String(o, "metadata", "labels", RecordLabel)
		if state != recordOpen && state != recordEnded {
			continue
		}
		s := storedOf(o)
		found = append(found, Incident{s.name, state, s.fault, s.title, s.proven, s.ended, evidence.String(o, "data", RecordKey)})
	}
	slices.SortFunc(found, func(a, b Incident) int { return cmp.Or(a.Proven.Compare(b.Proven), cmp.Compare(a.Name, b.Name)) })
	return found, nil
}
