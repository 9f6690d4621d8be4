package sanitize

import (
	"regexp"
	"strings"
	"sync"
)

// expression is compiled when it is needed for the first time: most are not, and to compile
// them all takes longer than to read a small archive.
type expression struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

func lazily(text string) *expression { return &expression{text: text} }

func (e *expression) get() *regexp.Regexp {
	e.once.Do(func() { e.compiled = regexp.MustCompile(e.text) })
	return e.compiled
}

// form is an expression with a literal that is in every text that it finds something in.
type form struct {
	literal string
	find    *expression
}

func (f form) findAll(v string) [][]int {
	if !strings.Contains(v, f.literal) {
		return nil
	}
	return f.find.get().FindAllStringSubmatchIndex(v, -1)
}
