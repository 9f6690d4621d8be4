package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Panic is a panic of a goroutine that a Group ran: what recover returned there, and where it was.
type Panic struct {
	Value any
	Stack []byte
}

// errPanic ends a group whose function has panicked; Wait panics instead of returning it.
var errPanic = errors.New("a function of the group has panicked")

// Group is an errgroup.Group whose Wait panics where one of its functions did. Without that the process
// would end with a trace, and with exit code 2, which says that a fault is proven. The zero Group is
// ready to use.
type Group struct {
	group errgroup.Group
	with  *errgroup.Group // of WithContext

	mu    sync.Mutex
	first *Panic
}

// WithContext returns a Group, and a context that ends with its first error or panic, or with Wait.
func WithContext(ctx context.Context) (*Group, context.Context) {
	with, ctx := errgroup.WithContext(ctx)
	return &Group{with: with}, ctx
}

func (g *Group) below() *errgroup.Group {
	if g.with != nil {
		return g.with
	}
	return &g.group
}

// SetLimit bounds how many functions run at once.
func (g *Group) SetLimit(n int) { g.below().SetLimit(n) }

// Go runs a function in a goroutine.
func (g *Group) Go(f func() error) {
	g.below().Go(func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.first == nil {
					g.first = &Panic{v, debug.Stack()}
				}
				err = errPanic
			}
		}()
		return f()
	})
}

// Wait waits for all functions and returns the first error.
func (g *Group) Wait() error {
	err := g.below().Wait()
	if g.first != nil {
		panic(g.first)
	}
	return err
}

// stderr is the process's own: os.Stderr is another for a moment where a client of an API is made.
var stderr = os.Stderr

// Func is a function for a goroutine of which nobody takes the panic: where it panics, the process ends
// with one line on standard error and with exit code 1, and not with 2 as Go ends.
func Func(f func()) func() {
	return func() {
		defer func() {
			if defect := recover(); defect != nil {
				fmt.Fprintln(stderr, Line("rollcall", defect, debug.Stack()))
				os.Exit(1)
			}
		}()
		f()
	}
}
