package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
)

var update = flag.Bool("update", false, "write docs/bmc-clock-faults.md")

const threeHours = -3 * time.Hour

// bench is one server whose BMC has a wrong clock.
type bench struct {
	*rack
	out bytes.Buffer
	c   *clocks
}

func newBench(t *testing.T, vendor bmc.Vendor, change ...func(*bmc.Config)) *bench {
	t.Helper()
	b := &bench{rack: newRack(t, vendor, append([]func(*bmc.Config){func(c *bmc.Config) { c.ClockOff = threeHours }}, change...)...)}
	b.c = &clocks{out: &b.out, state: b.path("state"), now: time.Now, thisClock: func() string { return "synchronized" }}
	return b
}

func (b *bench) planFile() string { return b.path("plan.json") }

func (b *bench) plan() error {
	return b.c.plan(b.t.Context(), b.path("hosts.json"), "guest0", b.planFile())
}

func (b *bench) mustPlan() clockPlan {
	b.t.Helper()
	if err := b.plan(); err != nil {
		b.t.Fatal(err)
	}
	p, err := readPlan(b.planFile())
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) apply() error { return b.c.apply(b.t.Context(), b.planFile()) }

// writes are the requests that changed something at the BMC.
func (b *bench) writes() (n int) {
	for _, r := range b.bmc.Requests() {
		if r.Method != "GET" && r.Method != "HEAD" && r.Status < 300 {
			n++
		}
	}
	return n
}

func (b *bench) isOff(want time.Duration) string {
	if got := b.bmc.ClockOff(); (got - want).Abs() > nearEnough {
		return fmt.Sprintf("the clock is %s off, want %s", got, want)
	}
	return ""
}

// dies ends a run at a point, as a kill does.
type dies struct{ at string }

func (b *bench) killedAt(at string, run func() error) (err error) {
	b.c.at = func(now string) {
		if now == at {
			panic(dies{now})
		}
	}
	defer func() {
		b.c.at = nil
		switch v := recover().(type) {
		case nil:
			err = fmt.Errorf("there was no point %q: %w", at, err)
		case dies:
			err = nil
		default:
			panic(v)
		}
	}()
	return run()
}

func refused(err error, why string, b *bench, writes int) string {
	if err == nil || !strings.Contains(err.Error(), why) || b.writes() != writes {
		return fmt.Sprintf("error %v, want %q; %d writes, want %d", err, why, b.writes(), writes)
	}
	return ""
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// TestClock: the clock is wrong, a plan, it is right, it is as wrong as before. The password is
// in no file, message or plan.
func TestClock(t *testing.T) {
	for _, vendor := range []bmc.Vendor{bmc.Dell, bmc.Lenovo, bmc.Supermicro} {
		b := newBench(t, vendor)
		p := b.mustPlan()
		if b.writes() != 0 || b.isOff(threeHours) != "" {
			t.Errorf("%s: a plan wrote", vendor)
		}
		if wrong := first(said(b.apply()), b.isOff(0)); wrong != "" {
			t.Errorf("%s: %s", vendor, wrong)
		}
		if wrong := first(said(b.apply())); wrong != "" || b.writes() != 1 { // once more: nothing is done twice
			t.Errorf("%s: applied again: %s, %d writes", vendor, wrong, b.writes())
		}
		if wrong := first(said(b.c.undo(t.Context(), p.ID)), b.isOff(threeHours)); wrong != "" {
			t.Errorf("%s: %s", vendor, wrong)
		}
		if wrong := refused(b.apply(), "was undone", b, 2); wrong != "" {
			t.Errorf("%s: %s", vendor, wrong)
		}
		texts := 0
		err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Base(path) == "login.json" {
				return err
			}
			texts++
			raw, err := os.ReadFile(path)
			if bytes.Contains(raw, []byte(pass)) {
				t.Errorf("%s has the password", path)
			}
			return err
		})
		if err != nil || texts < 4 || strings.Contains(b.out.String(), pass) {
			t.Errorf("%d files, %v; printed: %s", texts, err, b.out.String())
		}
	}
}

// TestClockRefused: what is not planned, and why. Without a verified certificate nothing reaches
// the BMC.
func TestClockRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		vendor bmc.Vendor
		config func(*bmc.Config)
		set    func(*bench)
		why    string
	}{
		"nothing to set":    {config: func(c *bmc.Config) { c.ClockOff = 0 }, why: "nothing to set"},
		"NTP":               {config: func(c *bmc.Config) { c.NTP = true }, why: "NTP is on"},
		"this clock":        {set: func(b *bench) { b.c.thisClock = func() string { return "not synchronized" } }, why: "--trust-this-clock"},
		"another name":      {set: func(b *bench) { b.hosts = map[string]server{"guest00": b.hosts["guest0"]}; b.save() }, why: "name the host exactly"},
		"another server":    {set: func(b *bench) { s := b.hosts["guest0"]; s.UUID = "x"; b.hosts["guest0"] = s; b.save() }, why: "it is another server"},
		"another authority": {set: func(b *bench) { s := b.hosts["guest0"]; s.CA = ""; b.hosts["guest0"] = s; b.save() }, why: "certificate"},
		"no TLS": {set: func(b *bench) {
			s := b.hosts["guest0"]
			s.BMC = strings.Replace(s.BMC, "https", "http", 1)
			b.hosts["guest0"] = s
			b.save()
		}, why: "want https"},
		"others may read it": {set: func(b *bench) { _ = os.Chmod(b.path("login.json"), 0o644) }, why: "chmod 600"},
		"plan is there":      {set: func(b *bench) { b.file("plan.json", nil) }, why: "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			config := tt.config
			if config == nil {
				config = func(*bmc.Config) {}
			}
			b := newBench(t, bmc.Dell, config)
			before := len(b.bmc.Requests())
			if tt.set != nil {
				tt.set(b)
			}
			if wrong := refused(b.plan(), tt.why, b, 0); wrong != "" {
				t.Error(wrong)
			}
			if name == "another authority" && len(b.bmc.Requests()) != before {
				t.Errorf("a BMC that is not trusted was sent %v", b.bmc.Requests()[before:])
			}
		})
	}
}

// clockFaults are what goes wrong around the write, and how it ends.
var clockFaults = []struct {
	name, end string
	try       func(*bench, clockPlan) string
}{
	{"killed before the write", "apply again ends it", func(b *bench, _ clockPlan) string {
		return first(said(b.killedAt("before write", b.apply)), b.isOff(threeHours), said(b.apply()), b.isOff(0))
	}},
	{"killed after the write", "apply again ends it, without a second write", func(b *bench, _ clockPlan) string {
		return first(said(b.killedAt("after write", b.apply)), said(b.apply()), b.isOff(0), refused(errors.New("x"), "x", b, 1))
	}},
	{"killed after the write, then undone", "undone", func(b *bench, p clockPlan) string {
		return first(said(b.killedAt("after write", b.apply)), said(b.c.undo(b.t.Context(), p.ID)), b.isOff(threeHours))
	}},
	{"the undo killed before and after its write", "undo again ends it", func(b *bench, p clockPlan) string {
		undo := func() error { return b.c.undo(b.t.Context(), p.ID) }
		return first(said(b.apply()), said(b.killedAt("before undo", undo)), said(b.killedAt("after undo", undo)), said(undo()), b.isOff(threeHours), refused(errors.New("x"), "x", b, 2))
	}},
	{"somebody sets the clock after the plan", "refused, nothing written", func(b *bench, _ clockPlan) string {
		b.bmc.SetClockOff(time.Hour)
		return refused(b.apply(), "somebody has set it", b, 0)
	}},
	{"somebody sets the clock before the undo", "refused, nothing more written", func(b *bench, p clockPlan) string {
		wrong := said(b.apply())
		b.bmc.SetClockOff(time.Hour)
		return first(wrong, refused(b.c.undo(b.t.Context(), p.ID), "somebody has set it", b, 1))
	}},
	{"the BMC answers 503", "nothing written, apply again ends it", func(b *bench, _ clockPlan) string {
		b.bmc.Behave(bmc.Trouble{Unavailable: true})
		wrong := refused(b.apply(), "503", b, 0)
		b.bmc.Behave(bmc.Trouble{})
		return first(wrong, said(b.apply()), b.isOff(0))
	}},
	{"the account may only read", "stops, apply again ends it", func(b *bench, _ clockPlan) string {
		b.bmc.Behave(bmc.Trouble{ReadOnly: true})
		wrong := refused(b.apply(), "403", b, 0)
		b.bmc.Behave(bmc.Trouble{})
		return first(wrong, said(b.apply()), b.isOff(0))
	}},
	{"the password is another one", "nothing written", func(b *bench, _ clockPlan) string {
		b.bmc.SetPassword("another")
		return refused(b.apply(), "401", b, 0)
	}},
	{"the BMC accepts the time and keeps its own", "stops with the reason, the old difference is there", func(b *bench, _ clockPlan) string {
		b.bmc.Behave(bmc.Trouble{ClockStuck: true})
		err := b.apply()
		if err == nil || !strings.Contains(err.Error(), "rolled back") {
			return fmt.Sprint("error ", err)
		}
		return b.isOff(threeHours)
	}},
	{"another server behind the address", "refused, nothing written", func(b *bench, _ clockPlan) string {
		s := b.hosts["guest0"]
		s.UUID = "00000000-0000-4000-8000-000000000000"
		b.hosts["guest0"] = s
		b.save()
		return refused(b.apply(), "another BMC", b, 0)
	}},
	{"the plan is edited", "refused, nothing written", func(b *bench, _ clockPlan) string {
		raw, err := os.ReadFile(b.planFile())
		if err != nil {
			return err.Error()
		}
		b.file("plan.json", bytes.Replace(raw, []byte(`"offBySeconds": -10`), []byte(`"offBySeconds": -20`), 1))
		return refused(b.apply(), "its words", b, 0)
	}},
	{"the plan is older than an hour", "refused, nothing written", func(b *bench, _ clockPlan) string {
		b.c.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
		return refused(b.apply(), "make a new one", b, 0)
	}},
	{"the clock of this machine is no longer synchronized", "refused, nothing written", func(b *bench, _ clockPlan) string {
		b.c.thisClock = func() string { return "not synchronized" }
		return refused(b.apply(), "not synchronized", b, 0)
	}},
	{"disk full for the journal, before the write", "nothing written, apply again ends it", func(b *bench, _ clockPlan) string {
		b.c.full = func() error { return errors.New("no space left on device") }
		wrong := refused(b.apply(), "no space", b, 0)
		b.c.full = nil
		return first(wrong, said(b.apply()), b.isOff(0))
	}},
	{"disk full for the journal, after the write", "stops, apply again ends it", func(b *bench, _ clockPlan) string {
		n := 0
		b.c.full = func() error {
			if n++; n > 1 {
				return errors.New("no space left on device")
			}
			return nil
		}
		wrong := refused(b.apply(), "no space", b, 1)
		b.c.full = nil
		return first(wrong, said(b.apply()), b.isOff(0), refused(errors.New("x"), "x", b, 1))
	}},
	{"second process, another state directory", "the second writes nothing", func(b *bench, _ clockPlan) string {
		wrong := said(b.apply())
		b.c.state = b.path("other")
		return first(wrong, refused(b.apply(), "somebody has set it", b, 1))
	}},
}

// TestClockFaults tries each fault; docs/bmc-clock-faults.md is what was seen.
func TestClockFaults(t *testing.T) {
	clockTimeout, clockEvery = 50*time.Millisecond, 5*time.Millisecond
	var text strings.Builder
	text.WriteString("# Faults while the clock of a BMC is set\n\nGenerated by the test `TestClockFaults` of providers/redfish, against the emulated BMCs of the lab, which fails where a case ends otherwise.\n\n| fault | end |\n| --- | --- |\n")
	for _, f := range clockFaults {
		t.Run(f.name, func(t *testing.T) {
			b := newBench(t, bmc.Dell)
			if wrong := f.try(b, b.mustPlan()); wrong != "" {
				t.Error(wrong)
			}
		})
		fmt.Fprintf(&text, "| %s | %s |\n", f.name, f.end)
	}
	const path = "../../docs/bmc-clock-faults.md"
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != text.String() {
		t.Errorf("%s is not what was seen (%v): run the test with -update", path, err)
	}
}

// An iLO takes no time: that is said, and nothing is changed.
func TestClockOfILO(t *testing.T) {
	b := newBench(t, bmc.HPE)
	b.mustPlan()
	if wrong := first(refused(b.apply(), "set time servers there", b, 0), b.isOff(threeHours)); wrong != "" {
		t.Error(wrong)
	}
}
