package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock keeps others from the server: a tool that was killed leaves its program running, and
// `worker resume` starts another one. The kernel frees it however the program exits. It also
// reads again what was begun, which the other one may have changed.
func (j *job) lock(ctx context.Context) (unlock func(), err error) {
	path := j.recordFile() + ".lock"
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", j.order.Worker.Name, err)
		}
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil && same(f, path):
			if err := j.load(); err != nil {
				f.Close()
				return nil, err
			}
			return func() {
				if !j.begun { // nothing is left of the run
					_ = os.Remove(path)
				}
				f.Close()
			}, nil
		case err != nil && !errors.Is(err, syscall.EWOULDBLOCK):
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		f.Close()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another program works on %s (%s): %w", j.order.Worker.Name, path, ctx.Err())
		case <-time.After(powerEvery):
		}
	}
}

// same reports whether a path still leads to the open file: whoever held the lock before may
// have removed it.
func same(f *os.File, path string) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(have, now)
}
