package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// identifiers are the syslog identifiers of a unit's lines, where they are not the unit's
// name: the kubelet was part of hyperkube, and is kubenswrapper now
// (openshift/kubernetes:openshift-hack).
var identifiers = map[string][]string{
	"kubelet": {"kubelet", "hyperkube", "kubenswrapper"},
}

// descriptions are the Description= of units. Before systemd 249 its own lines have that
// instead of the unit's name.
var descriptions = map[string]string{"kubelet": "Kubernetes Kubelet"}

// aboutUnit reports whether a line of systemd is about a unit.
func aboutUnit(unit string, line []byte) bool {
	if identifier(line) != "systemd" {
		return false
	}
	d := descriptions[unit]
	return bytes.Contains(line, []byte(unit+".service")) || d != "" && bytes.Contains(line, []byte(d))
}

// UnitOf is the unit whose lines in a journal have an identifier.
func UnitOf(identifier string) string {
	for unit := range identifiers {
		if ofUnit(unit, identifier) {
			return unit
		}
	}
	return identifier
}

func ofUnit(unit, identifier string) bool {
	if list, ok := identifiers[unit]; ok {
		return slices.Contains(list, identifier)
	}
	return unit == identifier
}

// UnitLines returns a journal of all units in which each line of another unit is empty, so
// that the numbers of lines stay.
func UnitLines(r io.Reader, unit string) io.Reader {
	return &unitReader{in: bufio.NewReaderSize(r, 64<<10), unit: unit}
}

type unitReader struct {
	in   *bufio.Reader
	unit string
	keep bool // the line continues
	more bool
	out  []byte
	err  error
}

func (u *unitReader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var part []byte
		part, u.err = u.in.ReadSlice('\n')
		if errors.Is(u.err, bufio.ErrBufferFull) {
			u.err = nil
		}
		if !u.more {
			u.keep = ofUnit(u.unit, identifier(part)) || aboutUnit(u.unit, part)
		}
		u.more = !bytes.HasSuffix(part, []byte("\n"))
		switch {
		case u.keep:
			u.out = part
		case !u.more:
			u.out = []byte("\n")
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// identifier returns the syslog identifier of a journal's line, "" where the line has none:
// continued lines begin with spaces.
func identifier(line []byte) string {
	_, id, _ := Head(line)
	return string(id)
}
