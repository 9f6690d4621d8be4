package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The programs that are run, and nothing else is. RHCOS has them at these places.
const (
	systemctl  = "/usr/bin/systemctl"
	journalctl = "/usr/bin/journalctl"
	crictl     = "/usr/bin/crictl"
	chronyc    = "/usr/bin/chronyc"
)

// Bounds of a command.
const (
	commandTime = 20 * time.Second
	journalTime = 2 * time.Minute
	maxOutput   = 16 << 20
)

// Runner runs the programs of the machine.
type Runner interface {
	// Start starts a program and returns what it prints. Close waits for its end and
	// returns how it ended; it kills a program that still runs.
	Start(ctx context.Context, program string, args ...string) (io.ReadCloser, error)
}

// inside runs programs in a root directory.
type inside struct{ root string }

// environment is what every program gets: times in UTC, words in English.
var environment = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/sbin:/usr/bin", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER="}

func (r inside) Start(ctx context.Context, program string, args ...string) (io.ReadCloser, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment, "/", 2*time.Second
	if r.root != "/" {
		if err := confine(cmd, r.root); err != nil {
			stop()
			return nil, err
		}
	}
	said := &head{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &running{ReadCloser: out, cmd: cmd, stop: stop, said: said, ctx: ctx}, nil
}

// running is the output of a program that runs.
type running struct {
	io.ReadCloser
	cmd  *exec.Cmd
	ctx  context.Context
	stop context.CancelFunc
	said *head
	done bool // its output was read to the end
}

func (r *running) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		r.done = true
	}
	return n, err
}

// Close implements io.Closer. That a program was stopped before its end is no error.
func (r *running) Close() error {
	late := r.ctx.Err()
	if !r.done {
		r.stop()
	}
	err := r.cmd.Wait()
	r.stop()
	switch {
	case late != nil:
		return late
	case err == nil || !r.done:
		return nil
	case r.said.String() != "":
		return fmt.Errorf("%w: %s", err, r.said)
	}
	return err
}

// head keeps the beginning of what a program says on stderr.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	const most = 2048
	h.Buffer.Write(p[:min(len(p), max(0, most-h.Len()))])
	return len(p), nil
}

func (h *head) String() string { return strings.Join(strings.Fields(h.Buffer.String()), " ") }

// output runs a program and returns all that it prints.
func output(ctx context.Context, r Runner, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out, err := r.Start(ctx, program, args...)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(out, maxOutput+1))
	if len(raw) > maxOutput {
		return nil, errors.Join(fmt.Errorf("it printed more than %d bytes", maxOutput), out.Close())
	}
	return raw, errors.Join(err, out.Close())
}

// unavailable says why a program gave nothing.
func unavailable(need evidence.Need, program string, err error) *evidence.Unavailable {
	u := &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: program + ": " + err.Error()}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		u.Why, u.Detail = evidence.NotCollected, "this machine has no "+program
	case errors.Is(err, context.DeadlineExceeded):
		u.Why, u.Detail = evidence.Unreachable, fmt.Sprintf("%s did not end within %s", program, commandTime)
	case errors.Is(err, fs.ErrPermission):
		u.Why, u.Supply = evidence.Forbidden, evidence.Supply{Kind: evidence.SupplyHostRoot}
	}
	return u
}
