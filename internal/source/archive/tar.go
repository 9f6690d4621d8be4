package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// fromTar indexes a tar in one pass. A plain tar is read again in place. Of a
// packed one the pass keeps the objects and logs that are wanted, recompressed in
// chunks that can be read alone (spool.go); the others, and what does not fit into
// the budget, are read again from the stream (cursor.go).
func fromTar(ctx context.Context, f io.ReaderAt, size int64, name string, how packing, o options) (*Source, error) {
	b := newBuilder(name)
	b.s.inner.size = size
	t := &tarStore{f: f, size: size, how: how, wanted: o.wanted, skim: o.skim, inner: b.s.inner}
	if how != notPacked {
		if err := t.spools(o.objects, o.texts); err != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
	}
	if err := t.index(ctx, b, name); err != nil {
		return nil, err
	}
	return b.finish(ctx, t)
}

// tarStore opens members of a tar.
type tarStore struct {
	f       io.ReaderAt
	size    int64
	how     packing
	wanted  *wanted
	skim    *reader.Skimmer
	inner   *inner
	objects *spool
	texts   *spool
	cursors cursors
	replay  bool // a collection, whose texts are read whole to check their digests
}

// place says where a member's bytes are.
type place uint8

const (
	inStream  place = iota // at an offset of the (uncompressed) tar; for a directory unused
	inObjects              // at an offset of the spool of objects
	inTexts                // at an offset of the spool of texts
)

func (t *tarStore) spools(objects, texts int64) (err error) {
	if t.objects, err = newSpool(objects); err == nil {
		t.texts, err = newSpool(texts)
	}
	return err
}

func (t *tarStore) open(ctx context.Context, f file) (io.ReadCloser, error) {
	switch {
	case f.place == inObjects:
		return io.NopCloser(t.objects.reader(f.at, f.size)), nil
	case f.place == inTexts:
		return io.NopCloser(t.texts.reader(f.at, f.size)), nil
	case t.how != notPacked:
		return t.cursors.open(ctx, t, f)
	}
	return io.NopCloser(&exactly{io.NewSectionReader(t.f, f.at, f.size), f.size}), nil
}

// exactly fails when fewer bytes come than the member's header promised.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// index reads the tar once. An archive that is cut off, or breaks, keeps what
// came before; a limit or a canceled context is an error.
func (t *tarStore) index(ctx context.Context, b *builder, name string) (err error) {
	var in *counter
	if t.how != notPacked {
		z, err := t.uncompress()
		if err != nil {
			return fmt.Errorf("read archive %s: it begins like %s and is not: %w", name, t.how, err)
		}
		ahead := readAhead(ctx, z)
		defer func() { err = errors.Join(err, ahead.Close()) }()
		defer t.objects.close()
		defer t.texts.close()
		in = &counter{r: ahead}
	} else {
		in = &counter{r: io.NewSectionReader(t.f, 0, t.size), seek: true}
	}
	members := tar.NewReader(in)
	var end int64 // of the last member
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			if in.n <= end+blockSize { // an archive ends in two blocks of zeros
				b.cut(fmt.Errorf("the archive is cut off: it has no end mark behind byte %d of its content", in.n))
			} else if err := t.sound(in); err != nil {
				b.cut(err)
			}
			return ctx.Err()
		}
		if err == nil {
			end = in.n
			if h.Typeflag == tar.TypeReg && !sparse(h) {
				end += (h.Size + blockSize - 1) / blockSize * blockSize
			}
			err = t.member(b, h, members, in)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var limit *limitError
		if errors.As(err, &limit) {
			return fmt.Errorf("read archive %s: %w", name, err)
		}
		if err != nil {
			b.cut(fmt.Errorf("the archive is cut off or damaged behind byte %d of its content: %w", in.n, err))
			return nil
		}
	}
}

// padding bounds what stands behind the end mark of a tar; tar itself fills up to 10 KiB.
const padding = 1 << 20

// sound reads a packed tar to its end, where the checksum of the whole is. Bytes that
// were changed on the way often unpack to a tar that is well-formed.
func (t *tarStore) sound(in io.Reader) error {
	if t.how == notPacked {
		return nil
	}
	_, err := io.Copy(io.Discard, io.LimitReader(in, padding))
	var limit *limitError
	if err == nil || errors.As(err, &limit) || errors.Is(err, gzip.ErrHeader) { // what was added behind the end is not of it
		return nil
	}
	return fmt.Errorf("the archive is damaged: it does not have the checksum that was written with it (%s: %w)", t.how, err)
}

// blockSize is the unit of a tar.
const blockSize = 512

// uncompress returns the uncompressed stream from its beginning, bounded.
func (t *tarStore) uncompress() (io.Reader, error) { return unpack(t.f, t.size, t.how) }

// member indexes one member and, in a packed tar, keeps its bytes.
func (t *tarStore) member(b *builder, h *tar.Header, content io.Reader, in *counter) error {
	name, ok := memberName(h)
	if !ok {
		return b.loseOutside(h.Name)
	}
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	case tar.TypeLink, tar.TypeSymlink:
		return b.lose(name, errLink)
	case tar.TypeGNUSparse:
		return b.lose(name, errSparse)
	default:
		return b.lose(name, errNoFile)
	}
	if sparse(h) {
		return b.lose(name, errSparse)
	}
	e, err := b.classify(name, h.Size)
	if err != nil || e.class == other {
		return err
	}
	e.file.at = in.n
	t.replay = t.replay || e.class == seal
	if t.how != notPacked && e.class != loose { // those are rarely read at all
		err = t.spool(&e, h.Size, content)
	}
	b.keep(e)
	return err
}

// spool keeps the bytes of a member, or at least the newest time in it.
func (t *tarStore) spool(e *entry, size int64, content io.Reader) error {
	s, where := t.objects, inObjects
	if e.class == text {
		s, where = t.texts, inTexts
	}
	wanted := t.wanted.entry(*e)
	if wanted && t.maySkim(*e) {
		return t.skimText(e, content)
	}
	var times timeScan
	e.timed = e.class == object && slices.Contains(timeBearing, e.resource)
	var err error
	switch fits := wanted && !s.full(size); {
	case fits:
		e.file.at, e.file.place = s.written(), where
		if e.timed {
			content = io.TeeReader(content, &times)
		}
		_, err = io.Copy(s, content)
	case e.timed:
		_, err = io.Copy(&times, content)
	}
	e.newest = times.end()
	return err
}

func sparse(h *tar.Header) bool {
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// memberName returns a member's path as in a directory. Nothing is ever unpacked,
// so an absolute name is only a name; ".." is refused, because two spellings of
// one path would hide one file behind another.
func memberName(h *tar.Header) (string, bool) {
	name := path.Clean(strings.TrimLeft(h.Name, "/"))
	if name == "." || name == "" {
		return ".", true
	}
	return name, !slices.Contains(strings.Split(h.Name, "/"), "..")
}

// counter counts what is read.
type counter struct {
	r    io.Reader
	n    int64
	seek bool // r is an io.Seeker, and skipping may use it
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Seek lets the tar reader skip members of a plain tar.
func (c *counter) Seek(offset int64, whence int) (int64, error) {
	s, ok := c.r.(io.Seeker)
	if !ok || !c.seek {
		return 0, errors.ErrUnsupported
	}
	n, err := s.Seek(offset, whence)
	if err == nil {
		c.n = n
	}
	return n, err
}

// limitError is a limit that an archive breaks.
type limitError struct{ what string }

func (l *limitError) Error() string { return l.what }
