package repair

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func present(k fault.Key) diagnosis.Finding {
	return diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Present, Severity: fault.Error, Title: "title of " + k.Fault}
}

func absent(k fault.Key) diagnosis.Finding {
	return diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Absent, Severity: fault.Error}
}

// inCatalog knows the test's faults but one.
func inCatalog(id string) bool { return id != "of-another-catalogue" }

// TestCompare: what may be said after a run, by what the diagnosis shows.
func TestCompare(t *testing.T) {
	other := fault.Key{Fault: "node-not-ready", Subject: fault.Subject{Kind: fault.Host, Name: "w7"}}
	fresh := fault.Key{Fault: "disk-full", Subject: fault.Subject{Kind: fault.Host, Name: "w8"}}
	until := time.Date(2026, 5, 1, 4, 0, 0, 0, time.UTC)
	plan := &Plan{Cluster: ClusterID{ID: "the-cluster"}, Root: rootFault, Before: Before{For: []fault.Key{rootFault, emptyFault}, Others: []fault.Key{other}},
		Steps: []Step{{Action: WaitNode, Args: Args{Host: "control0"}}}}
	gone := []diagnosis.Finding{absent(rootFault), absent(emptyFault)}
	waiting := absent(rootFault)
	waiting.Until = until
	tests := []struct {
		name   string
		end    ended
		change func(*diagnosis.Diagnosis)
		want   State
		says   string
	}{
		{"everything absent", endFinished, func(*diagnosis.Diagnosis) {}, Repaired, "repaired"},
		{"the root is present", endFinished, func(d *diagnosis.Diagnosis) { d.Findings = []diagnosis.Finding{present(rootFault), absent(emptyFault)} },
			PartlyDone, "partly done, still present: bootstrap-desync at pool/master"},
		{"an effect is present, of another root", endFinished, func(d *diagnosis.Diagnosis) {
			d.Findings = []diagnosis.Finding{absent(rootFault), present(emptyFault), present(other)}
			d.Roots = []diagnosis.Root{{Cases: []diagnosis.Case{{Key: other, Explains: []fault.Key{emptyFault}}}}}
		}, PartlyDone, "still present: pool-config-empty at pool/master; not part of this plan, still present: node-not-ready at host/w7"},
		{"a root that the plan is not for", endFinished, func(d *diagnosis.Diagnosis) {
			d.Findings, d.Roots = append(d.Findings, present(other)), []diagnosis.Root{{Cases: []diagnosis.Case{{Key: other}}}}
		}, Repaired, "repaired, not part of this plan, still present: node-not-ready at host/w7"},
		{"a new error", endFinished, func(d *diagnosis.Diagnosis) { d.Findings = append(d.Findings, present(fresh)) }, PartlyDone,
			"partly done, new: disk-full at host/w8"},
		{"a new warning", endFinished, func(d *diagnosis.Diagnosis) {
			f := present(fresh)
			f.Severity = fault.Warning
			d.Findings = append(d.Findings, f)
		}, Repaired, "repaired"},
		{"the root is unknown", endFinished, func(d *diagnosis.Diagnosis) {
			d.Findings[0].Outcome, d.Findings[0].Reason = fault.Unknown, "pools is forbidden"
		}, NotChecked, "could not check: bootstrap-desync at pool/master (pools is forbidden)"},
		{"the root is unknown and an error is new", endFinished, func(d *diagnosis.Diagnosis) {
			d.Findings[0].Outcome = fault.Unknown
			d.Findings = append(d.Findings, present(fresh))
		}, NotChecked, "new: disk-full at host/w8"},
		{"its subjects could not be listed", endFinished, func(d *diagnosis.Diagnosis) {
			blind := absent(fault.Key{Fault: rootFault.Fault, Subject: fault.Subject{Kind: fault.Pool, Name: fault.Unnamed}})
			blind.Outcome, blind.Reason = fault.Unknown, "it could not be read which there are"
			d.Findings[0] = blind
		}, NotChecked, "it could not be read which there are"},
		{"its pool is gone", endFinished, func(d *diagnosis.Diagnosis) {
			d.Findings[0].Subject.Name = "infra"
		}, NotChecked, "pool/master was no longer found"},
		{"no finding of it", endFinished, func(d *diagnosis.Diagnosis) { d.Findings = d.Findings[1:] }, NotChecked, "pool/master was no longer found"},
		{"nodes were not read", endFinished, func(d *diagnosis.Diagnosis) {
			d.Coverage = []evidence.Coverage{{Need: evidence.Nodes.String(), State: evidence.Missing, Why: evidence.Forbidden, Reason: "forbidden"}}
		}, NotChecked, "could not check: nodes were not read: forbidden"},
		{"its condition holds and is expected", endFinished, func(d *diagnosis.Diagnosis) { d.Findings[0] = waiting }, InProgress,
			"in progress (expected until 2026-05-01T04:00:00Z)"},
		{"the cluster settles", endFinished, func(d *diagnosis.Diagnosis) {
			d.Verdict = diagnosis.Verdict{Class: diagnosis.Settling, Until: until}
		}, InProgress, "expected until 2026-05-01T04:00:00Z"},
		{"its host has failed", endFinished, func(d *diagnosis.Diagnosis) {
			d.Hosts = []diagnosis.HostState{{Name: "control0", Stage: fault.EtcdMember, State: diagnosis.StageFailed}}
		}, PartlyDone, "host control0: etcd-member is failed"},
		{"its host is unknown", endFinished, func(d *diagnosis.Diagnosis) {
			d.Hosts = []diagnosis.HostState{{Name: "control0", Stage: fault.EtcdMember, State: diagnosis.StageUnknown}}
		}, NotChecked, "host control0: etcd-member is unknown"},
		{"another cluster", endFinished, func(d *diagnosis.Diagnosis) { d.Cluster.ID = "another" }, NotChecked,
			"this is cluster another, the plan is for the-cluster"},
		{"no cluster id", endFinished, func(d *diagnosis.Diagnosis) { d.Cluster.ID = "" }, NotChecked, "the cluster's id could not be read"},
		{"steps are left, nothing is present", endPartly, func(*diagnosis.Diagnosis) {}, PartlyDone, "not all steps are done"},
		{"undone", endUndone, func(d *diagnosis.Diagnosis) { d.Findings[0] = present(rootFault) }, Undone, "undone (rolled back), still present: bootstrap-desync"},
		{"undone, a new error", endUndone, func(d *diagnosis.Diagnosis) { d.Findings = append(d.Findings, present(fresh)) }, PartlyDone, "new: disk-full"},
		{"undone, a further effect of the root", endUndone, func(d *diagnosis.Diagnosis) {
			d.Findings = append(d.Findings, present(fresh), present(rootFault))
			d.Roots = []diagnosis.Root{{Cases: []diagnosis.Case{{Key: rootFault, Explains: []fault.Key{fresh}}}}}
		}, Undone, "disk-full at host/w8"},
		{"undone, unread", endUndone, func(d *diagnosis.Diagnosis) { d.Findings[0].Outcome = fault.Unknown }, NotChecked, "could not check"},
		{"nothing was done", endNothing, func(d *diagnosis.Diagnosis) { d.Findings[0] = present(rootFault) }, NothingDone, "nothing was changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Verdict: diagnosis.Verdict{Class: diagnosis.Healthy},
				Findings: append([]diagnosis.Finding(nil), gone...)}
			tt.change(d)
			o := compare(plan, tt.end, d, inCatalog)
			if o.State != tt.want || !strings.Contains(o.String(), tt.says) {
				t.Errorf("%s: %s\nwant %s: %s", o.State, o, tt.want, tt.says)
			}
		})
	}
}

// TestGoneRequest: a request that is deleted after an hour is no open question.
func TestGoneRequest(t *testing.T) {
	request := fault.Key{Fault: "csr-client-pending", Subject: fault.Subject{Kind: fault.CSR, Name: "csr-a"}}
	plan := &Plan{Cluster: ClusterID{ID: "the-cluster"}, Root: rootFault, Before: Before{For: []fault.Key{rootFault, request}}}
	d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Findings: []diagnosis.Finding{absent(rootFault)}}
	if o := compare(plan, endFinished, d, inCatalog); o.State != Repaired {
		t.Errorf("%s", o)
	}
	plan.Before.For[1].Fault = "of-another-catalogue"
	if o := compare(plan, endFinished, d, inCatalog); o.State != NotChecked || !strings.Contains(o.String(), "no such fault") {
		t.Errorf("%s", o)
	}
}

// TestLessEvidence: whatever is taken away from a diagnosis, an outcome never becomes
// "repaired".
func TestLessEvidence(t *testing.T) {
	plan := &Plan{Cluster: ClusterID{ID: "the-cluster"}, Root: rootFault, Before: Before{For: []fault.Key{rootFault, emptyFault}}}
	for mask := range 9 {
		d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Findings: []diagnosis.Finding{absent(rootFault), absent(emptyFault)}}
		outcomes := []fault.Outcome{fault.Present, fault.Absent, fault.Unknown}
		d.Findings[0].Outcome, d.Findings[1].Outcome = outcomes[mask%3], outcomes[mask/3]
		whole := compare(plan, endFinished, d, inCatalog)
		for i := range d.Findings {
			less := *d
			less.Findings = append([]diagnosis.Finding(nil), d.Findings...)
			less.Findings[i].Outcome = fault.Unknown
			if o := compare(plan, endFinished, &less, inCatalog); o.State == Repaired || whole.State == Repaired && o.State != NotChecked {
				t.Errorf("%v, then without evidence for %d: %s", d.Findings, i, o)
			}
		}
	}
}

// TestRecheckWaits: what operators report late is waited for, and no longer than asked.
func TestRecheckWaits(t *testing.T) {
	late := fault.Key{Fault: "operator-degraded", Subject: fault.Subject{Kind: fault.Operator, Name: "machine-config"}}
	for _, tt := range []struct {
		until int
		want  State
	}{{3, Repaired}, {1000, PartlyDone}} {
		r := newRig(t, desync(t))
		r.exec.Settle = 2 * time.Minute
		p := r.plan(t)
		asked := 0
		r.diagnosed = func(d *diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) {
			if asked++; asked <= tt.until {
				d.Findings = append(d.Findings, present(late))
			}
			return d, nil
		}
		o, err := r.exec.Apply(t.Context(), p)
		if err != nil || o.State != tt.want || asked > 15 {
			t.Errorf("%v, %v, after %d diagnoses, want %s", o, err, asked, tt.want)
		}
	}
}

// TestRecheckWaitsOpen: a plan that leaves something open is waited for only while operators
// report what is over.
func TestRecheckWaitsOpen(t *testing.T) {
	operator := fault.Key{Fault: "operator-degraded", Subject: fault.Subject{Kind: fault.Operator, Name: "machine-config"}}
	host := fault.Key{Fault: "disk-full", Subject: fault.Subject{Kind: fault.Host, Name: "w8"}}
	for _, tt := range []struct {
		key   fault.Key
		until int
		want  State
		asked int // diagnoses, at most
	}{{operator, 3, Repaired, 4}, {operator, 1000, PartlyDone, 20}, {host, 3, PartlyDone, 1}} {
		r := newRig(t, desync(t))
		r.exec.Settle = time.Hour
		p := r.plan(t)
		p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return s.Action == Verify })
		if _, err := p.Issue(r.dir, ".yaml"); err != nil {
			t.Fatal(err)
		}
		asked := 0
		r.diagnosed = func(d *diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) {
			if asked++; asked <= tt.until {
				d.Findings = append(d.Findings, present(tt.key))
			}
			return d, nil
		}
		o, err := r.exec.Apply(t.Context(), p)
		if err != nil || o.State != tt.want || asked > tt.asked {
			t.Errorf("%s until %d: %v, %v, after %d diagnoses, want %s", tt.key.Fault, tt.until, o, err, asked, tt.want)
		}
	}
}

// TestRecheckInterrupted: who ends the wait after the steps is not told that it is
// repaired, and resume checks again.
func TestRecheckInterrupted(t *testing.T) {
	r := newRig(t, desync(t))
	r.exec.Settle = time.Hour
	p := r.plan(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.diagnosed = func(d *diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) {
		cancel()
		return d, nil
	}
	o, err := r.exec.Apply(ctx, p)
	if o == nil || o.State == Repaired || err == nil {
		t.Errorf("Apply: %v, %v", o, err)
	}
	if h, err := HistoryOf(r.dir, p.ID); err != nil || h.Outcome() != nil {
		t.Errorf("history: %v, %v", h.Outcome(), err)
	}
	r.diagnosed = nil
	if o, err = r.exec.Resume(t.Context(), p.ID); err != nil || o.State != Repaired {
		t.Errorf("Resume: %v, %v", o, err)
	}
}

// TestRecheckAlways: after apply, resume and undo, on success and on failure, the
// diagnosis is run again and is in the journal; a failed one is never "repaired".
func TestRecheckAlways(t *testing.T) {
	last := func(t *testing.T, r *rig, p *Plan) *Outcome {
		t.Helper()
		h, err := HistoryOf(r.dir, p.ID)
		if err != nil || h.Outcome() == nil {
			t.Fatalf("history: %v, %v", h.Records, err)
		}
		return h.Outcome()
	}
	t.Run("diagnosis fails", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.diagnosed = func(*diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) { return nil, errors.New("connection refused") }
		o, err := r.exec.Apply(t.Context(), p)
		if err != nil || o.State != NotChecked || o.ExitCode() != exitNotChecked || !strings.Contains(last(t, r, p).String(), "connection refused") {
			t.Errorf("%v, %v", o, err)
		}
		r.diagnosed = nil
		if o, err = r.exec.Resume(t.Context(), p.ID); err != nil || o.State != Repaired || last(t, r, p).State != Repaired {
			t.Errorf("resumed: %v, %v", o, err)
		}
	})
	t.Run("undo", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.frozen = true
		o, err := r.exec.Apply(t.Context(), p) // control0 never asks for its certificate
		var person *NeedPerson
		if !errors.As(err, &person) || o == nil || o.State != PartlyDone || last(t, r, p).State != PartlyDone {
			t.Fatalf("Apply: %v, %v", o, err)
		}
		o, err = r.exec.Undo(t.Context(), p.ID)
		if err != nil || o.State != Undone || len(o.Still) != 3 || last(t, r, p).State != Undone {
			t.Errorf("Undo: %v, %v", o, err)
		}
	})
	t.Run("refused at the first step", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.put(etcdRef(), etcdObject("1 of 3 members are available"))
		o, err := r.exec.Apply(t.Context(), p)
		if ExitCode(err) != exitNeedPerson || o == nil || o.State != NothingDone || last(t, r, p).State != NothingDone {
			t.Errorf("Apply: %v, %v", o, err)
		}
	})
	t.Run("another cluster", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.put(etcdRef(), etcdObject("1 of 3 members are available"))
		_, _ = r.exec.Apply(t.Context(), p)
		h, _ := HistoryOf(r.dir, p.ID)
		r.exec.CA = "another"
		o, err := r.exec.Resume(t.Context(), p.ID)
		after, _ := HistoryOf(r.dir, p.ID)
		if err == nil || o != nil || len(after.Records) != len(h.Records) {
			t.Errorf("Resume: %v, %v; %d records, then %d", o, err, len(h.Records), len(after.Records))
		}
	})
}
