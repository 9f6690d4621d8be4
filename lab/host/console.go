package host

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// console writes what a screen or serial line of the machine shows. Lines of
// the kernel log (to which services in the initramfs write) carry the seconds
// since the kernel started, systemd's own status lines carry none.
//
// Writes do not fail the machine: a console that no one can read is no reason
// to stop.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	start time.Time // of the kernel
}

func newConsole(w io.Writer, now func() time.Time) *console {
	return &console{w: w, now: now, start: now()}
}

// powerOn sets the zero of the time stamps: the kernel starts now.
func (c *console) powerOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start = c.now()
}

// log writes text as source's line of the kernel log, unchanged; text of more
// than one line becomes that many.
func (c *console) log(source, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	up := c.now().Sub(c.start).Seconds()
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(c.w, "[%12.6f] %s: %s\n", up, source, line)
	}
}

// status writes a status line of systemd.
func (c *console) status(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.w, text)
}

// startJob is systemd's line about a job that it waits for without a limit
// (systemd/systemd:src/core/manager.c manager_print_jobs_in_progress).
func startJob(unit string, running time.Duration) string {
	return fmt.Sprintf("[  *** ] A start job is running for %s (%s / no limit)", unit, systemdSpan(running))
}

// systemdSpan prints a duration to the second as systemd does: "45s",
// "2min 18s", "1h 5s" (systemd/systemd:src/basic/time-util.c format_timespan).
func systemdSpan(d time.Duration) string {
	s := int64(d / time.Second)
	if s <= 0 {
		return "0"
	}
	var parts []string
	for _, u := range []struct {
		name string
		secs int64
	}{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}} {
		if n := s / u.secs; n > 0 {
			parts = append(parts, fmt.Sprintf("%d%s", n, u.name))
			s %= u.secs
		}
	}
	return strings.Join(parts, " ")
}
