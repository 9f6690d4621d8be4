package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

// playWatch hands the chosen snapshots to the follower of rollcall watch, and prints its lines
// as the command does without a terminal, until it ends or the history does.
func playWatch(ctx context.Context, repo repository, b *blobs, chosen []commit, o options, out io.Writer) error {
	m, err := newMachine()
	if err != nil {
		return err
	}
	kept := &contents{blobs: b, kept: map[string][]byte{}}
	f := follow.New(o.rules)
	started, lines := time.Now(), 0
	write := func(events []follow.Event) error {
		for _, e := range events {
			lines++
			if err := screen.Line(out, e, page.Style{}); err != nil {
				return err
			}
		}
		return nil
	}
	for n, c := range chosen {
		members, err := repo.tree(ctx, c.id)
		if err != nil {
			return err
		}
		d, r, err := m.diagnose(ctx, newSnapshot(kept, members), c)
		if err != nil {
			return fmt.Errorf("diagnose snapshot %s of %s: %w", c.id, c.at.Format(time.RFC3339), err)
		}
		list, err := after.Check(ctx, after.World(facts.NewWorld(r, d.Now), d), d, after.Options{Goal: o.rules.Goal, StableFor: o.stable, Skip: o.without})
		if err != nil {
			return fmt.Errorf("check snapshot %s of %s: %w", c.id, c.at.Format(time.RFC3339), err)
		}
		if err := write(f.Step(follow.Run{Diagnosis: d, Indicators: list})); err != nil {
			return err
		}
		end, over := f.End()
		if !over && n+1 < len(chosen) {
			continue
		}
		if !over {
			_, err = fmt.Fprintf(out, "\nthe history ends, the watch does not: %d lines, %d "+
				"snapshots in %s\n", lines, n+1, time.Since(started).Round(100*time.Millisecond))
			for _, i := range list {
				fmt.Fprintf(out, "  %-18s %s %s\n", i.ID, i.Outcome, i.Reason)
			}
			return err
		}
		if err := write([]follow.Event{f.Finish(end)}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "\n%d lines, %d of %d snapshots in %s\n", lines, n+1, len(chosen), time.Since(started).Round(100*time.Millisecond))
		return err
	}
	return nil
}
