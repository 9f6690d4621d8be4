package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
)

// layersOfJoining are the layers of the catalog that a host goes through to join. What is
// wrong with one of the hosts that are there does not concern a new one; what is wrong with
// the cluster, a pool or a NodePool does.
var layersOfJoining = []string{"api", "baremetal", "certificates", "csr", "hosted", "ignition", "machine-config"}

// missingHosts are faults that say that hosts are missing: they keep none out.
var missingHosts = []string{"hosted-workers-to-create"}

// concernsNewHosts reports whether a fault keeps hosts from joining that are added later.
func concernsNewHosts(f *fault.Fault) bool {
	return !slices.Contains(missingHosts, f.ID) && slices.Contains(layersOfJoining, f.Layer) && f.For != fault.Host && f.For != fault.CSR
}

// preflightAgainst checks whether a cluster lets new hosts join. It is a diagnosis of it, of
// which what concerns new hosts is shown.
func (a *app) preflightAgainst(ctx context.Context, format, cluster string) (err error) {
	if err := a.knownCluster(cluster); err != nil {
		return err
	}
	o := a.source
	if a.isContext(cluster) {
		o.Kube.Context = cluster
	} else {
		o.From = []string{cluster}
	}
	r, err := a.Session(o).Open(ctx)
	if err != nil {
		return fmt.Errorf("--against %s: %w", cluster, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return err
	}
	if why, probed := cmdutil.NothingRead(d); why != "" && !probed {
		return a.NothingError(r, "check the plan against", "check again", why, "whether new hosts can join is not known")
	}
	d = forNewHosts(d, r.Catalog)
	askMore(d, o)
	if (d.Verdict.Class == diagnosis.Healthy || d.Verdict.Class == diagnosis.Undetermined) && len(o.From) == 0 {
		d.Verdict.Reason += a.notAsked()
	}
	if err := a.PrintAnswer(ctx, format, r, cmdutil.Shown{Diagnosis: d, Whole: d, Call: a.againstCall(cluster), Skip: ofHostsThere}); err != nil {
		return err
	}
	if err := cmdutil.AnswerExit(d, true, a.Output.FailOn); err != nil || d.Verdict.Class != diagnosis.Undetermined || a.Output.FailOn == cmdutil.FailOnNever {
		return err
	}
	return &cmdutil.ExitError{Code: cmdutil.ExitUndecided} // what leaves it open is about hosts that are there, which are not shown
}

// preflightUpdate names the cluster of an update's question.
func (a *app) preflightUpdate(ctx context.Context, format string, update Update, p preflightFlags) error {
	if p.dir != "" || len(p.files) > 0 || p.network || len(p.answers) > 0 || p.bmc.asks() || p.release != "" {
		return session.Usagef("--update: a running cluster is checked, and no plan: leave out DIR, -f, --release, --network and --bmc")
	}
	o := a.source
	if p.against != "" {
		if err := a.knownCluster(p.against); err != nil {
			return err
		}
		if a.isContext(p.against) {
			o.Kube.Context = p.against
		} else {
			o.From = []string{p.against}
		}
	}
	return update.Run(ctx, format, o, p.against)
}

// knownCluster refuses a name that is neither a file nor a context.
func (a *app) knownCluster(cluster string) error {
	if _, err := os.Stat(cluster); err == nil {
		return nil
	}
	if known, err := a.source.Kube.HasContext(cluster); known || err != nil { // a kubeconfig that cannot be read is said where it is
		return nil
	}
	return session.Usagef("--against %s: there is no such file or directory, and no such context in the kubeconfig; write what oc adm must-gather "+
		"wrote, or a context of: oc config get-contexts, with --kubeconfig FILE where it is in another file", cluster)
}

// isContext reports whether CLUSTER is a context of the kubeconfig and not an archive. A name
// that is both is the context's: a directory here that happens to have the name of the
// production cluster must not be checked instead of it.
func (a *app) isContext(cluster string) bool {
	if _, err := os.Stat(cluster); err != nil {
		return true
	}
	if known, _ := a.source.Kube.HasContext(cluster); !known || strings.ContainsRune(cluster, filepath.Separator) {
		return false
	}
	fmt.Fprintf(a.IO.Err, "%s: --against %s is a context of the kubeconfig, and a file or directory here: the cluster is checked; for the archive "+
		"write --against .%c%s\n",
		a.Name, a.Style().Clean(cluster), filepath.Separator, a.Style().Clean(cluster))
	return true
}

// notAsked names what an answer without a fault did not look at.
func (a *app) notAsked() string {
	var open []string
	if !a.source.Probe {
		open = append(open, "what the servers of new hosts answer (--probe)")
	}
	if len(a.source.ReadSecrets) == 0 {
		open = append(open, "user-data and tokens (--read-secrets NAMESPACE)")
	}
	if len(open) == 0 {
		return ""
	}
	return "; not asked: " + strings.Join(open, ", ")
}

// ofHostsThere are ways to learn about hosts that are there, or about an installation: they show
// nothing about new ones, and preflight has no flags for them.
var ofHostsThere = []evidence.SupplyKind{
	evidence.SupplyRendezvous, evidence.SupplyInstallDir, evidence.SupplyJournals, evidence.SupplyConsole, evidence.SupplyExpect, evidence.SupplyNow,
	evidence.SupplyGatherBootstrap, evidence.SupplyBootstrapJournal, evidence.SupplyInstallerLog, evidence.SupplyOnHost, evidence.SupplyNodeLogs,
}

// askMore puts first what a cluster can still be asked about new hosts: its servers and the
// Secrets that they boot with.
func askMore(d *diagnosis.Diagnosis, o session.Options) {
	if len(o.From) > 0 {
		return
	}
	gaps := d.Groups.Gaps
	if i := slices.IndexFunc(gaps, func(g diagnosis.Gap) bool {
		return slices.Contains(g.Supply, evidence.Supply{Kind: evidence.SupplyProbe})
	}); i > 0 {
		gaps = slices.Insert(slices.Delete(slices.Clone(gaps), i, i+1), 0, gaps[i])
	}
	if d.Groups.Gaps = gaps; len(o.ReadSecrets) > 0 {
		return
	}
	namespace := openshift.MachineAPINamespace
	if in, name, ok := strings.Cut(o.Hosted, "/"); ok {
		namespace = hosted.ControlPlaneOf(in, name)
	}
	d.Groups.Gaps = slices.Insert(gaps, min(1, len(gaps)), diagnosis.Gap{
		State: evidence.Missing, Reason: "not asked: values of Secrets are read only " +
			"when asked for", Needs: []string{evidence.Secrets.String() + " -n " + namespace},
		Supply: []evidence.Supply{{Kind: evidence.SupplySecrets, Namespace: namespace}},
	})
}

// againstCall is this check once more, for flags that read more.
func (a *app) againstCall(cluster string) string {
	words := []string{a.Name, "preflight", "--against", shellcommand.Quote(cluster)}
	if a.source.Kube.KubeConfig != "" {
		words = append(words, "--kubeconfig", shellcommand.Quote(a.source.Kube.KubeConfig))
	}
	if a.source.Hosted != "" {
		words = append(words, "--hosted", shellcommand.Quote(a.source.Hosted))
	}
	if a.source.Probe {
		words = append(words, "--probe")
	}
	for _, namespace := range a.source.ReadSecrets {
		words = append(words, "--read-secrets", shellcommand.Quote(namespace))
	}
	for _, dir := range a.source.Catalogs {
		words = append(words, "--catalog", shellcommand.Quote(dir))
	}
	if flags := a.source.AnswerFlags(); flags != "" {
		words = append(words, flags)
	}
	return cmdutil.JoinWords(words)
}

// forNewHosts narrows a diagnosis to what concerns hosts that are added later.
func forNewHosts(d *diagnosis.Diagnosis, catalog *fault.Catalog) *diagnosis.Diagnosis {
	about := func(k fault.Key) bool {
		f, ok := catalog.Fault(k.Fault)
		return ok && concernsNewHosts(f)
	}
	out := *d
	out.Findings, out.Hosts, out.Timeline = []diagnosis.Finding{}, []diagnosis.HostState{}, []diagnosis.Moment{}
	kept := cmdutil.Narrow(&out, about)
	open := 0
	for _, f := range d.Findings {
		if !about(f.Key()) && !kept[f.Key()] {
			continue
		}
		out.Findings = append(out.Findings, f)
		if f.Withheld && f.Severity == fault.Error {
			open++
		}
	}
	out.Edges = slices.DeleteFunc(slices.Clone(d.Edges), func(e diagnosis.EdgeSeen) bool { return !kept[e.Cause] && !kept[e.Effect] })
	diagnose.Group(&out)
	switch {
	case slices.ContainsFunc(out.Roots, func(r diagnosis.Root) bool { return r.Severity.Rank() > fault.Info.Rank() }), // a note keeps no host out
		len(out.Unexplained) > 0, d.Verdict.Class == diagnosis.CannotCheck:
	case open > 0 || diagnose.Undecided(d):
		why := "not all could be checked"
		if d.Verdict.Class == diagnosis.Undetermined && d.Verdict.Reason != "" {
			why = "not all is known of those that are there: " + d.Verdict.Reason
		}
		out.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Reason: "nothing is known that keeps a new host " +
			"from joining, and " + why}
	default:
		out.Verdict = diagnosis.Verdict{Class: diagnosis.Healthy, Cause: diagnosis.CauseNone, Reason: "nothing is known that keeps a new host from joining"}
	}
	return &out
}
