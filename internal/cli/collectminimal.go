package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// maxDifferences are printed; the others are counted.
const maxDifferences = 10

// compareMinimal replays a minimal collection and prints in what its answer differs from the one
// that was made of everything.
func (a *app) compareMinimal(ctx context.Context, to string, whole *diagnosis.Diagnosis) (err error) {
	o := cmdutil.Options()
	o.From, o.Catalogs, o.Only, o.Skip = []string{to}, a.source.Catalogs, a.source.Only, a.source.Skip
	o.Accept, o.AcceptNamed = a.source.Accept, a.source.AcceptNamed
	r, err := a.Session(o).Open(ctx)
	if err != nil {
		return fmt.Errorf("replay the minimal collection %s: %w", to, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	part, err := r.Diagnose(ctx)
	if err != nil {
		return fmt.Errorf("replay the minimal collection %s: %w", to, err)
	}
	list := differences(whole, part)
	if len(list) == 0 {
		fmt.Fprintln(a.IO.Err, "The minimal collection gives the same answer.")
		return nil
	}
	fmt.Fprintf(a.IO.Err, "The minimal collection gives another answer in %d places:\n", len(list))
	for _, line := range list[:min(len(list), maxDifferences)] {
		fmt.Fprintf(a.IO.Err, "  %s\n", a.CleanText(line))
	}
	if more := len(list) - maxDifferences; more > 0 {
		fmt.Fprintf(a.IO.Err, "  and %d more\n", more)
	}
	return nil
}

// differences names what another diagnosis of the same cluster has differently: the verdict, the causes
// and each finding.
func differences(whole, part *diagnosis.Diagnosis) []string {
	var list []string
	if whole.Verdict.Class != part.Verdict.Class {
		list = append(list, fmt.Sprintf("the verdict is %s instead of %s", part.Verdict.Class, whole.Verdict.Class))
	}
	if was, is := causes(whole), causes(part); !slices.Equal(was, is) {
		list = append(list, fmt.Sprintf("the causes are %s instead of %s", inWords(is), inWords(was)))
	}
	outcomes := map[fault.Key]fault.Outcome{}
	for _, f := range part.Findings {
		outcomes[f.Key()] = f.Outcome
	}
	for _, f := range whole.Findings {
		if is, ok := outcomes[f.Key()]; !ok {
			list = append(list, fmt.Sprintf("%s of %s is not evaluated, and was %s", f.Fault, f.Subject, f.Outcome))
		} else if is != f.Outcome {
			list = append(list, fmt.Sprintf("%s of %s is %s instead of %s", f.Fault, f.Subject, is, f.Outcome))
		}
	}
	return list
}

// causes are the causes with what they are of and how sure they are, sorted.
func causes(d *diagnosis.Diagnosis) []string {
	var list []string
	for _, root := range d.Roots {
		for _, c := range root.Cases {
			list = append(list, fmt.Sprintf("%s of %s (%s)", root.Fault, c.Subject, c.Confidence))
		}
	}
	slices.Sort(list)
	return list
}

func inWords(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
