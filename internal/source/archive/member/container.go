package member

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// File is a member of a container.
type File struct {
	Path string // as the container spells it
	Size int64
	Lost string // why its bytes cannot be read, "" where they can

	place place
	at    int64  // offset at its place; its number in the directory of a zip
	lines *lines // that a pass kept, nil where the text itself is read
}

// place says where a member's bytes are.
type place uint8

const (
	byItself  place = iota // it can be opened alone
	inStream               // at an offset of the uncompressed tar
	inObjects              // at an offset of the spool of objects
	inTexts                // at an offset of the spool of texts
)

// StreamOffset returns where in a packed stream the file begins, -1 where it can be read
// without going through the stream. Files that are read in this order share one pass.
func (f File) StreamOffset() int64 {
	if f.place == inStream && f.Lost == "" {
		return f.at
	}
	return -1
}

// Skimmed returns the lines that the pass kept of a text, nil where it kept the whole text
// or nothing.
func (f File) Skimmed() *evidence.Skimmed {
	if f.lines == nil {
		return nil
	}
	return f.lines.skimmed()
}

// Index takes the members of a container in the order in which they lie in it.
type Index interface {
	// Add takes a file. keep is nil where each file can be opened alone; otherwise the index
	// may call it, once and before Add returns, to have the pass keep what the plan says.
	// A LimitError ends the reading; any other error says that the container is damaged
	// from here on.
	Add(f File, keep Keep) error
	// Lose takes a member whose bytes cannot be read.
	Lose(path string, why error) error
	// LoseOutside takes a member whose name leads out of the container.
	LoseOutside(name string) error
	// LoseDir takes a directory that cannot be listed.
	LoseDir(path string, why error)
	// LoseName takes the name of a directory that is too long.
	LoseName(path string)
}

// Keep keeps the bytes of a member of a packed tar while the pass is at them, and notes in
// the file where they are.
type Keep func(*File, Plan) error

// Plan is what a pass does with the bytes of a member.
type Plan struct {
	Keep bool            // they will be asked for
	Text bool            // they are lines, not objects
	Skim *reader.Skimmer // keep only the lines that it wants; nil: all
	See  io.Writer       // sees the bytes, kept or not; nil: no one
}

// Container opens the members of what was read.
type Container struct {
	store    store
	unpacked *unpacked
	cut      string
	single   bool
	size     int64
	written  time.Time
}

// store is where the members' bytes are.
type store interface {
	open(ctx context.Context, f File) (io.ReadCloser, error)
}

// Cut returns why not all of the container could be read, "" when all was.
func (c *Container) Cut() string { return c.cut }

// Single reports whether it is one file that is no container, and the file's size, unpacked.
func (c *Container) Single() (size int64, ok bool) { return c.size, c.single }

// Written is when the newest file of a directory was written; zero for all else.
func (c *Container) Written() time.Time { return c.written }

// Kept is how many bytes of a packed tar the container has in memory, compressed; 0 for all
// else.
func (c *Container) Kept() int64 {
	t, ok := c.store.(*tarStore)
	if !ok || t.how == notPacked {
		return 0
	}
	return t.objects.packed + t.texts.packed
}

// Open opens a member as it is in the container.
func (c *Container) Open(ctx context.Context, f File) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.Lost != "" {
		return nil, errors.New(f.Lost)
	}
	return c.store.open(ctx, f)
}

// OpenText opens a member and uncompresses it when it is gzip.
func (c *Container) OpenText(ctx context.Context, f File) (io.ReadCloser, error) {
	raw, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	in, err := c.unpacked.gunzip(raw, f.Path)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return ReadCloser{in, raw}, nil
}

// Read returns the content of a member that has at most limit bytes.
func (c *Container) Read(ctx context.Context, f File, limit int64) ([]byte, error) {
	return c.ReadInto(ctx, f, limit, new(bytes.Buffer))
}

// ReadInto is Read into a buffer, for who reads many: what it returns is valid until the buffer is
// used again.
func (c *Container) ReadInto(ctx context.Context, f File, limit int64, into *bytes.Buffer) ([]byte, error) {
	const most = 1 << 20 // what a member says of its size is not trusted
	r, err := c.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	into.Reset()
	into.Grow(int(min(max(f.Size, 0), most)) + bytes.MinRead)
	_, err = into.ReadFrom(io.LimitReader(r, limit+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if int64(into.Len()) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return into.Bytes(), nil
}

// Read indexes what the first bytes of f say it is: a tar, a zip or a single file, packed
// or not. name is what the user calls it, for errors. f must stay open as long as the
// container is used.
func Read(ctx context.Context, f io.ReaderAt, size int64, name string, ix Index, b Budget) (*Container, error) {
	head, err := Peek(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	if len(head) == 0 {
		return nil, fmt.Errorf("no object or log of a cluster found in %s: it is empty; was the download cut off?", name)
	}
	if isZip(head) {
		return readZip(ctx, f, size, name, ix)
	}
	how := packingOf(head)
	if how != notPacked {
		r, err := unpack(f, size, how)
		if err != nil {
			return nil, fmt.Errorf("read archive %s: it begins like %s and is not: %w", name, how, err)
		}
		if head, err = Peek(r); err != nil && !isTar(head) {
			return nil, fmt.Errorf("no object or log of a cluster found in %s: it is cut off or damaged: unpack %s: %w", name, how, err)
		}
	}
	if isTar(head) {
		return readTar(ctx, f, size, name, how, ix, b)
	}
	return readSingle(ctx, f, size, name, how)
}

// IsContainer reports whether a file with these first bytes holds files, or is packed.
func IsContainer(head []byte) bool {
	return packingOf(head) != notPacked || isTar(head) || isZip(head)
}

// Peek returns the first bytes, as many as show what something is.
func Peek(r io.Reader) ([]byte, error) {
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

// readSingle opens a file that is no container.
func readSingle(ctx context.Context, f io.ReaderAt, size int64, name string, how packing) (*Container, error) {
	st := &singleStore{f, size, how}
	c := &Container{store: st, unpacked: newUnpacked(size), single: true, size: size}
	if how == notPacked {
		return c, nil
	}
	r, err := st.open(ctx, File{})
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	c.size, err = io.Copy(io.Discard, WithContext(ctx, r))
	if limit := (*LimitError)(nil); errors.As(err, &limit) || ctx.Err() != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	if err != nil {
		c.cut = fmt.Sprintf("it is cut off or damaged behind byte %d of its content: %v", c.size, err)
	}
	return c, nil
}

// singleStore opens the one member of a file that is no container.
type singleStore struct {
	f    io.ReaderAt
	size int64
	how  packing
}

func (s *singleStore) open(context.Context, File) (io.ReadCloser, error) {
	r, err := unpack(s.f, s.size, s.how)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}

// WithContext returns a reader that fails once the context is done.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return &contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// ReadCloser reads from one place and closes another.
type ReadCloser struct {
	io.Reader
	io.Closer
}

// Failing is a reader that fails with an error.
func Failing(err error) io.Reader { return failing{err} }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

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

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zipMagic)) || bytes.HasPrefix(head, []byte(zipEmpty))
}

// packingOf knows how something is packed by its first bytes.
func packingOf(head []byte) packing {
	if isTar(head) { // a tar may begin with any name
		return notPacked
	}
	for _, p := range packings {
		if strings.HasPrefix(string(head), p.magic) {
			return p.how
		}
	}
	return notPacked
}
