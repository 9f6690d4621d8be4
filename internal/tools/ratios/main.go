// Command ratios measures what Rollcall costs and compares it with what is allowed.
//
//	go run ./internal/tools/ratios                 print the table; 1 where a limit is exceeded
//	go run ./internal/tools/ratios -update FILE    write what is measured, as limits.json has it
//
// Each piece of work runs as a process of its own, and its processor time, user and system, is
// divided by that of a fixed piece of work right before it, on the same machine: how fast
// the machine is, and what else it does, changes both. The smallest of several ratios counts.
// One that is more than 30 percent over the limit is measured again, up to three times as
// often: only what is slow each time is a regression.
//
// `rollcall scan` is compared with `rg -c -F` and the same literals. Where rg is missing
// that row is skipped, and said to be.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

//go:embed limits.json
var limitsFile []byte

const (
	slack = 1.3 // over the limit that is no regression
	// rounds is how often a piece of work is measured, and patience how many times as often
	// where it is over the limit.
	rounds   = 3
	patience = 3
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "calibrate" {
		calibrate()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	update := flag.String("update", "", "write what is measured to this `FILE` (internal/tools/ratios/limits.json)")
	flag.Parse()
	if err := run(ctx, os.Stdout, *update); err != nil {
		fmt.Fprintln(os.Stderr, "ratios:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, update string) (err error) {
	limits := map[string]float64{}
	if err := json.Unmarshal(limitsFile, &limits); err != nil {
		return fmt.Errorf("read limits.json: %w", err)
	}
	dir, err := os.MkdirTemp("", "ratios-*")
	if err != nil {
		return fmt.Errorf("make a directory for what is measured: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	list, err := works(ctx, dir)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WORK\tCPU\tAGAINST\tRATIO\tLIMIT\tRESULT")
	measured, slow := map[string]float64{}, 0
	for _, w := range list {
		if w.skip != "" {
			fmt.Fprintf(table, "%s\t-\t-\t-\t%.3f\tskipped: %s\n", w.name, limits[w.name], w.skip)
			measured[w.name] = limits[w.name]
			continue
		}
		limit, known := limits[w.name]
		if !known {
			limit = math.Inf(1)
		}
		take := func() (sample, error) { return w.measure(ctx) }
		choose := func(take func() (sample, error)) (sample, error) { return settle(limit, take) }
		if update != "" {
			choose = middle
		}
		best, err := choose(take)
		if err != nil {
			return fmt.Errorf("measure %s: %w", w.name, err)
		}
		result := "ok"
		switch {
		case update != "":
			result = "written"
		case !known:
			result, slow = "has no limit: run with -update", slow+1
		case best.ratio() > limit*slack:
			result, slow = "slower than allowed", slow+1
		}
		measured[w.name] = math.Ceil(best.ratio()*1000) / 1000
		fmt.Fprintf(table, "%s\t%d ms\t%s\t%.3f\t%.3f\t%s\n", w.name, best.work.Milliseconds(), w.against, best.ratio(), limits[w.name], result)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if update != "" {
		text, err := json.MarshalIndent(measured, "", "  ")
		if err != nil {
			return fmt.Errorf("write the limits: %w", err)
		}
		return os.WriteFile(filepath.Clean(update), append(text, '\n'), 0o644)
	}
	if slow > 0 {
		return fmt.Errorf("%d of %d are slower than allowed: more than %.0f %% over the limit each time", slow, len(list), 100*(slack-1))
	}
	return nil
}

// settle returns the best of several samples. It takes more of them as long as none is within
// the limit.
func settle(limit float64, take func() (sample, error)) (best sample, err error) {
	for n := 0; n < rounds || n < rounds*patience && best.ratio() > limit*slack; n++ {
		s, err := take()
		if err != nil {
			return best, err
		}
		if n == 0 || s.ratio() < best.ratio() {
			best = s
		}
	}
	return best, nil
}

// middle returns the sample in the middle of several: the best would be a limit that a busy
// machine does not reach.
func middle(take func() (sample, error)) (sample, error) {
	list := make([]sample, 2*rounds+1)
	for i := range list {
		var err error
		if list[i], err = take(); err != nil {
			return sample{}, err
		}
	}
	slices.SortFunc(list, func(a, b sample) int { return cmp.Compare(a.ratio(), b.ratio()) })
	return list[rounds], nil
}
