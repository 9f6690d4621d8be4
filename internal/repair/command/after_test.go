package command

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

func sign(id after.ID, o fault.Outcome) after.Indicator { return after.Indicator{ID: id, Outcome: o} }

// TestCodeAfter: only where every sign holds the exit code is 0.
func TestCodeAfter(t *testing.T) {
	held := []after.Indicator{sign(after.NodesReady, fault.Present), sign(after.EtcdMembers, fault.NotApplicable)}
	for _, tt := range []struct {
		name string
		list []after.Indicator
		err  error
		want cmdutil.ExitCode
	}{
		{"all hold", held, nil, cmdutil.ExitOK},
		{"none was read", nil, nil, cmdutil.ExitUndecided},
		{"they could not be read", nil, errors.New("unreachable"), cmdutil.ExitUndecided},
		{"one is unknown", append(held, sign(after.PoolsUpdated, fault.Unknown)), nil, cmdutil.ExitUndecided},
		{"one does not hold", append(held, sign(after.OperatorsStable, fault.Absent)), nil, cmdutil.ExitUndecided},
		{"an error is present", append(held, sign(after.NoFault, fault.Absent)), nil, cmdutil.ExitFault},
		{"whether an error is present is unknown", append(held, sign(after.NoFault, fault.Unknown)), nil, cmdutil.ExitUndecided},
	} {
		if got := codeAfter(tt.list, tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAfterWait: an operator that clears a minute later is waited for, one that does not is
// named when the time is over.
func TestAfterWait(t *testing.T) {
	for _, tt := range []struct {
		name         string
		limit, clear time.Duration
		want         fault.Outcome
		looks        int
		took         time.Duration
	}{
		{"at once", 10 * time.Minute, 0, fault.Present, 1, 0},
		{"a minute later", 10 * time.Minute, time.Minute, fault.Present, 5, time.Minute},
		{"not in time", 2 * time.Minute, time.Hour, fault.Absent, 9, 2 * time.Minute},
		{"without waiting", 0, time.Minute, fault.Absent, 1, 0},
	} {
		begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		now, looks := begun, 0
		var said []string
		w := afterWait{
			limit: tt.limit, now: func() time.Time { return now },
			sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil },
			say:   func(text string) { said = append(said, text) },
			check: func(context.Context) ([]after.Indicator, error) {
				looks++
				if now.Sub(begun) < tt.clear {
					return []after.Indicator{{ID: after.OperatorsStable, Outcome: fault.Absent, Reason: "1 of 3 not: etcd (degraded)"}}, nil
				}
				return []after.Indicator{sign(after.OperatorsStable, fault.Present)}, nil
			},
		}
		list, err := w.run(t.Context())
		if err != nil || len(list) != 1 || list[0].Outcome != tt.want || looks != tt.looks || now.Sub(begun) != tt.took {
			t.Errorf("%s: %v %v after %d looks and %s", tt.name, list, err, looks, now.Sub(begun))
		}
		if waited := tt.took > 0; waited && (len(said) != 1 || !strings.HasSuffix(said[0], "for: operators-stable (1 of 3 not: etcd (degraded))")) || !waited && len(said) > 0 {
			t.Errorf("%s: said %q", tt.name, said)
		}
	}
}

// TestAfterWaitInterrupted: what was seen last counts.
func TestAfterWaitInterrupted(t *testing.T) {
	w := afterWait{
		limit: time.Hour, now: time.Now, say: func(string) {}, sleep: func(context.Context, time.Duration) error { return context.Canceled },
		check: func(context.Context) ([]after.Indicator, error) {
			return []after.Indicator{sign(after.NodesReady, fault.Absent)}, nil
		},
	}
	if list, err := w.run(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// TestPasses: it is not waited where another cause stands, as it needs a repair of its own.
func TestPasses(t *testing.T) {
	at := func(kind fault.Kind) []repair.Seen {
		return []repair.Seen{{Key: fault.Key{Fault: "x", Subject: fault.Subject{Kind: kind, Name: "a"}}}}
	}
	for _, tt := range []struct {
		o    repair.Outcome
		want bool
	}{
		{repair.Outcome{State: repair.Repaired}, true},
		{repair.Outcome{State: repair.InProgress}, true},
		{repair.Outcome{State: repair.Repaired, Others: at(fault.Operator)}, true},
		{repair.Outcome{State: repair.Repaired, Others: at(fault.Host)}, false},
		{repair.Outcome{State: repair.PartlyDone}, false},
	} {
		if got := passes(&tt.o); got != tt.want {
			t.Errorf("%+v: %v", tt.o, got)
		}
	}
}
