package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Open opens an archive: a directory, a tar or zip, or a file of objects or lines,
// packed or not, known by its content. A directory is read through os.Root, so
// that no link in it leads outside. Close releases it.
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
		s, err := fromFS(ctx, root.FS(), name)
		if err != nil {
			return nil, errors.Join(err, root.Close())
		}
		s.closer = root
		return s, nil
	}
	if info.Mode()&os.ModeDevice != 0 {
		return nil, fmt.Errorf("open archive %s: it is a device, neither a directory nor a file", name)
	}
	f, err := openNamed(ctx, name, info.Mode())
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

// openNamed opens a file. A named pipe that no one writes to would be waited for
// endlessly, and no signal ends that.
func openNamed(ctx context.Context, name string, mode os.FileMode) (*os.File, error) {
	if mode&os.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
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

// Stream opens an archive that can be read only once, such as standard input. Its
// bytes are kept, as they come and packed as they are, in a temporary file that
// has no name left and that only this user could open; Close releases it.
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
	stream := &whileAlive{ctx, r}
	head, err := peek(stream)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	limit := int64(maxKept)
	if !isPacked(head) {
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

// temporary is a file that goes away when it is closed.
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

// whileAlive ends a stream with its context.
type whileAlive struct {
	ctx context.Context
	r   io.Reader
}

func (w *whileAlive) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// fromBytes opens what the first bytes say it is.
func fromBytes(ctx context.Context, f io.ReaderAt, size int64, name string, o options) (*Source, error) {
	head, err := peek(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("no object or log of a cluster found in %s: it is empty; was the download cut off?", name)
	}
	if strings.HasPrefix(string(head), zipMagic) || strings.HasPrefix(string(head), zipEmpty) {
		return fromZip(ctx, f, size, name)
	}
	how := notPacked
	for _, p := range packings {
		if strings.HasPrefix(string(head), p.magic) && !isTar(head) {
			how = p.how
		}
	}
	if how != notPacked {
		r, err := unpack(f, size, how)
		if err != nil {
			return nil, fmt.Errorf("read archive %s: it begins like %s and is not: %w", name, how, err)
		}
		if head, err = peek(r); err != nil && !isTar(head) {
			return nil, fmt.Errorf("no object or log of a cluster found in %s: it is cut off or damaged: unpack %s: %w", name, how, err)
		}
	}
	if isTar(head) {
		return fromTar(ctx, f, size, name, how, o)
	}
	return fromFile(ctx, f, size, name, how)
}

// isPacked knows what holds files by its first bytes.
func isPacked(head []byte) bool {
	begins := func(magic string) bool { return strings.HasPrefix(string(head), magic) }
	for _, p := range packings {
		if begins(p.magic) {
			return true
		}
	}
	return isTar(head) || begins(zipMagic) || begins(zipEmpty)
}

// peek returns the first bytes, as many as show what something is.
func peek(r io.Reader) ([]byte, error) {
	head := make([]byte, 4096)
	n := 0
	for n < len(head) {
		k, err := r.Read(head[n:])
		if n += k; err == io.EOF { // not io.ErrUnexpectedEOF, which is a stream that is cut off
			break
		}
		if err != nil {
			return head[:n], err
		}
	}
	return head[:n], nil
}

// ForeignFileError says that a file is no archive, and neither objects nor a log.
type ForeignFileError struct{ Name string }

// Error implements error.
func (e *ForeignFileError) Error() string {
	return fmt.Sprintf("no object or log of a cluster found in %s: it is neither a directory nor a tar or zip (also as .gz, .xz, .zst, .bz2); "+
		"expected a must-gather, an `oc adm inspect` tree or a collection of rollcall. "+
		"Text from a console goes with --console HOST=FILE", e.Name)
}

// isTar knows a tar by its first header.
func isTar(head []byte) bool {
	return len(head) >= blockSize && (string(head[257:262]) == "ustar" || oldTar(head[:blockSize]))
}

// oldTar knows the tar of 7th Edition Unix, which has no magic, by its checksum.
func oldTar(head []byte) bool {
	sum, want := 0, 0
	for i, c := range head {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	for _, c := range head[148:156] {
		if c >= '0' && c <= '7' {
			want = want*8 + int(c-'0')
		}
	}
	return sum == want && head[0] != 0
}
