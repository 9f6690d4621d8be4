package cmdutil

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/session"
)

// Output says how the answer is given. The format is asked with FormatOf.
type Output struct {
	FailOn    string // --fail-on
	NoHeaders bool
	Findings  bool // --all-findings

	MarkLogged bool // as in answer.Options; no flag sets it
}

// The groups of flags in help texts, in their order.
const (
	GroupOwn     = ""
	GroupBMC     = "The machines, through their BMCs"
	GroupRead    = "What is read"
	groupAnswer  = "The answer"
	groupConnect = "Connection to the cluster"
	GroupGlobal  = "Everywhere"
)

// FlagGroupOrder lists every group: a flag of a group that is not in it is in no help text.
func FlagGroupOrder() []string {
	return []string{GroupOwn, GroupBMC, GroupRead, groupAnswer, groupConnect, GroupGlobal}
}

const GroupAnnotation = "rollcall.dev/group"

// Grouped adds the flags of a set to a command under a heading of its help.
func Grouped(cmd *cobra.Command, group string, add func(*pflag.FlagSet)) {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	add(set)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[GroupAnnotation] = []string{group}
	})
	cmd.Flags().AddFlagSet(set)
}

// AddGlobalFlags adds the flags that every command has.
func (a *App) AddGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.CountVarP(&a.Verbose, "verbose", "v", "log on stderr what is done; -vv for more")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print nothing but the answer and errors")
	f.BoolVar(&a.ASCII, "ascii", false, "draw with ASCII only")
	f.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{GroupAnnotation: {GroupGlobal}}
	})
}

// AddOutputFlags adds -o with the formats that the command has; the First is the default.
func (a *App) AddOutputFlags(cmd *cobra.Command, formats ...string) {
	Grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.VarP(NewChoice(new(string), formats), "output", "o", "format: "+strings.Join(formats, ", "))
		if slices.Contains(formats, "wide") || slices.Contains(formats, "name") {
			f.BoolVar(&a.Output.NoHeaders, "no-headers", false, "print no headings")
		}
		if slices.Contains(formats, "sarif") {
			f.BoolVar(&a.Output.Findings, "all-findings", false, "in json and yaml also what decides nothing: findings that are absent or not "+
				"applicable and stages of hosts that are done; each finding by itself")
		}
	})
	words := slices.Clone(formats)
	for i, f := range words {
		if name, _, valued := strings.Cut(f, "="); valued {
			words[i] = name + "="
		}
	}
	CompleteChoice(cmd, "output", words)
}

// AddFailOn adds --fail-on.
func (a *App) AddFailOn(cmd *cobra.Command) {
	levels := []string{"error", "warning", "info", FailOnNever}
	Grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.Var(NewChoice(&a.Output.FailOn, levels), "fail-on", "exit with 2 from this severity on: info, warning, error; never: exit with 0 whatever "+
			"the answer is")
	})
	CompleteChoice(cmd, "fail-on", levels)
}

// OnlyDeciding reports whether an answer in this format shows only findings that decide something. The
// others need not be kept then.
func (a *App) OnlyDeciding(format string) bool {
	return !a.Output.Findings && slices.Contains([]string{"text", "wide", "name", "json", "yaml"}, format)
}

// FormatOf returns the format that a command was asked for with -o.
func FormatOf(cmd *cobra.Command) string { return cmd.Flag("output").Value.String() }

func CompleteChoice(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil { // only when the flag does not exist or has completions already
		panic("complete --" + flag + ": " + err.Error())
	}
}

// choice is a flag that takes one of a few words.
type choice struct {
	value   *string
	allowed []string
}

// NewChoice sets the default, the First of the allowed words.
func NewChoice(value *string, allowed []string) *choice {
	*value = allowed[0]
	return &choice{value, allowed}
}

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Type() string { return "WORD" }

func (c *choice) Set(v string) error {
	word, _, valued := strings.Cut(v, "=")
	fits := func(allowed string) bool { // WORD, or WORD=VALUE of which the word counts
		name, _, takes := strings.Cut(allowed, "=")
		return name == word && takes == valued
	}
	if !slices.ContainsFunc(c.allowed, fits) {
		return session.Usagef("want one of %s", strings.Join(c.allowed, ", "))
	}
	*c.value = v
	return nil
}

// AddAnswerFlags adds the formats of a whole answer and --fail-on.
func (a *App) AddAnswerFlags(cmd *cobra.Command) {
	a.AddOutputFlags(cmd, "text", "wide", "name", "json", "yaml", "html", "markdown", "sarif", "junit", "prom")
	a.AddFailOn(cmd)
}
