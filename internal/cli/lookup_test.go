package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
)

// questions are what people type at night, and pages of which one is among the first three.
var questions = []struct {
	asked string
	want  []string
}{
	{"node NotReady", []string{"node-not-ready"}},
	{"csr pending", []string{"csr-client-pending", "csr-not-approved"}},
	{"mcp degraded", []string{"pool-stalled", "pool-render-degraded"}},
	{"certificate has expired", []string{"api-certificate-expired", "kubelet-client-cert-expired", "mcs-certificate-expired"}},
	{"HTTP 500", []string{"ignition-fetch-500"}},
	{"worker does not join", []string{"csr-not-approved"}},
	{"bootstrap failed", []string{"bootstrap-service-failed"}},
	{"ignition stuck", []string{"ignition-fetched"}},
	{"no space left", []string{"host-file-system-full"}},
	{"x509 unknown authority", []string{"ignition-tls-untrusted"}},
	{"etcd quorum lost", []string{"etcd-no-quorum"}},
	{"node stuck SchedulingDisabled", []string{"drain-blocked"}},
	{"drain blocked pdb", []string{"drain-blocked"}},
	{"image pull unauthorized", []string{"image-pull-unauthorized"}},
	{"dns resolv", []string{"dns-resolver-wrong"}},
	{"time drift", []string{"host-clock-wrong"}},
	{"hosted cluster worker missing", []string{"hosted-no-worker-yet", "hosted-workers-to-create"}},
	{"bmh stuck inspecting", []string{"bmh-inspection-stuck"}},
	{"power off host", []string{"bmh-switched-off"}},
	{"vip not reachable", []string{"api-vip-not-held"}},
	{"pods stuck terminating", []string{"drain-held", "drain-blocked"}},
	{"etcd member down", []string{"etcd-member-unhealthy"}},
	{"bmc password wrong", []string{"bmc-credentials-refused"}},
	{"client certificate expired", []string{"kubelet-client-cert-expired"}},
	{"host stuck provisioning", []string{"machine-stuck-provisioning"}},
	{"api unreachable", []string{"api-unreachable"}},
	{"operator degraded", []string{"operator-degraded"}},
	{"kubelet cannot get certificate", []string{"kubelet-certificate-missing"}},
	{"pull secret wrong", []string{"image-pull-unauthorized"}},

	// names of scripts and documents that circulate with incidents
	{"fix-mc-desync.sh", []string{"bootstrap-mc-mismatch"}},
	{"MachineConfig Bootstrap Desync Issue", []string{"bootstrap-mc-mismatch"}},
	{"diagnose-tls.sh", []string{"mcs-tls-secret-missing", "ignition-http-to-tls", "mcs-tls-timeout"}},
	{"diagnose-bmh.sh", []string{"bmh-switched-off", "machine-without-bmh"}},
	{"create_ignition_worker.py", []string{"ignition-fetched", "ignition-fetch-500"}},
	{"test_ignition_worker.py --fix-ovn-only", []string{"hosted-ovn-control-plane-not-running"}},
	{"FixOvnNetworkingStep", []string{"ovnkube-node-missing", "ovnkube-node-not-running", "hosted-ovn-control-plane-not-running"}},
	{"csr-management", []string{"csr-not-approved"}},
	{"worker node TLS certificate failure", []string{"ignition-tls-untrusted"}},
	{"etcd recovery", []string{"restore-etcd-backup", "restore-etcd-quorum"}},
	{"complete MCS reset", []string{"delete-mcs-tls"}},
	{"cluster not recoverable, requires reinstall", []string{"reinstall-because-much-is-broken"}},
}

func TestExplainQuestions(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	ix := pageIndex(c)
	for _, q := range questions {
		hits := ix.Search(q.asked)
		hits = hits[:min(3, len(hits))]
		if cmd, ok := shellcommand.Parse(q.asked); ok && cmd.Program != "script" {
			t.Errorf("%q is taken for a command: %+v", q.asked, cmd)
		}
		if !slices.ContainsFunc(hits, func(h lookup.Hit) bool { return slices.Contains(q.want, h.ID) }) {
			t.Errorf("%q finds %+v, want one of %v", q.asked, hits, q.want)
		}
	}
}

// TestExplainPages holds that every page that a question can find is one that `explain` has.
func TestExplainPages(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range pageIndex(c).Search("host node pool operator certificate request config etcd api network image install hosted") {
		if _, ok := entryOf(c, h.ID); !ok && h.Kind != "message" {
			t.Errorf("there is no page %s %s", h.Kind, h.ID)
		}
	}
}

// TestExplainAnswers: a list names what to read first, in words and for programs; what no page
// has is unknown, and a line of a program is never answered by a likeness.
func TestExplainAnswers(t *testing.T) {
	run := func(format, words string) (string, int) {
		var out bytes.Buffer
		a := newApp("rollcall", cmdutil.IO{Cache: shared, Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now})
		err := a.explain(t.Context(), format, words)
		var exit *cmdutil.ExitError
		switch {
		case errors.As(err, &exit):
			return out.String(), int(exit.Code)
		case err != nil:
			return out.String() + err.Error(), 1
		}
		return out.String(), 0
	}
	for _, tt := range []struct {
		words string
		code  int
		want  []string
	}{
		{"mcp degraded", 0, []string{"Best first:", "\npool-stalled ", "Read first: rollcall explain pool-stalled"}},
		{"node NotReady", 0, []string{"node-not-ready\nfault", "See also\nnode-reported-not-ready"}},
		{"etcd quorum lost", 0, []string{"Read first: rollcall explain etcd-no-quorum   (it is clearly the best)"}},
		{"approve all the pending CSRs", 0, []string{"approve-all-csrs\ncommon unsafe advice", "See also"}},
		{"the grommet of the pool sprocket", 3, []string{"UNKNOWN: no page has most of these words", "pool-", "scan FILE"}},
		{"etcd", 0, []string{"Pages about: etcd\nBest first:\n\netcd-", "The fact with this name:\n\netcd\nfact"}},
		{"ignition loop", 0, []string{"Read first: rollcall explain ignition-"}},
		{"rendered config not found", 0, []string{"Read first: rollcall explain rendered-config-missing"}},
		{"image pull backoff", 0, []string{"Read first: rollcall explain image-pull-"}},
		{"expired certificates after shutdown", 0, []string{"certificates-ended-while-silent  nodes"}},
		{"grommet sprocket", 3, []string{"UNKNOWN: nothing is known about this text."}},
		{"pool-pausd", 1, []string{"did you mean pool-paused?"}},
		{"./fix-mc-desync.sh", 3, []string{"it runs a script", "Pages that have the words of its name:\nbootstrap-mc-mismatch"}},
		{"E0101 01:01:01.1 1 thing.go:1] grommet of the pool failed", 3, []string{"UNKNOWN: nothing is known about this text."}},
		{"bootstrap.go:195] The bootstrap client certificate of the kubelet has expired: 2020-04-11 10:12:00", 3,
			[]string{"UNKNOWN: no message of the catalog is like this text.", "Pages that have its words:\nkubelet-client-cert-expired"}},
	} {
		out, code := run("text", tt.words)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q: want %q in\n%s", tt.words, want, out)
			}
		}
		if code != tt.code {
			t.Errorf("%q: exit %d, want %d\n%s", tt.words, code, tt.code, out)
		}
	}
	if out, _ := run("text", "the grommet of the pool sprocket"); strings.Contains(out, "Read first") {
		t.Errorf("what is not known has a page to begin with:\n%s", out)
	}
	out, code := run("json", "etcd quorum lost")
	var page searchPage
	if err := json.Unmarshal([]byte(out), &page); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, out)
	}
	if page.Kind != "search" || page.Best != "etcd-no-quorum" || len(page.Pages) < 2 || page.Pages[0].Score <= page.Pages[1].Score {
		t.Errorf("%+v", page)
	}
}
