package command

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// bmcFlags say which BMCs are asked, and with what.
type bmcFlags struct {
	ask         bool
	list        string
	from        string
	credentials string
	ca          string
	timeout     time.Duration
}

// fromCluster is the value of --bmc-from that stands for the cluster of the kubeconfig.
const fromCluster = "cluster"

// The variables with the credential of BMCs. Arguments can be seen by other users.
const (
	bmcUserVariable     = "ROLLCALL_BMC_USERNAME"
	bmcPasswordVariable = "ROLLCALL_BMC_PASSWORD" //nolint:gosec // the name of a variable
)

func (a *app) addBMCFlags(cmd *cobra.Command, o *bmcFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupBMC, func(f *pflag.FlagSet) {
		f.BoolVar(&o.ask, "bmc", false, "ask the BMCs of the plan over Redfish: it only reads, with the credentials of the plan, of "+
			"--bmc-credentials or of $"+bmcUserVariable+" and $"+bmcPasswordVariable)
		f.StringVar(&o.list, "bmc-list", "", "ask the BMCs in this `FILE`, too: a line for each, NAME ADDRESS [master|worker]")
		f.StringVar(&o.from, "bmc-from", "", "ask the BMCs of the BareMetalHosts in the archive at this "+
			"`PATH`, or \""+fromCluster+"\": in that of the kubeconfig")
		f.StringVar(&o.credentials, "bmc-credentials", "", "`FILE` (mode 0600) with default: {username, password} and hosts: {NAME: {username, password}}")
		f.StringVar(&o.ca, "bmc-ca", "", "`FILE` with the CAs (PEM) that have signed the certificates of the BMCs, besides those of the system")
		f.DurationVar(&o.timeout, "bmc-timeout", bmc.DefaultLimit, "time for one BMC; slow ones need a minute or two")
	})
}

// elsewhere reports whether BMCs are named that no plan names.
func (o bmcFlags) elsewhere() bool { return o.list != "" || o.from != "" }

func (o bmcFlags) asks() bool { return o.ask || o.elsewhere() }

// check refuses flags that would change nothing. timed: the limit of time was given.
func (o bmcFlags) check(timed bool) error {
	switch {
	case !o.asks() && (o.credentials != "" || o.ca != "" || timed):
		return session.Usagef("--bmc-credentials, --bmc-ca and --bmc-timeout only change how BMCs are asked: also write --bmc for those of the plan, " +
			"or --bmc-list FILE, or --bmc-from PATH")
	case o.timeout < time.Second || o.timeout > time.Hour:
		return session.Usagef("--bmc-timeout %s: write a time from 1s to 1h", o.timeout)
	}
	return nil
}

// withBMCs adds what the BMCs answer to a plan. over and s are nil where there is none.
func (a *app) withBMCs(ctx context.Context, over evidence.Source, s *plan.Source, o preflightFlags) (evidence.Source, error) {
	q := bmc.Options{Over: over, Kind: plan.Kind, Clock: a.IO.Clock, Limit: o.bmc.timeout}
	q.Vantage, _ = os.Hostname() // without a name it is this machine
	if err := a.bmcTargets(ctx, s, o, &q); err != nil {
		return nil, err
	}
	if o.bmc.credentials != "" {
		if err := q.Credentials.UseFile(o.bmc.credentials); err != nil {
			return nil, err
		}
	}
	q.Credentials.UseEnvironment(a.IO.Getenv(bmcUserVariable), a.IO.Getenv(bmcPasswordVariable))
	var err error
	if q.Roots, err = bmcRoots(o.bmc.ca); err != nil {
		return nil, err
	}
	done := func() {}
	q.Progress = func(n, all int) { done(); done = a.Progress("%d of %d BMCs have answered ...", n, all) }
	source, err := bmc.New(q)
	if err != nil {
		return nil, fmt.Errorf("%w: write platform.baremetal.hosts[].bmc.address, or name a list with --bmc-list", err)
	}
	done = a.Progress("asking %d BMCs ...", len(q.Targets))
	_, err = source.Answers(ctx)
	done()
	return source, err
}

// bmcTargets collects the BMCs of the plan, of a list and of BareMetalHosts.
func (a *app) bmcTargets(ctx context.Context, s *plan.Source, o preflightFlags, q *bmc.Options) error {
	if s != nil && (o.bmc.ask || !o.bmc.elsewhere()) {
		objects, err := s.List(ctx, evidence.Plans, "")
		if err != nil {
			return err
		}
		list, err := bmc.PlanTargets(planFiles(o), objects, &q.Credentials)
		if err != nil {
			return err
		}
		q.Targets = append(q.Targets, list...)
	}
	if o.bmc.list != "" {
		list, err := bmc.ListTargets(o.bmc.list)
		if err != nil {
			return err
		}
		q.Targets, q.Name = append(q.Targets, list...), "of the BMCs in "+o.bmc.list
	}
	if o.bmc.from != "" {
		list, err := a.bareMetalHosts(ctx, o.bmc.from)
		if err != nil {
			return err
		}
		q.Targets, q.Name = append(q.Targets, list...), "of the BareMetalHosts of "+o.bmc.from
	}
	return nil
}

// planFiles are the files that openPlan reads.
func planFiles(o preflightFlags) []string {
	if len(o.files) > 0 {
		return o.files
	}
	var list []string
	for _, name := range plan.FileNames() {
		p := filepath.Join(o.dir, name)
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			list = append(list, p)
		}
	}
	return list
}

// bareMetalHosts reads the BMCs of a cluster, or of an archive of one.
func (a *app) bareMetalHosts(ctx context.Context, from string) (_ []bmc.Target, err error) {
	o := a.source
	if from != fromCluster {
		o.From = []string{from}
	}
	r, err := a.Session(o).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	hosts, err := r.Reader.List(ctx, evidence.BareMetalHosts, "")
	if err != nil {
		return nil, fmt.Errorf("read the BareMetalHosts of %s: %w", from, err)
	}
	hardware, err := r.Reader.List(ctx, evidence.HardwareData, "")
	if _, unread := evidence.AsUnavailable(err); err != nil && !unread {
		return nil, err
	}
	machines, err := r.Reader.List(ctx, evidence.Machines, "")
	if _, unread := evidence.AsUnavailable(err); err != nil && !unread {
		return nil, err
	}
	list, err := bmc.HostTargets(hosts, hardware, machines)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no BareMetalHost of %s has a BMC address", from)
	}
	return list, err
}

// bmcRoots are the authorities of the system and those of a file; nil: the system's alone.
func bmcRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	in, err := infile.Piped(file)
	if err != nil {
		return nil, fmt.Errorf("--bmc-ca: %w", err)
	}
	const most = 16 << 20
	raw, err := io.ReadAll(io.LimitReader(in, most))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("--bmc-ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("--bmc-ca %s: it holds no certificate (PEM)", file)
	}
	return pool, nil
}
