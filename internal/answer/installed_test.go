package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// TestInstalled: scan says first of the log of an installation that is complete that it is.
func TestInstalled(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	known := false
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			known = known || m.Normal == installDone
		}
	}
	if !known {
		t.Errorf("the catalog has no message %q", installDone)
	}
	var out bytes.Buffer
	r := &message.Report{Result: message.Absent, Lines: 811, Normal: []message.Note{{Words: "the API answers"}, {Words: installDone, Line: message.Line{Number: 805}}}}
	if err := Scan(&out, r, c, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "THE INSTALLATION IS DONE (line 805 of 811), ") {
		t.Errorf("scan begins with\n%s", out.String())
	}
}

// TestMayNotRead: rights that are missing are one clause, and the first thing to do is to ask for them.
func TestMayNotRead(t *testing.T) {
	right := func(resource string) evidence.Coverage {
		return evidence.Coverage{Need: resource, State: evidence.Missing, Why: evidence.Forbidden, Reason: "forbidden: missing right: list " + resource,
			Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: resource}}
	}
	d := &diagnosis.Diagnosis{
		Verdict: diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Open: []diagnosis.Question{
			{Of: fault.Key{Fault: "node-not-ready", Subject: fault.Subject{Kind: fault.Host, Name: "w1"}}, Says: "node w1 is not Ready; cause unknown"},
			{Says: "not all nodes were read: forbidden", Forbidden: true}, {Says: "w2 is unknown"},
		}},
		Coverage: []evidence.Coverage{right("nodes"), right("machineconfigpools"), right("machineconfigs"),
			{Need: "secrets", State: evidence.Missing, Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "secrets"}}},
	}
	x := newText(d, Options{Style: page.Style{Width: page.NoWrap}})
	x.verdict()
	x.supplies()
	want := "? UNDECIDED: node w1 is not Ready; cause unknown; you may not read nodes, machineconfigpools and 1 more, which can show why " +
		"(and 1 more open: -o wide)\n\nNext: get what would decide (reads only)\n  rollcall can-i --role USER > reader.yaml    # "
	if !strings.HasPrefix(x.String(), want) {
		t.Errorf("%s\nwant it to begin with\n%s", x.String(), want)
	}
	d.Coverage = d.Coverage[3:]
	if words := newText(d, Options{}).mayNotRead(); words != "" {
		t.Errorf("a right to read Secrets, which no role of can-i has, is %q", words)
	}
}
