// Command replay diagnoses a git history of cluster snapshots, one commit after the
// other, and prints where the answer changes. It is a tool for developers and no part
// of what is shipped.
//
// Such a history is what a watcher wrote that commits each change of an object
// (github.com/vrutkovs/resourcewatch): every commit is the cluster at its second.
//
//	go run ./internal/tools/replay --git DIR [--every 5s] [--watch]
//
// Invariants:
//   - Nothing is checked out: names come from ls-tree and contents from one
//     cat-file --batch. Each content is decoded from YAML once.
//   - "Now" of a snapshot is the time of its commit, never the clock of this machine.
//   - The diagnosis is the one of the tool, over the archive source of the tool.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/follow"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// options are what the flags set.
type options struct {
	git, rev    string
	every       time.Duration
	from, until time.Time
	all         bool
	watch       bool
	rules       follow.Rules
	stable      time.Duration
	without     []after.ID
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	repo := repository{dir: o.git}
	commits, err := repo.history(ctx, o.rev)
	if err != nil {
		return err
	}
	chosen := sample(commits, o)
	if len(chosen) == 0 {
		return fmt.Errorf("no commit of %s at %s lies between --from and --until", o.git, o.rev)
	}
	blobs, err := openBlobs(ctx, repo)
	if err != nil {
		return err
	}
	started := time.Now()
	if o.watch {
		return errors.Join(playWatch(ctx, repo, blobs, chosen, o, out), blobs.Close())
	}
	s, err := replay(ctx, repo, blobs, chosen, o.all, out)
	if err = errors.Join(err, blobs.Close()); err != nil {
		return err
	}
	s.print(out, len(commits), time.Since(started))
	return nil
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.git, "git", "", "the git directory of the history")
	f.StringVar(&o.rev, "rev", "HEAD", "its newest commit")
	f.DurationVar(&o.every, "every", 5*time.Second, "time between two snapshots; 0 takes every commit")
	f.BoolVar(&o.all, "all", false, "print every snapshot, not only changes")
	f.BoolVar(&o.watch, "watch", false, "print what rollcall watch prints without a terminal, until it ends")
	f.DurationVar(&o.stable, "stable-for", 5*time.Minute, "with --watch: as of rollcall watch")
	without := f.String("without", "", "with --watch: indicators that the record has no objects for, with commas")
	goal := f.String("goal", string(after.Stable), "with --watch: joined or stable, as --until of rollcall watch")
	f.BoolVar(&o.rules.StopOnRoot, "stop-on-root", true, "with --watch: end at a proven cause")
	from := f.String("from", "", "first time, RFC 3339")
	until := f.String("until", "", "last time, RFC 3339")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.git == "" || f.NArg() > 0 {
		return o, errors.New("name the git directory: replay --git DIR")
	}
	for _, bound := range []struct {
		flag, value string
		to          *time.Time
	}{{"--from", *from, &o.from}, {"--until", *until, &o.until}} {
		if bound.value == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, bound.value)
		if err != nil {
			return o, fmt.Errorf("read %s: %w", bound.flag, err)
		}
		*bound.to = t
	}
	for id := range strings.SplitSeq(*without, ",") {
		o.without = append(o.without, after.ID(id))
	}
	if o.rules.Goal = after.Goal(*goal); o.rules.Goal != after.Joined && o.rules.Goal != after.Stable {
		return o, fmt.Errorf("--goal %s: want joined or stable", *goal)
	}
	return o, nil
}

// sample chooses the commits that are diagnosed: the first, the last, and between them
// the last commit of each interval.
func sample(commits []commit, o options) []commit {
	var list []commit
	for i, c := range commits {
		if c.at.Before(o.from) || !o.until.IsZero() && c.at.After(o.until) {
			continue
		}
		if o.every > 0 && i+1 < len(commits) && len(list) > 0 && commits[i+1].at.Truncate(o.every).Equal(c.at.Truncate(o.every)) {
			continue
		}
		list = append(list, c)
	}
	return list
}
