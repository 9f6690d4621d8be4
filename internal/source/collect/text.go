package collect

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
)

// Text implements evidence.Recorder.
func (r *Recorder) Text(n evidence.Need, index int, t evidence.Text) (reader.TextWriter, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts++
	w := &textWriter{r: r, query: n.Text, index: index, name: textFile(t), part: fmt.Sprintf(".part-%d", r.parts), sum: sha256.New()}
	w.record = collection.TextRecord{
		Kind: string(t.Kind), Namespace: t.Namespace, Pod: t.Pod, Container: t.Container,
		Previous: t.Previous, Host: t.Host, Unit: t.Unit, Path: t.Path, Source: t.Source, Cluster: t.Cluster,
	}
	return w, nil
}

// textWriter writes one text next to its place and moves it there when its
// content, and so its name, is known.
type textWriter struct {
	r      *Recorder
	query  evidence.TextQuery
	index  int
	name   string
	part   string
	record collection.TextRecord
	opened bool
	file   *os.File
	buf    *bufio.Writer
	sum    hash.Hash
	size   int64
}

// Opened implements evidence.TextWriter.
func (w *textWriter) Opened() { w.opened = true }

// Write implements io.Writer.
func (w *textWriter) Write(p []byte) (int, error) {
	if w.file == nil {
		if err := w.create(); err != nil {
			return 0, err
		}
	}
	w.sum.Write(p)
	w.size += int64(len(p))
	return w.buf.Write(p)
}

func (w *textWriter) create() error {
	f, err := w.r.root.OpenFile(w.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w.file, w.buf = f, bufio.NewWriterSize(f, 64<<10)
	return nil
}

// Close implements evidence.TextWriter.
func (w *textWriter) Close(failed error) error {
	if failed != nil {
		w.record.Failed, w.record.Damaged = failed.Error(), evidence.IsDamage(failed)
	}
	if w.opened {
		if err := w.place(); err != nil {
			return fmt.Errorf("write %s: %w", w.name, err)
		}
	}
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	w.r.query(w.query).texts[w.index] = w.record
	return nil
}

func (w *textWriter) place() error {
	if w.file == nil {
		if err := w.create(); err != nil {
			return err
		}
	}
	if err := errors.Join(w.buf.Flush(), w.file.Close()); err != nil {
		return err
	}
	name, have := w.r.claim(w.name, stored{[sha256.Size]byte(w.sum.Sum(nil)), w.size})
	w.record.File = name
	if have {
		return w.r.root.Remove(w.part)
	}
	if err := w.r.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return w.r.root.Rename(w.part, name)
}
