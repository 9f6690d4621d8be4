package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/evidence/fromnode"
	"github.com/rollcall-project/rollcall/internal/evidence/live"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/report"
)

func (a *app) canICommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "can-i",
		Short: "ask whether your rights suffice for a diagnosis",
		Long: `Can-i asks the cluster which of the reads of a diagnosis you are allowed (one
SelfSubjectAccessReview each, which changes nothing). What is not allowed is not
an error of a diagnosis: the checks that need it are unknown, and say so.

Exit codes: 0 everything is allowed, 1 something is not or could not be asked.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if v := a.source.probeFrom; v != "" {
				if _, err := nodeOfProbes(v); err != nil {
					return err
				}
			}
			s, err := a.openLive()
			if err != nil {
				return err
			}
			defer s.Close()
			return a.canI(cmd.Context(), formatOf(cmd), s)
		},
	}
	a.addOutputFlags(cmd, "text", "json", "yaml")
	a.addConnectFlags(cmd)
	cmd.Flags().StringVar(&a.source.probeFrom, "probe-from", "", "also ask for the rights that --probe-from `node/NAME` of a diagnosis takes")
	return cmd
}

// probeFromRights are what --probe-from takes beside a diagnosis.
func probeFromRights() []live.Access {
	return []live.Access{
		{Verb: "list", Resource: evidence.Pods, Namespace: fromnode.Namespace},
		{Verb: "create", Resource: evidence.Pods, Subresource: "exec", Namespace: fromnode.Namespace},
	}
}

// right is one line of the answer.
type right struct {
	Verb      string `json:"verb"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Allowed   bool   `json:"allowed"`
	Error     string `json:"error,omitempty"`
}

// needed lists what the facts read, each need once; Secrets only where the user
// named their namespaces, because they are not read otherwise.
func (a *app) needed() []evidence.Need {
	var needs []evidence.Need
	for _, f := range all.All() {
		for _, n := range f.Needs {
			optional := n.Resource == evidence.Secrets || n.Text.Kind == evidence.Journal
			if !optional && !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

func (a *app) canI(ctx context.Context, format string, s *live.Source) error {
	answers, err := s.Rights(ctx, a.needed())
	if err != nil {
		return err
	}
	if a.source.probeFrom != "" {
		for _, access := range probeFromRights() {
			r := live.Right{Access: access}
			r.Allowed, r.Err = s.Allowed(ctx, access)
			answers = append(answers, r)
		}
	}
	var rights []right
	missing := 0
	for _, r := range answers {
		line := right{Verb: r.Access.Verb, Resource: r.Access.Resource.String(), Namespace: r.Access.Namespace, Allowed: r.Allowed}
		if r.Access.Subresource != "" {
			line.Resource += "/" + r.Access.Subresource
		}
		if r.Err != nil {
			line.Allowed, line.Error = false, r.Err.Error()
		}
		if slices.Contains(rights, line) {
			continue
		}
		if !line.Allowed {
			missing++
		}
		rights = append(rights, line)
	}
	slices.SortFunc(rights, func(a, b right) int {
		return strings.Compare(a.Resource+a.Namespace+a.Verb, b.Resource+b.Namespace+b.Verb)
	})
	if err := a.printRights(format, rights); err != nil {
		return err
	}
	if missing > 0 {
		return &ExitError{ExitFailed, fmt.Errorf("%d of %d reads are not allowed or could not be asked about; the other checks work", missing, len(rights))}
	}
	return nil
}

func (a *app) printRights(format string, rights []right) error {
	if format != "text" {
		return a.printData(format, rights)
	}
	var rows []report.Access
	for _, r := range rights {
		rows = append(rows, report.Access{What: r.Verb + " " + r.Resource, Where: r.Namespace, Allowed: r.Allowed, Problem: r.Error})
	}
	return report.Rights(a.io.Out, rows, report.Options{Style: a.style(), NoHeaders: a.output.noHeaders})
}
