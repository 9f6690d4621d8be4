package message

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// ansible follows the output of ansible-playbook (ansible lib/ansible/plugins/callback/default.py):
// the headings of its tasks, and a result for each host. A result that failed has its reason in the
// field msg, of a command in stderr, in the same line or in those behind it.
type ansible struct {
	task   string
	key    string // of the error of the result that is open
	host   string
	lines  int // of the open result
	msg    string
	stderr string
	raw    []byte // of a result in one line that whoever pasted it wrapped, until it is whole
}

var (
	ansibleTask   = regexp.MustCompile(`^(?:TASK|RUNNING HANDLER) \[(.+?)\] ?\**$`)
	ansibleResult = regexp.MustCompile(`^(?:fatal|failed): \[([^\]]+)\](?:: (?:FAILED|UNREACHABLE)!)?(?: \(item=.*?\))? => ?(.*)$`)
	ansibleField  = regexp.MustCompile(`^\s+"?(msg|stderr)"?: ?"?(.*?)"?,?\s*$`)
)

// ansibleRecap is the last line about a host: it looks like a row of a table, and ends what the tasks before it printed
// (ansible lib/ansible/plugins/callback/default.py, v2_playbook_on_stats).
var ansibleRecap = regexp.MustCompile(`^\S+\s+: ok=\d+\s+changed=\d+\s+unreachable=\d+\s+failed=\d+`)

// longestResult bounds the lines of one result.
const longestResult = 200

// see reads one line. True: it belongs to a result that failed.
func (a *ansible) see(f *found, number int, line []byte, l logline.Line, command []byte) bool {
	m := bytes.TrimRight(l.Message, " \r\n")
	isHead := bytes.HasPrefix(m, []byte("TASK [")) || bytes.HasPrefix(m, []byte("RUNNING HANDLER [")) || bytes.HasPrefix(m, []byte("fatal: [")) ||
		bytes.HasPrefix(m, []byte("failed: ["))
	if a.key == "" && !isHead {
		return false
	}
	if found := ansibleTask.FindSubmatch(m); found != nil {
		a.close(f)
		a.task = string(found[1])
		return true
	}
	if found := ansibleResult.FindSubmatch(m); found != nil {
		a.close(f)
		l.Level = logline.Fatal
		f.addError(number, line, l, command)
		a.key, a.host, a.lines = formOf(l), string(found[1]), 0
		a.msg, a.stderr = "", ""
		a.raw = nil
		if !a.result(found[2]) && bytes.HasPrefix(found[2], []byte(`{"`)) {
			a.raw = append(a.raw, bytes.TrimRight(line[bytes.Index(line, found[2]):], "\r\n")...)
		}
		return true
	}
	if a.key == "" {
		return false
	}
	if len(a.raw) > 0 && a.lines < longestResult {
		a.lines++
		if a.raw = append(a.raw, bytes.TrimRight(line, "\r\n")...); a.result(a.raw) {
			a.raw = nil
		}
		return true
	}
	if bytes.HasPrefix(m, []byte("...ignoring")) {
		if e := f.errors[a.key]; e != nil {
			f.dropReports(func(l Line) bool { return l.Number >= e.first.Number && l.Number <= e.last.Number })
		}
		delete(f.errors, a.key)
		a.key = ""
		return true
	}
	if a.lines++; a.lines > longestResult || len(m) > 0 && line[0] != ' ' && line[0] != '}' && !bytes.HasPrefix(m, []byte("{")) {
		a.close(f)
		return false
	}
	if found := ansibleField.FindSubmatch(bytes.TrimRight(line, "\r\n")); found != nil {
		if to := a.field(string(found[1])); *to == "" {
			*to = strings.NewReplacer(`\"`, `"`, `\n`, " ").Replace(string(found[2]))
		}
	}
	return true
}

// result reads a result in one line. False: it is not whole.
func (a *ansible) result(text []byte) bool {
	var result struct {
		Msg    any    `json:"msg"`
		Stderr string `json:"stderr"`
	}
	if json.Unmarshal(text, &result) != nil {
		return false
	}
	a.msg, _ = result.Msg.(string)
	a.stderr = result.Stderr
	return true
}

// resultLine is the line with some words, in lower case, of what the command of a failed task printed. "" where a line
// is no whole result, or has no such line.
func resultLine(line, words string) string {
	m := ansibleResult.FindStringSubmatch(line)
	var a ansible
	if m == nil || !a.result([]byte(m[2])) {
		return ""
	}
	for said := range strings.Lines(a.stderr + "\n" + a.msg) {
		if strings.Contains(lowerASCII(said), words) {
			return strings.TrimSpace(said)
		}
	}
	return ""
}

func (a *ansible) field(name string) *string {
	if name == "stderr" {
		return &a.stderr
	}
	return &a.msg
}

// close gives the error of the open result its sentence.
func (a *ansible) close(f *found) {
	e := f.errors[a.key]
	if a.key = ""; e == nil {
		return
	}
	reason := a.msg
	if a.stderr != "" && (reason == "" || strings.HasPrefix(reason, "non-zero return code")) {
		reason = a.stderr
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return
	}
	task := "a task of Ansible"
	if a.task != "" {
		task = `task "` + a.task + `" of Ansible`
	}
	e.says = task + " failed on " + a.host + ": " + reason
	e.next = "the reason is in msg or stderr of the result; -vvv shows the arguments of the task"
	if strings.Contains(reason, " is undefined") || strings.Contains(reason, "has no attribute") {
		e.own = true
		e.next = "a variable of the playbook is not set, which is no sign of the cluster: set it in the inventory or with -e, under the name in the message"
	}
	if !strings.Contains(e.first.Text, reason[:min(len(reason), 20)]) { // the result has many lines
		e.first.Text += " " + reason
		e.chain = true
	}
}
