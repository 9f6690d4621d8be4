package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// ErrTooMuch is in the chain of an error about an answer beyond a limit.
var ErrTooMuch = errors.New("more was sent than is read")

// allowance is how many bytes a client may still read.
type allowance struct {
	most int64 // negative: no limit
	left atomic.Int64
}

func newAllowance(most int64) *allowance {
	a := &allowance{most: most}
	a.left.Store(most)
	return a
}

// err is why nothing more is read, nil while there is room.
func (a *allowance) err() error {
	if a.most < 0 || a.left.Load() > 0 {
		return nil
	}
	return fmt.Errorf("%w: the answers of this run have more than %d bytes", ErrTooMuch, a.most)
}

// body is the bounded body of an answer: client-go keeps all of it, and twice that while
// it grows. Closing it releases the context of its request.
type body struct {
	io.ReadCloser
	left   int64
	most   int64 // of the whole answer
	run    *allowance
	cancel context.CancelFunc
	done   func(error) // how reading ended; nil: no one asks
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: the answer has more than %d MiB", ErrTooMuch, b.most>>20)
	}
	if err := b.run.err(); err != nil {
		return 0, err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.run.left.Add(-int64(n))
	if err != nil && b.done != nil {
		b.done(err)
		b.done = nil
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
