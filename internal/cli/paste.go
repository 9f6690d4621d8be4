package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/message"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// textError says that a value of --from is text in which no object and no log of a known
// program was found. What it says is left to the messages of the catalog.
type textError struct {
	path string
	text []byte
	err  error
}

func (e *textError) Error() string { return e.err.Error() }
func (e *textError) Unwrap() error { return e.err }

// openFrom opens one value of --from: an archive, or text that a person copied together.
// A text that is read as an archive of one file has both: the messages of its lines are
// sought in it as in any other.
func (a *app) openFrom(ctx context.Context, path string, how []archive.Option) (*archive.Source, *paste.Source, error) {
	text, err := a.textOf(path)
	if err != nil {
		return nil, nil, err
	}
	var pasted *paste.Source
	if text != nil {
		pasted = paste.Read(base(path), text, a.io.Clock())
		if info, err := os.Stat(path); err == nil {
			pasted.Written(info.ModTime())
		}
		if pasted.Mixed() && pasted.Parts() > 0 {
			return nil, pasted, nil
		}
	}
	s, err := a.openArchive(ctx, path, how)
	if err == nil {
		return s, pasted, nil
	}
	if pasted == nil || ctx.Err() != nil {
		return nil, nil, err
	}
	if pasted.Parts() > 0 {
		return nil, pasted, nil
	}
	if foreign := (*archive.ForeignFileError)(nil); !errors.As(err, &foreign) || namedAsArchive(path) {
		return nil, nil, err
	}
	if len(a.source.from) > 1 { // its messages are shown with what the others hold
		return nil, pasted, nil
	}
	return nil, nil, &textError{path, text, err}
}

// besideInstall opens what lies in an install directory and is not the installer's: where
// openshift-install has not run there, whatever a directory can hold; else the logs at its
// top. Its manifests are no objects of a cluster.
func (a *app) besideInstall(ctx context.Context, r *run, dir string, how []archive.Option) (list []evidence.Source, archives []*archive.Source, err error) {
	paths := []string{dir}
	if install.Ran(dir) {
		if paths, err = install.Logs(dir); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range paths {
		s, pasted, err := a.openFrom(ctx, path, how)
		if text, nothing := (*textError)(nil), (*archive.ForeignFileError)(nil); errors.As(err, &text) || errors.As(err, &nothing) || errors.Is(err, archive.ErrNothing) {
			continue
		}
		if err != nil {
			return nil, nil, explainArchive(path, err)
		}
		if pasted != nil {
			r.keep(s, pasted)
		}
		if s == nil {
			list = append(list, pasted)
			continue
		}
		r.closers = append(r.closers, s.Close)
		list, archives = append(list, s), append(archives, s)
	}
	return list, archives, nil
}

// textOf returns the bytes of a value of --from that is text of a size that somebody can
// have copied together, nil where it is anything else. Standard input can be read on.
func (a *app) textOf(path string) ([]byte, error) {
	if path == "-" {
		in := bufio.NewReader(a.io.In)
		a.io.In = in
		head, err := in.Peek(in.Size())
		if err != nil && !errors.Is(err, io.EOF) || !isText(head) {
			return nil, nil // whoever reads it says what is wrong
		}
		text, err := io.ReadAll(io.LimitReader(in, paste.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		a.io.In = io.MultiReader(bytes.NewReader(text), in)
		return small(text), nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > paste.MaxBytes {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil || !isText(text) {
		return nil, nil
	}
	return small(text), nil
}

func small(text []byte) []byte {
	if len(text) > paste.MaxBytes || len(text) == 0 {
		return nil
	}
	return text
}

// isText reports whether bytes are no packed file: they have no NUL, and few that are no
// UTF-8.
func isText(raw []byte) bool {
	head := raw[:min(len(raw), 8<<10)]
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	wrong := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			wrong++
		}
		rest = rest[n:]
	}
	return wrong*20 <= len(head)
}

func base(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// addMessages adds what the lines of texts show to an answer: the matches of scan. Of a log of
// openshift-install its end counts: it may also tell of runs before.
func (a *app) addMessages(ctx context.Context, r *run, d *diagnosis.Diagnosis, o *answer.Options) error {
	sources := r.pasted
	if d.Cluster.Installer == nil {
		sources = slices.Concat(sources, r.logs)
	}
	x, texts, err := a.messagesOf(ctx, sources)
	if err != nil || len(texts) == 0 {
		return err
	}
	if o.Catalog, err = a.wholeCatalog(); err != nil {
		return err
	}
	o.Messages = message.Merge(texts)
	x.Join(o.Messages, seen(d))
	return nil
}

// messagesOf finds the messages of the catalog in each text.
func (a *app) messagesOf(ctx context.Context, sources []*paste.Source) (*message.Index, []*message.Report, error) {
	if len(sources) == 0 {
		return nil, nil, nil
	}
	_, x, clean, err := a.messageReader()
	if err != nil {
		return nil, nil, err
	}
	var texts []*message.Report
	for _, p := range sources {
		found, err := x.Read(ctx, bytes.NewReader(p.Text()), clean.Line)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, found)
	}
	return x, texts, nil
}

// shownByLines are the causes that lines show where texts are all that is read, best first:
// whoever pastes a line gets one answer, from diagnose as from scan.
func (a *app) shownByLines(ctx context.Context, r *run) ([]diagnose.Lines, error) {
	if !r.texts {
		return nil, nil
	}
	sources := slices.Concat(r.pasted, r.logs)
	_, texts, err := a.messagesOf(ctx, sources)
	if err != nil {
		return nil, err
	}
	lines := map[string][]evidence.Item{}
	for i, t := range texts {
		name := sources[i].Name()
		for _, m := range t.Matches {
			for _, l := range m.Lines {
				lines[m.Fault] = append(lines[m.Fault], evidence.Item{Locator: evidence.Locator{Source: name, Path: name, Line: l.Number}, Excerpt: l.Text})
			}
		}
	}
	found := message.Merge(texts)
	if found.Result != message.Present {
		return nil, nil
	}
	effects := map[string]bool{}
	for _, m := range found.Matches {
		for _, id := range m.Explains {
			effects[id] = true
		}
	}
	var list []diagnose.Lines
	for _, m := range found.Matches {
		f, ok := r.catalog.Fault(m.Fault)
		if ok && !effects[m.Fault] && m.Confidence.Rank() >= fault.ShowsLikely.Rank() {
			list = append(list, diagnose.Lines{Fault: f, Evidence: lines[m.Fault]})
		}
	}
	return list, nil
}

// evaluated is what the objects, tables and journals in a text show, decided by the same
// rules as a cluster's. Nil where the text has none.
func (a *app) evaluated(ctx context.Context, name string, text []byte) (found []message.Seen, broken, err error) {
	if !isText(text) {
		return nil, nil, nil
	}
	s := paste.Read(base(name), text, a.io.Clock())
	if s.Parts() == 0 {
		return nil, s.Broken(), nil
	}
	r, err := a.openRunOver(ctx, nil, s)
	if err != nil {
		return nil, nil, err
	}
	d, err := a.diagnose(ctx, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, nil, err
	}
	return seen(d), s.Broken(), nil
}

// seen are the faults of a diagnosis that are there, and those of which it is only not
// known for how long.
func seen(d *diagnosis.Diagnosis) []message.Seen {
	sure := map[fault.Key]diagnosis.Confidence{}
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			sure[c.Key] = c.Confidence
		}
	}
	var list []message.Seen
	for _, f := range d.Findings {
		s := message.Seen{Fault: f.Fault, Subject: f.Subject.String(), Shows: fault.ShowsLikely, Evidence: f.Evidence}
		switch {
		case f.Outcome == fault.Present && sure[f.Key()] == diagnosis.Proven:
			s.Shows = fault.ShowsProven
		case f.Outcome == fault.Present:
		case f.Unsettled:
			s.Shows = fault.ShowsPossible
		default:
			continue
		}
		if (f.Unsettled || f.Subject.Kind == fault.Operator) && len(s.Evidence) > 0 { // what holds of which; its fields say less
			s.Evidence = []evidence.Item{{Locator: s.Evidence[0].Locator, Excerpt: f.Title}}
		}
		list = append(list, s)
	}
	return list
}
