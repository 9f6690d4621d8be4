package kube

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endMarked ends the plugin with a mark, and what it has started: first as a terminal does it, then for good. client-go
// keeps its processes for itself, so they are looked for: children of this process with the mark in their environment,
// and their children. What has left that tree, as a browser, is not ended.
func endMarked(mark string) {
	list := stopped(mark)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		signalAll(list, signal)
	}
	for range 20 { // 200 ms
		list = slices.DeleteFunc(list, func(pid int) bool { return !isMarked(pid, mark) })
		if len(list) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	signalAll(list, syscall.SIGKILL)
}

// stopped are the processes of a plugin, which run no more: one that runs could start another that is not seen.
func stopped(mark string) (list []int) {
	for range 10 {
		before := len(list)
		for _, pid := range processesOf(mark) {
			if !slices.Contains(list, pid) {
				list = append(list, pid)
			}
		}
		if len(list) == before {
			break
		}
		signalAll(list[before:], syscall.SIGSTOP)
	}
	return list
}

func signalAll(list []int, signal syscall.Signal) {
	for _, pid := range list {
		_ = syscall.Kill(pid, signal) // one that is gone is what is wanted
	}
}

// processesOf are the processes of a plugin.
func processesOf(mark string) []int {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // behind the name: state, parent (proc(5))
		if err != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	list := slices.DeleteFunc(children[os.Getpid()], func(pid int) bool { return !isMarked(pid, mark) })
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list
}

// isMarked reports whether a process runs with a mark in its environment.
func isMarked(pid int, mark string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(raw, []byte(pluginVariable+"="+mark+"\x00"))
}
