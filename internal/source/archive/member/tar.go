package member

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
)

// readTar indexes a tar in one pass. A plain tar is read again in place. Of a
// packed one the pass keeps the objects and logs that are wanted, recompressed in
// chunks that can be read alone (spool.go); the others, and what does not fit into
// the budget, are read again from the stream (cursor.go).
func readTar(ctx context.Context, f io.ReaderAt, size int64, name string, how packing, ix Index, budget Budget) (*Container, error) {
	t := &tarStore{f: f, size: size, how: how, unpacked: newUnpacked(size)}
	if how != notPacked {
		if err := t.spools(budget); err != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
	}
	cut, err := t.index(ctx, name, ix)
	if err != nil {
		return nil, err
	}
	return &Container{store: t, unpacked: t.unpacked, cut: cut}, nil
}

// tarStore opens members of a tar.
type tarStore struct {
	f        io.ReaderAt
	size     int64
	how      packing
	unpacked *unpacked
	objects  *spool
	texts    *spool
	cursors  cursors
}

func (t *tarStore) spools(b Budget) (err error) {
	if t.objects, err = newSpool(b.Objects); err == nil {
		t.texts, err = newSpool(b.Texts)
	}
	return err
}

func (t *tarStore) open(ctx context.Context, f File) (io.ReadCloser, error) {
	switch {
	case f.place == inObjects:
		return io.NopCloser(t.objects.reader(f.at, f.Size)), nil
	case f.place == inTexts:
		return io.NopCloser(t.texts.reader(f.at, f.Size)), nil
	case f.place == inStream:
		return t.cursors.open(ctx, t, f)
	}
	return io.NopCloser(&exactly{io.NewSectionReader(t.f, f.at, f.Size), f.Size}), nil
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

// index reads the tar once. Of an archive that is cut off, or breaks, it keeps what came
// before, and says so; a limit or a canceled context is an error.
func (t *tarStore) index(ctx context.Context, name string, ix Index) (cut string, _ error) {
	in := &counter{r: io.NewSectionReader(t.f, 0, t.size), seek: true}
	if t.how != notPacked {
		z, err := t.uncompress()
		if err != nil {
			return "", fmt.Errorf("read archive %s: it begins like %s and is not: %w", name, t.how, err)
		}
		ahead := readAhead(ctx, z)
		defer ahead.close()
		defer t.objects.close()
		defer t.texts.close()
		in = &counter{r: ahead}
	}
	members := tar.NewReader(in)
	var end int64 // of the last member
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return t.ended(in, end), ctx.Err()
		}
		if err == nil {
			end = in.n
			if h.Typeflag == tar.TypeReg && !sparse(h) {
				end += (h.Size + blockSize - 1) / blockSize * blockSize
			}
			err = t.member(ix, h, members, in)
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		var limit *LimitError
		if errors.As(err, &limit) {
			return "", fmt.Errorf("read archive %s: %w", name, err)
		}
		if err != nil {
			return fmt.Sprintf("the archive is cut off or damaged behind byte %d of its content: %v", in.n, err), nil
		}
	}
}

// ended says what is wrong with the end of a tar whose last member ends at end, "" where
// nothing is: it ends in two blocks of zeros.
func (t *tarStore) ended(in *counter, end int64) string {
	if in.n <= end+blockSize {
		return fmt.Sprintf("the archive is cut off: it has no end mark behind byte %d of its content", in.n)
	}
	if err := t.sound(in); err != nil {
		return err.Error()
	}
	return ""
}

// padding bounds what follows the end mark of a tar; tar itself fills up to 10 KiB.
const padding = 1 << 20

// sound reads a packed tar to its end, where the checksum of the whole is. Bytes that
// were changed on the way often unpack to a tar that is well-formed.
func (t *tarStore) sound(in io.Reader) error {
	if t.how == notPacked {
		return nil
	}
	_, err := io.Copy(io.Discard, io.LimitReader(in, padding))
	var limit *LimitError
	if err == nil || errors.As(err, &limit) || errors.Is(err, gzip.ErrHeader) { // what was added behind the end is not of it
		return nil
	}
	return fmt.Errorf("the archive is damaged: it does not have the checksum that was written with it (%s: %w)", t.how, err)
}

// blockSize is the unit of a tar.
const blockSize = 512

// uncompress returns the uncompressed stream from its beginning, bounded.
func (t *tarStore) uncompress() (io.Reader, error) { return unpack(t.f, t.size, t.how) }

// member indexes one member and, in a packed tar, keeps of its bytes what the index wants.
func (t *tarStore) member(ix Index, h *tar.Header, content io.Reader, in *counter) error {
	name, ok := memberName(h)
	if !ok {
		return ix.LoseOutside(h.Name)
	}
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	case tar.TypeLink, tar.TypeSymlink:
		return ix.Lose(name, errLink)
	case tar.TypeGNUSparse:
		return ix.Lose(name, errSparse)
	default:
		return ix.Lose(name, errNoFile)
	}
	if sparse(h) {
		return ix.Lose(name, errSparse)
	}
	f := File{Path: name, Size: h.Size, at: in.n}
	if t.how == notPacked {
		return ix.Add(f, nil)
	}
	f.place = inStream
	return ix.Add(f, func(f *File, p Plan) error { return t.keep(f, p, content) })
}

// keep does what the plan says with the bytes of a member.
func (t *tarStore) keep(f *File, p Plan, content io.Reader) error {
	if p.Keep && p.Skim != nil {
		return t.skim(f, p.Skim, content)
	}
	s, where := t.objects, inObjects
	if p.Text {
		s, where = t.texts, inTexts
	}
	if !p.Keep || s.full(f.Size) {
		if p.See == nil {
			return nil
		}
		_, err := io.Copy(p.See, content)
		return err
	}
	f.at, f.place = s.written(), where
	if p.See != nil {
		content = io.TeeReader(content, p.See)
	}
	_, err := io.Copy(s, content)
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
// so an absolute name is only a name; ".." is refused, because with two spellings of
// one path one file would hide the other.
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
