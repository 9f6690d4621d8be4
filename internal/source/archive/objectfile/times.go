package objectfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// pastTimes are the fields that hold a time at which something happened. Times
// that may lie ahead are left out: notAfter, expirationTimestamp,
// deletionTimestamp (it includes the grace period).
var pastTimes = map[string]bool{
	"renewTime": true, "acquireTime": true, "lastTimestamp": true, "firstTimestamp": true, "eventTime": true,
	"lastObservedTime": true, "deprecatedLastTimestamp": true, "deprecatedFirstTimestamp": true,
	"lastTransitionTime": true, "lastHeartbeatTime": true, "lastProbeTime": true, "lastUpdateTime": true,
	"creationTimestamp": true, "startTime": true, "completionTime": true,
}

// TimeScan finds the newest time in the text of objects, YAML or JSON, as it is written to
// it: of the fields that hold a time at which something happened.
type TimeScan struct {
	Limit  time.Time // later times do not count; zero: all count
	newest time.Time
	best   string
	window *[timeWindow]byte
	n      int // bytes in it
}

const (
	timeWindow  = 64 << 10
	timeOverlap = 128 // longer than a field with its time
)

// timeWindows are buffers of TimeScan.
var timeWindows = sync.Pool{New: func() any { return new([timeWindow]byte) }}

// Write implements io.Writer; it never fails.
func (s *TimeScan) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		k := copy(s.space(), rest)
		s.grow(k)
		rest = rest[k:]
	}
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom.
func (s *TimeScan) ReadFrom(r io.Reader) (total int64, err error) {
	for {
		k, err := r.Read(s.space())
		s.grow(k)
		total += int64(k)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// space returns the free part of the window.
func (s *TimeScan) space() []byte {
	if s.window == nil {
		s.window = timeWindows.Get().(*[timeWindow]byte)
	}
	return s.window[s.n:]
}

// grow counts bytes that came into the window.
func (s *TimeScan) grow(k int) {
	if s.n += k; s.n == timeWindow {
		s.scan(s.window[:])
		s.n = copy(s.window[:], s.window[timeWindow-timeOverlap:])
	}
}

// End returns the newest time of what came.
func (s *TimeScan) End() time.Time {
	if s.window != nil {
		s.scan(s.window[:s.n])
		timeWindows.Put(s.window)
		s.window, s.n = nil, 0
	}
	return s.newest
}

func (s *TimeScan) scan(raw []byte) {
	mark := []byte("Time")
	for at := 0; ; {
		i := bytes.Index(raw[at:], mark)
		if i < 0 {
			return
		}
		at += i
		begin := at
		for begin > 0 && letter(raw[begin-1]) {
			begin--
		}
		end := at + len(mark)
		for end < len(raw) && letter(raw[end]) {
			end++
		}
		at = end
		if !pastTimes[string(raw[begin:end])] {
			continue
		}
		value := timeAt(raw[end:])
		if value == "" || strings.HasSuffix(value, "Z") && value[:min(19, len(value))] < s.best {
			continue // times in UTC sort as text
		}
		t, err := time.Parse(time.RFC3339Nano, value)
		if err != nil || !s.Limit.IsZero() && t.After(s.Limit) || !t.After(s.newest) {
			continue
		}
		s.newest = t
		s.best = t.UTC().Format("2006-01-02T15:04:05")
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// timeAt returns what follows a key where it looks like a time.
func timeAt(raw []byte) string {
	const longest = 40
	raw = bytes.TrimLeft(raw[:min(len(raw), longest+6)], "\"': ")
	n := 0
	for n < len(raw) && (raw[n] >= '0' && raw[n] <= '9' || strings.IndexByte("T:.Z+-", raw[n]) >= 0) {
		n++
	}
	if n < len("2006-01-02T15:04:05Z") || raw[10] != 'T' {
		return ""
	}
	return string(raw[:n])
}
