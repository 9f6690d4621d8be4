package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
)

// csrFlags are the flags of `csr`.
type csrFlags struct {
	expect  []string
	booted  string
	rebuild bool
	key     string
	yes     bool
	expired bool
	cluster string
}

func (a *app) csrCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "csr",
		Short: "list, explain and approve the requests of hosts that join",
		Long: `Whoever can fetch Ignition may ask for the identity of any node, so a request's name is
only a claim. Rollcall approves exactly the requests of hosts that are expected: by an
object of the cluster, or because you name them with --expect. A control-plane host is
always named by you. That the key lies on the host is never proven before the
certificate is issued; the record contains this.

Where several keys ask for one host, none is chosen: you name the key with --key.`,
		Example: cmdutil.Example(a.Name, "csr list", "who asks, and what speaks against it") +
			cmdutil.Example(a.Name, "csr explain csr-abcde", "every rule, for one request") +
			cmdutil.Example(a.Name, "csr approve csr-abcde --expect control0=192.0.2.10 --booted-after 20m", "show what would be approved") +
			cmdutil.Example(a.Name, "csr approve csr-abcde --expect control0=192.0.2.10 --booted-after 20m --yes", "approve it"),
	}
	cmd.AddCommand(a.csrListCommand(), a.csrExplainCommand(), a.csrApproveCommand(), a.csrServeCommand())
	return cmd
}

func (a *app) addCSRFlags(cmd *cobra.Command, f *csrFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringArrayVar(&f.expect, "expect", nil, "`NAME=IP,...`: this host is expected to join, with these addresses; repeatable")
		s.StringVar(&f.booted, "booted-after", "", "the host booted after this `TIME` (RFC 3339), or at most so long ago (20m); older requests are not its own")
		s.BoolVar(&f.rebuild, "rebuild", false, "the Node of an expected host is dead and being rebuilt under its name")
	})
	a.AddHostedFlags(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
}

// addCSRArchiveFlags adds the flags for the requests in an archive, which is only looked at.
func (a *app) addCSRArchiveFlags(cmd *cobra.Command) {
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(s *pflag.FlagSet) {
		s.StringArrayVar(&a.source.From, "from", nil, "the requests in the archive at this `PATH`, and of no cluster; repeatable")
		s.StringVar(&a.source.Now, "now", "", "take this `TIME` (RFC 3339) for the present of the archive")
	})
}

// judged is the live picture with everyone who is expected.
type judged struct {
	api      *kube.Client
	snapshot csr.Snapshot
	expect   []csr.Expectation
}

func (a *app) judge(ctx context.Context, f csrFlags) (*judged, error) {
	named, err := session.Expectations(f.expect)
	if err != nil {
		return nil, err
	}
	since, boot, err := bootedAfter(f.booted, a.IO.Clock())
	if err != nil {
		return nil, err
	}
	known, err := a.expected(ctx)
	if err != nil {
		return nil, err
	}
	j, err := a.openRequests(ctx, known)
	if err != nil {
		return nil, err
	}
	for i := range named {
		named[i].Rebuild = f.rebuild
		for _, k := range known.hosts {
			if inventory.SameName(k.Name, named[i].Name) {
				named[i].Role, named[i].NotBefore, named[i].Boot = k.Role, k.NotBefore, k.Boot
			}
		}
	}
	all := append(named, known.hosts...)
	for i := range all {
		if !since.IsZero() {
			all[i].NotBefore, all[i].Boot = since, boot
		}
	}
	j.snapshot.Unread, j.expect = known.unread, all
	return j, nil
}

// bootedAfter reads a time, or a duration before now.
func bootedAfter(text string, now time.Time) (time.Time, string, error) {
	if text == "" {
		return time.Time{}, "", nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if d, e := time.ParseDuration(text); err != nil && e == nil && d > 0 {
		t, err = now.Add(-d), nil
	}
	if err != nil {
		return t, "", session.Usagef("--booted-after %q: want a time (RFC 3339) or a duration such as 20m", text)
	}
	return t, "a person confirmed that it booted after " + t.UTC().Format(time.RFC3339), nil
}

// known are the hosts that objects of the cluster declare; unread says why they are not
// known. requests is the picture where an archive was read.
type known struct {
	hosts    []csr.Expectation
	unread   string
	requests *csr.Snapshot
}

// expected are the hosts that objects of the cluster name, with the time at which each
// fetched its config, where a diagnosis knows it.
func (a *app) expected(ctx context.Context) (k known, err error) {
	r, err := a.session().Open(ctx)
	if err != nil {
		return k, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return k, err
	}
	w := facts.NewWorld(r.Reader, d.Now)
	if len(a.source.From) > 0 {
		p, err := csr.GatherPartly(ctx, csr.WorldLister{World: w}, d.Now)
		if err != nil {
			err = fmt.Errorf("%w; `oc get csr -o yaml` has the whole list", err)
			if _, ok := evidence.AsUnavailable(err); ok { // as get and logs answer what was not collected
				err = &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: err}
			}
			return k, err
		}
		k.requests = &p
	}
	list, err := inventory.Declared(ctx, w)
	if u, ok := evidence.AsUnavailable(err); ok {
		k.unread = u.Error()
		return k, nil
	}
	if err != nil {
		return k, err
	}
	k.hosts = csr.Expected(list, func(h inventory.Host) (time.Time, string) { return csr.BootOf(d, h) })
	return k, nil
}

// decide judges one request with the expectation of its host.
func (j *judged) decide(r csrs.Request) csr.Decision {
	return csr.Judge(r, csr.For(j.expect, r.NodeName), j.snapshot)
}

func (a *app) csrExplainCommand() *cobra.Command {
	var f csrFlags
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "every rule for one request, and how it came out",
		Args:  a.ExactlyOne("NAME", "csr list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := a.judge(cmd.Context(), f)
			if err != nil {
				return err
			}
			r, err := j.request(args[0])
			if err != nil {
				return err
			}
			a.printDecision(r, j.decide(r))
			return nil
		},
	}
	a.addCSRArchiveFlags(cmd)
	a.addCSRFlags(cmd, &f)
	return cmd
}

func (j *judged) request(name string) (csrs.Request, error) {
	r, ok := csrs.Find(j.snapshot.Requests, name)
	if !ok {
		return r, fmt.Errorf("there is no request %q; answered ones are deleted after an hour", name)
	}
	return r, nil
}

func (a *app) csrApproveCommand() *cobra.Command {
	var f csrFlags
	cmd := &cobra.Command{
		Use:   "approve NAME... | --expired-nodes",
		Short: "approve exactly these requests, if every rule holds",
		Long: `Approve reads each request and everything around it again immediately before it approves,
and approves nothing but the request that it showed (its UID and content). Without --yes
it only shows what would be approved, and has the server check it.

Where requests with different keys ask for one host, name the host's own with --key.
A pending key cannot be read on the host: restart its kubelet over its console or SSH,
take the one request that appears within seconds, and its key from "csr explain".

With --expired-nodes it is about a cluster whose certificates ran out: it lists every
Node that is not responding with its newest request, and approves those of which every
rule holds after you typed the cluster's name.`,
		Args: func(_ *cobra.Command, args []string) error {
			if f.expired && len(args) > 0 || f.expired && (f.yes || f.key != "") {
				return session.Usagef("--expired-nodes finds the requests itself, and is confirmed with the cluster's name (--cluster)")
			}
			if len(args) == 0 && !f.expired {
				return session.Usagef("name the requests; `%s csr list` lists them", a.Name)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.expired {
				return a.approveExpired(cmd.Context(), f)
			}
			return a.approve(cmd.Context(), f, args)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.key, "key", "", "`sha256:DIGEST` of the public key that is the host's by your word: the only way to choose among several")
		s.BoolVar(&f.yes, "yes", false, "approve; without it nothing is changed")
		s.BoolVar(&f.expired, "expired-nodes", false, "the newest request of every Node that is not responding, after its certificates expired")
		s.StringVar(&f.cluster, "cluster", "", "with --expired-nodes: the `NAME` of the cluster, as you would type it")
	})
	a.addCSRFlags(cmd, &f)
	return cmd
}

func (a *app) approve(ctx context.Context, f csrFlags, names []string) error {
	key, err := keyOf(f.key, names)
	if err != nil {
		return err
	}
	j, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	for i := range j.expect {
		j.expect[i].Key = key
	}
	who := j.whoAmI(ctx)
	var wrong []error
	for _, name := range names {
		r, err := j.request(name)
		if err == nil {
			a.printDecision(r, j.decide(r))
			err = a.approveOne(ctx, j, r, who, !f.yes)
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if !f.yes {
		_, err = fmt.Fprintln(a.IO.Out, "Nothing was changed; with --yes it is approved.")
	}
	return err
}

// keyOf reads --key, which is for one request.
func keyOf(flag string, names []string) (string, error) {
	switch {
	case flag == "":
		return "", nil
	case len(names) != 1:
		return "", session.Usagef("--key names the key of one request; approve one at a time")
	}
	key, err := csr.ParseKey(flag)
	if err != nil {
		return "", &session.UsageError{Err: fmt.Errorf("--key: %w", err)}
	}
	return key, nil
}

func (a *app) approveOne(ctx context.Context, j *judged, r csrs.Request, who string, dryRun bool) error {
	api := csr.Cluster{Objects: j.api}
	content, err := api.GetRequest(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("read request %s: %w", r.Name, err)
	}
	now, err := csr.Parse(content)
	if err != nil {
		return err
	}
	if !now.SameContent(r) {
		return fmt.Errorf("approve request %s: its content is not the one that was shown; look at it again: %s csr explain %s", r.Name, a.Name, r.Name)
	}
	spec, err := csr.SpecDigest(content)
	if err != nil {
		return err
	}
	if _, err := csr.Approve(ctx, api, r.Name, r.UID, spec, csr.For(j.expect, r.NodeName), who, a.IO.Clock, dryRun); err != nil {
		return err
	}
	if !dryRun {
		fmt.Fprintf(a.IO.Out, "%s is approved.\n", a.CleanText(r.Name))
	}
	return nil
}

// whoAmI asks the API server under which name it knows us
// (kubernetes/kubernetes:pkg/registry/authentication/selfsubjectreview). The
// name goes into the record of the approval; an approval does not depend on it.
func (j *judged) whoAmI(ctx context.Context) string {
	review, err := j.api.Create(ctx, kube.Ref{Group: openshift.AuthenticationGroup, Version: "v1", Resource: "selfsubjectreviews"},
		kube.Object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, false)
	if err != nil {
		return "a user whose name the API server does not return"
	}
	status, _ := review["status"].(map[string]any)
	info, _ := status["userInfo"].(map[string]any)
	if name, _ := info["username"].(string); strings.TrimSpace(name) != "" {
		return name
	}
	return "a user without a name"
}
