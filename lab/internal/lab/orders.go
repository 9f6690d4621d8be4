package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// HostVerbs is what a person at a machine can do, in the order of the help.
var HostVerbs = []string{"off", "on", "restart", "reinstall"}

// orders holds a file for each order that was given and not yet carried out. The file
// has the name of the host, or outsideOrder, and holds the verb.
func (d Dir) orders() string { return d.file("orders") }

// Order has the supervisor of a lab do something to a host, and returns when it is done.
// "restart" starts the host from its disk. "reinstall" empties the disk first; the host
// then boots as the cluster wants it: with the current pointer config or user-data, its own
// name and a registry that answers.
func (d Dir) Order(ctx context.Context, host, verb string) error {
	if !slices.Contains(HostVerbs, verb) {
		return fmt.Errorf("order %q: a host takes %v", verb, HostVerbs)
	}
	state, err := d.ReadState()
	if err != nil {
		return err
	}
	if !slices.Contains(state.Hosts, host) {
		return fmt.Errorf("%s host %s: the lab has %v", verb, host, state.Hosts)
	}
	return d.order(ctx, host, verb)
}

// order leaves a verb for a subject, and returns when the supervisor has carried it out.
func (d Dir) order(ctx context.Context, subject, verb string) error {
	if err := os.MkdirAll(d.orders(), 0o700); err != nil {
		return err
	}
	order, failed := filepath.Join(d.orders(), subject), filepath.Join(d.orders(), subject+failedOrder)
	if err := os.Remove(failed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeIfNew(order, []byte(verb)); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(order); errors.Is(err, fs.ErrNotExist) {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s: not done: %w", verb, subject, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
	why, err := os.ReadFile(failed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s %s: %s", verb, subject, why)
}

// failedOrder is the suffix of the file that says why an order was not carried out.
const failedOrder = ".failed"

// takeOrders carries out the orders until ctx ends.
func (l *Lab) takeOrders(ctx context.Context) {
	for l.pause(ctx, 500*time.Millisecond) {
		l.mu.Lock()
		hosts := slices.Clone(l.state.Hosts)
		l.mu.Unlock()
		for _, subject := range append(hosts, outsideOrder) {
			order := filepath.Join(l.opts.Dir.orders(), subject)
			verb, err := os.ReadFile(order)
			if err != nil {
				continue
			}
			l.log.Info("order", "subject", subject, "verb", string(verb))
			do := func() error { return l.carryOut(ctx, subject, string(verb)) }
			if subject == outsideOrder {
				do = func() error { return l.setRight(ctx, string(verb)) }
			}
			if err := do(); err != nil {
				err = errors.Join(err, os.WriteFile(order+failedOrder, []byte(err.Error()), 0o600))
				l.log.Warn("order", "subject", subject, "err", err)
			}
			if err := os.Remove(order); err != nil {
				l.log.Warn("order", "subject", subject, "err", err)
			}
		}
	}
}

func (l *Lab) carryOut(ctx context.Context, host, verb string) error {
	l.timeMu.Lock()
	defer l.timeMu.Unlock()
	l.mu.Lock()
	spec, known := l.lastOn[host]
	l.mu.Unlock()
	if !known {
		return errors.New("it has never been on")
	}
	spec.Resume = false
	if verb != "on" && (verb == "off" || l.isOn(host)) {
		if err := l.PowerOff(host); err != nil {
			return err
		}
	}
	switch verb {
	case "off":
		return nil
	case "reinstall":
		if err := os.RemoveAll(l.opts.Dir.Host(host)); err != nil {
			return fmt.Errorf("empty the disk: %w", err)
		}
		if h := l.Hosted(); h != nil && spec.Name == HostedWorkerName(spec.Index) {
			return h.PowerOn(ctx, spec.Index, HostedMachine{})
		}
		spec = Machine{Host: spec.Host}
	}
	return l.PowerOn(ctx, spec)
}
