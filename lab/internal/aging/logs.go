package aging

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// Headers of log lines, all of one length whatever the time is, so that they
// can be rewritten in a file that is being appended to.
const (
	klogHeader    = "0102 15:04:05.000000"        // after the letter of the level
	journalHeader = "Jan 02 15:04:05.000000"      // journalctl -o short-precise
	rfcHeader     = "2006-01-02T15:04:05.000000Z" // some of the product's programs
)

// LogFile moves the times at the beginning of the lines of a file that
// programs may be appending to.
func (s Shift) LogFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	var at int64
	for line := range bytes.Lines(data) {
		if from, header := s.header(line); header != "" {
			if _, err := f.WriteAt([]byte(header), at+int64(from)); err != nil {
				return fmt.Errorf("rewrite log: %w", err)
			}
		}
		at += int64(len(line))
	}
	return nil
}

// header returns where a line's time stands, and its new text.
func (s Shift) header(line []byte) (int, string) {
	from, layout := 0, journalHeader
	switch {
	case len(line) > 0 && bytes.IndexByte([]byte("IWEF"), line[0]) >= 0:
		from, layout = 1, klogHeader
	case len(line) > 4 && line[4] == '-':
		layout = rfcHeader
	}
	if len(line) < from+len(layout) {
		return 0, ""
	}
	t, err := time.Parse(layout, string(line[from:from+len(layout)]))
	if err != nil {
		return 0, ""
	}
	if layout != rfcHeader { // without a year: leap days are those of now
		t = time.Date(s.Now.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	return from, t.Add(-s.By).Format(layout)
}
