package cmdutil

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/session"
)

// AddSourceFlags adds the flags that say what is read: a live cluster or archives.
func (a *App) AddSourceFlags(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, GroupRead, func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.From, "from", nil, "read the archive at this `PATH` (directory, also that of openshift-install, tar, zip, file of "+
			"objects, packed or not; - is standard input) and no cluster; repeatable")
		f.StringVar(&o.InstallDir, "install-dir", "", "`DIR` of openshift-install: the cluster of its kubeconfig, the hosts that it plans, and the "+
			"rendezvous host of an agent-based install")
		f.StringVar(&o.Rendezvous, "rendezvous", "", "ask the rendezvous host of an agent-based install at this `IP`, or IP:PORT; no cluster is read "+
			"unless one is named")
		f.StringArrayVar(&o.Consoles, "console", nil, "text from the screen of a host, or its journal, as `HOST=FILE`; together with a cluster or an "+
			"archive, or alone where there is no kubeconfig; repeatable")
		f.StringArrayVar(&o.Expect, "expect", nil, "this host is expected, as `NAME` or NAME=IP,...: it is on the list of hosts even if no object "+
			"refers to it yet; repeatable")
		f.StringVar(&o.Now, "now", "", "take this `TIME` (RFC 3339) for the present; default: the newest time in the archive, or the clock")
		f.StringVar(&o.Hosted, "hosted", "", "look at this hosted cluster, `NS/NAME` of its HostedCluster, together with its management cluster, "+
			"which is that of the kubeconfig or of --from; reads one Secret: the kubeconfig that HostedCluster.status names")
		f.StringVar(&o.HostedKubeconfig, "hosted-kubeconfig", "", "`FILE` with the hosted cluster's kubeconfig, instead of that Secret")
		f.StringSliceVar(&o.ReadSecrets, "read-secrets", nil, "also read Secrets of this `NAMESPACE`; values are never shown or kept; repeatable")
		f.BoolVar(&o.Journals, "journals", false, "also read journals of the nodes through their kubelets (live)")
		f.BoolVar(&o.Probe, "probe", false, "also ask the machine config servers and every API server one by one, without credentials (leaves a line "+
			"in their logs); with --from: the network path to the API of that cluster, from here")
		f.StringVar(&o.ProbeFrom, "probe-from", "", "check the network path to the API from `node/NAME`: opens connections through its "+
			"machine-config-daemon, which requires permission to exec into it and is logged by the API")
		f.StringArrayVar(&o.Masters, "master", nil, "address of a control-plane host, as `HOST=IP` or HOST=IP:PORT, to be asked when the API does not "+
			"answer; repeatable")
	})
	a.AddCatalogFlag(cmd, o)
	a.AddConnectFlags(cmd, o)
}

// AddCatalogFlag adds --catalog.
func (a *App) AddCatalogFlag(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, GroupRead, func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.Catalogs, "catalog", nil, "add the faults of this `DIR` to the built-in ones and "+
			"to those of $"+session.CatalogVariable+" (directories, separated as in PATH); repeatable")
	})
}

// AddChoiceFlags adds the flags that choose faults.
func (a *App) AddChoiceFlags(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, GroupRead, func(f *pflag.FlagSet) {
		f.StringSliceVar(&o.Only, "only", nil, "evaluate only this fault `ID`; repeatable")
		f.StringSliceVar(&o.Skip, "skip", nil, "leave out this fault `ID`; repeatable")
	})
	for _, flag := range []string{"only", "skip"} {
		if err := cmd.RegisterFlagCompletionFunc(flag, a.completeFaults(o)); err != nil {
			panic("complete --" + flag + ": " + err.Error()) // the flag is registered above
		}
	}
}

// AddConnectFlags adds the connection flags as every kubectl plugin has them. The
// rare ones work and are left out of the help. There is no flag that turns the
// verification of the API server off.
func (a *App) AddConnectFlags(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, groupConnect, func(f *pflag.FlagSet) {
		o.Kube.AddFlags(f)
		f.VisitAll(func(f *pflag.Flag) {
			usage, shown := connectUsage[f.Name]
			if f.Hidden = !shown; shown {
				f.Usage = usage
			}
			if f.DefValue == "0" { // kubectl's, which is explained in the words above
				f.DefValue = ""
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
	"request-timeout": "give up on one request after this `TIME`, such as 30s; without it, or with 0: 15s",
	"namespace":       "`NAME`, which every kubectl plugin takes; ignored: the answer is for the whole cluster",
	"server":          "`URL` of the API server, instead of the kubeconfig's",
}

// AddHostedFlags adds the flags for the requests of a hosted cluster.
func (a *App) AddHostedFlags(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, GroupRead, func(s *pflag.FlagSet) {
		s.StringVar(&o.Hosted, "hosted", "", "the requests of this hosted cluster, `NS/NAME` of its HostedCluster; the kubeconfig is that of its "+
			"management cluster")
		s.StringVar(&o.HostedKubeconfig, "hosted-kubeconfig", "", "`FILE` with the hosted cluster's kubeconfig, instead of the Secret that "+
			"HostedCluster.status refers to")
	})
}

// AddAcceptFlag adds --accept. Only commands that have it look at the variable: a repair
// sees what is accepted as it sees everything else.
func (a *App) AddAcceptFlag(cmd *cobra.Command, o *session.Options) {
	Grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.StringVar(&o.Accept, "accept", "", "`FILE` with findings that are accepted, each with fault, subject, reason, owner and "+
			"until; default: $"+session.AcceptVariable)
	})
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if o.AcceptNamed = cmd.Flags().Changed("accept"); !o.AcceptNamed {
			o.Accept = a.IO.Getenv(session.AcceptVariable)
		}
	}
}
