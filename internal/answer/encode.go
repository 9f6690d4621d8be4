package answer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// encode writes the diagnosis as JSON whose strings hold nothing that a terminal
// obeys and nothing that YAML has no spelling for. Both forms of the contract come
// from here, so they say the same.
//
// The findings are written one by one: of a large cluster there are hundreds of
// thousands, and as one text they would take several times the diagnosis' memory.
func encode(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	rest := newDocument(d, o)
	findings := rest.Findings
	rest.Findings = []finding{}
	frame, err := marshal("", rest)
	if err != nil {
		return err
	}
	// A line of an indented document begins with as many spaces as it is deep.
	const list = "\n  \"findings\": []"
	before, after, found := bytes.Cut(frame, []byte(list))
	if !found || len(findings) == 0 {
		if findings == nil {
			rest.Findings = nil
			if frame, err = marshal("", rest); err != nil {
				return err
			}
		}
		return page.Write(w, string(frame)+"\n")
	}
	out := bufio.NewWriterSize(w, 64<<10)
	m := newMarshaler("    ")
	if err := page.Write(out, string(before)+strings.TrimSuffix(list, "]")); err != nil {
		return err
	}
	for i := range findings {
		one, err := m.marshal(findings[i])
		if err != nil {
			return err
		}
		between := ",\n    "
		if i == 0 {
			between = between[1:]
		}
		if err := page.Write(out, between); err != nil {
			return err
		}
		if _, err := out.Write(one); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	if err := page.Write(out, "\n  ]"+string(after)+"\n"); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// marshal returns a part of the document, without the end of its last line; all
// lines but the first begin with indent.
func marshal(indent string, part any) ([]byte, error) { return newMarshaler(indent).marshal(part) }

// marshaler makes many parts of a document in the same room: a large cluster has
// tens of thousands of findings.
type marshaler struct {
	raw     bytes.Buffer
	encoder *json.Encoder
	out     []byte
}

func newMarshaler(indent string) *marshaler {
	m := &marshaler{}
	m.encoder = json.NewEncoder(&m.raw)
	m.encoder.SetIndent(indent, "  ")
	m.encoder.SetEscapeHTML(false)
	return m
}

// marshal returns a part; it is good until the next one is asked for.
func (m *marshaler) marshal(part any) ([]byte, error) {
	m.raw.Reset()
	if err := m.encoder.Encode(part); err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	m.out = harmless(m.out[:0], bytes.TrimSuffix(m.raw.Bytes(), []byte("\n")))
	return m.out, nil
}

// Harmless is a JSON document of which no string holds what a terminal obeys or nobody sees. It is
// the document itself where none does.
func Harmless(doc []byte) []byte { return harmless(make([]byte, 0, len(doc)), doc) }

// harmless shows control characters and invisible ones in the strings of a JSON
// document as the escapes that the text form shows ("\x1b", "\u202e"), spelled out.
// Tabs and ends of lines stay. encoding/json already made bytes that are no UTF-8
// the replacement character. It appends to out.
func harmless(out, doc []byte) []byte {
	for i := 0; i < len(doc); {
		c := doc[i]
		switch {
		case c == '\\' && i+1 < len(doc):
			r, size := escaped(doc[i:])
			if r >= 0 && hidden(r) {
				out = spell(out, r)
			} else {
				out = append(out, doc[i:i+size]...)
			}
			i += size
		case c < utf8.RuneSelf && c != 0x7f:
			end := i + 1
			for end < len(doc) && doc[end] < utf8.RuneSelf && doc[end] != 0x7f && doc[end] != '\\' {
				end++
			}
			out = append(out, doc[i:end]...)
			i = end
		default:
			r, size := utf8.DecodeRune(doc[i:])
			if hidden(r) {
				out = spell(out, r)
			} else {
				out = append(out, doc[i:i+size]...)
			}
			i += size
		}
	}
	return out
}

// escaped returns the rune of the escape at the start of s and its length; -1 for
// those that stand for themselves, as \" and \n.
func escaped(s []byte) (rune, int) {
	switch {
	case s[1] == 'b':
		return '\b', 2
	case s[1] == 'f':
		return '\f', 2
	case s[1] == 'u' && len(s) >= 6:
		if n, err := strconv.ParseUint(string(s[2:6]), 16, 32); err == nil {
			return rune(n), 6
		}
	}
	return -1, 2
}

// hidden reports whether a rune is not shown: it controls, reorders or is not valid.
func hidden(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\t' && r != '\n' && r != '\r'
}

func spell(out []byte, r rune) []byte {
	q := strconv.QuoteRuneToASCII(r)
	return append(append(out, '\\'), q[1:len(q)-1]...)
}
