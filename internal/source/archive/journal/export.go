package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bounds of an entry of a journal in export format.
const (
	maxField      = 1 << 20 // a longer field is skipped; journald itself cuts lines at 48 KiB
	maxFieldName  = 256     // systemd: 64
	maxEntryBytes = 256 << 20
)

// entry is one entry of a journal.
type entry struct {
	time       time.Time
	host       string
	identifier string
	unit       string
	pid        string
	message    []byte
}

// exportReader reads the Journal Export Format (systemd.io/JOURNAL_EXPORT_FORMATS):
// fields as NAME=value lines, or as a name, a little-endian length and bytes;
// entries end in an empty line.
type exportReader struct {
	in *bufio.Reader
	n  int64 // bytes of the entry
}

func newExport(r io.Reader) *exportReader { return &exportReader{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next entry, or io.EOF.
func (x *exportReader) next() (entry, error) {
	var e entry
	x.n = 0
	some := false
	for {
		name, value, err := x.field()
		if errors.Is(err, io.EOF) && some {
			return e, io.ErrUnexpectedEOF // it is cut off: entries end in an empty line
		}
		if err != nil {
			return e, err
		}
		if name == "" {
			if some {
				return e, nil
			}
			continue
		}
		some = true
		e.set(name, value)
	}
}

// set sets a field that is read; the others are left out.
func (e *entry) set(name string, value []byte) {
	switch name {
	case "__REALTIME_TIMESTAMP":
		if us, err := strconv.ParseInt(string(value), 10, 64); err == nil && us > 0 {
			e.time = time.UnixMicro(us).UTC()
		}
	case "_HOSTNAME":
		e.host = string(value)
	case "SYSLOG_IDENTIFIER":
		e.identifier = string(value)
	case "_SYSTEMD_UNIT", "UNIT":
		if unit := strings.TrimSuffix(string(value), ".service"); e.unit == "" || name == "UNIT" {
			e.unit = unit // UNIT: systemd itself speaks of the unit
		}
	case "_PID":
		e.pid = string(value)
	case "MESSAGE":
		e.message = value
	}
}

// field returns one field, or an empty name at the end of an entry.
func (x *exportReader) field() (string, []byte, error) {
	line, err := x.line()
	if err != nil || len(line) == 0 {
		return "", nil, err
	}
	if i := bytes.IndexByte(line, '='); i >= 0 {
		return string(line[:min(i, maxFieldName)]), bytes.Clone(line[i+1:]), nil
	}
	if len(line) > maxFieldName {
		return "", nil, errors.New("a field without a name: it is not a journal in export format")
	}
	name := string(line)
	var size [8]byte
	if _, err := io.ReadFull(x.in, size[:]); err != nil {
		return "", nil, cutOff(err)
	}
	length := binary.LittleEndian.Uint64(size[:])
	if length > maxEntryBytes || x.n+int64(length) > maxEntryBytes {
		return "", nil, fmt.Errorf("a field of %d bytes, the limit is %d", length, maxEntryBytes)
	}
	x.n += int64(length)
	value := make([]byte, min(length, maxField))
	if _, err := io.ReadFull(x.in, value); err != nil {
		return "", nil, cutOff(err)
	}
	if _, err := io.CopyN(io.Discard, x.in, int64(length)-int64(len(value))); err != nil {
		return "", nil, cutOff(err)
	}
	if end, err := x.in.ReadByte(); err != nil || end != '\n' {
		return "", nil, cmp.Or(cutOff(err), errLength)
	}
	return name, value, nil
}

// line returns a line without its end; what is longer than a field may be is left out.
func (x *exportReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := x.in.ReadSlice('\n')
		if x.n += int64(len(part)); x.n > maxEntryBytes {
			return nil, fmt.Errorf("an entry of more than %d bytes", maxEntryBytes)
		}
		if len(line) < maxField {
			line = append(line, part[:min(len(part), maxField-len(line))]...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errLength = errors.New("a field that does not end at its given length")

// ExportLines returns a journal in export format as `journalctl -o short` prints
// it, one line an entry: the n-th line is the n-th entry. Entries of another unit,
// where one is asked for, are empty lines.
func ExportLines(r io.Reader, unit string) io.Reader {
	return &exportText{x: newExport(r), unit: unit}
}

type exportText struct {
	x    *exportReader
	unit string
	out  []byte
	err  error
}

func (t *exportText) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		var e entry
		if e, t.err = t.x.next(); t.err == nil {
			t.out = e.line(t.unit)
		}
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// line prints an entry. Control characters become spaces, also ends of lines.
func (e *entry) line(unit string) []byte {
	if unit != "" && e.unit != unit && !ofUnit(unit, e.identifier) {
		return []byte("\n")
	}
	var b bytes.Buffer
	b.WriteString(e.time.Format(time.Stamp))
	b.WriteByte(' ')
	b.WriteString(e.host)
	b.WriteByte(' ')
	b.WriteString(e.identifier)
	if e.pid != "" {
		b.WriteString("[" + e.pid + "]")
	}
	b.WriteString(": ")
	b.Write(e.message)
	line := bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, b.Bytes())
	return append(line, '\n')
}

// NewestEntry returns the newest time of a journal in export format that is not after
// limit; a zero limit is none.
func NewestEntry(r io.Reader, limit time.Time) (newest time.Time) {
	for x := newExport(r); ; {
		e, err := x.next()
		if err != nil {
			return newest
		}
		if e.time.After(newest) && (limit.IsZero() || !e.time.After(limit)) {
			newest = e.time
		}
	}
}
