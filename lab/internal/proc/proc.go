// Package proc runs the lab's servers as children of its supervisor.
//
// Children never outlive the supervisor: the kernel kills them when it dies,
// however it dies (PR_SET_PDEATHSIG), and Stop ends them in the reverse order
// of their start.
package proc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Spec is one program to run.
type Spec struct {
	Name string // unique in the lab
	Path string
	Args []string
	Env  []string // added to a minimal environment
	Dir  string
	Log  string // file that standard output and error are appended to
	// Etc, where set, is a directory that the program alone sees as /etc: it
	// runs in a mount namespace of its own.
	Etc string
	// Stopping is how long it may take to end after SIGTERM; zero is 5 s.
	Stopping time.Duration
}

// Info is what is known about a child.
type Info struct {
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Running bool      `json:"running"`
	Exit    string    `json:"exit,omitempty"`
	Log     string    `json:"log"`
}

// Group is the set of children of one supervisor.
type Group struct {
	logger *slog.Logger
	spawn  chan func()

	mu       sync.Mutex
	children []*child
}

type child struct {
	spec Spec
	cmd  *exec.Cmd
	info Info
	done chan struct{}
}

// NewGroup starts the thread from which all children are forked: the kernel
// sends the parent-death signal when the forking *thread* ends, so that thread
// has to stay (prctl(2), PR_SET_PDEATHSIG).
func NewGroup(logger *slog.Logger) *Group {
	g := &Group{logger: logger, spawn: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range g.spawn {
			f()
		}
	}()
	return g
}

// Start runs a program and returns once it has been forked.
func (g *Group) Start(spec Spec) error {
	if err := os.MkdirAll(filepath.Dir(spec.Log), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Dir = spec.Dir
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Dir(spec.Log), "LANG=C"}, spec.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	// Its own process group, so that a Ctrl-C on the terminal reaches only
	// the supervisor, which then stops its children in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if spec.Etc != "" {
		if err := ownEtc(cmd, spec.Etc); err != nil {
			return err
		}
	}
	failed := make(chan error, 1)
	g.spawn <- func() { failed <- cmd.Start() }
	if err := <-failed; err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	c := &child{spec: spec, cmd: cmd, done: make(chan struct{}), info: Info{
		Name: spec.Name, PID: cmd.Process.Pid, Since: time.Now(), Running: true, Log: spec.Log,
	}}
	g.mu.Lock()
	g.children = slices.DeleteFunc(g.children, func(o *child) bool { return o.spec.Name == spec.Name && !o.info.Running })
	g.children = append(g.children, c)
	g.mu.Unlock()
	go g.wait(c)
	return nil
}

func (g *Group) wait(c *child) {
	err := c.cmd.Wait()
	g.mu.Lock()
	c.info.Running = false
	c.info.Exit = c.cmd.ProcessState.String()
	g.mu.Unlock()
	g.logger.Info("ended", "process", c.spec.Name, "exit", c.info.Exit, "err", err)
	close(c.done)
}

// Stop ends one child: SIGTERM, then SIGKILL. A name that is not running is no
// error.
func (g *Group) Stop(name string) {
	g.mu.Lock()
	i := slices.IndexFunc(g.children, func(c *child) bool { return c.spec.Name == name && c.info.Running })
	if i < 0 {
		g.mu.Unlock()
		return
	}
	c := g.children[i]
	g.mu.Unlock()
	c.stop()
}

func (c *child) stop() {
	patience := c.spec.Stopping
	if patience == 0 {
		patience = 5 * time.Second
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may just have ended
	select {
	case <-c.done:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// StopAll ends every child, the newest first.
func (g *Group) StopAll() {
	g.mu.Lock()
	all := slices.Clone(g.children)
	g.mu.Unlock()
	for _, c := range slices.Backward(all) {
		c.stop()
	}
}

// List tells about all children, in the order of their start.
func (g *Group) List() []Info {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Info, 0, len(g.children))
	for _, c := range g.children {
		out = append(out, c.info)
	}
	return out
}

// Running says whether the named child runs.
func (g *Group) Running(name string) bool {
	return slices.ContainsFunc(g.List(), func(i Info) bool { return i.Name == name && i.Running })
}

// ErrEnded is returned by Await when the program that was waited for ended.
var ErrEnded = errors.New("the program ended")

// Await calls ready every 100 ms until it returns nil, the named child ends or
// ctx does; the last reason is part of the error, and so is the child's log.
func (g *Group) Await(ctx context.Context, name string, ready func(context.Context) error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		if !g.Running(name) {
			return fmt.Errorf("wait for %s: %w: %v\n%s", name, ErrEnded, err, g.tail(name))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w: %v\n%s", name, ctx.Err(), err, g.tail(name))
		case <-tick.C:
		}
	}
}

// tail returns the end of a child's log.
func (g *Group) tail(name string) string {
	for _, i := range slices.Backward(g.List()) {
		if i.Name != name {
			continue
		}
		data, err := os.ReadFile(i.Log)
		if err != nil {
			return err.Error()
		}
		const most = 2000
		return string(data[max(0, len(data)-most):])
	}
	return ""
}
