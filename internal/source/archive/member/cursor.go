package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// cursors are positions in an uncompressed stream at which reading can continue.
// Members that are read in the order in which they lie share one pass.
type cursors struct {
	mu   sync.Mutex
	idle []*cursor // sorted by position
}

type cursor struct {
	in  io.Reader
	pos int64
}

// maxIdleCursors bounds the windows that are kept: as many as texts are read at once.
const maxIdleCursors = 4

// open returns a member's bytes. It takes the nearest idle cursor before the
// member, or begins at the start of the stream.
func (c *cursors) open(ctx context.Context, t *tarStore, f File) (io.ReadCloser, error) {
	cur := c.take(f.at)
	if cur == nil {
		in, err := t.uncompress()
		if err != nil {
			return nil, err
		}
		cur = &cursor{in: in}
	}
	if err := cur.skip(ctx, f.at-cur.pos); err != nil {
		return nil, fmt.Errorf("go to byte %d of the archive: %w", f.at, err)
	}
	return &cursorReader{c: c, cur: cur, exactly: exactly{cur, f.Size}}, nil
}

func (c *cursors) take(at int64) *cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, cur := range slices.Backward(c.idle) {
		if cur.pos <= at {
			c.idle = slices.Delete(c.idle, i, i+1)
			return cur
		}
	}
	return nil
}

func (c *cursors) put(cur *cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, _ := slices.BinarySearchFunc(c.idle, cur.pos, func(x *cursor, pos int64) int { return int(min(1, max(-1, x.pos-pos))) })
	c.idle = slices.Insert(c.idle, i, cur)
	if len(c.idle) > maxIdleCursors {
		c.idle = c.idle[1:]
	}
}

func (c *cursor) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.pos += int64(n)
	return n, err
}

func (c *cursor) skip(ctx context.Context, n int64) error {
	const step = 8 << 20
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := io.CopyN(io.Discard, c, min(n, step))
		n -= k
		if err != nil {
			return errors.Join(err)
		}
	}
	return nil
}

// cursorReader reads one member and gives its cursor back.
type cursorReader struct {
	c   *cursors
	cur *cursor
	exactly
}

func (r *cursorReader) Close() error {
	if r.cur != nil {
		r.c.put(r.cur)
		r.cur = nil
	}
	return nil
}
