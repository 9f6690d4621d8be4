package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// canFix asks for the rights of every repair, and prints per remedy what is missing.
func (a *app) canFix(ctx context.Context, format string, s *live.Source) error {
	var all []right
	var rows []answer.Access
	missing := 0
	for _, remedy := range repair.RemedyIDs() {
		row := answer.Access{What: remedy, Allowed: true}
		var lacks []string
		for _, r := range rightsOf("", ask(ctx, s, accessesOf(remedy))) {
			r.Remedy = remedy
			all = append(all, r)
			switch {
			case r.Error != "":
				row.Problem = r.Error
			case !r.Allowed:
				row.Allowed = false
				lacks = append(lacks, strings.TrimSpace(r.Verb+" "+r.Resource+" "+r.Name)+inNamespace(r.Namespace))
			}
		}
		if len(lacks) > 0 {
			row.What += ": no permission to " + strings.Join(lacks, ", ")
		}
		if !row.Allowed || row.Problem != "" {
			missing++
		}
		rows = append(rows, row)
	}
	err := a.printFixRights(format, rows, all)
	if err == nil && missing > 0 {
		err = &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%d of %d repairs lack a permission or could not be "+
			"asked about", missing, len(rows))}
	}
	return err
}

func (a *app) printFixRights(format string, rows []answer.Access, all []right) error {
	if format != "text" {
		return a.PrintData(format, all)
	}
	return answer.Rights(a.IO.Out, rows, answer.Options{Style: a.Style(), NoHeaders: a.Output.NoHeaders})
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in " + namespace
}

// accessesOf are the rights of a remedy as they are asked for.
func accessesOf(remedy string) []live.Access {
	var list []live.Access
	for _, r := range repair.Rights(remedy) {
		one := live.Access{Verb: r.Verb, Resource: evidence.Resource{Group: r.Ref.Group, Name: r.Ref.Resource},
			Subresource: r.Sub, Namespace: r.Ref.Namespace, Name: r.Ref.Name}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}
