//go:build !linux

package main

// thisClock is not known where there is no adjtimex.
func thisClock() string { return "not known" }
