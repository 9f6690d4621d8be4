package host

import (
	"strings"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newClock() *clock { return &clock{time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

func TestConsoleFraming(t *testing.T) {
	clk, out := newClock(), &strings.Builder{}
	c := newConsole(out, clk.now)
	clk.advance(time.Hour) // off
	c.powerOn()
	clk.advance(12*time.Second + 345678*time.Microsecond)
	c.log("ignition[751]", "INFO     : GET https://api-int.lab.test:22623/config/master: attempt #1")
	c.status(startJob(ignitionUnit, 138*time.Second))
	clk.advance(100000 * time.Second)
	c.log("systemd[1]", "one\ntwo")
	want := `[   12.345678] ignition[751]: INFO     : GET https://api-int.lab.test:22623/config/master: attempt #1
[  *** ] A start job is running for Ignition (fetch) (2min 18s / no limit)
[100012.345678] systemd[1]: one
[100012.345678] systemd[1]: two
`
	if got := out.String(); got != want {
		t.Errorf("console shows\n%s\nwant\n%s", got, want)
	}
}

func TestSystemdSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 999 * time.Millisecond: "0", 45 * time.Second: "45s", 60 * time.Second: "1min",
		time.Hour + 5*time.Second: "1h 5s", 25*time.Hour + 61*time.Second: "1d 1h 1min 1s",
	} {
		if got := systemdSpan(d); got != want {
			t.Errorf("systemdSpan(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestKlogLine(t *testing.T) {
	clk, out := newClock(), &strings.Builder{}
	l := &klogger{w: out, now: clk.now, pid: 2345}
	l.system("Bootstrap pivot required to: %s", "quay.io/x")
	l.errorf("writer.go:231", "Marking Degraded due to: %q", "a \"b\"")
	want := `I0304 05:06:07.000000    2345 update.go:2632] "Bootstrap pivot required to: quay.io/x"
E0304 05:06:07.000000    2345 writer.go:231] Marking Degraded due to: "a \"b\""
`
	if got := out.String(); got != want {
		t.Errorf("log is\n%s\nwant\n%s", got, want)
	}
}
