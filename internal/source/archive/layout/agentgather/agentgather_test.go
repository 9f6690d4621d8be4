package agentgather_test

import (
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
