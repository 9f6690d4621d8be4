package message

import (
	"bytes"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// retries is the unit that a message of systemd says is started again (src/core/service.c of systemd,
// service_enter_restart).
func retries(message []byte) (unit string, ok bool) {
	name, rest, ok := bytes.Cut(message, []byte(": "))
	if !ok || !bytes.HasPrefix(rest, []byte("Scheduled restart job")) || bytes.IndexByte(name, ' ') >= 0 {
		return "", false
	}
	return string(name), true
}

// formerTry reports whether a match is of a try that is over: systemd has started its unit again, and then
// another unit of the same host failed, which the unit needs or which stopped it this time.
func (p *past) formerTry(m *Match) bool {
	if m.state || len(m.Lines) == 0 {
		return false
	}
	for key, again := range p.retried {
		host, unit, _ := strings.Cut(key, "\x00")
		if m.last <= again && ofUnit(m.Lines[0], unit) && sameHost(host, m.Lines[0].host) && p.otherFailed(host, unit, again) {
			return true
		}
	}
	return false
}

// ofUnit reports whether a line is of a unit, or what systemd says about it.
func ofUnit(l Line, unit string) bool {
	if l.writer == "systemd" {
		return strings.Contains(l.Text, unit)
	}
	return logline.Unit{Name: unit}.Of(l.writer)
}

// otherFailed reports whether another unit of a host failed after a line.
func (p *past) otherFailed(host, unit string, after int) bool {
	for key, line := range p.lost {
		of, name, _ := strings.Cut(key, "\x00")
		if line > after && sameHost(of, host) && name != unit && strings.HasSuffix(name, ".service") {
			return true
		}
	}
	return false
}
