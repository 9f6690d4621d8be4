package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/check"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/live"
	preupdate "github.com/rollcall-project/rollcall/internal/update"
)

func (a *app) canICommand() *cobra.Command {
	var fix bool
	var role string
	cmd := &cobra.Command{
		Use:   "can-i",
		Short: "ask whether your rights suffice for a diagnosis",
		Long: `Can-i asks the cluster which of the reads of a diagnosis, of check and of
preflight --update you are allowed (one SelfSubjectAccessReview each, which changes
nothing). What is not allowed is not an error of a diagnosis: the checks that need it are
not run, and listed. What is asked of the management cluster of a hosted one is marked
"management:".

With --role it asks nothing and prints the roles that permit a diagnosis, ready to
apply by an administrator.

With --hosted and --workers it also asks for what "nodepool" and "worker" do in both
clusters, which writes.

With --fix it asks instead for what the repairs of "fix" require in addition, and shows
for each remedy what is missing.

Exit codes: 0 everything is allowed, 1 something is not or could not be asked.`,
		Example: cmdutil.Example(a.Name, "can-i", "what is allowed, and what is not") +
			cmdutil.Example(a.Name, "can-i --role jane > reader.yaml", "for an administrator: oc apply -f reader.yaml"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("role") {
				list, err := readerRoles(role)
				if err != nil {
					return err
				}
				if format := cmdutil.FormatOf(cmd); format != "text" {
					return a.PrintData(format, list)
				}
				return a.PrintData("yaml", list)
			}
			if err := a.session().CheckHosted(); err != nil {
				return err
			}
			if a.workers && (a.source.Hosted == "" || a.source.Hosted == hosted.None) {
				return session.Usagef("--workers is about a hosted cluster: name it with --hosted NAMESPACE/NAME")
			}
			if v := a.source.ProbeFrom; v != "" {
				if _, err := session.NodeOfProbes(v); err != nil {
					return err
				}
				if a.source.Hosted != "" && a.source.Hosted != hosted.None {
					return session.ErrProbeFromHosted
				}
			}
			s, err := a.session().OpenLive()
			if err != nil {
				return err
			}
			defer s.Close()
			if fix {
				return a.canFix(cmd.Context(), cmdutil.FormatOf(cmd), s)
			}
			return a.canI(cmd.Context(), cmdutil.FormatOf(cmd), s)
		},
	}
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	a.AddConnectFlags(cmd, &a.source)
	cmd.Flags().BoolVar(&fix, "fix", false, "check instead the permissions that the repairs require, for each remedy")
	cmd.Flags().StringVar(&a.source.Hosted, "hosted", "", "check the permissions that --hosted `NS/NAME` of a diagnosis requires: in the management "+
		"cluster (that of the kubeconfig) and in the hosted one (with the kubeconfig in HostedCluster.status)")
	cmd.Flags().StringVar(&a.source.HostedKubeconfig, "hosted-kubeconfig", "", "`FILE` with the hosted cluster's kubeconfig, instead of that Secret")
	cmd.Flags().BoolVar(&a.workers, "workers", false, "with --hosted: also check the permissions that nodepool and worker require in both clusters")
	cmd.Flags().StringVar(&a.source.ProbeFrom, "probe-from", "", "also check the permissions that --probe-from `node/NAME` of a diagnosis requires")
	cmd.Flags().StringVar(&role, "role", "", "print the roles, with their bindings, that give `WHO` all reads of a diagnosis: a user, group:NAME, or "+
		"NAMESPACE/NAME of a ServiceAccount. They hold no Secret, no exec and nothing that writes; no cluster is asked")
	for _, other := range []string{"fix", "hosted", "hosted-kubeconfig", "probe-from", "workers"} {
		cmd.MarkFlagsMutuallyExclusive("role", other)
	}
	cmd.MarkFlagsMutuallyExclusive("fix", "hosted")
	cmd.MarkFlagsMutuallyExclusive("fix", "probe-from")
	return cmd
}

// probeFromRights are what --probe-from takes in addition to a diagnosis.
func probeFromRights() []live.Access {
	return []live.Access{
		{Verb: "list", Resource: evidence.Pods, Namespace: openshift.MachineConfigNamespace},
		{Verb: "create", Resource: evidence.Pods, Subresource: "exec", Namespace: openshift.MachineConfigNamespace},
	}
}

// right is one line of the answer.
type right struct {
	Cluster   string `json:"cluster,omitempty"` // "management" for that of a hosted cluster
	Verb      string `json:"verb"`
	Resource  string `json:"resource"`
	Name      string `json:"name,omitempty"` // of one object
	Namespace string `json:"namespace,omitempty"`
	Remedy    string `json:"remedy,omitempty"` // with --fix: the one that requires it
	Allowed   bool   `json:"allowed"`
	Error     string `json:"error,omitempty"`
}

// alsoRead is what `check` and `preflight --update` read in addition to a diagnosis.
func alsoRead() []evidence.Need { return slices.Concat(check.Needs(), preupdate.Needs()) }

func (a *app) canI(ctx context.Context, format string, s *live.Source) error {
	rights, err := a.rights(ctx, s)
	if err != nil {
		return err
	}
	if format == "text" && len(rights) > 0 && !slices.ContainsFunc(rights, func(r right) bool { return r.Error == "" }) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("none of the %d reads could be asked about: %s; `%s "+
			"diagnose` shows why", len(rights), rights[0].Error, a.Name)}
	}
	missing := 0
	for _, r := range rights {
		if !r.Allowed {
			missing++
		}
	}
	if err := a.printRights(format, rights); err != nil {
		return err
	}
	if missing > 0 {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%d of %d reads are not allowed or could not be asked about; the other "+
			"checks work. An administrator can give you them: `%s can-i --role USER`", missing, len(rights), a.Name)}
	}
	return nil
}

// rights asks for all that a diagnosis with these flags takes.
func (a *app) rights(ctx context.Context, s *live.Source) ([]right, error) {
	own, management := readerrole.Needs(alsoRead()...)
	var list []right
	if a.source.Hosted != "" && a.source.Hosted != hosted.None {
		var err error
		if list, err = a.hostedRights(ctx, s, own, management); err != nil {
			return nil, err
		}
	} else {
		answers, err := s.Rights(ctx, own)
		if err != nil {
			return nil, err
		}
		list = rightsOf("", answers)
	}
	if a.source.ProbeFrom != "" {
		list = append(list, rightsOf("", ask(ctx, s, probeFromRights()))...)
	}
	slices.SortFunc(list, func(a, b right) int {
		return strings.Compare(a.Cluster+" "+a.Resource+a.Name+a.Namespace+a.Verb, b.Cluster+" "+b.Resource+b.Name+b.Namespace+b.Verb)
	})
	return slices.Compact(list), nil
}

// ask asks for accesses that no need of a fact names.
func ask(ctx context.Context, s *live.Source, list []live.Access) []live.Right {
	var answers []live.Right
	for _, access := range list {
		r := live.Right{Access: access}
		r.Allowed, r.Err = s.Allowed(ctx, access)
		answers = append(answers, r)
	}
	return answers
}

func rightsOf(cluster string, answers []live.Right) []right {
	var list []right
	for _, r := range answers {
		line := right{Cluster: cluster, Verb: r.Access.Verb, Resource: r.Access.Resource.String(), Name: r.Access.Name, Namespace: r.Access.Namespace,
			Allowed: r.Allowed}
		if r.Access.Subresource != "" {
			line.Resource += "/" + r.Access.Subresource
		}
		if r.Err != nil {
			line.Allowed, line.Error = false, r.Err.Error()
		}
		list = append(list, line)
	}
	return list
}

func (a *app) printRights(format string, rights []right) error {
	if format != "text" {
		return a.PrintData(format, rights)
	}
	var rows []answer.Access
	// What is missing is last, next to the summary: the list is longer than a screen.
	slices.SortStableFunc(rights, func(a, b right) int {
		switch {
		case a.Allowed == b.Allowed:
			return 0
		case a.Allowed:
			return -1
		}
		return 1
	})
	for _, r := range rights {
		what := r.Verb + " " + r.Resource
		if r.Name != "" {
			what += " " + r.Name
		}
		if r.Cluster != "" {
			what = r.Cluster + ": " + what
		}
		rows = append(rows, answer.Access{What: what, Where: r.Namespace, Allowed: r.Allowed, Problem: r.Error})
	}
	return answer.Rights(a.IO.Out, rows, answer.Options{Style: a.Style(), NoHeaders: a.Output.NoHeaders})
}
