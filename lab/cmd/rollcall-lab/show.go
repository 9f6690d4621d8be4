package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// shown is the status in JSON.
type shown struct {
	lab.State
	Alive      bool                  `json:"alive"`
	Kubeconfig string                `json:"kubeconfig"`
	HostStates map[string]host.State `json:"hostStates"`
}

func status(_ context.Context, e env, args []string) error {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	flags.SetOutput(e.stderr)
	format := flags.String("o", "text", "text or json")
	if _, err := parse(flags, args); err != nil {
		return err
	}
	s, err := e.dir.ReadState()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no lab in %s", e.dir)
	}
	if err != nil {
		return err
	}
	release, free, err := e.dir.Lock()
	if err != nil {
		return err
	}
	if free {
		release()
	}
	out := shown{State: s, Alive: !free, Kubeconfig: e.dir.Kubeconfig(), HostStates: map[string]host.State{}}
	for _, name := range s.Hosts {
		hs, err := host.ReadState(e.dir.Host(name))
		switch {
		case err == nil:
			out.HostStates[name] = hs
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if *format == "json" {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	return printStatus(e, out)
}

func printStatus(e env, s shown) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	stage := string(s.Stage)
	if !s.Alive {
		stage = "dead (run up or down)"
	}
	fmt.Fprintf(w, "scenario\t%s\t%s\n", s.Scenario, stage)
	fmt.Fprintf(w, "step\t%s\n", s.Step)
	if s.Error != "" {
		fmt.Fprintf(w, "error\t%s\n", s.Error)
	}
	fmt.Fprintf(w, "kubeconfig\t%s\n", s.Kubeconfig)
	fmt.Fprintf(w, "api\t%s\n", s.Net.APIURL())
	fmt.Fprintf(w, "machine config server\t%s\t%s\n", s.Net.MCSURL("master"), s.MCS)
	fmt.Fprintf(w, "first render\t%s\n", s.FirstRender)
	fmt.Fprintf(w, "in-cluster render\t%s\n", s.ClusterRender)
	fmt.Fprintf(w, "\nHOST\tADDRESS\tPHASE\tSINCE\tBOOTS\n")
	for _, name := range s.Hosts {
		hs, on := s.HostStates[name]
		if !on {
			fmt.Fprintf(w, "%s\t%s\toff\t-\t0\n", name, s.Addresses[name])
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", name, s.Addresses[name], hs.Phase, hs.Since.Format(time.RFC3339), hs.Boots)
	}
	fmt.Fprintf(w, "\nPROCESS\tPID\tSTATE\tLOG\n")
	for _, p := range s.Procs {
		state := "running"
		if !p.Running {
			state = p.Exit
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", p.Name, p.PID, state, p.Log)
	}
	return w.Flush()
}

func console(ctx context.Context, e env, args []string) error {
	flags := flag.NewFlagSet("console", flag.ContinueOnError)
	flags.SetOutput(e.stderr)
	more := flags.Bool("f", false, "go on until interrupted")
	rest, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return errors.New("console wants the name of one host")
	}
	s, err := e.dir.ReadState()
	if err != nil {
		return fmt.Errorf("there is no lab in %s", e.dir)
	}
	if !slices.Contains(s.Hosts, rest[0]) {
		return fmt.Errorf("there is no host %q: %v", rest[0], s.Hosts)
	}
	screen, err := os.Open(e.dir.Console(rest[0]))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has not been switched on yet", rest[0])
	}
	if err != nil {
		return err
	}
	defer screen.Close()
	for {
		if _, err := io.Copy(e.stdout, screen); err != nil {
			return err
		}
		if !*more {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// kubeconfig prints the path of the administrator's kubeconfig, or of that of a user whom
// the scenario has made.
func kubeconfig(_ context.Context, e env, args []string) error {
	path := e.dir.Kubeconfig()
	if len(args) > 1 {
		return errors.New("kubeconfig wants at most one user")
	}
	if len(args) == 1 {
		path = e.dir.KubeconfigOf(args[0])
	}
	if _, err := os.Stat(path); err != nil && len(args) == 1 {
		return fmt.Errorf("there is no user %s in the lab in %s", args[0], e.dir)
	} else if err != nil {
		return fmt.Errorf("there is no lab in %s", e.dir)
	}
	_, err := fmt.Fprintln(e.stdout, path)
	return err
}

func etcdUnhealthy(_ context.Context, e env, args []string) error {
	if len(args) != 1 || (args[0] != "on" && args[0] != "off") {
		return errors.New("etcd-unhealthy wants on or off")
	}
	if _, err := e.dir.ReadState(); err != nil {
		return fmt.Errorf("there is no lab in %s", e.dir)
	}
	return e.dir.SetEtcdUnhealthy(args[0] == "on")
}

// orderHost does to a host what a person at the machine would.
func orderHost(ctx context.Context, e env, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("host wants a host and one of %v", lab.HostVerbs)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := e.mustRun(); err != nil {
		return err
	}
	return e.dir.Order(ctx, args[0], args[1])
}

// outside sets right what is outside of the cluster and its hosts, or lists it.
func outside(ctx context.Context, e env, args []string) error {
	if len(args) == 0 {
		w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for _, o := range lab.Outsides() {
			name := o.Name
			if o.Host {
				name += " HOST"
			}
			fmt.Fprintf(w, "%s\t%s\n", name, o.About)
		}
		return w.Flush()
	}
	if len(args) > 2 {
		return errors.New("outside wants a name of its list, and a host where it is about one")
	}
	if err := e.mustRun(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return e.dir.SetRight(ctx, args[0], strings.Join(args[1:], ""))
}

// mustRun is an error where no lab runs.
func (e env) mustRun() error {
	release, free, err := e.dir.Lock()
	if err != nil {
		return err
	}
	if free {
		release()
		return fmt.Errorf("no lab runs in %s", e.dir)
	}
	return nil
}
