// Command rollcall-lab runs a real OpenShift control plane in trouble on this
// machine: etcd, kube-apiserver, kube-controller-manager, the
// machine-config-controller and -server, and hosts that boot through the real
// Ignition, all on loopback addresses and below one directory.
//
// See the lab's README for what is real, what is simulated and after which
// source, and what the lab does not prove.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// command is one word of the command line.
type command struct {
	name, args, about string
	hidden            bool
	run               func(ctx context.Context, env env, args []string) error
}

// env is what every command has.
type env struct {
	dir            lab.Dir
	source         string
	stdout, stderr io.Writer
}

var commands = []command{
	{name: "up", args: "NAME[+NAME...] [FLAGS]", about: "start a lab and wait until the scenario is where it stays; replaces one that runs", run: up},
	{name: "scenarios", args: "[-o name]", about: "list what up can play", run: scenarios},
	{name: "status", args: "[-o json]", about: "show scenario, addresses, hosts and processes", run: status},
	{name: "console", args: "HOST [-f]", about: "print what a person sees on a host's screen", run: console},
	{name: "host", args: "HOST off|on|restart|reinstall", about: "do what a person at that machine can do; reinstall empties its disk first", run: orderHost},
	{name: "outside", args: "NAME [HOST]", about: "set right what is neither in the cluster nor on a host; without NAME: list it", run: outside},
	{name: "kubeconfig", args: "[USER]", about: "print the path of the administrator's kubeconfig, or of a user's that the scenario made", run: kubeconfig},
	{name: "etcd-unhealthy", args: "on|off", about: "make the simulated etcd operator report an unhealthy member", run: etcdUnhealthy},
	{name: "snapshot", args: "DIR", about: "stop the lab cluster and keep it in DIR, for up --from DIR", run: snapshot},
	{name: "down", about: "stop the lab and remove all of it", run: down},
	{name: "build", about: "build the lab's programs into the cache and nothing else", run: buildAll},
	{name: "supervise", hidden: true, run: supervise},
}

var errUsage = errors.New("usage")

func main() {
	// This program started again as the forerunner of another; see package proc.
	if len(os.Args) > 3 && os.Args[1] == proc.InEtc {
		fmt.Fprintln(os.Stderr, "rollcall-lab:", proc.EnterEtc(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(1)
	}
	if len(os.Args) > 3 && os.Args[1] == proc.TiedTo {
		fmt.Fprintln(os.Stderr, "rollcall-lab:", proc.BecomeTied(os.Args[2], os.Args[3], os.Args[4:]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	default:
		if !errors.Is(err, errUsage) {
			fmt.Fprintln(os.Stderr, "rollcall-lab:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("rollcall-lab", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "", "directory of the lab (default $XDG_STATE_HOME/rollcall/lab)")
	source := flags.String("source", "", "directory lab/servers of the source tree (default: found from the working directory)")
	flags.Usage = func() { usage(stderr, flags) }
	if err := flags.Parse(args); err != nil {
		return usageError(err)
	}
	e := env{dir: lab.Dir(*dir), source: *source, stdout: stdout, stderr: stderr}
	if e.dir == "" {
		def, err := lab.DefaultDir()
		if err != nil {
			return err
		}
		e.dir = def
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == flags.Arg(0) })
	if i < 0 {
		if flags.NArg() > 0 {
			fmt.Fprintf(stderr, "rollcall-lab: there is no command %q\n", flags.Arg(0))
		}
		usage(stderr, flags)
		return errUsage
	}
	return commands[i].run(ctx, e, flags.Args()[1:])
}

func usage(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(w, "usage: rollcall-lab [--dir DIR] COMMAND")
	for _, c := range commands {
		if !c.hidden {
			fmt.Fprintf(w, "  %-34s %s\n", c.name+" "+c.args, c.about)
		}
	}
	fmt.Fprintln(w, "flags:")
	flags.PrintDefaults()
}

// parse reads a command's own flags, which may stand before and after its
// arguments.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, usageError(err)
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
}

// usageError marks an error that package flag has printed already.
func usageError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	return errUsage
}
