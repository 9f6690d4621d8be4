package host

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// klogger writes lines as klog does,
//
//	I1120 11:06:13.123456    2345 daemon.go:2188] message
//
// the position being that of the message in the 4.20 source, so that a reader
// of the log can look it up.
type klogger struct {
	mu   sync.Mutex
	w    io.Writer
	now  func() time.Time
	pid  int
	also func(line string) // where the line goes besides w; may be nil
}

func (l *klogger) line(level byte, at, msg string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprintf("%c%s %7d %s] %s", level, l.now().UTC().Format("0102 15:04:05.000000"), l.pid, at, strings.TrimSuffix(msg, "\n"))
	fmt.Fprintln(l.w, line)
	if l.also != nil {
		l.also(line)
	}
}

func (l *klogger) infof(at, format string, a ...any) { l.line('I', at, fmt.Sprintf(format, a...)) }
func (l *klogger) warnf(at, format string, a ...any) { l.line('W', at, fmt.Sprintf(format, a...)) }
func (l *klogger) errorf(at, format string, a ...any) {
	l.line('E', at, fmt.Sprintf(format, a...))
}

// system is the daemon's logSystem: the message quoted
// (openshift/machine-config-operator:pkg/daemon/update.go logSystem).
func (l *klogger) system(format string, a ...any) {
	l.infof("update.go:2632", "%q", fmt.Sprintf(format, a...))
}

// journal appends lines of a unit to Dir/journal/UNIT.log in the form in which
// journalctl -o short-precise and `oc adm node-logs` print them.
type journal struct {
	mu    sync.Mutex
	path  string
	host  string
	ident string
	pid   int
	now   func() time.Time
}

func (j *journal) log(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // as a console: a full journal does not stop a machine
	}
	defer f.Close()
	stamp := j.now().UTC().Format("Jan 02 15:04:05.000000")
	for l := range strings.SplitSeq(line, "\n") {
		fmt.Fprintf(f, "%s %s %s[%d]: %s\n", stamp, j.host, j.ident, j.pid, l)
	}
}

// Write takes a program's output; each write of a program that logs by lines
// is one or more whole lines.
func (j *journal) Write(p []byte) (int, error) {
	if t := strings.TrimRight(string(p), "\n"); t != "" {
		j.log(t)
	}
	return len(p), nil
}
