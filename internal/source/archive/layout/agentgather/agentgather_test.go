package agentgather_test

import (
	"io"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/agentgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
)

// export has 3 entries; the message of the second one is written as bytes.
const export = "__CURSOR=1\n__REALTIME_TIMESTAMP=1767348000000000\n_HOSTNAME=control1\nSYSLOG_IDENTIFIER=kubelet\n_PID=7\n_SYSTEMD_UNIT=kubelet.service\n" +
	"MESSAGE=one=1\n\n" +
	"__CURSOR=2\n__REALTIME_TIMESTAMP=1767348001000000\n_HOSTNAME=control1\nSYSLOG_IDENTIFIER=agent\n" +
	"MESSAGE\n\x1a\x00\x00\x00\x00\x00\x00\x00two\nlines \x00 and __CURSOR=x\n\n" +
	"__CURSOR=3\n__REALTIME_TIMESTAMP=1767348002000000\n_HOSTNAME=control1\nSYSLOG_IDENTIFIER=systemd\nUNIT=kubelet.service\n_SYSTEMD_UNIT=init.scope\n" +
	"MESSAGE=Started Kubelet.\n\n"

func TestAgentGather(t *testing.T) {
	s := layouttest.Open(t, "-- agent-gather-20260102/journal.export --\n"+export)
	layouttest.IsKind(t, s, agentgather.Kind, "2026-01-02T10:00:02Z")
	const first, last = "Jan  2 10:00:00 control1 kubelet[7]: one=1\n", "Jan  2 10:00:02 control1 systemd: Started Kubelet.\n"
	if got, want := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}), first+"\n"+last; got != want {
		t.Errorf("the kubelet logs %q, want %q", got, want)
	}
	if got, want := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal}),
		first+"Jan  2 10:00:01 control1 agent: two lines   and __CURSOR=x\n"+last; got != want {
		t.Errorf("the journal is %q, want %q", got, want)
	}
}

// TestHalf: of an agent-gather of which half is lost the lines before the loss are read, that others
// are gone is an error, and what it never has is not collected.
func TestHalf(t *testing.T) {
	const first = "Jan  2 10:00:00 control1 kubelet[7]: one=1\n"
	journal := evidence.TextQuery{Kind: evidence.Journal}
	for _, c := range []struct {
		name, export string
		lines        string // that are read; "": not looked at
		err          string // of reading; "": none
	}{
		{"whole", export, "", ""},
		{"cut in a message", export[:strings.Index(export, "lines ")], first, "unexpected EOF"},
		{"cut in a field", export[:strings.Index(export, "_HOSTNAME")+4], "", "unexpected EOF"},
		{"cut in the last entry", export[:len(export)-2], "", "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := layouttest.Open(t, "-- agent-gather-20260102/nmcli.txt --\n-- agent-gather-20260102/journal.export --\n"+c.export)
			texts, err := s.Texts(t.Context(), journal)
			if err != nil || len(texts) != 1 {
				t.Fatalf("%d texts, %v", len(texts), err)
			}
			in, err := texts[0].Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(in)
			if closed := in.Close(); closed != nil {
				t.Error(closed)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("read: %v, want %q", err, c.err)
			}
			if c.lines != "" && string(raw) != c.lines {
				t.Errorf("%q, want %q", raw, c.lines)
			}
			for _, r := range []evidence.Resource{evidence.Nodes, evidence.CSRs} {
				if list, err := s.List(t.Context(), r, ""); len(list) > 0 || layouttest.Why(t, err) != evidence.NotCollected {
					t.Errorf("%s: %d objects, %v", r, len(list), err)
				}
			}
		})
	}
	s := layouttest.Open(t, "-- agent-gather-20260102/journal.export --\n")
	if texts, err := s.Texts(t.Context(), journal); len(texts) > 0 || layouttest.Why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty export: %d texts, %v", len(texts), err)
	}
}
