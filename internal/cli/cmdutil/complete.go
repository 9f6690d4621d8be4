package cmdutil

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// completionTime is for how long a person waits after TAB.
const completionTime = 3 * time.Second

// hostPrefix is completed with the names of all hosts, from whichever objects name them.
const hostPrefix = "host/"

// subjectResources are what names are completed from.
var subjectResources = []struct {
	prefix, namespace string
	resource          evidence.Resource
}{
	{"node/", "", evidence.Nodes},
	{"bmh/", openshift.MachineAPINamespace, evidence.BareMetalHosts},
	{"machine/", openshift.MachineAPINamespace, evidence.Machines},
	{"mcp/", "", evidence.MachineConfigPools},
	{"csr/", "", evidence.CSRs},
	{"co/", "", evidence.ClusterOperators},
}

// CompleteSubject completes SUBJECT: First the kind, then the names in the source.
func (a *App) CompleteSubject(o *session.Options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeSubject(cmd.Context(), o, args, typed)
	}
}

func (a *App) completeSubject(ctx context.Context, o *session.Options, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	switch {
	case strings.HasPrefix(typed, hostPrefix):
		for _, name := range a.hostNames(ctx, o) {
			if strings.HasPrefix(hostPrefix+name, typed) {
				list = append(list, hostPrefix+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	case strings.HasPrefix(hostPrefix, typed):
		list = append(list, hostPrefix)
	}
	for _, s := range subjectResources {
		if !strings.HasPrefix(typed, s.prefix) {
			if strings.HasPrefix(s.prefix, typed) {
				list = append(list, s.prefix)
			}
			continue
		}
		for _, name := range a.namesOf(ctx, o, s.resource, s.namespace) {
			if strings.HasPrefix(s.prefix+name, typed) {
				list = append(list, s.prefix+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// namesOf lists the names of a resource; none where they cannot be read in time.
func (a *App) namesOf(ctx context.Context, o *session.Options, r evidence.Resource, namespace string) []string {
	ctx, cancel := context.WithTimeout(ctx, a.IO.Completion)
	defer cancel()
	opened, err := a.Session(*o).Open(ctx)
	if err != nil {
		return nil
	}
	list, err := opened.Reader.List(ctx, r, namespace)
	if err = errors.Join(err, opened.Close()); err != nil {
		return nil
	}
	var names []string
	for _, o := range list {
		if shellcommand.Quote(o.Name) == o.Name { // a shell gets it, and a request's name may hold anything
			names = append(names, o.Name)
		}
	}
	return names
}

// hostNames lists the hosts that something names; none where they cannot be read in time.
func (a *App) hostNames(ctx context.Context, o *session.Options) []string {
	ctx, cancel := context.WithTimeout(ctx, a.IO.Completion)
	defer cancel()
	opened, err := a.Session(*o).Open(ctx)
	if err != nil {
		return nil
	}
	all, err := inventory.All(ctx, facts.NewWorld(opened.Reader, a.IO.Clock()))
	if err = errors.Join(err, opened.Close()); err != nil {
		return nil
	}
	var names []string
	for _, h := range all {
		if shellcommand.Quote(h.Name) == h.Name { // a shell gets it
			names = append(names, h.Name)
		}
	}
	return names
}

// completeFaults completes --only and --skip.
func (a *App) completeFaults(o *session.Options) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.faultCompletions(*o)
	}
}

func (a *App) faultCompletions(o session.Options) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := a.Session(o).LoadCatalog()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	for _, f := range c.Faults {
		list = append(list, cobra.CompletionWithDesc(f.ID, answer.PlainTitle(f)))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
