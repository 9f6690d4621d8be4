package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// verdict says what may be said about the whole. Age and the number of broken
// things are no arguments; "healthy" needs hosts that were checked.
func verdict(d *diagnosis.Diagnosis) diagnosis.Verdict {
	v := verdictOf(d)
	switch {
	case v.Cause != "":
	case v.Class == diagnosis.Undetermined:
		v.Cause = diagnosis.CauseUnknown
	default:
		v.Cause = diagnosis.CauseNone
	}
	v.Accepted = len(d.Accepted)
	return v
}

func verdictOf(d *diagnosis.Diagnosis) diagnosis.Verdict {
	open := openQuestions(d)
	if worse := worseUnexplained(d); len(worse) > 0 {
		return undetermined(worse)
	}
	switch v, serious := ofRoots(d); {
	case serious:
		return v
	case !d.Source.Newest.IsZero():
		return diagnosis.Verdict{Class: diagnosis.Undetermined,
			Reason: fmt.Sprintf("the newest evidence is of %s, and the time that was given is %s: what has happened between is not known",
				d.Source.Newest.Format(time.RFC3339), d.Now.Format(time.RFC3339))}
	case len(open) > 0 && nothingWrong(d) != "":
		return diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseNone, Reason: nothingWrong(d)}
	case len(open) > 0:
		return undetermined(open)
	}
	if d.Cluster.Installing && expected(d) == 0 {
		return diagnosis.Verdict{
			Class:  diagnosis.Settling,
			Until:  d.Cluster.Began.Add(firstHostWithin),
			Reason: "the installation has begun, no host has registered yet",
		}
	}
	if until, what := waiting(d); !until.IsZero() {
		return diagnosis.Verdict{Class: diagnosis.Settling, Until: until, Reason: what}
	}
	if len(d.Accepted) > 0 {
		return onlyAccepted(d)
	}
	if d.Source.Kind == onHost {
		return diagnosis.Verdict{Class: diagnosis.Healthy, Reason: "nothing is wrong on " + d.Source.Name + " itself; only the API shows whether it has joined"}
	}
	return diagnosis.Verdict{Class: diagnosis.Healthy,
		Reason: fmt.Sprintf("all %d expected hosts have joined, %s", expected(d), noFault(d))}
}

// noFault says that no fault was found, and how many checks did not look for theirs.
func noFault(d *diagnosis.Diagnosis) string {
	if n := d.NotRun(); n > 0 {
		return fmt.Sprintf("and no fault was found; %d of %d checks not run", n, d.Stats.Faults)
	}
	return "and no fault of the catalog is present"
}

// recoveries are the classes of what keeps less than everything, the mildest first.
var recoveries = []recovery{
	{"", diagnosis.RecoverableInPlace},
	{fault.RecoverNode, diagnosis.RecoverableByNode},
	{fault.RecoverQuorum, diagnosis.RecoverableQuorum},
	{fault.RecoverBackup, diagnosis.RecoverableBackup},
	{fault.RecoverReinstall, diagnosis.ReinstallRequired},
}

type recovery struct {
	by    fault.Recovery
	class diagnosis.VerdictClass
}

// ofRoots says who can do something about the serious roots. serious is false where there
// are none. Where there are errors they decide: a warning makes them no worse.
func ofRoots(d *diagnosis.Diagnosis) (v diagnosis.Verdict, serious bool) {
	var without []string
	worst := 0
	v.Cause = diagnosis.CauseLikely
	for _, r := range d.Roots {
		if r.Severity.Rank() <= fault.Info.Rank() {
			continue
		}
		serious = true
		if r.Severity != fault.Error && d.HasErrors() {
			continue
		}
		if r.Proven() {
			v.Cause = diagnosis.CauseKnown
		}
		for _, c := range r.Cases {
			i := c.FirstRemedy()
			if i < 0 {
				without = append(without, r.Fault)
				continue
			}
			first := c.Remedies[i]
			if by := first.Actor(); slices.Index(fault.Actors(), by) > slices.Index(fault.Actors(), v.Fix) {
				v.Fix, v.Where = by, first.Where
			}
			if first.Applies == fault.Present && c.Confidence == diagnosis.Proven { // what gives something up needs its proof
				worst = max(worst, slices.IndexFunc(recoveries, func(known recovery) bool { return known.by == first.Recovery }))
			}
		}
	}
	v.Class, v.Reason = recoveries[worst].class, rootsReason(d)+warningsLeft(d)
	if unreached(d) {
		v.Class, v.Reason = diagnosis.CannotCheck, d.Roots[0].Cases[0].Title
		return v, serious
	}
	if len(without) > 0 {
		v.Class, v.Fix, v.Where, v.Reason = diagnosis.Undetermined, "", "", "the catalog has no remedy for "+countNames(without)
	}
	return v, serious
}

// apiLayer is the layer of the faults of the network path to the API.
const apiLayer = "api"

// unreached reports whether nothing was looked at but the path to the API: what is wrong
// in the cluster, if anything is, is not known. A text looks at nothing.
func unreached(d *diagnosis.Diagnosis) bool {
	return len(d.Hosts) == 0 && len(d.Roots) > 0 && !slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.OfLines }) &&
		!slices.ContainsFunc(d.Roots, func(r diagnosis.Root) bool { return r.Layer != apiLayer })
}

// countNames lists names in the order in which they come first, each once: of a
// large cluster hundreds of hosts may have one fault.
func countNames(names []string) string {
	times := map[string]int{}
	for _, n := range names {
		times[n]++
	}
	var list []string
	for _, n := range names {
		switch {
		case times[n] > 1:
			list = append(list, fmt.Sprintf("%s (%d times)", n, times[n]))
		case times[n] == 1:
			list = append(list, n)
		}
		times[n] = 0
	}
	return strings.Join(list, ", ")
}

func expected(d *diagnosis.Diagnosis) int {
	n := 0
	for _, h := range d.Hosts {
		if h.Expected {
			n++
		}
	}
	return n
}

func rootsReason(d *diagnosis.Diagnosis) string {
	if len(d.Roots) == 1 {
		return "1 cause found"
	}
	return fmt.Sprintf("%d causes found", len(d.Roots))
}

// warningsLeft says how many warnings no remedy is known for, "" where the verdict goes by them, or
// where there are none.
func warningsLeft(d *diagnosis.Diagnosis) string {
	switch n := d.WarningsWithoutRemedy(); n {
	case 0:
		return ""
	case 1:
		return "; 1 warning without a remedy"
	default:
		return fmt.Sprintf("; %d warnings without a remedy", n)
	}
}

// worseUnexplained lists the present symptoms without a cause that are worse than every
// root: a warning does not answer for them.
func worseUnexplained(d *diagnosis.Diagnosis) []diagnosis.Question {
	worst := fault.Info.Rank()
	for _, r := range d.Roots {
		worst = max(worst, r.Severity.Rank())
	}
	var list []diagnosis.Question
	for _, u := range d.Unexplained {
		if len(d.Roots) > 0 && u.Severity.Rank() > worst {
			list = append(list, noCause(u))
		}
	}
	return list
}

// firstHostWithin is how long an installation is without a host at most before that is
// a question: the bootstrap host needs minutes until its API answers, the control plane
// some more.
const firstHostWithin = time.Hour

// awaitsFirstHost reports an installation that has begun and that has no Node: they were
// read and are none, or the scheduler found none.
func awaitsFirstHost(d *diagnosis.Diagnosis) bool {
	return d.Cluster.Installing && d.Now.Before(d.Cluster.Began.Add(firstHostWithin)) && !nothingListed(d) &&
		slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
			return c.Need == evidence.Nodes.String() && (c.State == evidence.Empty || noNode(c, d))
		})
}

// fewLists is how many lists must be empty before all of them say something about the cluster.
const fewLists = 3

// nothingListed reports that everything that was read is empty. No cluster is like that: its
// namespaces are there before anything else is. A proxy, a filter, or a cache that is not filled
// answers so.
func nothingListed(d *diagnosis.Diagnosis) bool {
	empty := 0
	for _, c := range d.Coverage {
		if c.Need == evidence.APIProbes.String() || c.Need == evidence.MCSProbes.String() {
			continue
		}
		if c.Count > 0 || c.State == evidence.Read {
			return false
		}
		if c.State == evidence.Empty {
			empty++
		}
	}
	return empty >= fewLists
}

// noNode reports that a list of Nodes that was not collected would be empty.
func noNode(c evidence.Coverage, d *diagnosis.Diagnosis) bool {
	return d.Cluster.NoNode && c.State == evidence.Missing && c.Why == evidence.NotCollected
}

// stageTimeout is how long a host may wait at a step that nothing is known to block. A
// restart of a bare metal host takes 20 minutes; a static pod is written again on one
// node after the other. Between its certificate and its Node a kubelet needs seconds: the
// lists of one run are not of one moment.
var stageTimeout = map[fault.Stage]time.Duration{
	fault.Planned:         20 * time.Minute,
	fault.Powered:         20 * time.Minute,
	fault.IgnitionFetched: 20 * time.Minute,
	fault.Registered:      5 * time.Minute,
	fault.NetworkReady:    15 * time.Minute,
	fault.Ready:           20 * time.Minute,
	fault.ServingCert:     30 * time.Minute, // then that it asked for none shows that it has one (internal/hosts/stages asksAgain)
	fault.EtcdMember:      15 * time.Minute,
	fault.StaticPods:      15 * time.Minute,
	fault.ConfigDone:      60 * time.Minute,
}

// inProgress returns until when a host that waits is only on its way, zero where it is
// not, or where it is not known since when it waits: during an installation at most since
// it began. That nothing is known of a host whose disk was just written is normal: it
// restarts, and its console is not read. Before its BareMetalHost is created nothing
// tells whether it is powered.
func inProgress(d *diagnosis.Diagnosis, h diagnosis.HostState) time.Time {
	since := h.Since
	if since.IsZero() && d.Cluster.Installing {
		since = d.Cluster.Began
	}
	until := since.Add(stageTimeout[h.Stage])
	silent := h.State == diagnosis.StageUnknown && (h.Stage == fault.IgnitionFetched || h.Stage == fault.Powered || h.Stage == fault.Planned)
	if h.State != diagnosis.StageWaiting && !silent || since.IsZero() || !d.Now.Before(until) {
		return time.Time{}
	}
	return until
}

// Worst is the rank of the worst present fault that is a root or explained by one, and that
// is not accepted, -1 if there is none: what an exit code of 2 goes by.
func Worst(d *diagnosis.Diagnosis) int {
	severity := map[fault.Key]fault.Severity{}
	for _, f := range d.Findings {
		if f.Outcome == fault.Present && f.Accepted == nil {
			severity[f.Key()] = f.Severity
		}
	}
	rank := -1
	explained := func(r *diagnosis.Root) {
		for _, k := range r.Effects() {
			if s, ok := severity[k]; ok {
				rank = max(rank, s.Rank())
			}
		}
	}
	for i := range d.Roots {
		rank = max(rank, d.Roots[i].Severity.Rank())
		explained(&d.Roots[i])
	}
	for _, a := range d.Accepted {
		if a.Root != nil {
			explained(a.Root)
		}
	}
	return rank
}

// waiting returns the first time at which something that is still normal will be
// a fault: when it is worth to ask again.
func waiting(d *diagnosis.Diagnosis) (until time.Time, what string) {
	var names []string
	for _, f := range d.Findings {
		if f.Waiting() && f.Accepted == nil {
			if until.IsZero() || f.Until.Before(until) {
				until = f.Until
			}
			names = append(names, fmt.Sprintf("%s of %s", f.Fault, f.Subject))
		}
	}
	for _, h := range d.Hosts {
		if at := inProgress(d, h); h.Expected && len(h.BlockedBy) == 0 && !at.IsZero() {
			if until.IsZero() || at.Before(until) {
				until = at
			}
			names = append(names, fmt.Sprintf("%s waits at %s", h.Name, h.Stage))
		}
	}
	return until, "in progress: " + few(names)
}
