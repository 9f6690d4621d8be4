package sanitize

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Joined is a text in which secrets that belong to the lines around them are hidden: private keys, blocks of YAML,
// cells of tables, values on the line after their name. What a line shows by itself stays, for Alone: the two together
// hide what Lines hides. There are as many lines as before.
//
// It is for readers that show few of the lines, and in an order of their own. Only the first 4 MB are looked at: nobody
// pastes more, and in the log of a program a line has its secrets by itself.
func (s *Sanitizer) Joined(in io.Reader) io.Reader {
	return &joinedReader{in: bufio.NewReaderSize(in, 64<<10), clean: s.Lines()}
}

// Alone sanitizes one line, or a part of one, that has nothing to do with others.
func (s *Sanitizer) Alone(v string) string { return s.Lines().Line(v) }

const maxJoined = 4 << 20

type joinedReader struct {
	in    *bufio.Reader
	read  int
	clean *Sanitizer
	out   []byte // read and not yet given
	begun bool   // what is read next goes on with a line that is longer than the buffer
	err   error
}

// Read implements io.Reader.
func (j *joinedReader) Read(p []byte) (int, error) {
	for len(j.out) == 0 {
		if j.err != nil {
			return 0, j.err
		}
		j.line()
	}
	n := copy(p, j.out)
	j.out = j.out[n:]
	return n, nil
}

// line reads a line, or a part of one that is longer than the buffer: nothing spans that.
func (j *joinedReader) line() {
	raw, err := j.in.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	if !long {
		j.err = err
	}
	part := j.begun || long
	j.begun, j.out = long, raw
	if j.read += len(raw); part || len(raw) == 0 || j.read > maxJoined {
		return
	}
	body := bytes.TrimRight(raw, "\r\n")
	if !j.clean.Spans(body) {
		return
	}
	was := string(body)
	if clean := j.clean.Line(was); clean != was && clean != j.clean.Alone(was) {
		j.out = append([]byte(clean), raw[len(body):]...)
	}
}
