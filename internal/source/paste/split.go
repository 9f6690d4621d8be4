package paste

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// splitter takes a text apart, line by line.
type splitter struct {
	s     *Source
	clock time.Time
	lines [][]byte
	at    int // index of the line that is looked at
	logs  map[string]*log
	known map[string]int // where the objects are, by resource, namespace and name
	spent int            // bytes that were decoded
	more  int            // lines of logs beyond maxStreams

	operators loose.OperatorLog

	// What the last command said of what follows it.
	namespace string
	pod       string
	container string
}

// maxStreams bounds the logs of one text: nobody copies those of more hosts together.
const maxStreams = 200

// maxLines bounds the lines of a text that are looked at one by one.
const maxLines = 2_000_000

func (sp *splitter) split(text []byte) {
	for line := range bytes.Lines(text) {
		if len(sp.lines) == maxLines {
			break
		}
		sp.lines = append(sp.lines, plain(line))
	}
	for sp.at < len(sp.lines) {
		switch {
		case sp.command():
		case sp.journal():
		case sp.installer():
		case sp.table():
		case sp.described():
		case sp.headlessRow():
		case sp.ownLog():
		case sp.object():
		default:
			sp.podLog()
			sp.at++
		}
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]`)

// plain is a line without its end and without what a terminal adds, or who quotes it in a mail
// or an issue.
func plain(line []byte) []byte {
	line = bytes.TrimRight(line, "\r\n")
	if rest := bytes.TrimLeft(line, ">"); len(rest) < len(line) {
		line = bytes.TrimPrefix(rest, []byte(" "))
	}
	if bytes.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) >= 0 {
		line = escapes.ReplaceAll(line, nil)
	}
	return bytes.TrimRight(line, " ")
}

var (
	prompt  = regexp.MustCompile(`^(?:[^#$>]{0,80}[#$>] ?|\+ )?(?:sudo )?(?:oc|kubectl|journalctl|crictl|podman|cat|ssh|openshift-install) `)
	inSpace = regexp.MustCompile(`(?:^| )(?:-n|--namespace)[ =]?([a-z0-9][a-z0-9-]*)`)
	ofLogs  = regexp.MustCompile(`(?:oc|kubectl) (?:[^|;]* )?logs (.*)`)
)

// command notes what a command line says of its output.
func (sp *splitter) command() bool {
	if !sp.isCommand(sp.at) {
		return false
	}
	line := []byte(octable.Unmarked(string(sp.lines[sp.at])))
	sp.at++
	sp.s.mixed = true
	sp.namespace, sp.pod, sp.container = "", "", ""
	if m := inSpace.FindSubmatch(line); m != nil {
		sp.namespace = string(m[1])
	}
	if m := ofLogs.FindSubmatch(line); m != nil && sp.namespace != "" {
		sp.pod, sp.container = podAndContainer(string(m[1]))
	}
	return true
}

// podAndContainer reads the arguments of `oc logs`.
func podAndContainer(args string) (pod, container string) {
	args, _, _ = strings.Cut(args, "|")
	words := strings.Fields(args)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-n" || w == "--namespace" || w == "--tail" || w == "--since":
			i++
		case w == "-c" || w == "--container":
			if i++; i < len(words) {
				container = words[i]
			}
		case strings.HasPrefix(w, "--container="):
			container = strings.TrimPrefix(w, "--container=")
		case strings.HasPrefix(w, "-"):
		case pod == "":
			pod = strings.TrimPrefix(strings.TrimPrefix(w, "pod/"), "pods/")
		case container == "":
			container = w
		}
	}
	if strings.Contains(pod, "/") { // of a deployment or daemon set: which pod is not said
		return "", ""
	}
	return pod, container
}

// journal takes a line of journalctl.
func (sp *splitter) journal() bool {
	line := sp.lines[sp.at]
	host, id, ok := journal.Head(line)
	if !ok {
		return false
	}
	name := strings.ToLower(string(host))
	if name == "localhost" || strings.HasPrefix(name, "localhost.") || name == "-" {
		name = ""
	}
	sp.addLine(evidence.Text{Kind: evidence.Journal, Host: name, Unit: journal.UnitOf(string(id))}, line)
	return true
}

var installerLine = regexp.MustCompile(`^(?:time="[^"]{10,40}" )?level=(?:debug|info|warning|error|fatal) msg=`)

// installer takes a line of openshift-install as it is in its log or on its terminal.
func (sp *splitter) installer() bool {
	logged := sp.operators.Take(sp.at+1, string(sp.lines[sp.at]))
	if !installerLine.Match(sp.lines[sp.at]) {
		if logged {
			sp.at++
		}
		return logged
	}
	sp.addLine(evidence.Text{Kind: evidence.Installer}, sp.lines[sp.at])
	return true
}

// podLog takes a line below `oc logs`, where the command names the container.
func (sp *splitter) podLog() {
	if sp.pod == "" || sp.container == "" || len(sp.lines[sp.at]) == 0 {
		return
	}
	t := evidence.Text{Kind: evidence.ContainerLog, Namespace: sp.namespace, Pod: sp.pod, Container: sp.container}
	sp.add(t, sp.lines[sp.at])
}

func (sp *splitter) addLine(t evidence.Text, line []byte) {
	sp.add(t, line)
	sp.at++
}

func (sp *splitter) add(t evidence.Text, line []byte) {
	key := strings.Join([]string{string(t.Kind), t.Namespace, t.Pod, t.Container, t.Host, t.Unit}, "\x00")
	l := sp.logs[key]
	if l == nil && len(sp.logs) == maxStreams {
		sp.more++
		return
	}
	if l == nil {
		l = &log{text: t}
		sp.logs[key] = l
	}
	l.add(sp.at+1, line)
}

// newest is the newest time that lines and objects of a text carry, not after the clock.
// When something is to end or to be tried again is no time at which something happened.
func newest(text []byte, clock time.Time) time.Time {
	var last time.Time
	year := yearOf(text, clock)
	for line := range bytes.Lines(text) {
		line = plain(line)
		if later.Match(line) {
			continue
		}
		for _, m := range isoTime.FindAll(line, 4) {
			if t, err := time.Parse(time.RFC3339Nano, string(m)); err == nil && t.After(last) && !t.After(clock) {
				last = t.UTC()
			}
		}
		for _, m := range mailTime.FindAll(line, 4) {
			if t, err := time.Parse(time.RFC1123Z, string(m)); err == nil && t.After(last) && !t.After(clock) {
				last = t.UTC()
			}
		}
		if m := bracketed.FindSubmatch(line); m != nil {
			if t, err := time.Parse(time.DateTime, string(m[1])); err == nil && t.After(last) && !t.After(clock) {
				last = t
			}
		}
		if _, _, ok := journal.Head(line); !ok && !dated.Match(line) {
			continue
		}
		if t, ok := evidence.LineTime(string(line), year); ok && t.After(last) && !t.After(clock) {
			last = t
		}
	}
	return last
}

// yearOf returns a time by which the year of lines without one is told: that of the line above a journal, else the
// newest that a line of it shows in its text, else the clock.
func yearOf(text []byte, clock time.Time) time.Time {
	var year, shown time.Time
	for line := range bytes.Lines(text) {
		line = plain(line)
		if t := journal.YearOf(line); t.After(year) {
			year = t
		}
		if _, _, ok := journal.Head(line); !ok {
			continue
		}
		if t, ok := journal.Stamp(string(line)); ok {
			if t = journal.OwnTime(string(line), t); t.After(shown) && !t.After(clock) {
				shown = t
			}
		}
	}
	return cmp.Or(year, shown, clock)
}

var (
	isoTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)
	// bracketed is a time in UTC that a line begins with, as programs on .NET print it.
	bracketed = regexp.MustCompile(`^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\]`)
	// mailTime is how describe prints times.
	mailTime = regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`)
	later    = regexp.MustCompile(`(?i)not-?_?after|expir|valid until|renewaltime`)
	// dated are lines that begin with their time: klog, the installer, container logs.
	dated = regexp.MustCompile(`^(?:[IWEF]\d{4} \d\d:|time="\d{4}-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)`)
)
