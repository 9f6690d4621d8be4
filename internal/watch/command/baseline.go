package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "save what a good cluster is like, and see later what has changed",
		Long: `Baseline keeps versions, states of operators, nodes and pools, ends of certificates,
networks and hardware of a cluster, without secrets. Save one after the installation
and after each update; when something breaks, compare, or give it to a diagnosis:
"diagnose --baseline FILE" has the changes in its timeline.

It only reads from the cluster. It is not a backup: it cannot restore anything.`,
		Example: cmdutil.Example(a.Name, "baseline save good.json", "the cluster of the kubeconfig") +
			cmdutil.Example(a.Name, "baseline compare good.json", "what has changed since") +
			cmdutil.Example(a.Name, "baseline compare good.json --from must-gather.tar.gz", "in an archive"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.baselineSaveCommand(), a.baselineCompareCommand())
	return cmd
}

func (a *app) baselineSaveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "save [FILE]",
		Short: "save what the cluster is like now",
		Long: `Save makes a diagnosis and writes what the cluster is like to a new FILE, without
secrets. Without FILE the baseline goes to the output. A cluster that is not healthy
is saved, too, and both the file and the answer show that.
Exit codes: 0 saved, 1 not saved.`,
		Example: cmdutil.Example(a.Name, "baseline save good.json", "the cluster of the kubeconfig") +
			cmdutil.Example(a.Name, "baseline save good.json --from must-gather.tar.gz", "an archive of it"),
		Args: cmdutil.AtMostOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.saveBaseline(cmd.Context(), cmdutil.First(args))
		},
	}
	a.AddSourceFlags(cmd, &a.source)
	return cmd
}

func (a *app) saveBaseline(ctx context.Context, file string) (err error) {
	if file != "" {
		if _, err := os.Lstat(file); err == nil {
			return session.Usagef("%s exists: name a new file", file)
		}
	}
	r, err := a.session().Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return err
	}
	if why, _ := cmdutil.NothingRead(d); why != "" {
		return a.NothingError(r, "save a baseline of", "save it again", why, "no baseline was saved")
	}
	w := facts.NewWorld(r.Reader, d.Now)
	b, err := baseline.Take(ctx, w, d.Now, d.Source.Name, string(d.Verdict.Class))
	if err != nil {
		return fmt.Errorf("read what the cluster is like: %w", err)
	}
	if len(b.Entries) == 0 {
		why := "every list is empty"
		if len(b.Missing) > 0 {
			why = b.Missing[0].Reason
		}
		return a.NothingError(r, "save a baseline of", "save it again", why, "no baseline was saved")
	}
	if file == "" {
		return b.Write(a.IO.Out)
	}
	if err := newfile.Write(file, 0o600, b.Write); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	return baseline.Saved{
		File: file, Saved: b, Healthy: d.Verdict.Class == diagnosis.Healthy, Reason: d.Verdict.Reason, Backup: backupCommand(ctx, w),
		Compare: []string{a.Name, "baseline", "compare", shellcommand.Quote(file)},
	}.Print(a.IO.Out, a.Style())
}

// backupCommand takes a backup of etcd on the first control-plane node
// (openshift/cluster-etcd-operator: bindata/etcd/cluster-backup.sh).
func backupCommand(ctx context.Context, w *facts.World) string {
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return ""
	}
	for _, n := range nodes {
		for _, role := range []string{"master", "control-plane"} {
			if _, ok := n.Label(openshift.NodeRolePrefix + role); ok {
				return "oc debug node/" + n.Name + " -- chroot /host /usr/local/bin/cluster-backup.sh /home/core/assets/backup"
			}
		}
	}
	return ""
}

func (a *app) baselineCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare FILE",
		Short: "show what has changed since a baseline was saved",
		Long: `Compare reads what the cluster is like now and shows what is not as in FILE. What
either of them could not read is not compared, and is listed. A change is not a fault:
an update changes much. A baseline of another cluster is refused. Where it is not known
whether it is of this cluster, the answer begins with that, and why.
Exit codes: 0 nothing has changed, 1 the tool could not do its work, or it is another
cluster, 2 something has changed, 3 not known: nothing that was compared has changed, and
not all was compared, or it is not known whether both are of one cluster.`,
		Example: cmdutil.Example(a.Name, "baseline compare good.json", "the cluster of the kubeconfig") +
			cmdutil.Example(a.Name, "baseline compare good.json -o json", "for programs; docs/schema has the schema"),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compareBaseline(cmd.Context(), cmdutil.FormatOf(cmd), args[0])
		},
	}
	a.AddSourceFlags(cmd, &a.source)
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	return cmd
}

func (a *app) compareBaseline(ctx context.Context, format, file string) (err error) {
	was, err := readBaseline(file)
	if err != nil {
		return err
	}
	r, err := a.session().Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	c, err := changes(ctx, a.App, r, was, file)
	if err != nil {
		return err
	}
	if format != "text" {
		err = a.PrintData(format, c)
	} else {
		err = c.Print(a.IO.Out, a.Style())
	}
	switch {
	case err != nil:
		return err
	case !c.Certain():
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	case len(c.Changes) > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case len(c.NotCompared) > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}

func readBaseline(file string) (_ baseline.Baseline, err error) {
	f, err := infile.Regular(file)
	if err != nil {
		return baseline.Baseline{}, fmt.Errorf("read the baseline: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := baseline.Read(f)
	if err != nil {
		return b, fmt.Errorf("read the baseline %s: %w", file, err)
	}
	return b, nil
}

// changes compares a baseline with what a run reads.
func changes(ctx context.Context, a *cmdutil.App, r *session.Run, was baseline.Baseline, file string) (baseline.Comparison, error) {
	now := r.Now
	if now.IsZero() {
		now = a.IO.Clock()
	}
	defer a.Progress("comparing %s with %s ...", r.Source.Name, file)()
	is, err := baseline.Take(ctx, facts.NewWorld(r.Reader, now), now, r.Source.Name, "")
	if err != nil {
		return baseline.Comparison{}, fmt.Errorf("read what the cluster is like: %w", err)
	}
	c := baseline.Compare(was, is)
	if err := c.Identity.Err(); err != nil {
		return c, fmt.Errorf("compare %s (saved of %s) with %s: %w", file, was.Source, r.Source.Name, err)
	}
	return c, nil
}

// maxMoments bounds what a baseline adds to a timeline.
const maxMoments = 200

// addBaseline adds to a diagnosis what has changed since a baseline: to the run in short, and to
// its timeline. When it has is not known: it is shown at the time of the baseline, after which it has.
func AddBaseline(ctx context.Context, a *cmdutil.App, r *session.Run, d *diagnosis.Diagnosis, file string) (*answer.Changed, error) {
	if file == "" {
		return nil, nil
	}
	was, err := readBaseline(file)
	if err != nil {
		return nil, err
	}
	c, err := changes(ctx, a, r, was, file)
	if err != nil {
		return nil, err
	}
	at := func(text string, s fault.Subject) diagnosis.Moment {
		return diagnosis.Moment{Time: c.Since, Subject: s, Text: text, Locator: evidence.Locator{Source: file, Path: file}}
	}
	cluster := fault.Subject{Kind: fault.Cluster}
	changed := &answer.Changed{File: shellcommand.Quote(file), Since: c.Since, All: len(c.NotCompared) == 0}
	var more []diagnosis.Moment
	word := "after the baseline: "
	if changed.Older = c.Now.Before(c.Since); changed.Older {
		word = "not as in the baseline, which is newer: "
	}
	if !c.Certain() {
		why := "not known whether the baseline is of this cluster: " + strings.Join(c.Identity.Reasons, "; ")
		if !a.Quiet {
			fmt.Fprintf(a.IO.Err, "%s: warning: %s: %s\n", a.Name, file, a.CleanText(why))
		}
		more = append(more, at(why, cluster))
		changed.Not = why
		word = "not as in the baseline: "
	}
	for _, change := range c.Changes {
		changed.Is = append(changed.Is, answer.Change{Subject: subjectOf(change.Subject), Says: change.Subject + " " + change.String()})
	}
	for i, x := range changed.Is {
		if i == maxMoments {
			more = append(more, at(fmt.Sprintf("%sand %d more", word, len(changed.Is)-i), cluster))
			break
		}
		more = append(more, at(word+x.Says, x.Subject))
	}
	for _, g := range c.NotCompared {
		more = append(more, at("not compared with the baseline: "+g.String(), cluster))
	}
	d.Timeline = append(d.Timeline, more...)
	slices.SortStableFunc(d.Timeline, func(x, y diagnosis.Moment) int { return x.Time.Compare(y.Time) })
	return changed, nil
}

// subjectOf is the subject of a diagnosis that a value of a baseline is about.
func subjectOf(text string) fault.Subject {
	kind, name, _ := strings.Cut(text, "/")
	if k, ok := fault.KindOf(kind); ok && name != "" {
		return fault.Subject{Kind: k, Name: name}
	}
	return fault.Subject{Kind: fault.Cluster}
}
