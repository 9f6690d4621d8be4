package archive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// Skim makes the pass over a packed tar keep only the lines of logs that a Reader
// with the skimmer's signatures will look at. It is not for a Reader that records:
// it would read every log again from the beginning of the archive.
func Skim(k *reader.Skimmer) Option {
	return func(o *options) { o.skim = k }
}

// skimmed is where the lines are that were kept of a text.
type skimmed struct {
	at, size int64  // in the spool of texts
	ended    string // how reading it ended, "" at its end
}

// maySkim reports whether the lines of a member are those that a Reader sees: not
// where they are first told apart by unit, or translated.
func (t *tarStore) maySkim(e entry) bool {
	return t.skim != nil && !t.replay && e.class == text && !e.whole && !e.export && e.of.layout == ""
}

// skimText keeps the lines of a text that matter. Where they do not fit into the
// budget none are kept, and the text is read from the stream when it is asked for.
func (t *tarStore) skimText(e *entry, content io.Reader) error {
	kept := &skimmed{at: t.texts.written()}
	in, err := t.inner.unzipped(content, e.file.path)
	if err != nil {
		return nil // it is read again, and fails again, when it is asked for
	}
	last := 0
	head := make([]byte, 0, 2*binary.MaxVarintLen64)
	err = t.skim.Skim(in, func(n int, line []byte) error {
		if t.texts.full(int64(len(line))) {
			return errFull
		}
		head = binary.AppendUvarint(head[:0], uint64(n-last))
		head = binary.AppendUvarint(head, uint64(len(line)))
		last = n
		_, _ = t.texts.Write(head) // a spool's Write never fails
		_, _ = t.texts.Write(line)
		return nil
	})
	if errors.Is(err, errFull) {
		return nil
	}
	if err != nil {
		kept.ended = err.Error()
	}
	kept.size = t.texts.written() - kept.at
	e.skim = kept
	return nil
}

var errFull = errors.New("the budget is spent")

// lines returns the kept lines of a text.
func (t *tarStore) lines(k *skimmed) *evidence.Skimmed {
	return &evidence.Skimmed{By: t.skim, Each: func(yield func(int, []byte) error) error {
		in := bufio.NewReaderSize(t.texts.reader(k.at, k.size), 64<<10)
		n := 0
		var line []byte
		for {
			step, err := binary.ReadUvarint(in)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("read kept lines: %w", err)
			}
			size, err := binary.ReadUvarint(in)
			if err != nil {
				return fmt.Errorf("read kept lines: %w", err)
			}
			if uint64(cap(line)) < size {
				line = make([]byte, size)
			}
			line = line[:size]
			if _, err := io.ReadFull(in, line); err != nil {
				return fmt.Errorf("read kept lines: %w", err)
			}
			n += int(step)
			if err := yield(n, line); err != nil {
				return err
			}
		}
		if k.ended != "" {
			return &evidence.Damage{Detail: k.ended}
		}
		return nil
	}}
}

// unzipped returns what is in a member that is gzip, whatever its name: rotated
// logs are, and tools on the way unpack some and keep their suffix.
func (n *inner) unzipped(r io.Reader, member string) (io.Reader, error) {
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
	return &innerReader{r: z, inner: n, member: member}, nil
}
