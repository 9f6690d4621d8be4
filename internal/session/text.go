package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// TextError says that a value of --from is text in which no object and no log of a known
// program was found. What it says is left to the messages of the catalog.
type TextError struct {
	Path string
	Text []byte
	Err  error
}

// Error implements error.
func (e *TextError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TextError) Unwrap() error { return e.Err }

// openFrom opens one value of --from: an archive, or text that a person copied together.
// A text that is read as an archive of one file has both: the messages of its lines are
// sought in it as in any other.
func (ses *Session) openFrom(ctx context.Context, path string, how []archive.Option) (*archive.Source, *paste.Source, error) {
	text, err := ses.textOf(path)
	if err != nil {
		return nil, nil, err
	}
	var pasted *paste.Source
	if text != nil {
		pasted = paste.Read(SourceName(path), text, ses.Clock())
		if info, err := os.Stat(path); err == nil {
			pasted.Written(info.ModTime())
		}
		if pasted.Mixed() && pasted.Parts() > 0 {
			return nil, pasted, nil
		}
	}
	s, err := ses.openArchive(ctx, path, how)
	if err == nil {
		return s, pasted, nil
	}
	if pasted == nil || ctx.Err() != nil {
		return nil, nil, err
	}
	if pasted.Parts() > 0 {
		return nil, pasted, nil
	}
	if foreign := (*archive.ForeignFileError)(nil); !errors.As(err, &foreign) || NamedAsArchive(path) {
		return nil, nil, err
	}
	if len(ses.From) > 1 { // its messages are shown with what the others hold
		return nil, pasted, nil
	}
	return nil, nil, &TextError{path, text, err}
}

// besideInstall opens what lies in an install directory and is not the installer's: where
// openshift-install has not run there, whatever a directory can hold; else the logs at its
// top. Its manifests are no objects of a cluster.
func (ses *Session) besideInstall(ctx context.Context, r *Run, dir string, how []archive.Option) (list []evidence.Source, archives []*archive.Source,
	err error) {
	paths := []string{dir}
	if install.Ran(dir) {
		if paths, err = install.Logs(dir); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range paths {
		s, pasted, err := ses.openFrom(ctx, path, how)
		if text, nothing := (*TextError)(nil), (*archive.ForeignFileError)(nil); errors.As(err, &text) || errors.As(err, &nothing) ||
			errors.Is(err, archive.ErrNothing) {
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
func (ses *Session) textOf(path string) ([]byte, error) {
	if path == "-" {
		in := bufio.NewReader(ses.In)
		ses.In = in
		head, err := in.Peek(in.Size())
		if err != nil && !errors.Is(err, io.EOF) || !isText(head) {
			return nil, nil // whoever reads it says what is wrong
		}
		text, err := io.ReadAll(io.LimitReader(in, paste.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		ses.In = io.MultiReader(bytes.NewReader(text), in)
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

func SourceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}
