package message

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// mark is a line that says what ended: a unit, or a boot of a host.
type mark struct {
	line   int
	host   string
	boot   bool // it begins one
	booted bool // and it is done
	unit   logline.Unit

	unreached bool   // it says that a check does not reach the API
	image     string // the digest of an image of which it makes a container
	retried   string // the unit that systemd starts again
	status    bool   // the host has a new status
	without   bool   // and it is one without reasons
}

// mark notes that a host boots, or what a unit of systemd came to. True: it is the first line of
// a boot.
func (f *found) mark(number int, line []byte, l logline.Line) bool {
	if logline.Boot(line, l) {
		f.marks = append(f.marks, mark{line: number, host: originOf(l).host, boot: true})
		return true
	}
	if logline.Booted(l) {
		f.marks = append(f.marks, mark{line: number, host: originOf(l).host, booted: true})
	}
	f.outlast(number, line, l)
	if string(l.Program) == "systemd" {
		if u, ok := logline.Job(l.Message); ok {
			f.marks = append(f.marks, mark{line: number, host: originOf(l).host, unit: u})
		} else if unit, ok := retries(l.Message); ok {
			f.marks = append(f.marks, mark{line: number, host: originOf(l).host, retried: unit})
		}
	}
	return false
}

// past is what a text shows to be over: which units came up or ended well, when each host
// booted last, and which lines of programs end others.
type past struct {
	boots  map[string]int    // by host: the last boot; "" is a boot whose host is not named
	booted map[string]int    // likewise, the last boot that was done
	done   map[string]int    // by host and unit, or description: the last time that it was done
	first  map[string]int    // likewise, the first time that it was done
	lost   map[string]int    // by host and unit: its last failure
	names  map[string]string // the unit of a description
	failed mark              // the last failure: the line with the description of the unit is next to that with its name
	enders []ender

	unreached map[string]int // by host: the last check that did not reach the API
	ran       []mark         // containers, by the images that they are of
	retried   map[string]int // by host and unit: the last time that systemd started it again
	status    map[string]int // by host: its newest status
	without   map[string]int // likewise, the newest one without reasons
}

func newPast() past {
	return past{boots: map[string]int{}, booted: map[string]int{}, done: map[string]int{}, first: map[string]int{}, lost: map[string]int{},
		names: map[string]string{}, unreached: map[string]int{}, retried: map[string]int{}, status: map[string]int{}, without: map[string]int{}}
}

// ender is a line that ends what earlier lines of the same host show.
type ender struct {
	line  int
	text  []byte // of the line, lower case
	host  string
	over  *pattern
	ends  []string // faults
	typed bool     // a command that was typed, or its output: also what a table before it shows is over
	state bool     // a row of a table: it ends what other rows of it show, before and behind it
	stage int      // the stage that it proves, and all before it; -1 where none
}

// add notes the marks of a block that begins behind some lines.
func (p *past) add(marks []mark, behind int) {
	for _, m := range marks {
		line := m.line + behind
		switch {
		case m.boot:
			p.boots[m.host] = line
		case m.booted:
			p.booted[m.host] = line
		case m.unreached:
			p.unreached[m.host] = line
		case m.status:
			p.status[m.host] = line
			if m.without {
				p.without[m.host] = line
			}
		case m.retried != "":
			p.retried[m.host+"\x00"+m.retried] = line
		case m.image != "":
			if len(p.ran) < maxForms {
				m.line = line
				p.ran = append(p.ran, m)
			}
		case m.unit.Done:
			for _, key := range []string{m.unit.Name, m.unit.Words} {
				if key = m.host + "\x00" + key; len(key) > len(m.host)+1 {
					p.done[key] = line
					if p.first[key] == 0 {
						p.first[key] = line
					}
				}
			}
		case m.unit.Failed:
			for _, key := range []string{m.unit.Name, m.unit.Words} {
				p.lost[m.host+"\x00"+key] = line
			}
			if m.unit.Name == "" && p.failed.unit.Name != "" && p.failed.host == m.host && line-p.failed.line <= adjacent {
				p.names[p.failed.unit.Name] = m.unit.Words
			}
			p.failed = m
			p.failed.line = line
		}
		if m.unit.Name != "" && m.unit.Words != "" {
			p.names[m.unit.Name] = m.unit.Words
		}
	}
}

// adjacent is how many lines are between systemd's two lines about one failure, at most.
const adjacent = 3

// settledLines is how many lines after a boot a text needs to show that what failed before
// it does not come again.
const settledLines = 50

// ended reports whether what a line shows is over by the end of the text. A rule is nil for an
// error that no message knows.
func (c *collector) ended(r *rule, l Line) bool {
	p := &c.past
	if l.form == logline.State {
		return slices.ContainsFunc(p.enders, func(e ender) bool { return e.ofTable(l) || e.typed && e.endsLine(c.x, r, l) })
	}
	if slices.ContainsFunc(p.enders, func(e ender) bool { return e.endsLine(c.x, r, l) }) {
		return true
	}
	if p.statusAfter(l) || p.unitDone(l, c.lines) || p.imageRuns(l) || p.startEnded(r, l) || c.pulledLater(l) {
		return true
	}
	boot := max(p.boots[l.host], p.boots[""])
	return boot > l.Number && (c.lines-boot >= settledLines || p.progressAfter(boot, l.host) || max(p.booted[l.host], p.booted[""]) > boot)
}

// named reports whether a line of systemd has only the description of a unit of which another line
// has the name.
func (p *past) named(l Line) bool {
	if l.writer != "systemd" {
		return false
	}
	u, ok := logline.Job(logline.Parse([]byte(l.Text)).Message)
	if !ok || !u.Failed || u.Name != "" {
		return false
	}
	for _, words := range p.names {
		if words == u.Words {
			return true
		}
	}
	return false
}

// loops reports whether a unit that was started in a line had failed before, after another start of
// the same boot: it may fail again.
func (p *past) loops(host, unit string, line int) bool {
	lost := p.lost[host+"\x00"+unit]
	for name, words := range p.names {
		if words == unit {
			lost = max(lost, p.lost[host+"\x00"+name])
		}
	}
	first := p.first[host+"\x00"+unit]
	return first > 0 && first < lost && lost < line && max(p.boots[host], p.boots[""]) < lost
}

// unitDone reports whether the unit that a line is of, or is about, was done after it, in a text that
// goes on to line behind.
func (p *past) unitDone(l Line, behind int) bool {
	var about logline.Unit
	if l.writer == "systemd" {
		about, _ = logline.Job(logline.Parse([]byte(l.Text)).Message)
	}
	for key, line := range p.done {
		host, unit, _ := strings.Cut(key, "\x00")
		if p.outlasts(l, line) || line <= l.Number || !sameHost(host, l.host) || behind-line < settledLines && p.loops(host, unit, line) {
			continue
		}
		isAbout := unit != "" && (unit == about.Name || unit == about.Words) || about.Name != "" && p.names[about.Name] == unit
		if isAbout || (logline.Unit{Name: unit}).Of(l.writer) {
			return true
		}
		for name, words := range p.names {
			if words == unit && (logline.Unit{Name: name}).Of(l.writer) {
				return true
			}
		}
	}
	return false
}

// startEnded reports whether a line says that systemd starts a unit, and a later one what came of it: it was
// started, or it failed and nothing is waited for. A fault that the long start shows is not over with a failure.
func (p *past) startEnded(r *rule, l Line) bool {
	about, ok := logline.Starting([]byte(l.Text))
	if !ok {
		return false
	}
	failureEnds := r == nil || r.Fault == ""
	is := func(key string, line int) bool {
		host, unit, _ := strings.Cut(key, "\x00")
		return line >= l.Number && sameHost(host, l.host) && unit != "" &&
			(unit == about.Name || unit == about.Words || about.Name == "" && p.names[unit] == about.Words)
	}
	for key, line := range p.done {
		if is(key, line) {
			return true
		}
	}
	for key, line := range p.lost {
		if failureEnds && is(key, line) {
			return true
		}
	}
	return false
}

// progressAfter reports whether a later line of a host shows that it got on.
func (p *past) progressAfter(line int, host string) bool {
	return slices.ContainsFunc(p.enders, func(e ender) bool { return e.line > line && e.stage >= 0 && sameHost(e.host, host) })
}

// tableRows is how many rows a table has at most, of which one ends what others show.
const tableRows = 50

// ofTable reports whether a row of the same table ends what a row shows.
func (e ender) ofTable(l Line) bool {
	return e.state && e.over != nil && max(e.line-l.Number, l.Number-e.line) <= tableRows && e.over.in(plainLower(nil, []byte(l.Text)))
}

func sameHost(a, b string) bool { return a == b || a == "" || b == "" }

// endsLine reports whether an ender ends what a line shows.
func (e ender) endsLine(x *Index, r *rule, l Line) bool {
	if e.state || l.Number > e.line || !sameHost(e.host, l.host) {
		return false
	}
	if r != nil && slices.Contains(e.ends, r.Fault) || e.over != nil && e.over.inOf(plainLower(nil, []byte(l.Text)), e.text) {
		return true
	}
	if e.stage < 0 || r == nil || r.Fault == "" {
		return false
	}
	f, ok := x.catalog.Fault(r.Fault)
	return ok && f.Blocks != "" && stageIndex(f.Blocks) <= e.stage
}

// stageIndex is the place of a stage on the way from power-on to the config that is done.
func stageIndex(s fault.Stage) int { return slices.Index(fault.Stages(), s) }
