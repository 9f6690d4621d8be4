// Package ssh runs rollcall-host on hosts over the user's own ssh program, and keeps what each collected as a file:
// evidence that needs no API.
//
// Invariants:
//   - It makes no connection: ssh does, with the user's configuration, agent, jump hosts and known_hosts. A host key
//     that is not known is refused; it asks nobody (BatchMode).
//   - On a host there is one directory, of root alone, for as long as the run lasts. A shell there removes it however
//     the run ends; a further run removes that of a shell that was killed.
//   - A host has an end in time and in bytes, and does not hold another one up.
//   - What a host sends is not read here: it is an archive like any other, which is bounded and sanitized where it is
//     opened. What ssh prints is sanitized.
//   - Every host has a result: a file, or a sentence that has the way out.
package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// The bounds where Options have none.
const (
	silence  = 30 * time.Second
	parallel = 10
	// whole bounds a host that answers all the time, and rollcall-host on it.
	whole = 5 * time.Minute
	// maxCollection bounds what a host sends: its journals are most of it.
	maxCollection = 256 << 20
)

// Options say how hosts are asked.
type Options struct {
	Ssh       string        // the program; "": ssh on the PATH
	Programs  *Programs     // rollcall-host, for each architecture
	To        string        // directory for what they collected, one file for each host; it exists
	Dir       string        // on a host: where the directory of the run is made; "": /run
	Args      []string      // further arguments of rollcall-host
	AcceptNew bool          // take a key of a host that known_hosts does not have, and keep it there
	Within    time.Duration // how long a host may be silent; 0: 30 s
	Parallel  int           // hosts side by side; 0: 10
	Clock     func() time.Time
	// Done is called for each host as it ends, by several goroutines.
	Done func(Result)
}

// Result is what came of one host.
type Result struct {
	Target Target
	Path   string        // of what it collected; "": it gave nothing
	Took   time.Duration // from the connection to the end
	// Ahead is how far the clock of the host is ahead of the one here; known to AheadWithin.
	Ahead, AheadWithin time.Duration
	Problem            *Problem // nil: it answered
	Machine            string   // its name in the answer, once what it collected was read
}

// Problem is why a host gave nothing.
type Problem struct {
	What string // a sentence, such as "no answer in 30s"
	Do   string // the way out; "": none is known
	// Foreign: the host answered, and is of another cluster.
	Foreign bool
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Do == "" {
		return p.What
	}
	return p.What + ". " + p.Do
}

// Run asks the hosts, some of them side by side, and returns a result for each in their order. It ends early only when
// ctx does.
func Run(ctx context.Context, targets []Target, o Options) ([]Result, error) {
	o.Ssh, o.Dir = cmp.Or(o.Ssh, "ssh"), cmp.Or(o.Dir, "/run")
	o.Within, o.Parallel = cmp.Or(o.Within, silence), cmp.Or(o.Parallel, parallel)
	if _, err := exec.LookPath(o.Ssh); err != nil {
		return nil, fmt.Errorf("find the program %s: %w; install the OpenSSH client", o.Ssh, err)
	}
	results := make([]Result, len(targets))
	var g crash.Group
	g.SetLimit(o.Parallel)
	for i, t := range targets {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			began := o.Clock()
			r, err := ask(ctx, t, o, fileName(targets, i))
			r.Target, r.Took = t, o.Clock().Sub(began)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.Path = ""
				if !errors.As(err, &r.Problem) {
					return fmt.Errorf("ask %s: %w", t.Label(), err)
				}
			}
			results[i] = r
			if o.Done != nil {
				o.Done(r)
			}
			return nil
		})
	}
	return results, g.Wait()
}

// fileName is that of the i-th target: its label, with its place where another one has the same.
func fileName(targets []Target, i int) string {
	name := targets[i].file()
	for k, t := range targets {
		if k != i && t.file() == name {
			return fmt.Sprintf("%s-%d.tar.gz", name, i+1)
		}
	}
	return name + ".tar.gz"
}
