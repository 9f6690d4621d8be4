package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/infile"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

// hostFlags are the flags of the host commands.
type hostFlags struct {
	want         metalhost.Want
	hints        []string
	labels       []string
	user         string
	passwordFile string
	secret       string
	dryRun       string
	timeout      time.Duration
	endAvailable bool // nobody makes a Machine for the host: the run ends when it is available
	// deleteSecrets allows a rollback with which Secrets of others are deleted.
	deleteSecrets bool
	worker        workerFlags // its yes and stateDir
}

// MetalHosts returns `host`.
func MetalHosts(frame *cmdutil.App) *cobra.Command { return newApp(frame).hostCommand() }

func (a *app) hostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "add and replace hosts of a stand-alone cluster with metal3",
		Long: `Host adds a bare metal worker to a stand-alone cluster in which metal3 runs: Secret of the
BMC, BareMetalHost, and a place in a MachineSet. It replaces a worker, and plans how a
control-plane host is replaced. Where there is no metal3 it shows the product's own
procedure with the names filled in.

Each run has a journal. "host resume" continues a run that was interrupted, "host
rollback" takes away what host add made and what has not joined.`,
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.hostAddCommand(), a.hostReplaceCommand(), a.hostListCommand(), a.hostResumeCommand(), a.hostRollbackCommand())
	return cmd
}

// defaultHostWait is for a host that is inspected (30 minutes at most), written and booted.
const defaultHostWait = 90 * time.Minute

// The variables with the credentials of a BMC, as preflight has them. Arguments can be seen by other users.
const (
	bmcUserVariable     = "ROLLCALL_BMC_USERNAME"
	bmcPasswordVariable = "ROLLCALL_BMC_PASSWORD" //nolint:gosec // the name of a variable
)

func (a *app) hostAddCommand() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:   "add NAME --bmc ADDRESS --boot-mac MAC",
		Short: "add a worker, from the Secret of its BMC to the Ready Node",
		Long: `Add looks at the cluster first: whether metal3 runs and boots this host, which MachineSet
takes it, whether name, MAC, BMC or address are taken. It has the API server try every
write (dry run), shows the plan, and asks. Then it makes the Secret and the BareMetalHost,
waits with each state explained, scales the MachineSet by one, and waits until the Node
is Ready.

The user and password of the BMC come from $` + bmcUserVariable + ` and
$` + bmcPasswordVariable + `, from --bmc-user and --bmc-password-file, or from a Secret that is
there (--bmc-secret). They go into the Secret and nowhere else.

The cluster-machine-approver approves the requests of hosts with a Machine. Rollcall
watches, and approves those of this host, by the rules of "csr serve", that still wait
after 2 minutes.

--dry-run=client -o yaml prints the BareMetalHost alone, for a repository. Where there
is no metal3 the product's own procedure is shown.

Exit codes: 0 the Node is Ready; 1 the tool could not do its work; 2 a check failed and
nothing was made; 3 not ready in time: resume or roll back.`,
		Example: cmdutil.Example(a.Name, "host add w3 --bmc ADDRESS --boot-mac MAC --dry-run=server", "the plan, the checks, and nothing more") +
			cmdutil.Example(a.Name, "host add w3 --bmc ADDRESS --boot-mac MAC --bmc-secret w3-bmc", "with a Secret that is there") +
			cmdutil.Example(a.Name, "host add w3 --bmc ADDRESS --boot-mac MAC --dry-run=client -o yaml", "the manifest alone"),
		Args: a.ExactlyOne("NAME", "oc get bmh -A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.hostAdd(cmd.Context(), f, args[0], cmdutil.FormatOf(cmd))
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.want.BMC, "bmc", "", "`ADDRESS` of the BMC as metal3 takes it; without a scheme it is IPMI")
		s.StringVar(&f.want.MAC, "boot-mac", "", "`MAC` address of the NIC that boots; never that of the BMC")
		s.StringVar(&f.want.BootMode, "boot-mode", "", "`MODE`: UEFI (the default of metal3), UEFISecureBoot or legacy")
		s.StringArrayVar(&f.hints, "root-device-hint", nil, "`NAME=VALUE` that chooses the disk, such as deviceName=/dev/sda; repeatable")
		s.StringVar(&f.want.NetworkData, "network-data", "", "`SECRET` with the network of the host (key nmstate), which is there")
		s.BoolVar(&f.want.Unverified, "disable-certificate-verification", false, "metal3 does not verify the certificate of the BMC")
		s.StringArrayVar(&f.labels, "label", nil, "`KEY=VALUE` label of the BareMetalHost, for the hostSelector of a MachineSet; repeatable")
		s.StringVar(&f.want.MachineSet, "machineset", "", "`NAME` of the MachineSet; default: the only one that takes the host")
		s.BoolVar(&f.want.NoScale, "no-scale", false, "do not scale the MachineSet: the host is made available, and a person or an "+
			"autoscaler decides")
		s.StringArrayVar(&f.want.IPs, "ip", nil, "an `IP` that the host will have: it is compared with those that are taken; repeatable")
		s.Var(cmdutil.NewChoice(&f.dryRun, []string{dryNone, dryClient, dryServer}), "dry-run", "client: print the BareMetalHost; "+
			"server: plan and checks, every write "+
			"tried; nothing is made")
	})
	cmdutil.CompleteChoice(cmd, "dry-run", []string{dryNone, dryClient, dryServer})
	a.AddOutputFlags(cmd, "text", "yaml", "json")
	a.addHostRunFlags(cmd, &f)
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.secret, "bmc-secret", "", "`NAME` of a Secret with username and password that is there")
		s.BoolVar(&f.worker.yes, "yes", false, "do not ask")
	})
	return cmd
}

// addHostRunFlags adds what a run needs from its beginning to its end.
func (a *app) addHostRunFlags(cmd *cobra.Command, f *hostFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.user, "bmc-user", "", "`USER` of the BMC")
		s.StringVar(&f.passwordFile, "bmc-password-file", "", "its password is in this `FILE`; - is standard input")
	})
	a.addHostWaitFlags(cmd, f, defaultHostWait)
}

func (a *app) addHostWaitFlags(cmd *cobra.Command, f *hostFlags, wait time.Duration) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.DurationVar(&f.timeout, "timeout", wait, "wait at most this `TIME`")
		s.StringVar(&f.worker.stateDir, "state-dir", "", "keep journals in this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	a.AddConnectFlags(cmd, &a.source)
}

func (a *app) hostListCommand() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use: "list", Short: "list the runs of this machine and how far their hosts came", Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.hostList(f) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.worker.stateDir, "state-dir", "", "keep journals in this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	return cmd
}

func (a *app) hostResumeCommand() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use: "resume RUN", Short: "continue a run of host add or host replace",
		Long: `Resume continues a run that was interrupted or whose time was over: it makes what is
missing and waits for what has not joined. What was made without an answer is known again
by the annotation of the run, a deletion by the object itself. The credentials of the BMC
are needed only where host add has not made the Secret yet.`,
		Args: a.ExactlyOne("RUN", "host list"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.hostResume(cmd.Context(), f, args[0]) },
	}
	a.addHostRunFlags(cmd, &f)
	return cmd
}

func (a *app) hostRollbackCommand() *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use: "rollback RUN", Short: "take away what a run of host add has made, unless it has joined",
		Long: `Rollback takes away exactly what the journal of the run has: it marks the Machine that
came of it (annotation machine.openshift.io/delete-machine) and scales the MachineSet down
by one, waits until metal3 has cleaned the host, deletes the BareMetalHost, which switches
the machine off, and the Secret. A host with a Node is a part of the cluster: it stays.
Where another Machine could be deleted instead, nothing is done.

metal3 makes a host the owner of the Secrets that it names. One that was there before
(--bmc-secret, --network-data) is deleted with the host where it has no other owner: that
is refused without --delete-secrets.

A run of host replace that has deleted the Machine cannot be rolled back.`,
		Args: a.ExactlyOne("RUN", "host list"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.hostRollback(cmd.Context(), f, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.deleteSecrets, "delete-secrets", false, "also where a Secret that was there before is deleted with the host, its only owner")
	})
	a.addHostWaitFlags(cmd, &f, time.Hour)
	return cmd
}

// hostWant completes what is to be added from the flags alone.
func (f hostFlags) hostWant(name string) (metalhost.Want, error) {
	w := f.want
	w.Name, w.Secret, w.HaveSecret = name, cmp.Or(f.secret, metalhost.SecretOf(name)), f.secret != ""
	switch {
	case w.BMC == "":
		return w, session.Usagef("--bmc ADDRESS is missing")
	case w.MAC == "":
		return w, session.Usagef("--boot-mac MAC is missing")
	case f.timeout <= 0:
		return w, session.Usagef("--timeout is positive")
	case w.HaveSecret && (f.user != "" || f.passwordFile != ""):
		return w, session.Usagef("--bmc-secret names a Secret that is there: --bmc-user and --bmc-password-file are for one that is made")
	}
	for _, text := range f.hints {
		key, value, err := metalhost.ParseHint(text)
		if err != nil {
			return w, session.Usagef("%v", err)
		}
		if w.Hints == nil {
			w.Hints = map[string]any{}
		}
		w.Hints[key] = value
	}
	for _, text := range f.labels {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return w, session.Usagef("--label %.80q: want KEY=VALUE", text)
		}
		if w.Labels == nil {
			w.Labels = map[string]string{}
		}
		w.Labels[key] = value
	}
	if err := w.Check(); err != nil {
		return w, session.Usagef("%v", err)
	}
	return w, nil
}

// maxPassword bounds a file with a password.
const maxPassword = 4096

// credentials reads those of the BMC. Errors quote nothing of them.
func (a *app) credentials(f hostFlags) (c metalhost.Credentials, err error) {
	if (f.user == "") != (f.passwordFile == "") {
		return c, session.Usagef("--bmc-user and --bmc-password-file belong together")
	}
	if f.user == "" {
		c = metalhost.Credentials{User: a.IO.Getenv(bmcUserVariable), Password: a.IO.Getenv(bmcPasswordVariable)}
		if c.User == "" || c.Password == "" {
			return c, session.Usagef("user and password of the BMC are missing: set $%s and $%s, or give --bmc-user and "+
				"--bmc-password-file, or --bmc-secret",
				bmcUserVariable, bmcPasswordVariable)
		}
		return c, nil
	}
	in := a.IO.In
	if f.passwordFile != "-" {
		file, err := infile.Piped(f.passwordFile)
		if err != nil {
			return c, fmt.Errorf("--bmc-password-file: %w", err)
		}
		defer file.Close()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxPassword+1))
	switch {
	case err != nil:
		return c, fmt.Errorf("--bmc-password-file: %w", err)
	case len(raw) > maxPassword:
		return c, session.Usagef("--bmc-password-file %s has more than %d bytes", f.passwordFile, maxPassword)
	}
	c = metalhost.Credentials{User: f.user, Password: string(bytes.TrimRight(raw, "\r\n"))}
	if c.Password == "" {
		return c, session.Usagef("--bmc-password-file %s: it is empty", f.passwordFile)
	}
	return c, nil
}

func (a *app) hostList(f hostFlags) error {
	state, err := statedir.Path(f.worker.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	runs, err := metalhost.Runs(state)
	if len(runs) == 0 && err == nil {
		_, err = fmt.Fprintln(a.IO.Out, "No run was made from this machine.")
		return err
	}
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "RUN\tHOST\tMACHINESET\tSTATE\tSINCE\tCLUSTER")
	for _, r := range runs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Plan.Run, a.CleanText(r.Plan.Host.Name), a.CleanText(r.Plan.Set), a.CleanText(r.Status.Step()),
			r.Status.Since.UTC().Format(time.RFC3339), a.CleanText(r.Plan.Cluster))
	}
	if flush := t.Flush(); flush != nil {
		return flush
	}
	return errors.Join(page.Write(a.IO.Out, a.Style().Fold(rows.String())), err)
}
