package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/repair/chrony"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

type timeFlags struct {
	to      string
	servers []string
}

func (a *app) fixTimeCommand() *cobra.Command {
	var f timeFlags
	cmd := &cobra.Command{
		Use:   "time-sources POOL",
		Short: "write a MachineConfig with time servers for the nodes of a pool",
		Long: `Time-sources writes a MachineConfig that gives the nodes of one pool their time servers
(/etc/chrony.conf). Nothing is changed by this command: it reads the pool and shows what
applying the file sets in motion. It refuses a pool that has such a config already.

A host that boots for the first time gets this file with its config, after it has
verified the certificate of the server. A wrong hardware clock must be set before that.`,
		Example: cmdutil.Example(a.Name, "fix time-sources worker --server ntp1.example.com --server ntp2.example.com", "write 99-worker-rollcall-chrony.yaml"),
		Args:    a.ExactlyOne("POOL", "oc get mcp"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.fixTime(cmd.Context(), f, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.to, "to", "", "write it as this new `FILE`; default 99-POOL-rollcall-chrony.yaml in this directory")
		s.StringArrayVar(&f.servers, "server", nil, "`NAME` or address of a time server that the nodes reach; repeatable")
	})
	a.AddConnectFlags(cmd, &a.source)
	return cmd
}

func (a *app) fixTime(ctx context.Context, f timeFlags, pool string) (err error) {
	raw, err := chrony.MachineConfig(pool, f.servers)
	if err != nil {
		return &session.UsageError{Err: err}
	}
	r, err := a.session().Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	about, err := poolForTime(ctx, r.Reader, pool)
	if err != nil {
		return err
	}
	name := chrony.Name(pool)
	if f.to == "" {
		f.to = name + ".yaml"
	}
	if err := writeScript(f.to, string(raw)); err != nil {
		return err
	}
	step := func(name, text string) answer.Entry { return answer.Entry{Name: name, Text: text, Command: true} }
	return answer.Sections(a.IO.Out, a.Style(), []answer.Section{
		{Heading: "MachineConfig " + name, Entries: append([]answer.Entry{{Name: "saved as", Text: f.to, Command: true}}, about...)},
		{Heading: "What to do", Entries: []answer.Entry{
			step("try it", "oc apply --dry-run=server -f "+shellcommand.Quote(f.to)),
			step("apply it", "oc apply -f "+shellcommand.Quote(f.to)),
			step("wait", "oc wait --for=condition=Updated mcp/"+pool+" --timeout=120m"),
			step("see it", "oc debug node/NODE -- chroot /host chronyc -n sources"),
			step("undo it", "oc delete machineconfig "+name),
			{Name: "undo", Text: "drains and reboots the nodes once more"},
			{Name: "first boot", Text: "this file reaches a new host with its config, after the certificate was verified: a hardware clock that is " +
				"wrong has to be set in the firmware (UTC)"},
		}},
	})
}

// reads is what lists evidence.
type reads interface {
	List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error)
}

// poolForTime refuses a pool that has time sources of its own, is paused or degraded, and
// describes what a new config sets in motion.
func poolForTime(ctx context.Context, r reads, pool string) ([]answer.Entry, error) {
	configs, err := r.List(ctx, evidence.MachineConfigs, "")
	if err != nil {
		return nil, fmt.Errorf("list MachineConfigs, to see whether %s has time sources: %w", pool, err)
	}
	for _, c := range configs {
		if c.Name == chrony.Name(pool) || c.Name == chrony.Documented(pool) {
			return nil, fmt.Errorf("MachineConfig %s exists: change the servers there; a second one would hide it", c.Name)
		}
	}
	pools, err := r.List(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return nil, fmt.Errorf("list pools: %w", err)
	}
	var names []string
	for _, p := range pools {
		names = append(names, p.Name)
		if p.Name != pool {
			continue
		}
		if evidence.Field(p.Content, "spec", "paused") == true {
			return nil, fmt.Errorf("pool %s is paused: nothing would roll out; find out who paused it and why", pool)
		}
		count := evidence.Int(p.Content, "status", "machineCount")
		if n := evidence.Int(p.Content, "status", "degradedMachineCount"); n > 0 {
			return nil, fmt.Errorf("%d of %d machines of pool %s are degraded; repair them first", n, count, pool)
		}
		most := "1"
		if v := evidence.Field(p.Content, "spec", "maxUnavailable"); v != nil {
			most = fmt.Sprint(v)
		}
		return []answer.Entry{{Name: "pool", Text: pool},
			{Name: "risk", Text: fmt.Sprintf("reboot: the controller drains and reboots its %d nodes, %s at a time", count, most)}}, nil
	}
	return nil, fmt.Errorf("there is no pool %s%s", pool, suggest.DidYouMean(pool, names))
}
