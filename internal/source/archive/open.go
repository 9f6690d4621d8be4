package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

const (
	// maxKept bounds a stream that is kept to be read again.
	maxKept = 64 << 30
	// maxPlain bounds such a stream when it is text: a log, or a file of objects.
	maxPlain = 1 << 30
)

// Open opens an archive: a directory, a tar or zip, or a file of objects or lines,
// packed or not. A directory is read through os.Root, so that no link in it leads
// outside. Close releases it.
func Open(ctx context.Context, name string, how ...Option) (*Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, fmt.Errorf("open archive: %w", err)
		}
		s, err := fromFS(ctx, root.FS(), name, optionsOf(how))
		if err != nil {
			return nil, errors.Join(err, root.Close())
		}
		s.closer = root
		return s, nil
	}
	if info.Mode()&os.ModeDevice != 0 {
		return nil, fmt.Errorf("open archive %s: it is a device, neither a directory nor a file", name)
	}
	f, err := openPath(ctx, name, info.Mode())
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe, as of <(curl ...)
		s, err := Stream(ctx, f, name, how...)
		return s, errors.Join(err, f.Close())
	}
	s, err := fromBytes(ctx, f, info.Size(), name, optionsOf(how))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.closer, s.written = f, info.ModTime()
	return s, nil
}

// pipePatience is how long a named pipe may be without a writer.
const pipePatience = 15 * time.Second

// openPath opens a file. To open a named pipe without a writer waits endlessly, and no
// signal ends that.
func openPath(ctx context.Context, name string, mode os.FileMode) (*os.File, error) {
	if mode&os.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go crash.Func(func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	})()
	late := time.NewTimer(pipePatience)
	defer late.Stop()
	var err error
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = fmt.Errorf("%s is a pipe without a writer", name)
	}
	// Being its writer for a moment ends the wait of the goroutine.
	if w, wrong := os.OpenFile(name, os.O_RDWR, 0); wrong == nil {
		if o := <-done; o.f != nil {
			err = errors.Join(err, o.f.Close())
		}
		err = errors.Join(err, w.Close())
	}
	return nil, err
}

// Stream opens an archive that can be read only once, such as standard input. Its bytes
// are kept, packed as they are, in a temporary file without a name that only this user
// could open; Close releases it.
func Stream(ctx context.Context, r io.Reader, name string, how ...Option) (_ *Source, err error) {
	f, err := os.CreateTemp("", "rollcall-*")
	if err != nil {
		return nil, fmt.Errorf("keep archive %s: %w", name, err)
	}
	kept := &temporary{File: f, named: os.Remove(f.Name()) != nil}
	defer func() {
		if err != nil {
			err = errors.Join(err, kept.Close())
		}
	}()
	stream := member.WithContext(ctx, r)
	head, err := member.Peek(stream)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	limit := int64(maxKept)
	if !member.IsContainer(head) {
		if slices.Contains(head, 0) { // no text: what follows is not worth the disk
			return nil, &ForeignFileError{name}
		}
		limit = maxPlain
	}
	n, err := io.Copy(f, io.LimitReader(io.MultiReader(bytes.NewReader(head), stream), limit+1))
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	if n > limit {
		return nil, fmt.Errorf("read archive %s: more than %d MiB; write it to a file and name that", name, limit>>20)
	}
	s, err := fromBytes(ctx, f, n, name, optionsOf(how))
	if err != nil {
		return nil, err
	}
	s.closer = kept
	return s, nil
}

// temporary is a file that is removed when it is closed.
type temporary struct {
	*os.File
	named bool // where an open file cannot be removed
}

func (t *temporary) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

// Written sets when the file was written, where its bytes were handed over.
func (s *Source) Written(at time.Time) { s.written = at }

// Bytes opens an archive whose bytes are in memory, as Open opens a file.
func Bytes(ctx context.Context, raw []byte, name string) (*Source, error) {
	return fromBytes(ctx, bytes.NewReader(raw), int64(len(raw)), name, optionsOf(nil))
}

// fromBytes opens what the first bytes say it is.
func fromBytes(ctx context.Context, f io.ReaderAt, size int64, name string, o options) (*Source, error) {
	b := newBuilder(name, o)
	c, err := member.Read(ctx, f, size, name, b, o.budget)
	if err != nil {
		return nil, err
	}
	if size, ok := c.Single(); ok {
		if err := b.addSingle(ctx, c, size); err != nil {
			return nil, err
		}
	}
	return b.finish(ctx, c)
}

// addSingle adds the one file of what is no container: its name means nothing.
func (b *builder) addSingle(ctx context.Context, c *member.Container, size int64) error {
	f := member.File{Path: b.s.base, Size: size}
	if head, err := headOf(ctx, c, f); err == nil && loose.IsKubeconfig(head) {
		return fmt.Errorf("no object or log of a cluster found in %s: it is a kubeconfig; a cluster to ask is named with --kubeconfig %s", b.s.name, b.s.name)
	}
	b.s.single, b.count = true, 1
	b.keep(layout.Entry{Class: layout.Loose, File: f})
	return nil
}

func headOf(ctx context.Context, c *member.Container, f member.File) ([]byte, error) {
	r, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	head, err := member.Peek(r)
	return head, errors.Join(err, r.Close())
}

// ForeignFileError says that a file is no archive, and neither objects nor a log.
type ForeignFileError struct{ Name string }

// Error implements error.
func (e *ForeignFileError) Error() string {
	return fmt.Sprintf("no object or log of a cluster found in %s: it is neither a directory nor a tar or zip (also as .gz, .xz, .zst, .bz2); "+
		"expected a must-gather, an `oc adm inspect` tree or a collection of rollcall. "+
		"Text from a console goes with --console HOST=FILE", e.Name)
}
