package minimal

import (
	"bytes"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Recorder hands on to another recorder what stays.
type Recorder struct {
	to    reader.Recorder
	known *scan.Set // the messages whose lines stay
	words *Words    // that stay of these lines
}

var _ reader.Recorder = (*Recorder)(nil)

// New returns a recorder that hands on to another one what stays. known are the messages that the
// run looks for, words the vocabulary of their lines; it learns the names of the objects.
func New(to reader.Recorder, known *scan.Set, words *Words) *Recorder {
	return &Recorder{to, known, words}
}

// Objects implements reader.Recorder.
func (r *Recorder) Objects(n evidence.Need, objects []evidence.Object) error {
	list := make([]evidence.Object, len(objects))
	for _, o := range objects {
		r.words.Name(o.Name)
		r.words.Name(o.Namespace)
	}
	for i, o := range objects {
		content, err := Object(n.Resource, o.Content)
		if err != nil {
			return fmt.Errorf("keep what is read of %s %s: %w", n.Resource, o.Name, err)
		}
		o.Content = r.words.Messages(r.known, content)
		list[i] = o
	}
	return r.to.Objects(n, list)
}

// Missing implements reader.Recorder.
func (r *Recorder) Missing(n evidence.Need, u *evidence.Unavailable) error { return r.to.Missing(n, u) }

// Text implements reader.Recorder.
func (r *Recorder) Text(n evidence.Need, index int, t evidence.Text) (reader.TextWriter, error) {
	out, err := r.to.Text(n, index, t)
	if err != nil {
		return nil, err
	}
	return &textWriter{TextWriter: out, known: r.known, words: r.words}, nil
}

// textWriter hands on what stays of the lines that a message matches, and an empty line for each other one.
type textWriter struct {
	reader.TextWriter
	known *scan.Set
	words *Words
	part  []byte // of a line that is not whole yet
}

// Write implements io.Writer.
func (w *textWriter) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		end := bytes.IndexByte(w.part, '\n')
		if end < 0 {
			return len(p), nil
		}
		if _, err := w.TextWriter.Write(w.words.Keep(w.known, w.part[:end+1])); err != nil {
			return 0, err
		}
		w.part = append(w.part[:0], w.part[end+1:]...)
	}
}

// Close implements reader.TextWriter.
func (w *textWriter) Close(failed error) error {
	if len(w.part) > 0 {
		if _, err := w.TextWriter.Write(w.words.Keep(w.known, append(w.part, '\n'))); err != nil {
			return err
		}
	}
	return w.TextWriter.Close(failed)
}

// Keep returns what stays of a line with its end: an empty one where no message matches it.
func (w *Words) Keep(known *scan.Set, line []byte) []byte {
	text := bytes.TrimRight(line, "\n")
	hits := known.Find(text)
	if len(hits) == 0 {
		return []byte("\n")
	}
	return append(w.line(known, hits, text), '\n')
}
