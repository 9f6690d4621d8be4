package cli

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
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// completionTime bounds what pressing TAB may cost.
const completionTime = 3 * time.Second

// hostPrefix is completed with the names of all hosts, from whichever objects name them.
const hostPrefix = "host/"

// subjectResources are what names are completed from.
var subjectResources = []struct {
	prefix, namespace string
	resource          evidence.Resource
}{
	{"node/", "", evidence.Nodes},
	{"bmh/", "openshift-machine-api", evidence.BareMetalHosts},
	{"machine/", "openshift-machine-api", evidence.Machines},
	{"mcp/", "", evidence.MachineConfigPools},
	{"csr/", "", evidence.CSRs},
	{"co/", "", evidence.ClusterOperators},
}

// completeSubject completes SUBJECT: first the kind, then the names in the source.
func (a *app) completeSubject(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	switch {
	case strings.HasPrefix(typed, hostPrefix):
		for _, name := range a.hostNames(cmd.Context()) {
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
		for _, name := range a.namesOf(cmd.Context(), s.resource, s.namespace) {
			if strings.HasPrefix(s.prefix+name, typed) {
				list = append(list, s.prefix+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// namesOf lists the names of a resource; none where they cannot be read in time.
func (a *app) namesOf(ctx context.Context, r evidence.Resource, namespace string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	opened, err := a.session().Open(ctx)
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
func (a *app) hostNames(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	opened, err := a.session().Open(ctx)
	if err != nil {
		return nil
	}
	all, err := inventory.All(ctx, facts.NewWorld(opened.Reader, a.io.Clock()))
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

// completeKnown completes ids of faults, remedies, refused remedies, facts and stages.
func (a *app) completeKnown(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := a.session().LoadCatalog()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	for _, e := range entries(c) {
		list = append(list, cobra.CompletionWithDesc(e.id, e.kind+": "+e.title))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeFaults completes --only and --skip.
func (a *app) completeFaults(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := a.session().LoadCatalog()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	for _, f := range c.Faults {
		list = append(list, cobra.CompletionWithDesc(f.ID, answer.PlainTitle(f)))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
