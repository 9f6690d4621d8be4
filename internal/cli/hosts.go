package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/facts/onhost"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/ssh"
)

// hostsFlags are those of `hosts`.
type hostsFlags struct {
	ssh       []string
	plan      string
	binaries  []string
	to        string
	remote    string
	within    time.Duration
	atOnce    int
	acceptNew bool
	root      string
	since     time.Duration
	noNetwork bool
}

func (a *app) hostsCommand() *cobra.Command {
	var f hostsFlags
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "run rollcall-host on hosts over ssh, and diagnose what they show",
		Long: `Hosts connects to hosts with your own ssh program, runs rollcall-host on each and
diagnoses what they show: before there is an API, without it, and when it lies. No
cluster is read unless one is named; with --context or --from its answer is joined.

ssh is used with your configuration, agent, jump hosts and known_hosts. A host key that
is unknown or has changed is refused. On a host, rollcall-host lies in a directory of
root below /run while it runs, and is removed, also when the connection breaks. It only
reads; sshd and sudo log the login and the command.

What each host showed is kept in a new directory here, without secrets, for --from.

rollcall-host is the file of that name next to this program, or --binary.

Exit codes: 0 nothing wrong, or accepted, 1 the tool could not do its work, 2 a fault at
or above --fail-on, 3 undecided: also where a host gave no answer.`,
		Example: cmdutil.Example(a.Name, "hosts --ssh 192.0.2.20,192.0.2.21,192.0.2.22", "as the user core") +
			cmdutil.Example(a.Name, "hosts --ssh control1=core@192.0.2.21:2222", "with its name, for an address") +
			cmdutil.Example(a.Name, "hosts --from-plan ./install", "the hosts of install-config and agent-config") +
			cmdutil.Example(a.Name, "hosts --ssh 192.0.2.21 --context prod", "joined with what the API shows"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hosts(cmd.Context(), cmdutil.FormatOf(cmd), f) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(s *pflag.FlagSet) {
		s.StringSliceVar(&f.ssh, "ssh", nil, "run rollcall-host on these hosts, as `HOST,...` or [NAME=][USER@]HOST[:PORT]; the user is core where none "+
			"is given; repeatable")
		s.StringVar(&f.plan, "from-plan", "", "also on the hosts of install-config and agent-config in this `DIR`, at their static addresses")
		s.StringArrayVar(&f.binaries, "binary", nil, "`FILE` of rollcall-host for the processor of the hosts, once for each kind; default: the one next to "+
			"this program")
		s.StringVar(&f.to, "to", "", "keep what the hosts showed in this new `DIR`; default: rollcall-hosts-<time> here")
		s.StringVar(&f.remote, "remote-dir", "/run", "`DIR` on the hosts in which rollcall-host lies while it runs")
		s.DurationVar(&f.within, "within", 30*time.Second, "give up on a host that sends nothing for this `TIME`")
		s.IntVar(&f.atOnce, "at-once", 10, "ask at most this `NUMBER` of hosts at the same time; a jump host takes about 10 logins at once")
		s.BoolVar(&f.acceptNew, "accept-new-host-keys", false, "take the key of a host that known_hosts does not have, and keep it there")
		s.StringVar(&f.root, "root", "", "root `DIR` of the machine on the hosts, where that is not /")
		s.DurationVar(&f.since, "journal-since", 0, "how far back the journals of the hosts are read: a `TIME` such as 2h; default: 48h")
		s.BoolVar(&f.noNetwork, "no-network", false, "the hosts resolve no names")
	})
	a.AddSourceFlags(cmd, &a.source)
	a.AddChoiceFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddAnswerFlags(cmd)
	return cmd
}

// hosts asks the hosts, and answers as diagnose does.
func (a *app) hosts(ctx context.Context, format string, f hostsFlags) (err error) {
	targets, err := f.targets()
	if err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	source := a.source
	if source.Hosted != "" {
		return session.Usagef("--hosted names two clusters, and the hosts are of one: keep what they show with --to DIR, and read it with --from")
	}
	if o.To = f.to; o.To == "" {
		o.To = "rollcall-hosts-" + a.IO.Clock().UTC().Format("20060102-150405")
	}
	if err := os.Mkdir(o.To, 0o700); errors.Is(err, fs.ErrExist) {
		return session.Usagef("--to %s: it exists; name a new directory", o.To)
	} else if err != nil {
		return fmt.Errorf("make the directory for what the hosts show: %w", err)
	}
	o.Clock = a.IO.Clock
	if source.Asked, err = a.ask(ctx, targets, o); err != nil {
		return err
	}
	r, err := a.Session(source).Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	q := cmdutil.Question{Diagnose: func(ctx context.Context) (*diagnosis.Diagnosis, error) {
		d, err := r.Diagnose(ctx)
		if err != nil {
			return nil, err
		}
		return d, a.printHosts(ctx, format, r, d)
	}, Call: a.Name + " hosts " + f.again(&source)}
	return a.Answer(ctx, r, format, q)
}

// ask runs rollcall-host on the hosts and reports each that ends. Where none gave anything, its directory goes again.
func (a *app) ask(ctx context.Context, targets []ssh.Target, o ssh.Options) ([]ssh.Result, error) {
	var mu sync.Mutex
	ended := 0
	say := func(format string, args ...any) {
		if !a.Quiet {
			fmt.Fprintln(a.IO.Err, a.Style().Clean(fmt.Sprintf(format, args...)))
		}
	}
	say("asking %s over ssh; one that sends nothing for %s is given up", page.Count(len(targets), "host", "hosts"), o.Within)
	o.Done = func(r ssh.Result) {
		mu.Lock()
		defer mu.Unlock()
		ended++
		said := "answered"
		if r.Problem != nil {
			said = r.Problem.What
		}
		say("[%d/%d] %s: %s (%s)", ended, len(targets), r.Target.Label(), said, r.Took.Round(time.Second))
	}
	results, err := ssh.Run(ctx, targets, o)
	_ = os.Remove(o.To) // only where it is empty
	return results, err
}

// targets are the hosts of --ssh, and those of the plan that these do not name.
func (f *hostsFlags) targets() ([]ssh.Target, error) {
	var list []ssh.Target
	for _, text := range f.ssh {
		t, err := ssh.ParseTarget(text)
		if err != nil {
			return nil, session.Usagef("--ssh %v", err)
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	if f.plan != "" {
		planned, err := plannedTargets(f.plan)
		if err != nil {
			return nil, err
		}
		for _, t := range planned {
			if !slices.ContainsFunc(list, func(o ssh.Target) bool { return o.Label() == t.Label() || o.Host == t.Host }) {
				list = append(list, t)
			}
		}
	}
	if len(list) == 0 {
		return nil, session.Usagef("no host is named: give --ssh HOST,..., or --from-plan DIR")
	}
	return list, nil
}

// plannedTargets are the hosts that install-config and agent-config name, each at its first static address, else at its
// name.
func plannedTargets(dir string) (list []ssh.Target, err error) {
	d, err := install.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("--from-plan: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for _, h := range d.Install.Hosts {
		address := h.Name
		for _, ip := range h.Addresses {
			if net.ParseIP(ip) != nil {
				address = ip
				break
			}
		}
		text := address
		if h.Name != "" && address != h.Name {
			text = h.Name + "=" + address
		}
		t, err := ssh.ParseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("--from-plan %s: %w", dir, err)
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--from-plan %s: it names no host; name them with --ssh HOST1,HOST2", dir)
	}
	return list, nil
}

// options are those of ssh that flags set.
func (f *hostsFlags) options() (ssh.Options, error) {
	o := ssh.Options{Dir: f.remote, AcceptNew: f.acceptNew, Within: f.within, Parallel: f.atOnce}
	switch {
	case f.within < time.Second:
		return o, session.Usagef("--within %s: want at least 1s", f.within)
	case f.atOnce < 1 || f.atOnce > 50:
		return o, session.Usagef("--at-once %d: want a number from 1 to 50", f.atOnce)
	case !filepath.IsAbs(f.remote) && !strings.HasPrefix(f.remote, "/"):
		return o, session.Usagef("--remote-dir %q: want a directory of the hosts from the root on, such as /var/tmp", f.remote)
	case f.since < 0:
		return o, session.Usagef("--journal-since %s: want a time such as 48h", f.since)
	}
	if f.root != "" {
		o.Args = append(o.Args, "--root", f.root)
	}
	if f.since > 0 {
		o.Args = append(o.Args, "--journal-since", f.since.String())
	}
	if f.noNetwork {
		o.Args = append(o.Args, "--no-network")
	}
	own, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find the directory of this program: %w", err)
	}
	o.Programs, err = ssh.FindPrograms(f.binaries, filepath.Dir(own))
	return o, err
}

// again are the flags that ask the same hosts once more.
func (f *hostsFlags) again(o *session.Options) string {
	var words []string
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellcommand.Quote(value))
		}
	}
	add("--ssh", strings.Join(f.ssh, ","))
	add("--from-plan", f.plan)
	for _, b := range f.binaries {
		add("--binary", b)
	}
	if f.remote != "/run" {
		add("--remote-dir", f.remote)
	}
	without := *o
	without.Asked = nil
	return strings.TrimSpace(strings.Join(words, " ") + " " + without.Again())
}

// printHosts prints a line for each host that was asked, before the answer; on stderr where that is a document.
func (a *app) printHosts(ctx context.Context, format string, r *session.Run, d *diagnosis.Diagnosis) error {
	out := a.IO.Out
	if format != "text" && format != "wide" {
		if out = a.IO.Err; a.Quiet {
			return nil
		}
	}
	world := r.World(d.Now)
	p := &page.Page{Style: a.Style()}
	answered := 0
	for _, x := range r.Session.Asked {
		name := x.Target.Label()
		if x.Problem != nil {
			p.Lead(0, page.Yellow.Span(p.Sign(page.Open)+" "), "  ", page.Plain, p.Clean(name+": unknown: "+x.Problem.What), 0)
			if x.Problem.Do != "" {
				p.Para(2, page.Span{}, page.Plain, p.Clean(x.Problem.Do))
			}
			continue
		}
		answered++
		if x.Machine != name {
			name += " (" + x.Machine + ")"
		}
		said, err := onhost.Summary(ctx, world, x.Machine)
		if err != nil {
			return err
		}
		if off := clockInWords(x); off != "" {
			said += "; " + off
		}
		p.Lead(0, page.Plain.Span("- "), "  ", page.Plain, p.Clean(name+": "+said), 0)
	}
	p.Para(0, page.Span{}, page.Plain, a.asked(r, answered))
	p.Blank()
	return p.Flush(out)
}

// asked is how many of the hosts answered, and where that is kept.
func (a *app) asked(r *session.Run, answered int) string {
	said := fmt.Sprintf("%d of %s answered over ssh", answered, page.Count(len(r.Session.Asked), "host", "hosts"))
	for _, x := range r.Session.Asked {
		if x.Path != "" {
			return said + "; kept in " + a.Style().Clean(filepath.Dir(x.Path)) + " for --from"
		}
	}
	return said
}

// clockInWords is how far the clock of a host is from the one here, "" where that cannot be told apart from the way there.
func clockInWords(r ssh.Result) string {
	off := r.Ahead.Abs()
	if r.AheadWithin == 0 || off < 2*time.Second || off < 2*r.AheadWithin {
		return ""
	}
	word := "behind"
	if r.Ahead > 0 {
		word = "ahead of"
	}
	size := off.Round(time.Second).String()
	if off >= 48*time.Hour {
		size = fmt.Sprintf("%d days", int(off.Hours()/24))
	}
	return fmt.Sprintf("its clock is %s %s the one here", size, word)
}
