package cmdutil

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/session"
)

// TestChoice: the first word is the default, and a word that is not allowed changes nothing.
func TestChoice(t *testing.T) {
	value := "before"
	c := NewChoice(&value, []string{"text", "json"})
	if value != "text" || c.String() != "text" || c.Type() != "WORD" {
		t.Errorf("%q, %q, %q", value, c, c.Type())
	}
	if err := c.Set("json"); err != nil || value != "json" {
		t.Errorf("%v, %q", err, value)
	}
	var usage *session.UsageError
	if err := c.Set("xml"); !errors.As(err, &usage) || err.Error() != "want one of text, json" || value != "json" {
		t.Errorf("%v, %q", err, value)
	}
	if got := (&choice{}).String(); got != "" { // pflag asks a zero value for its default
		t.Errorf("the zero value: %q", got)
	}
}

// TestOutputFlags: -o has the formats of the command, and the flags that only some formats have are
// there with those.
func TestOutputFlags(t *testing.T) {
	for _, c := range []struct {
		formats []string
		args    []string
		format  string // "": refused
		has     []string
		without []string
	}{
		{[]string{"text", "json"}, nil, "text", []string{"output"}, []string{"no-headers", "all-findings", "fail-on"}},
		{[]string{"text", "json"}, []string{"-o", "json"}, "json", nil, nil},
		{[]string{"json", "text"}, nil, "json", nil, nil},
		{[]string{"text", "json"}, []string{"-o", "yaml"}, "", nil, nil},
		{[]string{"text", "wide"}, []string{"-o=wide", "--no-headers"}, "wide", []string{"no-headers"}, []string{"all-findings"}},
		{[]string{"text", "name"}, nil, "text", []string{"no-headers"}, nil},
		{[]string{"text", "sarif"}, []string{"--all-findings"}, "text", []string{"all-findings"}, []string{"no-headers"}},
	} {
		t.Run(strings.Join(append(c.formats, c.args...), " "), func(t *testing.T) {
			a := (&surroundings{}).frame()
			cmd := &cobra.Command{Use: "x"}
			a.AddOutputFlags(cmd, c.formats...)
			err := cmd.ParseFlags(c.args)
			if (err == nil) != (c.format != "") {
				t.Fatalf("%v", err)
			}
			if err == nil && FormatOf(cmd) != c.format {
				t.Errorf("%q, want %q", FormatOf(cmd), c.format)
			}
			if a.Output.NoHeaders != slices.Contains(c.args, "--no-headers") || a.Output.Findings != slices.Contains(c.args, "--all-findings") {
				t.Errorf("%+v", a.Output)
			}
			for _, name := range c.has {
				if cmd.Flag(name) == nil {
					t.Errorf("no --%s", name)
				}
			}
			for _, name := range c.without {
				if cmd.Flag(name) != nil {
					t.Errorf("--%s is there", name)
				}
			}
			complete, _ := cmd.GetFlagCompletionFunc("output")
			if list, _ := complete(cmd, nil, ""); !slices.Equal(list, c.formats) {
				t.Errorf("completed with %q", list)
			}
		})
	}
}

// TestAnswerFlags: what --fail-on takes, and the formats of an answer.
func TestAnswerFlags(t *testing.T) {
	for _, word := range []string{"", "error", "warning", "info", FailOnNever, "fatal"} {
		a := (&surroundings{}).frame()
		cmd := &cobra.Command{}
		a.AddAnswerFlags(cmd)
		var args []string
		want := "error"
		if word != "" {
			args, want = []string{"--fail-on", word}, word
		}
		err := cmd.ParseFlags(args)
		if word == "fatal" {
			if err == nil {
				t.Error("--fail-on fatal is taken")
			}
			continue
		}
		if err != nil || a.Output.FailOn != want || FormatOf(cmd) != "text" {
			t.Errorf("--fail-on %s: %v, %q, %s", word, err, a.Output.FailOn, FormatOf(cmd))
		}
		if cmd.ParseFlags([]string{"-o", "junit"}) != nil || cmd.ParseFlags([]string{"-o", "dot"}) == nil {
			t.Error("not the formats of an answer")
		}
	}
}

// TestCompleteChoice: a flag that does not exist is a defect of the program.
func TestCompleteChoice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	CompleteChoice(&cobra.Command{}, "none", nil)
}

// TestGroups: each flag that is added has a group with a place in the help, and a text.
func TestGroups(t *testing.T) {
	a, o := (&surroundings{}).frame(), Options()
	root, hosted := &cobra.Command{}, &cobra.Command{}
	a.AddGlobalFlags(root)
	cmd := &cobra.Command{}
	Grouped(cmd, GroupOwn, func(f *pflag.FlagSet) { f.Bool("own", false, "x") })
	a.AddSourceFlags(cmd, &o)
	a.AddChoiceFlags(cmd, &o)
	a.AddAnswerFlags(cmd)
	a.AddAcceptFlag(cmd, &o)
	a.AddHostedFlags(hosted, &o)
	seen := map[string]bool{}
	check := func(f *pflag.Flag) {
		group := f.Annotations[GroupAnnotation]
		if len(group) != 1 || !slices.Contains(FlagGroupOrder(), group[0]) || f.Usage == "" {
			t.Errorf("--%s: group %q, usage %q", f.Name, group, f.Usage)
			return
		}
		seen[group[0]] = true
	}
	root.PersistentFlags().VisitAll(check)
	cmd.Flags().VisitAll(check)
	hosted.Flags().VisitAll(check)
	for _, group := range FlagGroupOrder() {
		if !seen[group] && group != GroupBMC { // of a wing
			t.Errorf("no flag is in group %q", group)
		}
	}
}

// TestSourceFlags: what is read lands in the options of the command, and nowhere else.
func TestSourceFlags(t *testing.T) {
	a, o, other := (&surroundings{}).frame(), Options(), Options()
	cmd, second := &cobra.Command{}, &cobra.Command{}
	a.AddSourceFlags(cmd, &o)
	a.AddChoiceFlags(cmd, &o)
	a.AddSourceFlags(second, &other)
	err := cmd.ParseFlags([]string{
		"--from", "a,b.tar", "--from", "c", "--console", "m0=a,b", "--expect", "m0=192.0.2.1,192.0.2.2", "--now", "2026-05-01T12:00:00Z",
		"--hosted", "ns/a", "--hosted-kubeconfig", "k", "--read-secrets", "x,y", "--journals", "--probe", "--probe-from", "node/m0", "--master", "m0=192.0.2.1",
		"--catalog", "faults", "--only", "a,b", "--skip", "c", "--install-dir", "dir", "--rendezvous", "192.0.2.9", "--context", "prod", "--kubeconfig", "kc",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, got, want string }{
		{"from", strings.Join(o.From, "|"), "a,b.tar|c"}, // a path may have a comma
		{"console", strings.Join(o.Consoles, "|"), "m0=a,b"},
		{"expect", strings.Join(o.Expect, "|"), "m0=192.0.2.1,192.0.2.2"},
		{"now", o.Now, "2026-05-01T12:00:00Z"},
		{"hosted", o.Hosted + " " + o.HostedKubeconfig, "ns/a k"},
		{"read-secrets", strings.Join(o.ReadSecrets, "|"), "x|y"},
		{"probe-from", o.ProbeFrom, "node/m0"},
		{"master", strings.Join(o.Masters, "|"), "m0=192.0.2.1"},
		{"catalog", strings.Join(o.Catalogs, "|"), "faults"},
		{"only, skip", strings.Join(o.Only, "|") + " " + strings.Join(o.Skip, "|"), "a|b c"},
		{"install-dir, rendezvous", o.InstallDir + " " + o.Rendezvous, "dir 192.0.2.9"},
		{"context, kubeconfig", o.Kube.Context + " " + o.Kube.KubeConfig, "prod kc"},
	} {
		if c.got != c.want {
			t.Errorf("--%s: %q, want %q", c.flag, c.got, c.want)
		}
	}
	if !o.Journals || !o.Probe {
		t.Error("--journals or --probe does not land")
	}
	if len(other.From) > 0 || other.Kube.Context != "" {
		t.Errorf("the options of another command: %+v", other)
	}
}

// TestConnectFlags: all flags of a kubectl plugin work, the help shows the usual ones, and none turns
// the verification of the API server off.
func TestConnectFlags(t *testing.T) {
	a, o := (&surroundings{}).frame(), Options()
	cmd := &cobra.Command{}
	a.AddConnectFlags(cmd, &o)
	shown := 0
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		usage, listed := connectUsage[f.Name]
		if f.Hidden == listed || listed && f.Usage != usage {
			t.Errorf("--%s: hidden %t, %q", f.Name, f.Hidden, f.Usage)
		}
		if listed {
			shown++
		}
	})
	if shown != len(connectUsage) {
		t.Errorf("%d of %d flags are there", shown, len(connectUsage))
	}
	if cmd.Flag("insecure-skip-tls-verify") != nil {
		t.Error("a flag turns the verification of the API server off")
	}
	if f := cmd.Flag("token"); f == nil || !f.Hidden {
		t.Error("--token does not work, or is shown")
	}
}

// TestAcceptFlag: the flag goes before the variable, also where it is empty.
func TestAcceptFlag(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		env   string
		want  string
		named bool
	}{
		{"neither", nil, "", "", false},
		{"the variable", nil, "env.yaml", "env.yaml", false},
		{"the flag", []string{"--accept", "flag.yaml"}, "", "flag.yaml", true},
		{"both", []string{"--accept", "flag.yaml"}, "env.yaml", "flag.yaml", true},
		{"an empty flag", []string{"--accept="}, "env.yaml", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, o := (&surroundings{env: map[string]string{session.AcceptVariable: c.env}}).frame(), Options()
			cmd := &cobra.Command{Run: func(*cobra.Command, []string) {}}
			a.AddAcceptFlag(cmd, &o)
			cmd.SetArgs(append([]string{}, c.args...))
			if err := cmd.Execute(); err != nil {
				t.Fatal(err)
			}
			if o.Accept != c.want || o.AcceptNamed != c.named {
				t.Errorf("%q, named %t; want %q, %t", o.Accept, o.AcceptNamed, c.want, c.named)
			}
		})
	}
}

// TestHostedFlags: both land in the options.
func TestHostedFlags(t *testing.T) {
	a, o := (&surroundings{}).frame(), Options()
	cmd := &cobra.Command{}
	a.AddHostedFlags(cmd, &o)
	if err := cmd.ParseFlags([]string{"--hosted", "ns/a", "--hosted-kubeconfig", "k"}); err != nil || o.Hosted != "ns/a" || o.HostedKubeconfig != "k" {
		t.Errorf("%v, %q, %q", err, o.Hosted, o.HostedKubeconfig)
	}
	if cmd.Flag("from") != nil {
		t.Error("--from is among them")
	}
}

// TestGlobalFlags: each command below the root has them.
func TestGlobalFlags(t *testing.T) {
	a := (&surroundings{}).frame()
	root, child := &cobra.Command{Use: "rollcall"}, &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(child)
	a.AddGlobalFlags(root)
	root.SetArgs([]string{"x", "-vv", "-q", "--ascii"})
	root.SetOut(&bytes.Buffer{})
	if err := root.Execute(); err != nil || a.Verbose != 2 || !a.Quiet || !a.ASCII {
		t.Errorf("%v, %+v", err, a)
	}
}
