package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// guest is one machine of an order.
type guest struct {
	order order
	dir   lab.Dir
	state lab.State
}

func openGuest(o order) (*guest, error) {
	if o.Options["dir"] == "" {
		return nil, errors.New("--option dir=DIR is missing: the directory of the lab")
	}
	g := &guest{order: o, dir: lab.Dir(o.Options["dir"])}
	var err error
	if g.state, err = g.dir.ReadState(); err != nil {
		return nil, fmt.Errorf("read the lab: %w", err)
	}
	return g, os.MkdirAll(g.dir.Boot(), 0o700)
}

// file is a file of the machine in the lab's directory for boot-guest.
func (g *guest) file(suffix string) string {
	return filepath.Join(g.dir.Boot(), g.order.Worker.Name+suffix)
}

// The files of a machine: its user-data, what is wrong with it, and the run that made it.
const (
	userData = ".ign"
	wrong    = ".json"
	mark     = ".run"
)

// check refuses names that the lab has no address for, and troubles that it does not know.
func (g *guest) check(workers []worker) []check {
	list := []check{{"passed", "the lab " + string(g.dir) + " plays " + g.state.Scenario}}
	for _, w := range workers {
		if _, err := lab.GuestIndex(w.Name); err != nil {
			list = append(list, check{"failed", "the lab has no machine " + err.Error()})
		}
		if name := g.order.Options[w.Name]; name != "" {
			if _, known := troubles[name]; !known {
				list = append(list, check{"failed", fmt.Sprintf("%s: there is no trouble %q", w.Name, name)})
				continue
			}
			list = append(list, check{"warning", w.Name + " gets the trouble " + name})
		}
	}
	return list
}

// trouble is what is wrong with the machine. One that is re-created has no trouble.
func (g *guest) trouble() trouble {
	if g.order.Attempt > 1 {
		return trouble{}
	}
	return troubles[g.order.Options[g.order.Worker.Name]]
}

// mine reports whether this run made the machine; the error is errNone where no run has.
func (g *guest) mine() error {
	run, err := os.ReadFile(g.file(mark))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNone
	case err != nil:
		return err
	case string(run) != g.order.Run:
		return fmt.Errorf("%s is of run %.40s", g.order.Worker.Name, run)
	}
	return nil
}

func (g *guest) machine() (machine, error) {
	index, err := lab.GuestIndex(g.order.Worker.Name)
	if err != nil {
		return machine{}, err
	}
	address := g.state.Net.Host(index)
	if g.trouble().otherAddress {
		address = g.state.Net.Host(index + lab.MostGuests)
	}
	return machine{ID: "lab/" + g.order.Worker.Name, IPs: []string{address}}, nil
}

func (g *guest) create(ctx context.Context, data []byte) (machine, error) {
	m, err := g.machine()
	if err != nil {
		return m, err
	}
	switch err := g.mine(); {
	case err == nil:
		return m, nil
	case !errors.Is(err, errNone):
		return m, err
	}
	t := g.trouble()
	if t.change != nil {
		if data, err = t.change(g, data); err != nil {
			return m, err
		}
	}
	if err := os.WriteFile(g.file(userData), data, 0o600); err != nil {
		return m, err
	}
	about, err := json.Marshal(t.machine)
	if err != nil {
		return m, err
	}
	if err := os.WriteFile(g.file(wrong), about, 0o600); err != nil {
		return m, err
	}
	if !t.off {
		if err := g.ask(ctx, "boot-guest"); err != nil {
			return m, err
		}
	}
	return m, os.WriteFile(g.file(mark), []byte(g.order.Run), 0o600)
}

func (g *guest) find() (machine, error) {
	if err := g.mine(); err != nil {
		return machine{}, err
	}
	return g.machine()
}

// console is the end of what the machine has shown.
func (g *guest) console() ([]byte, error) {
	if err := g.mine(); err != nil {
		return nil, err
	}
	const most = 1 << 20
	raw, err := os.ReadFile(g.dir.Console(g.order.Worker.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has shown nothing yet
	}
	if len(raw) > most {
		raw = raw[len(raw)-most:]
		_, raw, _ = bytes.Cut(raw, []byte("\n")) // the first line is not whole
	}
	return raw, err
}

func (g *guest) clean() error {
	if err := g.mine(); err != nil {
		return ignore(err, errNone)
	}
	return ignore(os.Remove(g.file(userData)), fs.ErrNotExist)
}

// remove takes the machine away, its mark last: what was killed in between is found again.
func (g *guest) remove(ctx context.Context) error {
	if err := g.mine(); errors.Is(err, errNone) {
		if _, err := os.Stat(g.file(wrong)); err != nil { // nor was it begun
			return ignore(err, fs.ErrNotExist)
		}
	} else if err != nil {
		return err
	}
	if err := g.ask(ctx, "scrap-guest"); err != nil {
		return err
	}
	for _, suffix := range []string{userData, wrong, mark} {
		if err := ignore(os.Remove(g.file(suffix)), fs.ErrNotExist); err != nil {
			return err
		}
	}
	return nil
}

// ask has the lab do something to the machine. One program at a time does.
func (g *guest) ask(ctx context.Context, what string) error {
	f, err := os.OpenFile(filepath.Join(g.dir.Boot(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return g.dir.SetRight(ctx, what, g.order.Worker.Name)
}

func ignore(err, this error) error {
	if errors.Is(err, this) {
		return nil
	}
	return err
}
