package main

import "syscall"

// thisClock is what the kernel knows about the clock of this machine: a time service tells it
// when the clock follows a source (adjtimex(2), STA_UNSYNC).
func thisClock() string {
	const unsynchronized = 0x40
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return "not known"
	}
	if t.Status&unsynchronized != 0 {
		return "not synchronized"
	}
	return "synchronized"
}
