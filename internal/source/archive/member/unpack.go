package member

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// packing is how a stream is compressed.
type packing int

const (
	notPacked packing = iota
	gzipped
	xzipped
	zstandard
	bzipped
)

// String is the packing as people name it.
func (p packing) String() string {
	return [...]string{"no packing", "gzip", "xz", "zstd", "bzip2"}[p]
}

// The first bytes of what is packed.
var packings = []struct {
	magic string
	how   packing
}{
	{gzipMagic, gzipped},
	{"\xfd7zXZ\x00", xzipped},
	{"\x28\xb5\x2f\xfd", zstandard},
	{"BZh", bzipped},
}

const (
	gzipMagic = "\x1f\x8b\x08"
	zipMagic  = "PK\x03\x04"
	zipEmpty  = "PK\x05\x06" // a zip without members
)

// unpack returns the uncompressed stream from its beginning, bounded.
func unpack(f io.ReaderAt, size int64, how packing) (io.Reader, error) {
	packed := &counter{r: io.NewSectionReader(f, 0, size)}
	r, err := uncompress(packed, how)
	if err != nil {
		return nil, err
	}
	return &bounded{r: r, packed: packed}, nil
}

// Uncompress removes one packing of a short file; packed is false where it has none.
func Uncompress(raw []byte, limit int64) (out []byte, packed bool, err error) {
	how := packingOf(raw)
	if how == notPacked {
		return raw, false, nil
	}
	in, err := unpack(bytes.NewReader(raw), int64(len(raw)), how)
	if err != nil {
		return nil, true, err
	}
	out, err = ReadAtMost(in, limit)
	return out, true, err
}

// ReadAtMost reads all of an input that has at most limit bytes; a longer one is a LimitError.
func ReadAtMost(in io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if int64(len(out)) > limit {
		return nil, &LimitError{What: fmt.Sprintf("it has more than %d bytes", limit)}
	}
	return out, nil
}

// IsTar reports whether the first bytes are those of a tar.
func IsTar(head []byte) bool { return isTar(head) }

// uncompress returns the uncompressed bytes of r, not bounded.
func uncompress(r io.Reader, how packing) (io.Reader, error) {
	switch how {
	case gzipped:
		return gzip.NewReader(r)
	case xzipped:
		in := bufio.NewReaderSize(r, 64<<10)
		if err := smallDictionary(in); err != nil {
			return nil, err
		}
		return xz.NewReader(in)
	case zstandard:
		// One block at a time: without goroutines a decoder that is never closed is
		// only garbage. The reader in front of the index has a goroutine of its own.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxDictionary), zstd.WithDecoderLowmem(true))
	case bzipped:
		return bzip2.NewReader(r), nil
	}
	return r, nil
}

// smallDictionary refuses a dictionary of xz that no preset asks for: xz -9 has
// 64 MiB, the format allows 4 GiB. It looks at the first block (The .xz File
// Format 1.2.1, 3.1; LZMA2 is filter 0x21, its property the size: 5.3.1); blocks
// of one writer are alike, and what a later one asks for is only touched as far
// as its content goes, which bounded limits.
func smallDictionary(in *bufio.Reader) error {
	const streamHeader, minBlock = 12, 8
	head, err := in.Peek(streamHeader + minBlock)
	if err != nil {
		return nil // too short for a block: the reader says so
	}
	length := (int(head[streamHeader]) + 1) * 4
	if head, err = in.Peek(streamHeader + length); err != nil {
		return nil
	}
	block := head[streamHeader:]
	flags, at := block[1], 2
	for _, present := range []byte{0x40, 0x80} { // compressed and uncompressed size
		if flags&present == 0 {
			continue
		}
		for at < length && block[at]&0x80 != 0 {
			at++
		}
		at++
	}
	if at+2 >= length || block[at] != 0x21 || block[at+1] != 1 {
		return nil // other filters are refused by the reader
	}
	bits := block[at+2]
	if bits > 40 {
		return errors.New("its dictionary has no valid size")
	}
	if size := int64(2|bits&1) << (bits/2 + 11); size > maxDictionary {
		return &LimitError{fmt.Sprintf("it wants a dictionary of %d bytes, the limit is %d; unpack it with `xz -dk` first", size, int64(maxDictionary))}
	}
	return nil
}

// unpacked counts what packed members unpack to, each once, however often it is read: a
// small archive may hold many small bombs.
type unpacked struct {
	size  int64 // of the archive
	mu    sync.Mutex
	total int64
	seen  map[string]int64 // by member
}

func newUnpacked(size int64) *unpacked { return &unpacked{size: size, seen: map[string]int64{}} }

// grow notes that a member unpacked to n bytes so far.
func (u *unpacked) grow(member string, n int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if more := n - u.seen[member]; more > 0 {
		u.total += more
		u.seen[member] = n
	}
	return ratio(u.total, u.size)
}

// gunzip returns what is in a member that is gzip, whatever its name, and the member itself
// where it is not: rotated logs are packed, and tools on the way unpack some and keep their
// suffix.
func (u *unpacked) gunzip(r io.Reader, member string) (io.Reader, error) {
	head := make([]byte, len(gzipMagic))
	k, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r = failing{err}
	}
	in := io.MultiReader(bytes.NewReader(head[:k]), r)
	if string(head) != gzipMagic {
		return in, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(in, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("uncompress: %w", err)
	}
	return &unpackedReader{r: z, unpacked: u, member: member}, nil
}

type unpackedReader struct {
	r        io.Reader
	unpacked *unpacked
	member   string
	n        int64
}

func (r *unpackedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n += int64(n)
	if limit := r.unpacked.grow(r.member, r.n); limit != nil {
		return n, limit
	}
	return n, err
}

// ratio refuses what unpacks to more than real archives do.
func ratio(unpacked, packed int64) error {
	if unpacked > maxStream {
		return &LimitError{fmt.Sprintf("more than %d bytes after decompression; unpack what is needed and name the directory", int64(maxStream))}
	}
	if unpacked > ratioFrom && unpacked/maxRatio > packed {
		return errRatio()
	}
	return nil
}

// bounded stops decompression bombs.
type bounded struct {
	r      io.Reader
	packed *counter
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if limit := ratio(b.n, b.packed.n); limit != nil {
		return n, limit
	}
	return n, err
}
