package message

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// traceback follows what Python prints when a program ends with an exception (CPython
// Lib/traceback.py): a heading, a frame in two lines for each call, and the exception in the
// last line. A second one may follow, which came while the first one was handled.
type traceback struct {
	open    bool
	indent  int    // of the heading
	source  bool   // the line of a frame's source may follow
	program string // of the first frame
	inner   string // file and line of the last frame that is not of Python's own library
	outer   string // of the last one that is of no library at all
	form    string // the key of the last exception's error
	ended   int    // its line
	last    string // the same key, until the next exception
	first   string // the exception that was handled when another one came
	chained bool   // a line says that another exception follows
	behind  bool   // the lines that are indented behind an exception belong to it
}

var (
	frame     = regexp.MustCompile(`^File "([^"]+)", line (\d+)(?:, in |$)`)
	exception = regexp.MustCompile(`^([A-Za-z_][\w.]*)(?:: (.*))?$`)
	raised    = regexp.MustCompile(`(?:Error|Exception|Exit|Interrupt|Timeout|Failure|Warning|Iteration|Refused|NotFound|Undefined)$`)
)

const (
	tracebackHead = "Traceback (most recent call last):"
	whileHandling = "During handling of the above exception, another exception occurred:"
	directCause   = "The above exception was the direct cause of the following exception:"
)

// see reads one line. True: it is part of a traceback and nothing else. Exception is not empty in
// the last line of one.
func (t *traceback) see(line []byte, l *logline.Line) (part bool, exceptionType string) {
	m := l.Message
	switch {
	case bytes.HasSuffix(m, []byte(tracebackHead)):
		next := traceback{open: true, indent: indentOf(line, m)}
		if t.chained {
			next.form, next.chained, next.first, next.program = t.form, true, t.first, t.program
		}
		*t = next
		return true, ""
	case t.form != "" && (string(m) == whileHandling || string(m) == directCause):
		t.chained = true
		return true, ""
	case !t.open:
		if t.behind && len(m) > 0 && indentOf(line, m) > t.indent {
			return true, ""
		}
		if t.behind = false; t.form != "" && len(m) > 0 && !t.chained {
			t.form = ""
		}
		return false, ""
	case len(m) == 0:
		return true, ""
	}
	if f := frame.FindSubmatch(m); f != nil {
		t.addFrame(string(f[1]), string(f[2]))
		return true, ""
	}
	found := exception.FindSubmatch(m)
	isException := found != nil && (len(found[2]) > 0 || raised.Match(found[1]))
	if !isException && (t.source || indentOf(line, m) > t.indent || bytes.HasPrefix(m, []byte("^")) || bytes.HasPrefix(m, []byte("~"))) {
		t.source = false
		return true, ""
	}
	if isException && indentOf(line, m) > t.indent && t.source { // a source such as "timeout: int"
		t.source = false
		return true, ""
	}
	if t.open = false; !isException {
		return false, ""
	}
	t.behind = true
	return false, string(found[1])
}

func (t *traceback) addFrame(file, line string) {
	at := file + ", line " + line
	if t.source = true; t.program == "" {
		t.program = file
	}
	isPackage := strings.Contains(file, "-packages/")
	isLibrary := strings.Contains(file, "/lib/python") || strings.Contains(file, "/lib64/python") || strings.HasPrefix(file, "<")
	if !isLibrary || isPackage || t.inner == "" {
		t.inner = at
	}
	if !isLibrary && !isPackage {
		t.outer = at
	}
}

// indentOf is how many blanks are before a message in its line.
func indentOf(line, message []byte) int {
	head := line
	if i := bytes.Index(line, message); i >= 0 && len(message) > 0 {
		head = line[:i]
	}
	n := 0
	for len(head) > n && head[len(head)-1-n] == ' ' {
		n++
	}
	return n
}

// ownExceptions are those that Python raises for a mistake in the program itself, or in what the
// program was given: no server and no cluster answers with them.
var ownExceptions = set("AttributeError", "KeyError", "TypeError", "IndexError", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError",
	"SyntaxError", "IndentationError", "AssertionError", "RecursionError", "ZeroDivisionError", "NotImplementedError", "LookupError", "UnicodeDecodeError",
	"UnicodeEncodeError", "UndefinedError", "TemplateNotFound", "TemplateSyntaxError", "StopIteration")

// addException makes the last line of a traceback an error that names the program and its line.
func (f *found) addException(t *traceback, number int, line []byte, l logline.Line, command []byte, kind string) *errorForm {
	if t.chained && t.form != "" {
		delete(f.errors, t.form)
	}
	program := programOf(l, command, t.program)
	l.Level = logline.Error
	e := f.addError(number, line, l, command)
	t.form, t.chained = formOf(l), false
	t.last = t.form
	short := kind[strings.LastIndexByte(kind, '.')+1:]
	at := cmp.Or(t.outer, t.inner)
	says := strings.TrimSpace(string(l.Message))
	t.ended = number
	e.says = program + " ended with an exception: " + says + " (" + at + ")"
	e.next = "read what " + program + " printed before the traceback; " + at + " is where it ended"
	if e.own = ownExceptions[short]; e.own {
		at = t.inner
		e.says = program + " fails in its own code: " + says + " (" + at + ")"
		e.next = "it is an error of " + program + ", or of a parameter that it was given, and no sign of the cluster: compare its parameters with its " +
			"documentation, look for the words of the error in its issues, and try another version of it"
	}
	if t.first != "" && t.first != says {
		e.says += ", while it handled " + t.first
	}
	t.first = says
	if next, ok := nextOfException[short]; ok {
		e.next = strings.ReplaceAll(next, "PROGRAM", program)
		e.own = e.own || short != "CalledProcessError"
	}
	return e
}

// nextOfException is what to do about exceptions that say it by their type.
var nextOfException = map[string]string{
	"ModuleNotFoundError": "install what PROGRAM needs, for the same Python: python3 -m pip install -r requirements.txt, or the package of the distribution",
	"ImportError":         "install what PROGRAM needs, for the same Python: python3 -m pip install -r requirements.txt, or the package of the distribution",
	"FileNotFoundError":   "the file in quotes, or the program of that name, is not on the machine on which PROGRAM runs: create or install it",
	"PermissionError":     "let PROGRAM run as a user who may use the file in quotes: ls -lZ of it",
	"JSONDecodeError":     "PROGRAM read something that is no JSON, such as an empty answer or an error page: look at what it reads, with curl -sS or cat",
	"CalledProcessError":  "the command in the line failed, and PROGRAM only ran it: its own output is above the traceback, or in its log",
}

// programOf is the name of the program that a traceback is of: that of its log, of the command
// that was typed, or of the file of its first frame.
func programOf(l logline.Line, command []byte, file string) string {
	if len(l.Program) > 0 {
		return string(l.Program)
	}
	for word := range strings.FieldsSeq(string(command)) {
		if word = path.Base(word); word != "sudo" && !strings.Contains(word, "=") && !strings.HasPrefix(word, "python") && !strings.HasPrefix(word, "-") {
			return word
		}
	}
	if name := path.Base(file); name == "__main__.py" || name == "__init__.py" {
		return path.Base(path.Dir(file))
	} else if file != "" && !strings.HasPrefix(file, "<") {
		return name
	}
	return "a Python program"
}
