package diagnose

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestOfLines: what lines of a text show is taken where nothing else found a cause, and
// never against what was evaluated.
func TestOfLines(t *testing.T) {
	full := &fault.Fault{ID: "host-file-system-full", For: fault.Host, Severity: fault.Error, Title: "a file system of {host} is full"}
	empty := &fault.Fault{ID: "mcs-pool-config-empty", For: fault.Pool, Severity: fault.Error, Title: "MCS returns 500 for pool {pool}"}
	away := &fault.Fault{ID: "mcs-no-route", For: fault.Cluster, Severity: fault.Error, Title: "no route to the machine config server"}
	guest := &fault.Fault{ID: "hosted-secret-missing", For: fault.Cluster, Severity: fault.Error, Layer: "hosted", Title: "a pod waits for a Secret"}
	lines := []Lines{{Fault: full}, {Fault: empty}, {Fault: away}}
	open := func(edit func(*diagnosis.Diagnosis)) *diagnosis.Diagnosis {
		d := &diagnosis.Diagnosis{Verdict: diagnosis.Verdict{Class: diagnosis.Undetermined}}
		edit(d)
		return d
	}
	for _, tt := range []struct {
		name string
		d    *diagnosis.Diagnosis
		o    Options
		want []string
	}{
		{"nothing else is known", open(func(*diagnosis.Diagnosis) {}), Options{}, []string{"host/?", "pool/?", "cluster"}},
		{"a cause is known", open(func(d *diagnosis.Diagnosis) { d.Roots = []diagnosis.Root{{}} }), Options{}, nil},
		{"all is in progress", open(func(d *diagnosis.Diagnosis) { d.Verdict.Class = diagnosis.Settling }), Options{}, nil},
		{"the installation completed", open(func(d *diagnosis.Diagnosis) { d.Cluster.Installer = &diagnosis.Installer{Ended: "complete"} }), Options{}, nil},
		{"the installer waits", open(func(d *diagnosis.Diagnosis) { d.Cluster.Installer = &diagnosis.Installer{Ended: "running"} }), Options{}, []string{"host/?", "pool/?", "cluster"}},
		{"one was evaluated as absent, one as unknown", open(func(d *diagnosis.Diagnosis) {
			d.Findings = []diagnosis.Finding{{Fault: away.ID, Subject: fault.Subject{Kind: fault.Cluster}, Outcome: fault.Absent}, {Fault: full.ID, Outcome: fault.Unknown}}
		}), Options{}, []string{"host/?", "pool/?"}},
		{"one is of a hosted cluster, and none was looked at", open(func(d *diagnosis.Diagnosis) {
			d.Findings = []diagnosis.Finding{{Fault: guest.ID, Subject: fault.Subject{Kind: fault.Cluster}, Outcome: fault.NotApplicable}, {Fault: away.ID, Subject: fault.Subject{Kind: fault.Cluster}, Outcome: fault.NotApplicable}}
		}), Options{Lines: []Lines{{Fault: guest}, {Fault: away}}}, []string{"cluster"}},
		{"only one is asked for", open(func(*diagnosis.Diagnosis) {}), Options{Only: []string{away.ID}}, []string{"cluster"}},
		{"one is skipped", open(func(*diagnosis.Diagnosis) {}), Options{Skip: []string{away.ID}}, []string{"host/?", "pool/?"}},
	} {
		if tt.o.Lines == nil {
			tt.o.Lines = lines
		}
		var have []string
		for _, f := range tt.o.ofLines(tt.d) {
			if f.Outcome != fault.Present || !f.OfLines {
				t.Errorf("%s: %s is %s, of lines: %t", tt.name, f.Fault, f.Outcome, f.OfLines)
			}
			have = append(have, f.Subject.String())
		}
		if !slices.Equal(have, tt.want) {
			t.Errorf("%s: findings at %v, want %v", tt.name, have, tt.want)
		}
	}
}

// TestNamesOfLines: what lines name is in the title of their cause, as scan has it.
func TestNamesOfLines(t *testing.T) {
	f := &fault.Fault{ID: "image-pull-unauthorized", For: fault.Host, Severity: fault.Error, Title: "{pull.registry} refuses the credentials of {host}",
		General: "the registry refuses the credentials of the host"}
	d := &diagnosis.Diagnosis{Verdict: diagnosis.Verdict{Class: diagnosis.Undetermined}}
	for want, names := range map[string]map[string]string{
		"quay.io refuses the credentials of w1":            {"pull.registry": "quay.io", "host": "w1"},
		"the registry refuses the credentials of the host": nil,
	} {
		found := Options{Lines: []Lines{{Fault: f, Names: names}}}.ofLines(d)
		if len(found) != 1 || found[0].Title != want {
			t.Errorf("%v: %+v, want %q", names, found, want)
		}
	}
}
