// Package benchmark measures what a process costs, for the benchmarks of several packages.
// Nothing of it is linked into a program.
package benchmark

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// CPU is the time of all cores that the process took: it tells also on a machine
// that does other things.
func CPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ResetPeak gives memory that is not used back to the kernel, and makes the kernel forget
// how much the process had (proc(5), /proc/pid/clear_refs).
func ResetPeak(b *testing.B) {
	b.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600); err != nil {
		b.Logf("peak-MB is that of the whole process: %v", err)
	}
}

// Peak returns the most resident memory of the process in MB since ResetPeak; 0 where the
// system is not Linux.
func Peak(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib float64
	if _, err := fmt.Fscan(bytes.NewReader(rest), &kib); err != nil {
		b.Fatal(err)
	}
	return kib * 1024 / 1e6
}
