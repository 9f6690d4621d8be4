package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// labModule is the nested module of the lab in the source tree.
const labModule = "module github.com/rollcall-project/rollcall/lab"

func (a *app) labCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lab [--lab-dir DIR] WORDS...",
		Short: "run a real control plane in trouble on this machine",
		Long: `Lab runs the real servers of OpenShift in a failure, on loopback addresses of this
machine: etcd, kube-apiserver, the machine config controller and server, and hosts
that boot through the real Ignition. It needs Go and the source tree of Rollcall:
run it inside the tree, or name its directory lab/ with --lab-dir.

The words are those of the lab's own program, which is built when it is needed:
  lab scenarios            what it can play, and what each is
  lab up NAME[+NAME...]    start and wait until the scenario stands
  lab status               hosts, addresses, processes
  lab console HOST         what a person sees on a host's screen
  lab kubeconfig           the path of its kubeconfig
  lab down                 stop and remove all of it`,
		DisableFlagParsing: true,
		ValidArgsFunction:  a.completeLab,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, words := labDir(args)
			if len(words) == 0 || words[0] == "--help" || words[0] == "-h" {
				return cmd.Help()
			}
			return a.runLab(cmd.Context(), dir, words)
		},
	}
}

// labWords are the words of the lab's own program (lab/cmd/rollcall-lab).
var labWords = []cobra.Completion{"scenarios", "up", "status", "console", "host", "outside", "kubeconfig", "snapshot", "down", "build"}

// completeLab completes the words, and after "up" the scenarios: those of the lab's program
// as it was last built, for a completion builds nothing.
func (a *app) completeLab(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	named, words := labDir(args)
	if len(words) == 0 {
		return labWords, cobra.ShellCompDirectiveNoFileComp
	}
	if words[0] != "up" || len(words) > 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	dir, err := findLab(named)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	program, err := labProgram(dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.IO.Completion)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "scenarios", "-o", "name").Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndex(typed, "+")+1] // several go together: up NAME+NAME
	var list []cobra.Completion
	for name := range strings.FieldsSeq(string(out)) {
		list = append(list, before+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// labDir takes a leading --lab-dir from the words.
func labDir(args []string) (dir string, words []string) {
	if len(args) > 0 {
		if v, ok := strings.CutPrefix(args[0], "--lab-dir="); ok {
			return v, args[1:]
		}
	}
	if len(args) > 1 && args[0] == "--lab-dir" {
		return args[1], args[2:]
	}
	return "", args
}

func (a *app) runLab(ctx context.Context, dir string, words []string) error {
	dir, err := findLab(dir)
	if err != nil {
		return err
	}
	program, err := a.buildLab(ctx, dir)
	if err != nil {
		return err
	}
	run := exec.CommandContext(ctx, program, append([]string{"--source", filepath.Join(dir, "servers")}, words...)...)
	run.Stdin, run.Stdout, run.Stderr = a.IO.In, a.IO.Out, a.IO.Err
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = time.Minute // it stops its servers first
	err = run.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // it has said why
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	if err != nil {
		return fmt.Errorf("run the lab: %w", err)
	}
	return nil
}

// findLab returns the directory of the lab's module: the one that is named, or the
// one in the source tree around the working directory.
func findLab(named string) (string, error) {
	if named != "" {
		dir, err := filepath.Abs(named)
		if err != nil {
			return "", fmt.Errorf("--lab-dir %s: %w", named, err)
		}
		if !isLab(dir) {
			return "", fmt.Errorf("--lab-dir %s: there is no go.mod of the lab in it; name the directory lab/ of the source tree", named)
		}
		return dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the lab: %w", err)
	}
	for {
		if isLab(filepath.Join(dir, "lab")) {
			return filepath.Join(dir, "lab"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the lab is not here: it is part of the source tree and needs Go. Run this inside a clone of rollcall, or name its " +
				"directory with --lab-dir DIR")
		}
		dir = up
	}
}

func isLab(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(f)
	found := false
	for lines.Scan() && !found {
		found = strings.TrimSpace(lines.Text()) == labModule
	}
	return errors.Join(lines.Err(), f.Close()) == nil && found
}

// buildLab builds the lab's program into the user's cache, one file for each source
// tree. Go builds only what has changed.
func (a *app) buildLab(ctx context.Context, dir string) (string, error) {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return "", errors.New("the lab is built from source and there is no go command in $PATH; install Go")
	}
	program, err := labProgram(dir)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, compiler, "build", "-o", program, "./cmd/rollcall-lab")
	build.Dir, build.Stdout, build.Stderr = dir, a.IO.Err, a.IO.Err
	done := a.Progress("building the lab's program ...")
	err = build.Run()
	done()
	if err != nil {
		return "", fmt.Errorf("build the lab in %s: %w", dir, err)
	}
	return program, nil
}

// labProgram is where the lab's program of a source tree is built.
func labProgram(dir string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the lab's program: %w", err)
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(cache, "rollcall", "lab-"+hex.EncodeToString(sum[:6]), "rollcall-lab"), nil
}
