package command

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// TestHostileRepair: what a server, a plan or a journal says.
func TestHostileRepair(t *testing.T) {
	var out bytes.Buffer
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now}), source: cmdutil.Options()}
	bad := clitest.Hostile + "\nfake"
	far := errors.New(bad)
	record := repair.Record{Kind: repair.Intent, Step: bad, Note: bad, Write: &repair.Write{Fields: []string{bad}, PreImage: bad, Inverse: bad}}
	complain := func(err error) { fmt.Fprintln(&out, a.CleanLines(err.Error())) }
	for _, tt := range []struct {
		what  string
		print func() error
	}{
		{"progress of a step", func() error { say := a.sayStep(); say("1", bad); say("1", bad); return nil }},
		{"a plan", func() error {
			return a.printPlan(&repair.Plan{ID: bad, Title: bad, Context: bad, Notes: []string{bad}, Open: []string{bad},
				Before: repair.Before{For: []fault.Key{{Fault: bad}}, Others: []fault.Key{{Fault: bad}}},
				Steps:  []repair.Step{{ID: bad, Title: bad, RiskText: bad, OC: bad, Inverse: bad, Action: repair.ApproveCSR}}}, bad, bad)
		}},
		{"history", func() error { return a.printHistory(repair.History{ID: bad, Records: []repair.Record{record}}) }},
		{"histories", func() error {
			return a.printHistories([]repair.History{{ID: bad}, {ID: bad, Records: []repair.Record{record}}})
		}},
		{"the end", func() error {
			seen := []repair.Seen{{Key: fault.Key{Fault: bad, Subject: fault.Subject{Kind: fault.Host, Name: bad}}, Title: bad, Note: bad}}
			o := &repair.Outcome{State: repair.PartlyDone, Reason: bad, Still: seen, New: seen, Others: seen, Waiting: seen, Unknown: seen,
				Unread: []string{bad}, Verdict: bad}
			complain(a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, &repair.NeedPerson{Cause: far, Left: []string{bad}, Back: []string{"1"}}))
			complain(a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, &repair.RolledBack{Cause: far, Steps: []string{"1"}}))
			_ = a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, nil)
			return nil
		}},
	} {
		out.Reset()
		if err := tt.print(); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if out.Len() == 0 {
			t.Errorf("%s prints nothing", tt.what)
		}
		clitest.Harmless(t, tt.what, out.String())
	}
}
