package kube

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

const (
	// maxWords bounds how many bytes a plugin may write to its stderr for one credential.
	maxWords = 64 << 10

	// promptTime is how long a line without its end is waited for before it is shown: a prompt has no end.
	promptTime = 150 * time.Millisecond

	// linesBefore are how many lines before a prompt are looked at: it may be the value of a name in one of them.
	linesBefore = 8

	// shownTime bounds the wait until what a plugin has written is shown.
	shownTime = time.Second
)

// pluginOut is where what plugins write to their stderr is shown: the process's own, whatever os.Stderr is later.
var pluginOut io.Writer = os.Stderr

// makeMu guards os.Stderr while client-go takes it.
var makeMu sync.Mutex

// authenticator makes client-go's authenticator of a configuration, or finds that it is made. It takes what os.Stderr is
// then for the stderr of the plugin (client-go's plugin/pkg/client/auth/exec, newAuthenticator), and keeps it: nothing
// else is replaced. An error comes again where the client is made.
func (w *words) authenticator(cfg *rest.Config) {
	makeMu.Lock()
	defer makeMu.Unlock()
	own := os.Stderr
	defer func() { os.Stderr = own }()
	os.Stderr = w.write
	_, _ = cfg.TransportConfig()
}

// words are what a plugin writes to its stderr, on the way to the process's own: without secrets and escape sequences,
// bounded.
type words struct {
	name        string
	read, write *os.File // nil where there is no pipe: the plugin then has no stderr
	mark        []byte   // of this process in the pipe: between what is written for one credential and for the next
	marking     sync.Mutex
	waiting     chan chan struct{} // for each mark in the pipe one that is closed where it is read
	ended       chan struct{}
	some        atomic.Bool // the plugin has written since the last mark

	out     io.Writer
	clean   *sanitize.Sanitizer
	line    []byte   // the last line, without its end
	before  []string // the lines before it
	shown   string   // what is shown of it
	written int      // bytes since the last mark
}

func newWords(name string) *words {
	w := &words{name: name, waiting: make(chan chan struct{}, 64), ended: make(chan struct{}), out: pluginOut,
		mark: []byte("\x00" + rand.Text() + "\x00\n")}
	clean, err := sanitize.New()
	if err == nil {
		w.clean = clean.Lines()
		w.read, w.write, err = os.Pipe()
	}
	if err != nil {
		close(w.ended)
		return w
	}
	chunks := make(chan []byte)
	go crash.Func(func() { w.follow(chunks) })()
	go crash.Func(func() { w.show(chunks) })()
	return w
}

// follow reads the pipe until it is closed.
func (w *words) follow(chunks chan<- []byte) {
	defer close(chunks)
	buf := make([]byte, maxWords)
	for {
		n, err := w.read.Read(buf)
		if n > 0 {
			chunks <- bytes.Clone(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// show shows what follow reads.
func (w *words) show(chunks <-chan []byte) {
	defer close(w.ended)
	pause := time.NewTimer(promptTime)
	defer pause.Stop()
	var rest []byte // what may be the beginning of the mark
	for {
		select {
		case chunk, more := <-chunks:
			if !more {
				w.end()
				return
			}
			rest = w.marks(append(rest, chunk...))
			pause.Reset(promptTime)
		case <-pause.C:
			w.prompt()
		}
	}
}

// marks adds what the plugin has written, and answers who waits where the mark is.
func (w *words) marks(raw []byte) (rest []byte) {
	for {
		before, after, found := bytes.Cut(raw, w.mark)
		if !found {
			break
		}
		w.add(before)
		w.end()
		w.written = 0
		close(<-w.waiting)
		raw = after
	}
	if i := bytes.LastIndexByte(raw, 0); i >= 0 && bytes.HasPrefix(w.mark, raw[i:]) {
		raw, rest = raw[:i], bytes.Clone(raw[i:])
	}
	w.add(raw)
	return rest
}

// add takes what the plugin has written.
func (w *words) add(raw []byte) {
	if len(raw) == 0 {
		return
	}
	w.some.Store(true)
	before := w.written
	w.written += len(raw)
	if before > maxWords {
		return
	}
	over := w.written > maxWords
	if over {
		raw = raw[:maxWords-before]
	}
	for {
		line, after, ends := bytes.Cut(raw, []byte("\n"))
		w.line = append(w.line, line...)
		if !ends {
			break
		}
		w.whole()
		raw = after
	}
	if over { // a part of a line is not shown: it may be a part of a secret
		w.line = nil
		w.print(lineEnd(w.shown) + fmt.Sprintf("(what else the credential plugin %.60q writes is not shown)\n", w.name))
		w.shown = ""
	}
}

func lineEnd(shown string) string {
	if shown == "" {
		return ""
	}
	return "\n"
}

// whole shows the last line: what is not shown of it, or all of it where that has become another text.
func (w *words) whole() {
	line := strings.TrimRight(string(w.line), "\r")
	if w.before = append(w.before, line); len(w.before) > linesBefore {
		w.before = w.before[1:]
	}
	text := harmless(w.clean.Line(line))
	rest, goesOn := strings.CutPrefix(text, w.shown)
	if !goesOn {
		rest = "\n" + text
	}
	w.print(rest + "\n")
	w.line, w.shown = nil, ""
}

// end shows a line that has no end: its plugin has ended.
func (w *words) end() {
	if len(w.line) > 0 {
		w.whole()
	}
}

// prompt shows what is there of a line on which nothing follows for now, but not the word that may go on: it may be the
// beginning of a secret. Prompts end in a sign or in a blank.
func (w *words) prompt() {
	i := bytes.LastIndexAny(w.line, " \t:?>)]")
	if i < 0 {
		return
	}
	clean := w.clean.Lines() // the stream's own goes on with the whole line
	for _, l := range w.before {
		clean.Line(l)
	}
	text := harmless(clean.Line(string(w.line[:i+1])))
	rest, goesOn := strings.CutPrefix(text, w.shown)
	if !goesOn {
		return // the whole line is shown when it is there
	}
	w.print(rest)
	w.shown = text
}

func harmless(text string) string { return page.Style{}.Clean(sanitize.Plain(text)) }

func (w *words) print(text string) { _, _ = io.WriteString(w.out, text) } // nowhere is left to complain

// next marks the end of what the plugin has written for one credential.
func (w *words) next() {
	if w.some.Swap(false) {
		w.send(make(chan struct{}))
	}
}

// send writes the mark.
func (w *words) send(shown chan struct{}) {
	w.marking.Lock()
	defer w.marking.Unlock()
	select {
	case w.waiting <- shown:
		_, _ = w.write.Write(w.mark) // fails where the pipe is closed
	default: // so many are not read: nothing is shown any more
	}
}

// flush waits until all that the plugin has written is shown.
func (w *words) flush() {
	if w.write == nil {
		return
	}
	shown, most := make(chan struct{}), time.NewTimer(shownTime)
	defer most.Stop()
	go crash.Func(func() { w.send(shown) })() // a full pipe holds it up
	select {
	case <-shown:
	case <-w.ended:
	case <-most.C:
	}
}

// close shows what is left and ends the pipe.
func (w *words) close() {
	w.flush()
	if w.write == nil {
		return
	}
	_, _ = w.write.Close(), w.read.Close()
	select {
	case <-w.ended:
	case <-time.After(shownTime):
	}
}
