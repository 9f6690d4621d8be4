package message

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// block is the part of a text that a line is in: what `systemctl status` prints of one unit,
// or what `oc describe` prints of one container that ended.
type block struct {
	unit  string // of systemctl status, without its ending
	ended bool   // the container ended, and not well
	// isolated are the units that were stopped by the "systemctl isolate" that they ran themselves, without their endings.
	isolated []string
	saying   bool // its last words follow: the lines behind "Message:"
}

// see reads one line. True: the line is about the unit of the block.
func (b *block) see(line []byte) bool {
	switch line[0] { // every line of a log passes here
	case ' ', '\t', '>', '*', unitMarks[0][0], unitMarks[1][0]:
	case 'l', 't', 'W':
		if line = gathered(line); line == nil {
			return false
		}
	default:
		return false
	}
	m := bytes.TrimLeft(line, " \t>")
	for _, mark := range unitMarks {
		rest, ok := bytes.CutPrefix(m, mark)
		if !ok {
			continue
		}
		name, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		name, ok = bytes.CutSuffix(name, []byte(".service"))
		if b.unit = ""; ok {
			b.unit = string(name)
		}
		return false
	}
	switch key, value, _ := bytes.Cut(m, []byte(":")); string(key) {
	case "Process":
		if b.unit != "" && ownIsolate.Match(value) {
			b.isolated = append(b.isolated, b.unit)
		}
		return b.unit != ""
	case "Active", "Main PID", "Loaded":
		return b.unit != ""
	case "Reason":
		value = bytes.TrimSpace(value)
		b.ended, b.saying = string(value) == "Error" || string(value) == "ContainerCannotRun" || string(value) == "StartError", false
	case "Message":
		b.saying = b.ended
		return false
	case "Exit Code", "Started", "Finished", "Ready", "Restart Count", "State", "Last State", "Limits", "Requests", "Environment", "Mounts", "Conditions":
		b.ended, b.saying = false, false
	}
	return false
}

// ownIsolate is a command of a unit that asks systemd for another target. That target does not have the unit itself, so systemd
// stops it, and the command with it (systemd: man/systemctl.xml, isolate). It did what it is for.
var ownIsolate = regexp.MustCompile(`ExecStart\S*=\S*systemctl [^(]*\bisolate \S+ \(code=killed, signal=TERM\)`)

// stopsItself reports whether a line is about a process of such a unit.
func (b *block) stopsItself(line []byte) bool {
	return slices.Contains(b.isolated, b.unit) && bytes.Contains(line, []byte("signal=TERM"))
}

// dropIsolated takes out what shows that such units were stopped.
func (f *found) dropIsolated(units []string) {
	for _, unit := range units {
		named := unit + ".service"
		f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
			return h.from.unit == unit && strings.Contains(h.text, "Active: failed (Result: signal)") ||
				strings.Contains(h.text, named) && stoppedByTerm.MatchString(h.text)
		})
		f.dropReports(func(l Line) bool { return strings.Contains(l.Text, named) && stoppedByTerm.MatchString(l.Text) })
	}
}

// stoppedByTerm are the lines of systemd about a unit that was stopped by a signal (src/core/service.c).
var stoppedByTerm = regexp.MustCompile(`code=killed, status=15/TERM|Failed with result 'signal'`)

// unitMarks are the signs before the name of a unit in `systemctl status`.
var unitMarks = [][]byte{[]byte("●"), []byte("×"), []byte("○"), []byte("* ")}

// lastWords reports whether a line is among the last words of a container that failed, and
// makes the first one of them an error of it. Words with a level of their own speak for
// themselves.
func (b *block) lastWords(l *logline.Line) (first, more bool) {
	if !b.saying || l.Level != logline.NoLevel || l.Form == logline.Log {
		return false, false
	}
	words, first := bytes.CutPrefix(l.Message, []byte("Message:"))
	if first {
		l.Level, l.Form, l.Message = logline.Error, logline.State, bytes.TrimSpace(words)
	}
	return first, !first
}

// nodeBlock follows what `oc describe node` prints of one node: its first keys are Name and Roles
// (kubernetes/kubernetes:staging/src/k8s.io/kubectl/pkg/describe/describe.go NodeDescriber).
type nodeBlock struct {
	named  []byte // the line with a name, until the next one
	name   string
	indent int
}

// see reads one line, and returns the node that it is of, "" for none.
func (b *nodeBlock) see(line []byte) string {
	if b.name == "" && b.named == nil && !bytes.Contains(line[:min(len(line), 2*len("Name: "))], []byte("Name: ")) {
		return "" // every line passes here
	}
	m := bytes.TrimLeft(line, " \t>")
	indent := len(line) - len(m)
	switch m = bytes.TrimRight(m, " \r\n"); {
	case b.named != nil && bytes.HasPrefix(m, []byte("Roles: ")):
		b.name, b.indent = string(bytes.TrimSpace(b.named[len("Name:"):])), indent
	case bytes.HasPrefix(m, []byte("Name: ")):
		b.named, b.name = bytes.Clone(m), ""
		return ""
	case len(m) == 0, b.name != "" && indent <= b.indent && (m[0] < 'A' || m[0] > 'Z'):
		b.name = ""
	}
	b.named = nil
	return b.name
}

// nameUnit gives the hits of a line the unit of its block.
func (f *found) nameUnit(line int, unit string) {
	for i := range f.hits {
		if h := &f.hits[i]; h.line == line {
			h.from.unit = unit
		}
	}
}

// anotherUnit adds what a line shows of one unit for another one, in a line of its own.
func (f *found) anotherUnit(of, number int, unit string, line []byte) {
	for _, h := range f.hits {
		if h.line == of {
			h.line, h.text, h.from.unit = number, string(bytes.TrimRight(line, "\r\n")), unit
			f.hits = append(f.hits, h)
			return
		}
	}
}

// gathered is the line of `systemctl status` that openshift-install prints of a host whose logs it
// gathered (openshift/installer:pkg/gather/service/analyze.go), behind its own header; nil for another line.
func gathered(line []byte) []byte {
	const head = 80
	if _, m, ok := bytes.Cut(line[:min(len(line), head)], []byte("level=warning msg=")); ok {
		return bytes.Trim(line[len(line[:min(len(line), head)])-len(m):], "\"")
	}
	m, _ := bytes.CutPrefix(line, []byte("WARNING "))
	if len(m) == len(line) {
		return nil
	}
	return m
}

// failedUnits follows the login banner of CoreOS, which has the units that failed one a line below their number
// (coreos/console-login-helper-messages:usr/lib/console-login-helper-messages).
type failedUnits struct {
	line  int // of the heading, 0 outside of the list
	named bool
}

// bannerUnit is a unit of the list.
var bannerUnit = regexp.MustCompile(`^[> \t]+([\w@.\\:-]+)\.(?:service|mount|socket|timer|target|path|swap)\s*$`)

func (u *failedUnits) see(f *found, number int, line []byte) {
	if bytes.Contains(line, []byte("Failed Units: ")) {
		u.line, u.named = number, false
		return
	}
	if u.line == 0 {
		return
	}
	m := bannerUnit.FindSubmatch(line)
	if m == nil {
		u.line = 0
		return
	}
	if u.named {
		f.anotherUnit(u.line, number, string(m[1]), line)
		return
	}
	f.nameUnit(u.line, string(m[1]))
	u.named = true
}
