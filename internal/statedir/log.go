package statedir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// MaxLog and MaxLine bound what is read of a log; they are far above a real one, whose
// records have some hundred bytes.
const (
	MaxLog  = 64 << 20
	MaxLine = 1 << 20
)

// Log is an append-only record on disk, one JSON value in a line. One process at a time
// holds it, and a record is on the disk when Append returns.
type Log[T any] struct {
	file    *os.File
	records []T
}

// OpenLog opens or makes a log and locks it. A last line that was cut by a crash is
// dropped: Append did not return for it. check refuses a record at its place; nil checks
// nothing.
func OpenLog[T any](dir *os.Root, name string, check func(i int, r T) error) (*Log[T], error) {
	f, err := file(dir, name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l := &Log[T]{file: f}
	if err := l.load(dir, name, check); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Log[T]) load(dir *os.Root, name string, check func(int, T) error) error {
	if err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock: another rollcall is working on it: %w", err)
	}
	raw, err := Read(dir, name, MaxLog)
	if err != nil {
		return err
	}
	records, whole, err := ParseLog(raw, check)
	if err != nil {
		return err
	}
	switch torn := len(raw) - whole; {
	case torn > 0 && len(records) == 0: // it may be no log at all: nothing of it is cut off
		return fmt.Errorf("it has %d bytes and no whole record; nothing was begun with it, remove its directory", torn)
	case torn > 0:
		if err := l.file.Truncate(int64(whole)); err != nil {
			return fmt.Errorf("drop the cut line: %w", err)
		}
	}
	l.records = records
	return sync(dir)
}

// ParseLog returns the whole records of a log and how many bytes they take.
func ParseLog[T any](raw []byte, check func(i int, r T) error) ([]T, int, error) {
	var list []T
	whole := 0
	for {
		line, rest, ok := bytes.Cut(raw[whole:], []byte("\n"))
		if len(line) > MaxLine {
			return nil, 0, fmt.Errorf("record %d has more than %d bytes", len(list)+1, MaxLine)
		}
		if !ok {
			return list, whole, nil
		}
		var r T
		err := json.Unmarshal(line, &r)
		if err == nil && check != nil {
			err = check(len(list), r)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("record %d: %w", len(list)+1, err)
		}
		list = append(list, r)
		whole = len(raw) - len(rest)
	}
}

// Append writes a record durably.
func (l *Log[T]) Append(r T) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if _, err := l.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync record: %w", err)
	}
	l.records = append(l.records, r)
	return nil
}

// Records returns what was written so far.
func (l *Log[T]) Records() []T { return slices.Clone(l.records) }

// Len is how many records there are.
func (l *Log[T]) Len() int { return len(l.records) }

// Close releases the log.
func (l *Log[T]) Close() error { return l.file.Close() }
