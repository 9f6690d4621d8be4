// Package backlog keeps lines of a stream that are looked at only if a line behind them matters: most lines of
// a log are behind the last one that does.
//
// Invariants: lines come out as they went in and in that order; at most Max bytes wait, or one line.
package backlog

import (
	"bytes"
	"sync"
)

// Max bounds the bytes of lines that wait.
const Max = 8 << 20

// part is how much of them is in one buffer.
const part = 64 << 10

// Pool has the buffers of all backlogs that were made from it. It may be used by several at once.
type Pool struct{ buffers sync.Pool }

// Lines returns a backlog without lines, for one stream.
func (p *Pool) Lines() Lines { return Lines{pool: p} }

func (p *Pool) get(size int) *bytes.Buffer {
	b, ok := p.buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Grow(size)
	return b
}

// Lines are lines that wait.
type Lines struct {
	pool  *Pool
	parts []*bytes.Buffer
	bytes int
}

// Add adds a line without its end. It reports false, and does not add it, where too much waits.
func (l *Lines) Add(line []byte) bool {
	if l.bytes > 0 && l.bytes+len(line) > Max {
		return false
	}
	if n := len(l.parts); n == 0 || l.parts[n-1].Available() <= len(line) {
		l.parts = append(l.parts, l.pool.get(max(part, len(line)+1)))
	}
	last := l.parts[len(l.parts)-1]
	last.Write(line)
	last.WriteByte('\n')
	l.bytes += len(line) + 1
	return true
}

// Drain calls each for the lines that wait, and forgets them. A line is valid until each returns. An error of
// each ends it. Where no line waits, nothing is changed: several may drain such a backlog at once.
func (l *Lines) Drain(each func(line []byte) error) (err error) {
	if l.bytes == 0 {
		return nil
	}
	for _, b := range l.parts {
		for rest := b.Bytes(); len(rest) > 0 && err == nil; {
			end := bytes.IndexByte(rest, '\n')
			err = each(rest[:end])
			rest = rest[end+1:]
		}
	}
	l.forget(1)
	return err
}

// Drop forgets the lines that wait, and gives their memory back.
func (l *Lines) Drop() { l.forget(0) }

// forget gives all buffers back but so many.
func (l *Lines) forget(keep int) {
	for i, b := range l.parts {
		if b.Reset(); i >= keep {
			l.pool.buffers.Put(b)
		}
	}
	l.parts, l.bytes = l.parts[:min(keep, len(l.parts))], 0
}
