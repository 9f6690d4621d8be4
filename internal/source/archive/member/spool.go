package member

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// spool keeps bytes in memory, compressed in chunks that can be read alone. It is
// written once, by one goroutine, then closed, then read by many.
//
// It exists because gzip cannot be entered in its middle: reading one log again
// would uncompress everything before it. Compressing costs less than the gunzip
// that runs next to it, and chunks of zstd are about as small as the archive is.
type spool struct {
	budget  int64
	current []byte
	n       int64 // bytes written

	mu     sync.Mutex
	chunks [][]byte
	packed int64
	last   map[int][]byte // chunks that were uncompressed last
	order  []int

	encoder *zstd.Encoder
	decoder *zstd.Decoder
	work    sync.WaitGroup
	slot    chan struct{}
}

const (
	// chunkSize is a compromise: larger chunks compress better, smaller ones cost
	// less when one object is wanted.
	chunkSize = 256 << 10
	// cachedChunks is how many uncompressed chunks stay: neighbors are read together.
	cachedChunks = 8
)

// Buffers of the compressors.
var (
	rawChunks    = sync.Pool{New: newChunk}
	packedChunks = sync.Pool{New: newChunk}
)

func newChunk() any {
	b := make([]byte, 0, chunkSize)
	return &b
}

func newSpool(budget int64) (*spool, error) {
	workers := runtime.GOMAXPROCS(0)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(workers),
		zstd.WithWindowSize(chunkSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderMaxMemory(4*chunkSize), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &spool{budget: budget, last: map[int][]byte{}, slot: make(chan struct{}, 2*workers), encoder: enc, decoder: dec}, nil
}

// full reports whether so many more bytes would break the budget, if they compress as
// expected.
func (s *spool) full(more int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.packed+more/expectedRatio > s.budget
}

// expectedRatio is how well what is not compressed yet is assumed to compress.
const expectedRatio = 8

func (s *spool) written() int64 { return s.n }

// Write implements io.Writer; it never fails.
func (s *spool) Write(p []byte) (int, error) {
	total := len(p)
	s.n += int64(total)
	for len(p) > 0 {
		if s.current == nil {
			s.current = (*rawChunks.Get().(*[]byte))[:0]
		}
		k := min(len(p), chunkSize-len(s.current))
		s.current = append(s.current, p[:k]...)
		p = p[k:]
		if len(s.current) == chunkSize {
			s.flush()
		}
	}
	return total, nil
}

// ReadFrom implements io.ReaderFrom: what is read goes to where it is compressed from.
func (s *spool) ReadFrom(r io.Reader) (total int64, err error) {
	for {
		if s.current == nil {
			s.current = (*rawChunks.Get().(*[]byte))[:0]
		}
		n, err := r.Read(s.current[len(s.current):chunkSize])
		s.current = s.current[:len(s.current)+n]
		total += int64(n)
		s.n += int64(n)
		if len(s.current) == chunkSize {
			s.flush()
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// flush hands the current chunk to a compressor.
func (s *spool) flush() {
	raw := s.current
	s.current = nil
	s.mu.Lock()
	at := len(s.chunks)
	s.chunks = append(s.chunks, nil)
	s.mu.Unlock()
	s.slot <- struct{}{}
	s.work.Go(crash.Func(func() {
		scratch := *packedChunks.Get().(*[]byte)
		packed := s.encoder.EncodeAll(raw, scratch[:0])
		kept := slices.Clone(packed)
		packedChunks.Put(&packed)
		rawChunks.Put(&raw)
		s.mu.Lock()
		s.chunks[at] = kept
		s.packed += int64(len(kept))
		s.mu.Unlock()
		<-s.slot
	}))
}

// close ends writing and waits for the compressors.
func (s *spool) close() {
	if len(s.current) > 0 {
		s.flush()
	}
	s.work.Wait()
}

// reader reads size bytes from an offset. Bytes that were never written, because
// the archive is cut off there, are an io.ErrUnexpectedEOF.
func (s *spool) reader(at, size int64) io.Reader {
	return &exactly{io.NewSectionReader(s, at, size), size}
}

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		if off >= s.n {
			return n, io.EOF
		}
		chunk, err := s.chunk(int(off / chunkSize))
		if err != nil {
			return n, err
		}
		k := copy(p[n:], chunk[off%chunkSize:])
		n += k
		off += int64(k)
	}
	return n, nil
}

func (s *spool) chunk(i int) ([]byte, error) {
	s.mu.Lock()
	raw, packed := s.last[i], s.chunks[i]
	s.mu.Unlock()
	if raw != nil {
		return raw, nil
	}
	raw, err := s.decoder.DecodeAll(packed, make([]byte, 0, chunkSize))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last[i] == nil {
		s.last[i] = raw
		if s.order = append(s.order, i); len(s.order) > cachedChunks {
			delete(s.last, s.order[0])
			s.order = s.order[1:]
		}
	}
	return raw, nil
}
