package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Problem is one mistake in a catalog: where it is, what is wrong, and what to write
// instead.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0: the file as a whole
	Column  int    `json:"column,omitempty"`
	Field   string `json:"field,omitempty"` // "explains[0].on"
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error renders the problem on one line, as compilers do.
func (p *Problem) Error() string {
	text := p.File
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	}
	text += ": "
	if p.Field != "" {
		text += p.Field + ": "
	}
	text += p.Message
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

// Problems are the mistakes of a catalog. As an error it has one line for each.
type Problems []*Problem

// Error implements error.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, nil if there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Sorted returns the problems by file and line, each once: a remedy is checked for each
// fault that it is for.
func (p Problems) Sorted() Problems {
	list := slices.Clone(p)
	slices.SortStableFunc(list, func(a, b *Problem) int {
		if n := strings.Compare(a.File, b.File); n != 0 {
			return n
		}
		if n := a.Line - b.Line; n != 0 {
			return n
		}
		return a.Column - b.Column
	})
	return slices.CompactFunc(list, func(a, b *Problem) bool { return *a == *b })
}

// ProblemsOf returns the problems in an error of Load. other is what is none.
func ProblemsOf(err error) (list Problems, other error) {
	if errors.As(err, &list) {
		return list, nil
	}
	return nil, err
}

// Where leads to a value of an entry: keys and indexes.
type Where []any

// String renders the way as "explains[0].on".
func (w Where) String() string {
	var b strings.Builder
	for _, step := range w {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// below reports whether w is at or below other.
func (w Where) below(other Where) bool {
	return len(w) >= len(other) && slices.Equal(w[:len(other)], other)
}

// mistake is a problem of an entry whose place in the file is not looked up yet: most
// catalogs have none.
type mistake struct {
	at         Where
	text, hint string
	offset     int    // in characters of the value at it, from 1; 0: the value as a whole
	line, col  int    // where they are known already
	meant      string // the field that a misspelled one was taken for
}

// mistakes collects what is wrong with one entry.
type mistakes []mistake

func (m *mistakes) add(at Where, hint, format string, args ...any) {
	*m = append(*m, mistake{at: at, hint: hint, text: fmt.Sprintf(format, args...)})
}

// need adds a mistake for a text that is missing.
func (m *mistakes) need(value, key, hint string) {
	if strings.TrimSpace(value) == "" {
		m.add(Where{key}, hint, "is missing")
	}
}

// oneOf adds a mistake for a word that is none of the allowed ones.
func oneOf[T ~string](m *mistakes, at Where, word T, allowed []T) {
	if slices.Contains(allowed, word) {
		return
	}
	if word == "" {
		m.add(at, "write one of "+join(allowed), "is missing")
		return
	}
	m.add(at, meant(string(word), allowed), "%q is not one of %s", word, join(allowed))
}

func join[T ~string](words []T) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return strings.Join(list, ", ")
}

// problems looks up the places of mistakes in the file of an entry.
func (f *entryFile) problems(list mistakes) Problems {
	out := make(Problems, 0, len(list))
	for _, m := range list {
		p := &Problem{File: f.name(), Line: m.line, Column: m.col, Field: m.at.String(), Message: m.text, Hint: m.hint}
		if p.Line == 0 && len(m.at) > 0 {
			p.Line, p.Column = f.position(m.at, m.offset)
		}
		out = append(out, p)
	}
	return out
}

// name is the path of the file as the user would write it.
func (f *entryFile) name() string {
	if named, ok := f.root.(namedRoot); ok {
		return path.Join(named.name, f.path)
	}
	return f.path
}

// problems are those of an entry of the catalog.
func (c *Catalog) problems(entry any, list mistakes) Problems {
	if f := c.file(entry); f != nil {
		return f.problems(list)
	}
	return (&entryFile{path: "catalogue"}).problems(list)
}

// file returns the file that an entry is in, nil if there is none.
func (c *Catalog) file(entry any) *entryFile {
	if r, ok := entry.(*Remedy); ok {
		return c.remedies[r.ID].file
	}
	return c.files[entry]
}

// ProblemAt makes a problem of an entry: a *Fault, *Remedy, *RefusedRemedy or *Messages.
func (c *Catalog) ProblemAt(entry any, at Where, message, hint string) *Problem {
	return c.problems(entry, mistakes{{at: at, text: message, hint: hint}})[0]
}

// File returns the path of the file that an entry is in, and the index of its root.
func (c *Catalog) File(entry any) (file string, root int) {
	if f := c.file(entry); f != nil {
		return f.name(), f.rootIndex
	}
	return "", -1
}

// Named gives a root of a catalog the name that its problems are reported with.
func Named(name string, root fs.FS) fs.FS { return namedRoot{root, name} }

// namedRoot passes Stat and ReadDir on: without them fs.Stat would open the file, and a
// FIFO that is opened blocks.
type namedRoot struct {
	fs.FS
	name string
}

func (r namedRoot) Stat(p string) (fs.FileInfo, error)      { return fs.Stat(r.FS, p) }
func (r namedRoot) ReadDir(p string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS, p) }
