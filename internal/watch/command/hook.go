package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

// hook runs the command of --on-change, one change after the other. What the cluster names
// reaches it on its standard input only, and never as a part of the command.
type hook struct {
	command string
	err     io.Writer
	queue   chan follow.Event
	done    chan struct{}
	missed  int
}

// Limits of the command.
const (
	hookTime  = 30 * time.Second
	hookQueue = 100
)

func startHook(command string, err io.Writer) *hook {
	h := &hook{command: command, err: err, queue: make(chan follow.Event, hookQueue), done: make(chan struct{})}
	go crash.Func(func() { h.run() })()
	return h
}

// send hands events to the command. It does not wait: what it cannot take is left out.
func (h *hook) send(list []follow.Event) {
	if h == nil {
		return
	}
	for _, e := range list {
		if e.Type == follow.StillWatching {
			continue
		}
		select {
		case h.queue <- e:
		default:
			h.missed++
		}
	}
}

// stop waits until the command has had all that was handed over.
func (h *hook) stop() {
	close(h.queue)
	<-h.done
	if h.missed > 0 {
		fmt.Fprintf(h.err, "--on-change: %d changes were left out, the command was too slow\n", h.missed)
	}
}

func (h *hook) run() {
	defer close(h.done)
	failed := 0
	for e := range h.queue {
		var line bytes.Buffer
		if err := screen.JSON(&line, e); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), hookTime)
		c := exec.CommandContext(ctx, "sh", "-c", h.command) //nolint:gosec // the user's own command, as typed
		c.Stdin = &line
		c.WaitDelay = time.Second
		if err := c.Run(); err != nil {
			failed++
		}
		cancel()
	}
	if failed > 0 {
		fmt.Fprintf(h.err, "--on-change: the command failed for %d changes\n", failed)
	}
}
