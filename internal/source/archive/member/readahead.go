package member

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// ahead reads on in its own goroutine, so that uncompressing and indexing overlap.
type ahead struct {
	full   chan aheadBlock
	free   chan []byte
	stop   context.CancelFunc
	done   sync.WaitGroup
	block  aheadBlock
	at     int
	broken error
}

type aheadBlock struct {
	buf []byte
	err error
}

const (
	aheadBlockSize = 512 << 10
	aheadBlocks    = 4
)

// readAhead returns a reader of r. close stops its goroutine.
func readAhead(ctx context.Context, r io.Reader) *ahead {
	ctx, stop := context.WithCancel(ctx)
	a := &ahead{full: make(chan aheadBlock, aheadBlocks), free: make(chan []byte, aheadBlocks), stop: stop}
	for range aheadBlocks {
		a.free <- make([]byte, aheadBlockSize)
	}
	a.done.Go(crash.Func(func() {
		defer close(a.full)
		for {
			var buf []byte
			select {
			case buf = <-a.free:
			case <-ctx.Done():
				return
			}
			n, err := io.ReadFull(r, buf)
			if errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
				err = nil // a short last block; the next read tells how it ended
			}
			a.full <- aheadBlock{buf[:n], err}
			if err != nil {
				return
			}
		}
	}))
	return a
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for a.at == len(a.block.buf) {
		if a.broken != nil {
			return 0, a.broken
		}
		if a.block.err != nil {
			a.broken = a.block.err
			continue
		}
		if a.block.buf != nil {
			a.free <- a.block.buf[:aheadBlockSize]
		}
		next, ok := <-a.full
		if !ok {
			a.broken = context.Canceled
			continue
		}
		a.block, a.at = next, 0
	}
	n := copy(p, a.block.buf[a.at:])
	a.at += n
	return n, nil
}

// close stops reading ahead.
func (a *ahead) close() {
	a.stop()
	a.done.Wait()
}
