package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Headline is how a verdict is said.
type Headline struct {
	Sign  page.Sign
	Paint page.Paint
	Words string // in capitals
}

// headlines are the verdicts in words that need no manual.
var headlines = map[diagnosis.VerdictClass]Headline{
	diagnosis.Healthy:            {page.Good, page.Green, "NOTHING WRONG FOUND"},
	diagnosis.Settling:           {page.Wait, page.Yellow, "IN PROGRESS, AS EXPECTED"},
	diagnosis.RecoverableInPlace: {page.Bad, page.Red, "BROKEN, CAUSE KNOWN"},
	diagnosis.RecoverableByNode:  {page.Bad, page.Red, "BROKEN, CAUSE KNOWN: REPLACE A NODE"},
	diagnosis.RecoverableQuorum:  {page.Bad, page.Red, "BROKEN, CAUSE KNOWN: RESTORE THE ETCD QUORUM"},
	diagnosis.RecoverableBackup:  {page.Bad, page.Red, "BROKEN, CAUSE KNOWN: RESTORE FROM AN ETCD BACKUP"},
	diagnosis.CannotCheck:        {page.Bad, page.Red, "CANNOT CHECK"},
	diagnosis.ReinstallRequired:  {page.Bad, page.Red, "BROKEN, CAUSE KNOWN: REINSTALL"},
	diagnosis.NotReady:           {page.Bad, page.Red, "DO NOT INSTALL YET"},
	diagnosis.CheckFirst:         {page.Warn, page.Yellow, "CHECK BEFORE YOU INSTALL"},
}

// planSource is the kind of a source that is a plan: internal/preflight/plan.
const planSource = "plan"

// textSource is the kind of a source that somebody copied together: internal/source/paste.
const textSource = "text"

// noSignInText is the headline of a text in which nothing was found.
const noSignInText = "NO KNOWN SIGN OF TROUBLE IN THIS TEXT"

// HeadlineOf adds to the class whether a cause is known and how much is accepted, and says
// WARNING where nothing that is present and not accepted is an error.
func HeadlineOf(d *diagnosis.Diagnosis) Headline {
	h, known := headlines[d.Verdict.Class]
	switch {
	case d.Verdict.Class == diagnosis.OnlyAccepted:
		return Headline{page.Warn, page.Yellow, "NOTHING WRONG FOUND BUT " + page.Count(d.Verdict.Accepted, "ACCEPTED FINDING", "ACCEPTED FINDINGS")}
	case known:
	case d.Verdict.Cause == diagnosis.CauseNone && d.Source.Kind == planSource:
		h = Headline{page.Open, page.Yellow, "NO MISTAKE FOUND SO FAR"}
	case d.Verdict.Cause == diagnosis.CauseNone && otherSystem(d):
		h = Headline{page.Open, page.Yellow, "NO LOG OF AN OPENSHIFT HOST"}
	case otherProduct(d):
		h = Headline{page.Open, page.Yellow, "NOT OPENSHIFT, NOTHING WRONG IN WHAT WAS READ"}
	case d.Verdict.Cause == diagnosis.CauseNone && d.Cluster.CompletedBy == diagnosis.ByAssisted:
		h = Headline{page.Open, page.Yellow, "INSTALLATION COMPLETED"}
	case d.Verdict.Cause == diagnosis.CauseNone && d.Source.Kind == textSource:
		h = Headline{page.Open, page.Yellow, noSignInText}
	case d.Verdict.Cause == diagnosis.CauseNone && d.Cluster.Installer != nil:
		h = Headline{page.Open, page.Yellow, loggedHeadline(*d.Cluster.Installer)}
	case d.Verdict.Cause == diagnosis.CauseNone && tellOfAll(d):
		h = Headline{page.Open, page.Yellow, "NOTHING WRONG IN WHAT WAS COLLECTED"}
	case d.Verdict.Cause == diagnosis.CauseNone: // nothing is wrong in what is there
		h = Headline{page.Open, page.Yellow, "TOO LITTLE COLLECTED"}
	case len(d.Roots) > 0:
		h = Headline{page.Bad, page.Red, "BROKEN, NO REMEDY KNOWN"}
	default:
		h = Headline{page.Open, page.Yellow, "UNDECIDED"}
	}
	if d.Source.Kind == planSource && len(d.Roots) > 0 {
		h = headlines[diagnosis.NotReady]
		if !serious(d) {
			h = headlines[diagnosis.CheckFirst]
		}
	} else if h.Sign == page.Bad && !serious(d) {
		h = Headline{page.Warn, page.Yellow, strings.Replace(h.Words, "BROKEN", "WARNING", 1)}
	}
	if d.Verdict.Cause == diagnosis.CauseLikely {
		h.Words = strings.Replace(h.Words, "CAUSE KNOWN", "LIKELY CAUSE", 1)
	}
	if n := d.Verdict.Accepted; n > 0 {
		h.Words += fmt.Sprintf(", %d ACCEPTED", n)
	}
	return h
}

// otherSystem reports whether all that was read is of machines of another system: no advice for a cluster fits.
func otherSystem(d *diagnosis.Diagnosis) bool {
	return d.Cluster.OnlyOthers() && len(d.Hosts) == 0 && d.Verdict.Cause == diagnosis.CauseNone
}

// tellOfAll reports whether ClusterVersion and ClusterOperators were read: they tell of the whole cluster, whatever else lacks.
func tellOfAll(d *diagnosis.Diagnosis) bool {
	read := func(r evidence.Resource, least int) bool {
		return slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
			return c.Need == r.String() && (c.State == evidence.Read || c.State == evidence.Partial && least > 0 && c.Count == least)
		})
	}
	return read(evidence.ClusterVersions, 1) && read(evidence.ClusterOperators, 0) // a cluster has one ClusterVersion
}

// otherProduct reports whether a cluster is of another distribution of Kubernetes, and nothing is wrong in what was read of it.
func otherProduct(d *diagnosis.Diagnosis) bool {
	return d.Cluster.Product != nil && d.Verdict.Cause == diagnosis.CauseNone && d.Verdict.Class == diagnosis.Undetermined
}

// loggedHeadline is the headline of a log of openshift-install in which nothing is wrong.
func loggedHeadline(in diagnosis.Installer) string {
	switch {
	case in.Completed() && in.Step == "bootstrapped":
		return "BOOTSTRAP COMPLETED"
	case in.Completed():
		return "INSTALLATION COMPLETED"
	}
	return "FILES WRITTEN, NOTHING INSTALLED YET"
}

// serious reports whether an error is present that is not accepted.
func serious(d *diagnosis.Diagnosis) bool {
	for _, f := range d.Findings {
		if f.Outcome == fault.Present && f.Severity == fault.Error && f.Accepted == nil {
			return true
		}
	}
	return false
}

// confidences in words.
var confidences = map[diagnosis.Confidence]string{
	diagnosis.Proven: "proven", diagnosis.Likely: "likely, not proven", diagnosis.Possible: "possible, not proven",
}

// since renders when something began and how long that is.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "since " + page.Clock(t) + " (" + fault.Span(now.Sub(t)) + ")"
}

// begin renders for how long something has been so, and in wide output since when.
func (t *text) begin(from time.Time) string {
	switch {
	case from.IsZero():
		return ""
	case t.o.Wide:
		return since(from, t.d.Now)
	}
	return strings.TrimPrefix(t.lasts(from), " ")
}

// lasts renders for how long something has been so. Where the source does not say when it
// was read, that is the shortest it can be.
func (t *text) lasts(from time.Time) string {
	span := fault.Span(t.d.Now.Sub(from))
	if t.d.Source.AtLeast {
		return " for at least " + span
	}
	return " for " + span
}

// some lists the first names and the number of the others.
func some(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// moreHint is shown after a list that was cut, with the flag that shows all of it.
func moreHint(n int) string { return fmt.Sprintf("and %d more: -o wide", n) }

// rendered is the name of a rendered MachineConfig: its pool and a hash of 32 digits
// (openshift/machine-config-operator:pkg/controller/render/hash.go
// getMachineConfigHashedName).
var rendered = regexp.MustCompile(`\b(rendered-[a-z0-9][a-z0-9.-]*-[0-9a-f]{6})[0-9a-f]{26}\b`)

// Brief shortens the names of rendered configs in a sentence; proof, commands and
// -o wide have them whole.
func (o Options) Brief(sentence string) string {
	if o.Wide {
		return sentence
	}
	return rendered.ReplaceAllString(sentence, "${1}"+o.Sign(page.Ellipsis))
}

// plurals of the kinds of subject.
var plurals = map[fault.Kind]string{
	fault.Host: "hosts", fault.Pool: "pools", fault.NodePool: "NodePools", fault.CSR: "CSRs", fault.Operator: "operators", fault.Cluster: "clusters",
}

// StageMeans says what each step of the join path is, in field terms.
func StageMeans(s fault.Stage) string { return stageMeans[s] }

var stageMeans = map[fault.Stage]string{
	fault.Planned:         "the host is expected: a BareMetalHost, Machine or Node refers to it",
	fault.Powered:         "the machine is switched on",
	fault.Inspected:       "Metal3 has inspected the hardware (not for agent-based, UPI or platform None installs)",
	fault.Imaged:          "the operating system is written to the disk",
	fault.IgnitionFetched: "Ignition has fetched the host's config from the machine config server on port 22623",
	fault.FirstBoot:       "the first boot is over: Ignition applied its config and the kubelet started",
	fault.ClientCert:      "the kubelet has its client certificate: its bootstrap CSR was approved",
	fault.Registered:      "the Node object exists",
	fault.NetworkReady:    "the network plugin is up on the node",
	fault.Ready:           "the Node is Ready",
	fault.ServingCert:     "the kubelet has its serving certificate: its second CSR was approved (oc logs and oc exec need it)",
	fault.EtcdMember:      "the node's etcd member is a voting, healthy member (control plane only)",
	fault.StaticPods:      "the static pods of the control plane run at the latest revision (control plane only)",
	fault.ConfigDone:      "the machine-config-daemon reports Done with the config of the pool",
}
