package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cases := flag.String("cases", "bench/cases", "directory of the cases")
	config := flag.String("tool", "bench/rollcall.yaml", "how the program is run")
	only := flag.String("run", "", "expression for the names of the cases to run")
	flag.Parse()
	failed, err := measure(ctx, os.Stdout, *cases, *config, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if failed > 0 {
		os.Exit(2)
	}
}

func measure(ctx context.Context, out io.Writer, dir, config, only string) (failed int, err error) {
	t, err := readTool(config)
	if err != nil {
		return 0, err
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return 0, fmt.Errorf("read -run: %w", err)
	}
	list, err := load(os.DirFS(dir))
	if err != nil {
		return 0, err
	}
	list = slices.DeleteFunc(list, func(c benchCase) bool { return !pattern.MatchString(c.name) })
	passed := map[string]int{}
	tried := map[string]int{}
	for i := range list {
		results, err := try(ctx, t, &list[i])
		if err != nil {
			return 0, fmt.Errorf("case %s: %w", list[i].name, err)
		}
		for _, r := range results {
			tried[r.gate]++
			if len(r.wrong) == 0 {
				passed[r.gate]++
				continue
			}
			failed++
			fmt.Fprintf(out, "%s %s: %s\n", list[i].name, r.gate, strings.Join(r.wrong, "; "))
		}
	}
	for _, g := range []string{gateScenario, gateMutation, gateNoise, gateFalsePositive} {
		if tried[g] > 0 {
			fmt.Fprintf(out, "%-14s %3d of %3d\n", g, passed[g], tried[g])
		}
	}
	return failed, nil
}

// The gates.
const (
	gateScenario      = "scenario"       // the answer is right
	gateMutation      = "mutation"       // without the evidence it is another
	gateNoise         = "noise"          // among 500 lines or objects of noise it is the same
	gateFalsePositive = "false-positive" // where nothing is wrong nothing is concluded, with noise or without
)

// result is how one gate went: what is wrong, nothing where it passed.
type result struct {
	gate  string
	wrong []string
}

// try puts a case through its gates.
func try(ctx context.Context, t *tool, c *benchCase) ([]result, error) {
	a, err := t.ask(ctx, c, c.files, true)
	if err != nil {
		return nil, err
	}
	noisy, err := t.ask(ctx, c, c.noisy(), false)
	if err != nil {
		return nil, err
	}
	if c.Outcome == outcomeNone {
		return []result{{gateFalsePositive, append(c.judge(a), c.judge(noisy)...)}}, nil
	}
	list := []result{{gateScenario, append(c.judge(a), c.advice(a)...)}, {gateNoise, c.judge(noisy)}}
	if c.Outcome != outcomeCause {
		return list, nil
	}
	less, err := t.ask(ctx, c, c.mutated(), false)
	if err != nil {
		return nil, err
	}
	r := result{gate: gateMutation}
	if len(less.causes) > 0 && slices.Contains(c.Cause, less.causes[0]) {
		r.wrong = []string{"without its evidence it still concludes " + less.causes[0]}
	}
	return append(list, r), nil
}

// judge compares an answer with the truth.
func (c *benchCase) judge(a answer) (wrong []string) {
	switch {
	case c.Outcome == outcomeCause && len(a.causes) == 0:
		wrong = append(wrong, "it concludes nothing")
	case c.Outcome == outcomeCause && !slices.Contains(c.Cause, a.causes[0]):
		wrong = append(wrong, "it concludes "+a.causes[0])
	case c.Outcome != outcomeCause && len(a.causes) > 0:
		wrong = append(wrong, "it concludes "+a.causes[0])
	}
	for _, id := range c.MustNot {
		if slices.Contains(a.causes, id) {
			wrong = append(wrong, "it concludes "+id+", which is wrong here")
		}
	}
	return wrong
}

// advice compares the words of an answer with what it has to name and to advise.
func (c *benchCase) advice(a answer) (wrong []string) {
	for _, expr := range []string{c.Shows, c.NextStep} {
		if expr != "" && !regexp.MustCompile(expr).MatchString(a.text) {
			wrong = append(wrong, fmt.Sprintf("its answer has nothing of %q", expr))
		}
	}
	return wrong
}
