package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/session"
)

// globalFlags are the same for every command.
type globalFlags struct {
	verbose int
	quiet   bool
	ascii   bool
}

// outputFlags say how the answer is given. The format is asked with formatOf.
type outputFlags struct {
	failOn    string
	noHeaders bool
	findings  bool
}

// The groups of flags in help texts, in their order.
const (
	groupOwn     = ""
	groupBMC     = "The machines, through their BMCs"
	groupRead    = "What is read"
	groupAnswer  = "The answer"
	groupConnect = "Connection to the cluster"
	groupGlobal  = "Everywhere"
)

// flagGroupOrder lists every group: a flag of a group that is not in it is in no help text.
func flagGroupOrder() []string {
	return []string{groupOwn, groupBMC, groupRead, groupAnswer, groupConnect, groupGlobal}
}

const groupAnnotation = "rollcall.dev/group"

// grouped adds the flags of a set to a command under a heading of its help.
func grouped(cmd *cobra.Command, group string, add func(*pflag.FlagSet)) {
	set := pflag.NewFlagSet(group, pflag.ContinueOnError)
	add(set)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[groupAnnotation] = []string{group}
	})
	cmd.Flags().AddFlagSet(set)
}

// addGlobalFlags adds the flags that every command has.
func (a *app) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.CountVarP(&a.global.verbose, "verbose", "v", "log on stderr what is done; -vv for more")
	f.BoolVarP(&a.global.quiet, "quiet", "q", false, "print nothing but the answer and errors")
	f.BoolVar(&a.global.ascii, "ascii", false, "draw with ASCII only")
	f.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{groupAnnotation: {groupGlobal}}
	})
}

// addSourceFlags adds the flags that say what is read: a live cluster or archives.
func (a *app) addSourceFlags(cmd *cobra.Command) {
	grouped(cmd, groupRead, func(f *pflag.FlagSet) {
		f.StringArrayVar(&a.source.From, "from", nil, "read the archive at this `PATH` (directory, also that of openshift-install, tar, zip, file of objects, packed or not; - is standard input) and no cluster; repeatable")
		f.StringVar(&a.source.InstallDir, "install-dir", "", "`DIR` of openshift-install: the cluster of its kubeconfig, the hosts that it plans, and the rendezvous host of an agent-based install")
		f.StringVar(&a.source.Rendezvous, "rendezvous", "", "ask the rendezvous host of an agent-based install at this `IP`, or IP:PORT; no cluster is read unless one is named")
		f.StringArrayVar(&a.source.Consoles, "console", nil, "text from the screen of a host, or its journal, as `HOST=FILE`; together with a cluster or an archive, or alone where there is no kubeconfig; repeatable")
		f.StringArrayVar(&a.source.Expect, "expect", nil, "this host is expected, as `NAME` or NAME=IP,...: it is on the list of hosts even if no object refers to it yet; repeatable")
		f.StringVar(&a.source.Now, "now", "", "take this `TIME` (RFC 3339) for the present; default: the newest time in the archive, or the clock")
		f.StringVar(&a.source.Hosted, "hosted", "", "look at this hosted cluster, `NS/NAME` of its HostedCluster, together with its management cluster, which is that of the kubeconfig or of --from; reads one Secret: the kubeconfig that HostedCluster.status names")
		f.StringVar(&a.source.HostedKubeconfig, "hosted-kubeconfig", "", "`FILE` with the hosted cluster's kubeconfig, instead of that Secret")
		f.StringSliceVar(&a.source.ReadSecrets, "read-secrets", nil, "also read Secrets of this `NAMESPACE`; values are never shown or kept; repeatable")
		f.BoolVar(&a.source.Journals, "journals", false, "also read journals of the nodes through their kubelets (live)")
		f.BoolVar(&a.source.Probe, "probe", false, "also ask the machine config servers and every API server one by one, without credentials (leaves a line in their logs); with --from: the network path to the API of that cluster, from here")
		f.StringVar(&a.source.ProbeFrom, "probe-from", "", "check the network path to the API from `node/NAME`: opens connections through its machine-config-daemon, which requires permission to exec into it and is logged by the API")
		f.StringArrayVar(&a.source.Masters, "master", nil, "address of a control-plane host, as `HOST=IP` or HOST=IP:PORT, to be asked when the API does not answer; repeatable")
	})
	a.addCatalogFlag(cmd)
	a.addConnectFlags(cmd)
}

// addCatalogFlag adds --catalog.
func (a *app) addCatalogFlag(cmd *cobra.Command) {
	grouped(cmd, groupRead, func(f *pflag.FlagSet) {
		f.StringArrayVar(&a.source.Catalogs, "catalog", nil, "add the faults of this `DIR` to the built-in ones and to those of $"+session.CatalogVariable+" (directories, separated as in PATH); repeatable")
	})
}

// addChoiceFlags adds the flags that choose faults.
func (a *app) addChoiceFlags(cmd *cobra.Command) {
	grouped(cmd, groupRead, func(f *pflag.FlagSet) {
		f.StringSliceVar(&a.source.Only, "only", nil, "evaluate only this fault `ID`; repeatable")
		f.StringSliceVar(&a.source.Skip, "skip", nil, "leave out this fault `ID`; repeatable")
	})
	for _, flag := range []string{"only", "skip"} {
		if err := cmd.RegisterFlagCompletionFunc(flag, a.completeFaults); err != nil {
			panic("complete --" + flag + ": " + err.Error()) // the flag is registered above
		}
	}
}

// addConnectFlags adds the connection flags as every kubectl plugin has them. The
// rare ones work and are left out of the help. There is no flag that turns the
// verification of the API server off.
func (a *app) addConnectFlags(cmd *cobra.Command) {
	grouped(cmd, groupConnect, func(f *pflag.FlagSet) {
		a.source.Kube.AddFlags(f)
		f.VisitAll(func(f *pflag.Flag) {
			usage, shown := connectUsage[f.Name]
			if f.Hidden = !shown; shown {
				f.Usage = usage
			}
		})
	})
}

// connectUsage are the connection flags that the help shows, in short words.
var connectUsage = map[string]string{
	"kubeconfig":      "`FILE` with the cluster and your credentials; default: $KUBECONFIG, ~/.kube/config",
	"context":         "`NAME` of the context in the kubeconfig",
	"as":              "act as this `USER`",
	"as-group":        "act as a member of this `GROUP`; repeatable",
	"request-timeout": "give up on one request after this `TIME`, such as 30s; 0: 15 seconds",
	"namespace":       "`NAME`; accepted as in every plugin: the answer is always for the whole cluster",
	"server":          "`URL` of the API server, instead of the kubeconfig's",
}

// addOutputFlags adds -o with the formats that the command has; the first is the default.
func (a *app) addOutputFlags(cmd *cobra.Command, formats ...string) {
	grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.VarP(newChoice(new(string), formats), "output", "o", "format: "+strings.Join(formats, ", "))
		if slices.Contains(formats, "wide") || slices.Contains(formats, "name") {
			f.BoolVar(&a.output.noHeaders, "no-headers", false, "print no headings")
		}
		if slices.Contains(formats, "sarif") {
			f.BoolVar(&a.output.findings, "all-findings", false, "in json and yaml also what decides nothing: findings that are absent or not applicable and stages of hosts that are done; each finding by itself")
		}
	})
	completeChoice(cmd, "output", formats)
}

// addFailOn adds --fail-on.
func (a *app) addFailOn(cmd *cobra.Command) {
	levels := []string{"error", "warning", "info", failOnNever}
	grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.Var(newChoice(&a.output.failOn, levels), "fail-on", "exit with 2 from this severity on: info, warning, error; never: exit with 0 whatever the answer is")
	})
	completeChoice(cmd, "fail-on", levels)
}

// formatOf returns the format that a command was asked for with -o.
func formatOf(cmd *cobra.Command) string { return cmd.Flag("output").Value.String() }

func completeChoice(cmd *cobra.Command, flag string, values []string) {
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

// newChoice sets the default, the first of the allowed words.
func newChoice(value *string, allowed []string) *choice {
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
	if !slices.Contains(c.allowed, v) {
		return session.Usagef("want one of %s", strings.Join(c.allowed, ", "))
	}
	*c.value = v
	return nil
}
