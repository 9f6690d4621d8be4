package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/paste"
	"github.com/rollcall-project/rollcall/internal/source/plaintext"
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
// sought in it as in any other. alone: nothing else is read.
func (ses *Session) openFrom(ctx context.Context, path string, alone bool, how []archive.Option) (*archive.Source, *paste.Source, error) {
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
		if format := plaintext.JSON(text); format != "" {
			return savedEvents(path, pasted, format, alone)
		}
	}
	s, err := ses.openOne(ctx, path, text, how)
	if err == nil {
		return s, pasted, nil
	}
	if pasted == nil || ctx.Err() != nil {
		return nil, nil, err
	}
	if pasted.Parts() > 0 {
		return nil, pasted, nil
	}
	if foreign := (*archive.ForeignFileError)(nil); !errors.As(err, &foreign) || NamedAsArchive(path) && !packed(path) {
		return nil, nil, err
	}
	if !alone { // its messages are shown with what the others hold
		return nil, pasted, nil
	}
	return nil, nil, &TextError{path, text, err}
}

// savedEvents are the events of the assisted-service, in a file without its clusters and hosts: messages alone.
func savedEvents(path string, pasted *paste.Source, format string, alone bool) (*archive.Source, *paste.Source, error) {
	err := pasted.Broken()
	if err != nil {
		return nil, nil, fmt.Errorf("it is %s, which cannot be read: %w", format, err)
	}
	if alone {
		return nil, nil, &TextError{path, pasted.Text(), fmt.Errorf("%s is %s: no object of a cluster is in it", SourceName(path), format)}
	}
	return nil, pasted, nil
}

// packed reports whether a file is what the name of an archive promises, and not a page that a
// download gave instead.
func packed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := member.Peek(f)
	return err == nil && member.IsContainer(head)
}

// openOne opens a text that was unpacked or converted instead of the file that it was in.
func (ses *Session) openOne(ctx context.Context, path string, text []byte, how []archive.Option) (*archive.Source, error) {
	if text == nil {
		return ses.openArchive(ctx, path, how)
	}
	s, err := archive.Bytes(ctx, text, SourceName(path))
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		s.Written(info.ModTime())
	}
	return ses.tuned(s), nil
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
		s, pasted, err := ses.openFrom(ctx, path, len(ses.From) == 1, how)
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
		raw, err := io.ReadAll(io.LimitReader(in, paste.MaxBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		ses.In = io.MultiReader(bytes.NewReader(raw), in)
		return textIn(raw, "standard input")
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > paste.MaxBytes {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil // whoever reads it says what is wrong
	}
	return textIn(raw, path)
}

// textIn returns the text of a short file, nil where it is none; what is known not to be one, nor an
// archive, is a NotTextError.
func textIn(raw []byte, name string) ([]byte, error) {
	if text, ok := plaintext.Of(raw, paste.MaxBytes); ok {
		return small(text), nil
	}
	if format := plaintext.Format(raw); format != "" && len(raw) <= paste.MaxBytes {
		return nil, &plaintext.NotTextError{Name: name, Format: format}
	}
	return nil, nil
}

func small(text []byte) []byte {
	if len(text) > paste.MaxBytes || len(text) == 0 {
		return nil
	}
	return text
}

// isText reports whether bytes are text.
func isText(raw []byte) bool { return plaintext.Format(raw) == "" && !member.IsContainer(raw) }

func SourceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}
