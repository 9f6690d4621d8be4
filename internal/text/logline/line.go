// Package logline reads what a line of text says about itself: which program wrote it, on
// which host, how bad that program calls it, and whether it is a line of a log at all or a
// row of a table, a key of an object.
//
// Invariants:
//   - It knows forms and no wordings of single programs: klog, logrus, JSON, oslo, journald,
//     the kernel, systemd, shells, installers.
//   - It never allocates for a line that is no error, and never fails: a line of unknown form
//     is a plain line without a level.
package logline

import (
	"bytes"
)

// Level is how bad a program calls its own line.
type Level uint8

// The levels. A line without one is NoLevel: nothing follows from that.
const (
	NoLevel Level = iota
	Info
	Warning
	Error
	Fatal
)

// Form is what kind of text a line belongs to.
type Form uint8

// The forms.
const (
	Plain Form = iota // no header that is known
	Log               // it has the header of a log: a time, a level, or a program with its process
	State             // a row of a table, a key of YAML or of describe: it has no later line
)

// Line is what a line says about itself. Its slices are parts of the line.
type Line struct {
	Host    []byte // of the header of a journal; empty without one
	Program []byte // likewise, without its process number
	Module  []byte // the file of klog, the module of oslo, the logger of JSON: "ovnkube.go", "ironic.conductor.utils"
	Level   Level
	Form    Form
	Message []byte // what is behind the headers
}

// maxHeaders bounds how many headers one line has: a journal's around a container's around klog's.
const maxHeaders = 5

// Parse reads the headers of a line.
func Parse(line []byte) Line {
	rest := bytes.TrimLeft(bytes.TrimRight(line, "\r\n \t"), "> \t`*|")
	l := Line{Message: rest}
	for range maxHeaders {
		n := len(l.Message)
		l.header()
		if len(l.Message) == n {
			break
		}
	}
	if l.Level == NoLevel {
		l.Level = spoken(&l)
	}
	if l.Form == Plain && (columns(rest) || isEmptyField(rest) || isKey(rest) && (indented(line) || l.Level == NoLevel && !EndsInFailure(rest))) {
		l.Form, l.Level = State, NoLevel // a word of trouble is a value in a cell, and not the program's own
	}
	return l
}

// header takes one header off the message.
func (l *Line) header() {
	m := l.Message
	if len(m) < minHeader {
		return
	}
	if l.localTime() {
		return
	}
	switch c := m[0]; {
	case digit(c):
		l.isoTime()
	case c == '[':
		l.bracket()
	case c == '{':
		l.json()
	case c == 't' && bytes.HasPrefix(m, []byte(`time=`)), c == 'l' && bytes.HasPrefix(m, []byte(`level=`)):
		l.logrus()
	case (c == 'I' || c == 'W' || c == 'E' || c == 'F') && digit(m[1]):
		l.klog()
	case c >= 'A' && c <= 'Z' && m[1] >= 'a' && m[1] <= 'z' && m[2] >= 'a' && m[2] <= 'z' && m[3] == ' ':
		l.journal()
	case c >= 'A' && c <= 'Z':
		l.word()
	case c >= 'a' && c <= 'z' && l.Program == nil:
		l.process()
	}
}

// minHeader is the length of the shortest header with something behind it.
const minHeader = 8

// isoTime takes off a time as RFC 3339 and oslo write it, and what CRI writes behind it.
func (l *Line) isoTime() {
	m := l.Message
	const date = len("2006-01-02T15:04:05")
	if len(m) < date || m[4] != '-' && m[4] != '/' || m[7] != m[4] || m[10] != 'T' && m[10] != ' ' || m[13] != ':' || m[16] != ':' {
		return
	}
	end := date
	for end < len(m) && (digit(m[end]) || m[end] == '.' || m[end] == ',' || m[end] == 'Z' || m[end] == ':' || m[end] == '+' || m[end] == '-') {
		end++
	}
	m = bytes.TrimLeft(m[end:], " \t")
	for _, stream := range []string{"stderr F ", "stdout F ", "stderr P ", "stdout P ", "UTC "} {
		m = bytes.TrimPrefix(m, []byte(stream))
	}
	l.Form, l.Message = Log, m
	if !l.hostAndProcess() {
		l.afterTime()
	}
}

// journal takes off the header of a journal or of syslog: "May 01 07:45:35 host program[1]: ".
func (l *Line) journal() {
	m := l.Message
	const date = len("Jan 02 15:04:05")
	if len(m) < date+2 || m[6] != ' ' || m[9] != ':' || m[12] != ':' || !digit(m[5]) || !digit(m[7]) {
		return
	}
	end := date
	for end < len(m) && (digit(m[end]) || m[end] == '.') {
		end++
	}
	if end >= len(m) || m[end] != ' ' {
		return
	}
	l.Form, l.Message = Log, m[end+1:]
	l.hostAndProcess()
}

// longestMonth is how long the short name of a month is at most, in UTF-8.
const longestMonth = 14

// localTime takes off the header of a journal that was printed in another language: "5월 03 17:40:32 host program[1]: ",
// "févr. 03", "mai 03". Its clock is as everywhere, and English months are those of journal.
func (l *Line) localTime() bool {
	m := l.Message
	end := bytes.IndexByte(m[:min(len(m), longestMonth)], ' ')
	const clock = len("03 17:40:32 ")
	if end < 1 || l.Form != Plain || len(m) < end+1+clock || m[0] >= 'A' && m[0] <= 'Z' && end == len("Jan") {
		return false
	}
	t := m[end+1:]
	if !(digit(t[0]) || t[0] == ' ') || !digit(t[1]) || t[2] != ' ' || !digit(t[3]) || t[5] != ':' || t[8] != ':' || !digit(t[10]) || t[11] != ' ' {
		return false
	}
	was := *l
	l.Form, l.Message = Log, t[clock:]
	if !l.hostAndProcess() {
		*l = was
		return false
	}
	return true
}

// hostAndProcess takes off "host program[1]: ".
func (l *Line) hostAndProcess() bool {
	host, rest, ok := bytes.Cut(l.Message, []byte(" "))
	if !ok || len(host) == 0 || !name(host) || string(host) == "Host" { // an event of the assisted service: "Host NAME: "
		return false
	}
	program, after, ok := cutProcess(rest)
	if !ok {
		return false
	}
	l.Host, l.Program, l.Message = host, program, after
	return true
}

// process takes off "program[1]: ", as consoles have it behind the kernel's time, and people
// who leave out the time and the host.
func (l *Line) process() {
	program, after, ok := cutProcess(l.Message)
	if !ok {
		return
	}
	head := l.Message[:len(l.Message)-len(after)]
	i := bytes.IndexByte(head, '[')
	if i <= 0 || !digit(head[i+1]) || l.Form == Plain && (head[i+1] == '0' || bytes.IndexByte(program, '.') >= 0) {
		return // the path of a field, as in hosts[0]
	}
	l.Program, l.Message, l.Form = program, after, Log
}

// cutProcess cuts "program[1]: " or "program: " off.
func cutProcess(m []byte) (program, rest []byte, ok bool) {
	const longest = 80
	end := bytes.Index(m[:min(len(m), longest)], []byte(": "))
	if end <= 0 {
		if end = len(m) - 1; end <= 0 || end > longest || m[end] != ':' && m[end] != ']' {
			return nil, nil, false
		}
	}
	program = bytes.TrimSuffix(m[:end], []byte(":"))
	if i := bytes.IndexByte(program, '['); i > 0 && program[len(program)-1] == ']' {
		program = program[:i]
	}
	if !name(program) {
		return nil, nil, false
	}
	return program, bytes.TrimLeft(m[min(end+1, len(m)):], " "), true
}

// jobStatus is what systemd writes on a console before a job that ended (src/core/job.c,
// job_print_done_status_message), and how bad that is.
var jobStatus = map[string]Level{"OK": NoLevel, "FAILED": Error, "DEPEND": Error, "TIME": Error}

// bracket takes off the time of the kernel, "[   12.345678] ", and levels in brackets.
func (l *Line) bracket() {
	m := l.Message
	const longest = 20
	end := bytes.IndexByte(m[:min(len(m), longest)], ']')
	if end < 2 {
		return
	}
	inside := bytes.Trim(m[1:end], " ")
	if len(inside) == 0 {
		return
	}
	if l.Form == Plain && len(bytes.Trim(inside, "*")) == 0 && bytes.Contains(m[end:], []byte(jobRuns)) {
		l.Form, l.Program, l.Message = Log, []byte("systemd"), bytes.TrimLeft(m[end+1:], " ")
		return
	}
	if status, ok := jobStatus[string(inside)]; ok && l.Program == nil {
		l.Form, l.Level, l.Program, l.Message = Log, status, []byte("systemd"), bytes.TrimLeft(m[end+1:], " ")
		return
	}
	switch level, known := words[string(bytes.ToLower(inside[:min(len(inside), longestWord)]))]; {
	case known && len(inside) <= longestWord:
		l.Level = level
	case !digit(inside[0]) || bytes.IndexByte(inside, '.') < 0:
		return
	}
	l.Form, l.Message = Log, bytes.TrimLeft(m[end+1:], " ")
}

// klog takes off klog's header: "E1106 14:39:39.989826  136240 file.go:261] ".
func (l *Line) klog() {
	m := l.Message
	const head = len("E1106 14:39:39.989826")
	if len(m) < head || m[5] != ' ' || m[8] != ':' || m[11] != ':' || m[14] != '.' {
		return
	}
	end := bytes.Index(m[head:min(len(m), head+80)], []byte("] "))
	if end < 0 {
		return
	}
	l.Form, l.Level, l.Message = Log, klogLevel(m[0]), m[head+end+2:]
	at := bytes.TrimSpace(m[head : head+end])
	at = at[bytes.LastIndexByte(at, ' ')+1:]
	l.Module, _, _ = bytes.Cut(at, []byte(":"))
}

func klogLevel(c byte) Level {
	switch c {
	case 'F':
		return Fatal
	case 'E':
		return Error
	case 'W':
		return Warning
	}
	return Info
}

// afterTime takes off what is behind the time of oslo.log, "1 ERROR module [req-...] ", of
// capnslog, "E | package: ", and of others that write the level behind the time.
func (l *Line) afterTime() {
	m := l.Message
	i := 0
	for i < len(m) && digit(m[i]) {
		i++
	}
	m = bytes.TrimLeft(m[i:], " \t[")
	if len(m) > 4 && m[1] == ' ' && m[2] == '|' {
		if level := klogLevel(m[0]); level != Info || m[0] == 'I' {
			l.Level, l.Message = level, m[4:]
		}
		return
	}
	if level, n := levelWord(m); n > 0 {
		l.Level, l.Message = level, bytes.TrimLeft(m[n:], "]: \t")
		if module, rest, ok := bytes.Cut(l.Message, []byte(" ")); ok && bytes.IndexByte(module, '.') > 0 && name(module) {
			l.Module, l.Message = module, oslo(rest)
		}
	}
}

// oslo takes off the request of oslo.log: "[req-1c1e975c - - - - -] ".
func oslo(m []byte) []byte {
	const longest = 160
	if end := bytes.Index(m[:min(len(m), longest)], []byte("] ")); len(m) > 0 && m[0] == '[' && end > 0 {
		return m[end+2:]
	}
	return m
}

// word takes off a level that is the first word, as installers and scripts write it.
func (l *Line) word() {
	if level, n := levelWord(l.Message); n > 0 {
		l.Level, l.Form, l.Message = level, Log, bytes.TrimLeft(l.Message[n:], "]: \t")
	}
}

const longestWord = len("CRITICAL")

// words are the levels as programs spell them, in lower case.
var words = map[string]Level{
	"debug": Info, "info": Info, "notice": Info, "trace": Info, "warn": Warning, "warning": Warning,
	"error": Error, "err": Error, "eror": Error, "critical": Fatal, "fatal": Fatal, "panic": Fatal, "dpanic": Fatal, "crit": Fatal,
	"emerg": Fatal, "alert": Fatal,
}

// levelWord is the level that a text in capitals begins with, and its length.
func levelWord(m []byte) (Level, int) {
	n := 0
	for n < len(m) && n <= longestWord && m[n] >= 'A' && m[n] <= 'Z' {
		n++
	}
	if n < len("ERR") || n > longestWord || n < len(m) && m[n] != ' ' && m[n] != ':' && m[n] != ']' && m[n] != '\t' {
		return NoLevel, 0
	}
	var buffer [longestWord]byte
	lower := append(buffer[:0], m[:n]...)
	for i := range lower {
		lower[i] |= ' '
	}
	level := words[string(lower)]
	if level == NoLevel {
		return NoLevel, 0
	}
	return level, n
}

// logrus takes off `time="..." level=error msg="`.
func (l *Line) logrus() {
	m := l.Message
	const far = 120
	i := bytes.Index(m[:min(len(m), far)], []byte("level="))
	if i < 0 {
		return
	}
	word := bytes.Trim(m[i+len("level="):], `"`)
	end := bytes.IndexAny(word, " \"\t")
	if end < 0 {
		end = len(word)
	}
	level, ok := words[string(bytes.ToLower(word[:min(end, longestWord)]))]
	if !ok {
		return
	}
	l.Form, l.Level = Log, level
	rest := bytes.TrimLeft(word[end:], `" `)
	if j := bytes.Index(rest, []byte("msg=")); j >= 0 {
		rest = rest[j+len("msg="):]
	}
	l.Message = bytes.Trim(rest, `" `)
}

// jsonLevels are the keys of a level in a log of JSON objects.
var jsonLevels = [][]byte{[]byte(`"level":`), []byte(`"severity":`), []byte(`"lvl":`)}

// json reads the level of a line that is an object. Its message stays whole.
func (l *Line) json() {
	m := l.Message
	for _, key := range jsonLevels {
		i := bytes.Index(m, key)
		if i < 0 {
			continue
		}
		word := bytes.TrimLeft(m[i+len(key):], ` "`)
		end := bytes.IndexAny(word, `",} `)
		if end < 0 {
			continue
		}
		if level, ok := words[string(bytes.ToLower(word[:min(end, longestWord)]))]; ok {
			l.Form, l.Level = Log, level
			if _, rest, ok := bytes.Cut(m, []byte(`"logger":"`)); ok {
				l.Module, _, _ = bytes.Cut(rest, []byte(`"`))
			}
			return
		}
	}
}

// indented reports whether a line begins as one of an object does, below another key.
func indented(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, "> "), []byte("- ")) || bytes.HasPrefix(line, []byte("  "))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// name reports whether a text can be the name of a host or of a program.
func name(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', digit(c), c == '-', c == '.', c == '_', c == '/', c == '@', c == '(', c == ')', c == '\\':
		default:
			return false
		}
	}
	return true
}
