package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// repository is a git directory, with or without a work tree.
type repository struct{ dir string }

// commit is one snapshot.
type commit struct {
	id      string
	at      time.Time
	subject string
}

// member is a file of a snapshot.
type member struct {
	path, blob string
	size       int64
}

func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "git", append([]string{"-C", r.dir, "--no-replace-objects"}, args...)...)
}

func (r repository) output(ctx context.Context, args ...string) ([]byte, error) {
	raw, err := r.command(ctx, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return raw, nil
}

// history returns the commits up to a revision, the oldest first.
func (r repository) history(ctx context.Context, rev string) ([]commit, error) {
	raw, err := r.output(ctx, "log", "--reverse", "--first-parent", "--format=%H %ct %s", "--end-of-options", rev, "--")
	if err != nil {
		return nil, err
	}
	var list []commit
	for line := range strings.Lines(string(raw)) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		seconds, subject, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the time of commit %s: %w", id, err)
		}
		list = append(list, commit{id: id, at: time.Unix(n, 0).UTC(), subject: subject})
	}
	return list, nil
}

// tree lists the files of a snapshot, sorted by path.
func (r repository) tree(ctx context.Context, id string) ([]member, error) {
	raw, err := r.output(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	var list []member
	for entry := range strings.SplitSeq(string(raw), "\x00") {
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head) // mode, type, object, size
		if !ok || len(fields) != 4 || fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the size of %s in %s: %w", path, id, err)
		}
		list = append(list, member{path: path, blob: fields[2], size: size})
	}
	return list, nil
}

// blobs reads contents from one git process that stays open.
type blobs struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func openBlobs(ctx context.Context, r repository) (*blobs, error) {
	p := r.command(ctx, "cat-file", "--batch")
	in, err := p.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	return &blobs{process: p, in: in, out: bufio.NewReaderSize(out, 1<<20)}, nil
}

// read returns the content of a blob.
func (b *blobs) read(id string) ([]byte, error) {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return nil, fmt.Errorf("ask git for %s: %w", id, err)
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read %s from git: %w", id, err)
	}
	fields := strings.Fields(head) // object, type, size
	if len(fields) != 3 {
		return nil, fmt.Errorf("read %s from git: %s", id, strings.TrimSpace(head))
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, fmt.Errorf("read %s from git: %w", id, err)
	}
	raw := make([]byte, n+1) // and the line's end behind it
	if _, err := io.ReadFull(b.out, raw); err != nil {
		return nil, fmt.Errorf("read %s from git: %w", id, err)
	}
	return raw[:n], nil
}

// Close ends the process.
func (b *blobs) Close() error {
	if err := errors.Join(b.in.Close(), b.process.Wait()); err != nil {
		return fmt.Errorf("end git cat-file: %w", err)
	}
	return nil
}
