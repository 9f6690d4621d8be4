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

// form is an expression with a literal that is in every text that it finds something in. Behind "~" stand several with
// bars between, of which one must be there, in capitals or small letters.
type form struct {
	literal string
	find    *expression
}

func (f form) findAll(v string) [][]int {
	if words, ok := strings.CutPrefix(f.literal, "~"); ok {
		if !containsFolded(v, words) {
			return nil
		}
	} else if !strings.Contains(v, f.literal) {
		return nil
	}
	return f.find.get().FindAllStringSubmatchIndex(v, -1)
}

// containsFolded reports whether a text has one of several words in small letters, with bars between, in whatever case.
func containsFolded(v, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		for i := 0; i+len(word) <= len(v); i++ {
			if v[i]|0x20 == word[0] && strings.EqualFold(v[i:i+len(word)], word) {
				return true
			}
		}
	}
	return false
}
