package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/tools/refs"
)

func (a *app) lintCommand() *cobra.Command {
	var sources string
	cmd := &cobra.Command{
		Use:   "lint [DIR...]",
		Short: "check faults of your own, and the sources that they name",
		Long: `Lint checks directories of faults as --catalog would use them: the form of each
file, the facts that it names, the types of its expressions, that what it explains
and refuses exists, that its remedies are known, and the form of its references.
It reports every mistake that it finds, with file, line and column, and what to
write instead; of a file that is no YAML, the first. Exit code 1: there are some.
docs/writing-a-fault.md describes how to write a fault; "test" proves it.

With --sources, every reference of the catalog is looked up in local copies of
the repositories: the path must be there on its branch (without one, on the copy's
own), and the symbol must occur in it. A copy of owner/name lies below SOURCES at
owner/name or owner+name; it is a git repository, bare or with files, or the plain
files. Nothing is fetched. Without DIR the built-in catalog is checked.`,
		Example: cmdutil.Example(a.Name, "lint ./our-faults", "every *.yaml below the directory") + "\n" +
			cmdutil.Example(a.Name, "lint --sources ~/src", "the built-in catalog against your clones"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && sources == "" {
				return session.Usagef("name a directory with faults, or --sources to look up what the built-in ones refer to")
			}
			return a.lint(cmd.Context(), cmdutil.FormatOf(cmd), args, sources)
		},
	}
	cmd.Flags().StringVar(&sources, "sources", "", "look up every reference in the copies of repositories below this `DIR`")
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	return cmd
}

// linted is what lint reports.
type linted struct {
	Problems   fault.Problems `json:"problems"`
	Checked    count          `json:"checked"` // entries of the directories
	References *lookedUp      `json:"references,omitempty"`
}

// lookedUp is the part of --sources.
type lookedUp struct {
	References  int      `json:"references"`
	Verified    int      `json:"verified"`
	Wrong       int      `json:"wrong"`
	NotLookedUp int      `json:"notLookedUp"`
	Missing     []string `json:"missing"` // repositories without a copy
}

func (a *app) lint(ctx context.Context, format string, named []string, sources string) error {
	dirs, err := a.session().CatalogDirs(named)
	if err != nil {
		return err
	}
	c, problems, err := a.session().ReadCatalog(fault.Load, dirs)
	if err != nil {
		return err
	}
	list := refs.Of(c)
	l := linted{Problems: append(fault.Problems{}, append(problems, refProblems(c, refs.CheckForms(list))...).Sorted()...),
		Checked: countOf(c, rootsOf(dirs, named)...)}
	if len(named) > 0 && l.Checked.sum()+len(l.Problems) == 0 {
		return fmt.Errorf("there is no *.yaml below %s", strings.Join(named, ", "))
	}
	if sources != "" && len(l.Problems) == 0 {
		r, err := refs.Look(ctx, sources, list)
		if err != nil {
			return err
		}
		l.References = &lookedUp{r.Checked, r.Verified, len(r.Wrong), r.Missing, append([]string{}, r.Unlooked...)}
		l.Problems = append(l.Problems, refProblems(c, r.Wrong).Sorted()...)
	}
	if format != "text" {
		err = a.PrintData(format, l)
	} else {
		a.printLint(l, c, len(named) > 0)
	}
	return errors.Join(err, a.countProblems(l.Problems))
}

func (a *app) printLint(l linted, c *fault.Catalog, own bool) {
	a.printProblems(l.Problems)
	if own && len(l.Problems) == 0 {
		built := countOf(c, 0)
		fmt.Fprintf(a.IO.Out, "ok: %d faults, %d remedies and %d refused remedies; built in are %d, %d and %d\n",
			l.Checked.Faults, l.Checked.Remedies, l.Checked.Refused, built.Faults, built.Remedies, built.Refused)
	}
	if r := l.References; r != nil {
		fmt.Fprintf(a.IO.Out, "references: %d, verified: %d, wrong: %d, not looked up: %d\n", r.References, r.Verified, r.Wrong, r.NotLookedUp)
		for _, repo := range r.Missing {
			fmt.Fprintf(a.IO.Out, "no copy of %s\n", repo)
		}
	}
}

// printProblems prints one line for each problem, as compilers do.
func (a *app) printProblems(list fault.Problems) {
	for _, p := range list {
		fmt.Fprintln(a.IO.Out, a.Style().Clean(p.Error()))
	}
}

// countProblems is the error of a command that has printed problems, nil without any.
func (a *app) countProblems(list fault.Problems) error {
	if len(list) == 0 {
		return nil
	}
	files := map[string]bool{}
	for _, p := range list {
		files[p.File] = true
	}
	return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%s in %s", number(len(list), "problem"), number(len(files), "file"))}
}

// number renders "1 file", "2 files".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// refProblems are references that lead nowhere, at their places.
func refProblems(c *fault.Catalog, wrong []refs.Wrong) (list fault.Problems) {
	for _, w := range wrong {
		text := strings.ReplaceAll(w.Err.Error(), "\n", ", ")
		list = append(list, c.ProblemAt(w.Named.Of, fault.Where{"refs", w.Named.Index}, w.Named.String()+": "+text, "correct the reference"))
	}
	return list
}
