package console

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

const (
	// maxLine bounds a line of the screen; a longer one continues in the next line.
	maxLine = 16 << 10
	// maxSequence bounds an escape sequence. ECMA-48 sets none; terminals take
	// some ten parameters. What runs on longer is text behind a stray escape.
	maxSequence = 64
	// maxString bounds the strings of OSC, DCS and the like, such as window titles.
	maxString = 4096
	// maxScreen bounds what is read of a file: one of zeroes alone shows nothing, and
	// would be read to its end before anybody could say stop.
	maxScreen = 1 << 30
)

// Plain returns the lines of a screen without escape sequences, as its text has them.
func Plain(text []byte) []byte {
	out, err := io.ReadAll(clean(bytes.NewReader(text)))
	if err != nil { // memory does not fail
		return text
	}
	return out
}

// clean returns the text that r showed on a screen, as lines of UTF-8.
func clean(r io.Reader) io.Reader { return &screen{in: bufio.NewReaderSize(r, 64<<10)} }

// mode is where in an escape sequence (ECMA-48, xterm's ctlseqs) the stream is.
type mode int

const (
	plain   mode = iota
	escape       // behind ESC
	charset      // behind ESC and an intermediate: one more character
	control      // behind CSI: parameters, then a final byte
	str          // in a string, until BEL or ST
	strEnd       // in a string, behind ESC
)

// screen is the reader that clean returns.
type screen struct {
	in     *bufio.Reader
	mode   mode
	length int // of the sequence
	column int // bytes in the line so far
	behind int // of them, at and behind the cursor: backspaces moved it
	read   int64
	cr     bool // the last character was a carriage return
	out    []byte
	err    error
}

// Read implements io.Reader.
func (s *screen) Read(p []byte) (int, error) {
	for len(s.out) == 0 && s.err == nil {
		s.fill()
	}
	if len(s.out) == 0 {
		return 0, s.err
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// fill turns some of the input into output.
func (s *screen) fill() {
	s.out = make([]byte, 0, 8<<10)
	for len(s.out) < 4<<10 || s.column > 0 { // a backspace may reach the beginning of the line
		c, size, err := s.in.ReadRune()
		if s.read += int64(size); err == nil && s.read > maxScreen {
			err = fmt.Errorf("it is longer than %d MiB", maxScreen>>20)
		}
		if err != nil {
			s.err = err
			return
		}
		if c == utf8.RuneError && size == 1 {
			c = 0 // a stray byte: line noise, or another encoding
		}
		s.take(c)
	}
}

func (s *screen) take(c rune) {
	if c == '\n' { // ends everything, also a sequence that noise began
		s.mode = plain
		if !s.cr {
			s.newline()
		}
		s.cr = false
		return
	}
	if s.cr && c == '\r' {
		return
	}
	s.cr = false
	switch s.mode {
	case plain:
		s.text(c)
	case escape:
		s.escape(c)
	case charset:
		s.mode = plain
	case control:
		s.control(c)
	case str, strEnd:
		s.string(c)
	}
}

func (s *screen) text(c rune) {
	switch {
	case c == 0x1b:
		s.mode, s.length = escape, 0
	case c == '\r':
		s.newline()
		s.cr = true
	case c == '\f' || c == '\v':
		s.newline()
	case c == '\b':
		if s.behind < s.column {
			_, size := utf8.DecodeLastRune(s.out[:len(s.out)-s.behind])
			s.behind += size
		}
	case c == '\t' || c >= 0x20 && c < 0x7f || c >= 0xa0 && c != 0xfeff && c != utf8.RuneError:
		s.put(c)
	}
}

// put writes a character at the cursor, over what stands there.
func (s *screen) put(c rune) {
	if s.column >= maxLine && s.behind == 0 {
		s.newline()
	}
	n, at := len(s.out), len(s.out)-s.behind
	if s.behind == 0 {
		s.out = utf8.AppendRune(s.out, c)
	} else {
		_, size := utf8.DecodeRune(s.out[at:])
		s.out = slices.Replace(s.out, at, at+size, utf8.AppendRune(nil, c)...)
		s.behind -= size
	}
	s.column += len(s.out) - n
}

func (s *screen) newline() {
	s.out = append(s.out, '\n')
	s.column, s.behind = 0, 0
}

func (s *screen) escape(c rune) {
	switch {
	case c == '[':
		s.mode = control
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		s.mode = str
	case c >= 0x20 && c <= 0x2f:
		s.mode = charset
	case c == 'E' || c == 'D' || c == 'M' || c == 'c': // next line, index, reverse index, reset
		s.mode = plain
		s.breakLine()
	case c == 0x1b:
	case c >= 0x30 && c <= 0x7e:
		s.mode = plain
	default:
		s.mode = plain
		s.text(c)
	}
}

func (s *screen) control(c rune) {
	s.length++
	switch {
	case c >= 0x40 && c <= 0x7e:
		s.mode = plain
		switch c {
		case 'A', 'B', 'E', 'F', 'H', 'J', 'd', 'f': // the cursor goes to another line, or the screen is erased
			s.breakLine()
		}
	case c < 0x20 || c > 0x7e || s.length > maxSequence:
		s.mode = plain
		s.text(c)
	}
}

// breakLine begins a new line where one has begun.
func (s *screen) breakLine() {
	if s.column > 0 {
		s.newline()
	}
}

func (s *screen) string(c rune) {
	s.length++
	switch {
	case c == 0x07, s.mode == strEnd && c == '\\', s.length > maxString:
		s.mode = plain
	case c == 0x1b:
		s.mode = strEnd
	default:
		s.mode = str
	}
}
