package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// maxFile bounds one file of a plain copy.
const maxFile = 32 << 20

// Look resolves references against the copies below a directory. A copy of
// owner/name lies at owner/name or owner+name, or one level below that in
// "repo"; it is a git repository, bare or with a work tree, or the plain files.
func Look(ctx context.Context, dir string, list []Named) (Report, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Report{}, fmt.Errorf("open the directory of sources: %w", err)
	}
	if !info.IsDir() {
		return Report{}, fmt.Errorf("open the directory of sources: %s is a file", dir)
	}
	var report Report
	missing := map[string]int{}
	copies := map[string]source{}
	for _, n := range list {
		report.Checked++
		if err := checkForm(n.Ref); err != nil {
			report.Wrong = append(report.Wrong, Wrong{n, err})
			continue
		}
		from, ok := copies[n.Ref.Repo]
		if !ok {
			from = find(dir, n.Ref.Repo)
			copies[n.Ref.Repo] = from
		}
		switch {
		case from == nil:
			missing[n.Ref.Repo]++
			continue
		case n.Ref.Path == "": // the note says what is meant
			report.Verified++
			continue
		}
		if err := from.check(ctx, n.Ref); err != nil {
			if ctx.Err() != nil {
				return report, ctx.Err()
			}
			report.Wrong = append(report.Wrong, Wrong{n, err})
			continue
		}
		report.Verified++
	}
	report.finish(missing)
	return report, nil
}

// source is one copy of a repository.
type source interface {
	check(context.Context, fault.Ref) error
}

func find(dir, repo string) source {
	owner, name, _ := strings.Cut(repo, "/")
	for _, p := range []string{filepath.Join(dir, owner, name), filepath.Join(dir, owner+"+"+name)} {
		for _, at := range []string{p, filepath.Join(p, "repo")} {
			if isDir(filepath.Join(at, ".git")) {
				return gitCopy{filepath.Join(at, ".git")}
			}
			if isDir(filepath.Join(at, "objects")) && isDir(filepath.Join(at, "refs")) {
				return gitCopy{at}
			}
		}
		if isDir(p) {
			return plainCopy{p}
		}
	}
	return nil
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// gitCopy is a git directory.
type gitCopy struct{ dir string }

var (
	errNoPath   = errors.New("there is no such path")
	errNoSymbol = errors.New("the symbol does not occur there")
)

func (g gitCopy) check(ctx context.Context, r fault.Ref) error {
	commit, err := g.commit(ctx, r.Branch)
	if err != nil {
		return err
	}
	if _, err := g.git(ctx, "cat-file", "-e", commit+":"+r.Path); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errNoPath
	}
	if r.Symbol == "" {
		return nil
	}
	if _, err := g.git(ctx, "grep", "-q", "-w", "-F", "-e", r.Symbol, commit, "--", ":(literal)"+r.Path); err != nil {
		return errNoSymbol
	}
	return nil
}

// commit resolves a branch or tag; "" is the copy's own branch.
func (g gitCopy) commit(ctx context.Context, branch string) (string, error) {
	names := []string{"HEAD"}
	if branch != "" {
		names = []string{"refs/heads/" + branch, "refs/remotes/origin/" + branch, "refs/tags/" + branch}
	}
	for _, name := range names {
		out, err := g.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		if err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	if branch == "" {
		return "", fmt.Errorf("the copy in %s has no commit", g.dir)
	}
	return "", fmt.Errorf("the copy has no branch or tag %s", branch)
}

func (g gitCopy) git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + g.dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// plainCopy is a directory of files without history.
type plainCopy struct{ dir string }

func (c plainCopy) check(_ context.Context, r fault.Ref) error {
	if r.Branch != "" {
		return fmt.Errorf("the copy has no history, so branch %s cannot be looked at", r.Branch)
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return fmt.Errorf("open the copy: %w", err)
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(filepath.FromSlash(r.Path))
	if err != nil {
		return errNoPath
	}
	if r.Symbol == "" {
		return nil
	}
	word := regexp.MustCompile(`(?:^|[^A-Za-z0-9_])` + regexp.QuoteMeta(r.Symbol) + `(?:$|[^A-Za-z0-9_])`)
	if !info.IsDir() {
		return occurs(root.FS(), r.Path, word)
	}
	found := errNoSymbol
	err = fs.WalkDir(root.FS(), r.Path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if occurs(root.FS(), p, word) == nil {
			found = nil
			return fs.SkipAll
		}
		return nil
	})
	return errors.Join(err, found)
}

func occurs(files fs.FS, p string, word *regexp.Regexp) error {
	f, err := files.Open(p)
	if err != nil {
		return fmt.Errorf("open %s: %w", p, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", p, err)
	}
	if !word.Match(text) {
		return errNoSymbol
	}
	return nil
}
