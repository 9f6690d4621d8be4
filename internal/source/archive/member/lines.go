package member

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// lines are the lines of a text that a pass kept: each as its distance to the line before,
// its size and its bytes.
type lines struct {
	by       *reader.Skimmer
	spool    *spool
	at, size int64
	ended    string // how reading the text ended, "" at its end
}

// skim keeps the lines of a text that matter. Where they do not fit into the budget none are
// kept, and the text is read from the stream when it is asked for.
func (t *tarStore) skim(f *File, k *reader.Skimmer, content io.Reader) error {
	kept := &lines{by: k, spool: t.texts, at: t.texts.written()}
	in, err := t.unpacked.gunzip(content, f.Path)
	if err != nil {
		return nil // it is read again, and fails again, when it is asked for
	}
	last := 0
	head := make([]byte, 0, 2*binary.MaxVarintLen64)
	err = k.Skim(in, func(n int, line []byte) error {
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
	f.lines = kept
	return nil
}

var errFull = errors.New("the budget is spent")

func (l *lines) skimmed() *evidence.Skimmed { return &evidence.Skimmed{By: l.by, Each: l.each} }

// each calls yield with each line and its number.
func (l *lines) each(yield func(int, []byte) error) error {
	in := bufio.NewReaderSize(l.spool.reader(l.at, l.size), 64<<10)
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
	if l.ended != "" {
		return &evidence.Damage{Detail: l.ended}
	}
	return nil
}
