package minimal

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/scan"
)

// hiddenWord begins what stands in place of a word. Eight digits of a hash follow, whose seed is made for one
// run and never stored: equal words of one collection stay equal.
const hiddenWord = "hidden"

// Words says which words of a kept line stay: those of a public vocabulary, numbers, times, addresses and hashes
// by their form, and the names that objects have. It is safe for concurrent use.
type Words struct {
	public map[string]bool // in lower case
	seed   maphash.Seed

	mu    sync.RWMutex
	names map[string]bool // of objects, in lower case
}

// Vocabulary returns the words of the files of a tree: a catalog, which everybody can read.
func Vocabulary(root fs.FS) (*Words, error) {
	w := &Words{public: map[string]bool{}, names: map[string]bool{}, seed: maphash.MakeSeed()}
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for _, run := range bytes.FieldsFunc(raw, notOfWord) {
			for _, part := range humps(string(run)) {
				w.public[strings.ToLower(part)] = true
			}
			w.public[strings.ToLower(string(run))] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the words of the catalog: %w", err)
	}
	return w, nil
}

// Name adds the words of an object's name: it stays in the object, too.
func (w *Words) Name(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range strings.FieldsFunc(name, notOfWord) {
		w.names[strings.ToLower(run)] = true
	}
}

func notOfWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// formed are the forms whose letters say nothing about who wrote them: addresses of IPv6 and MAC, digests, UUIDs,
// times, durations and the place in a source file.
var formed = regexp.MustCompile(`(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|` +
	`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d\b|` +
	`\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b|\b\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhd]))+\b|\b\w+\.(?:go|c|py|rs):\d+`)

// journaled is the head of a line of a journal: its host and its program stay.
var journaled = regexp.MustCompile(`^(?:\w{3} [ \d]\d [\d:.]+|\d{4}-\d\d-\d\dT\S+) (\S+) ([^\s:\[]+)(?:\[\d+\])?: `)

// line returns a line in which each word that may not stay is hidden. hits are what messages find in it: their
// variables that are one word stay, because facts read them. The line is as it was where a message would not find
// in it what it found.
func (w *Words) line(known *scan.Set, hits []scan.Hit, line []byte) []byte {
	stay := map[string]bool{}
	keep := func(variable string) {
		for _, run := range strings.FieldsFunc(variable, notOfWord) {
			stay[strings.ToLower(run)] = true
		}
	}
	for _, h := range hits {
		for _, group := range h.Groups[min(1, len(h.Groups)):] {
			if !strings.ContainsAny(group, " \t") {
				keep(group)
			}
		}
	}
	if m := journaled.FindSubmatch(line); m != nil {
		keep(string(m[1]))
		keep(string(m[2]))
	}
	out := w.hide(line, stay)
	if !slices.EqualFunc(hits, known.Find(out), sameHit) {
		return line
	}
	return out
}

// Messages returns an object in which the texts of its conditions, states and events have only the words that stay.
func (w *Words) Messages(known *scan.Set, content map[string]any) map[string]any {
	out, _ := w.messages(known, content).(map[string]any)
	return out
}

func (w *Words) messages(known *scan.Set, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			if text, ok := child.(string); ok && key == "message" {
				out[key] = w.text(known, text)
				continue
			}
			out[key] = w.messages(known, child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = w.messages(known, child)
		}
		return out
	}
	return v
}

// text returns a text with the words that stay, line by line.
func (w *Words) text(known *scan.Set, text string) string {
	var out []byte
	for line := range strings.SplitAfterSeq(text, "\n") {
		out = append(out, w.line(known, known.Find([]byte(line)), []byte(line))...)
	}
	return string(out)
}

// sameHit reports whether a message finds the same: what is hidden may differ only in a variable of several words.
func sameHit(a, b scan.Hit) bool {
	return a.ID == b.ID && slices.EqualFunc(a.Groups[min(1, len(a.Groups)):], b.Groups[min(1, len(b.Groups)):], func(x, y string) bool {
		return x == y || strings.ContainsAny(x, " \t")
	})
}

func (w *Words) hide(text []byte, stay map[string]bool) []byte {
	out := make([]byte, 0, len(text))
	forms := formed.FindAllIndex(text, -1)
	for at := 0; at < len(text); {
		if len(forms) > 0 && forms[0][0] <= at {
			end := max(at, forms[0][1])
			out, at, forms = append(out, text[at:end]...), end, forms[1:]
			continue
		}
		end := len(text)
		if len(forms) > 0 {
			end = forms[0][0]
		}
		out = w.words(out, text[at:end], stay)
		at = end
	}
	return out
}

// words appends a part of a line with its words, one after the other.
func (w *Words) words(out, text []byte, stay map[string]bool) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if notOfWord(r) {
			out, text = append(out, text[:size]...), text[size:]
			continue
		}
		end := bytes.IndexFunc(text, notOfWord)
		if end < 0 {
			end = len(text)
		}
		if run := string(text[:end]); stay[strings.ToLower(run)] || w.stays(run) {
			out = append(out, run...)
		} else {
			out = fmt.Appendf(out, "%s%08x", hiddenWord, uint32(maphash.String(w.seed, run)))
		}
		text = text[end:]
	}
	return out
}

// stays reports whether a word may stay by itself.
func (w *Words) stays(run string) bool {
	low := strings.ToLower(run)
	stem := strings.TrimRight(low, "0123456789")
	if len(stem) <= 2 || isHidden(run) || w.public[low] || w.public[stem] {
		return true
	}
	w.mu.RLock()
	named := w.names[low]
	w.mu.RUnlock()
	if named {
		return true
	}
	parts := humps(run)
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool {
		part = strings.ToLower(strings.TrimRight(part, "0123456789"))
		return part != "" && !w.public[part]
	})
}

// isHidden reports whether a word was hidden before.
func isHidden(run string) bool {
	digits, ok := strings.CutPrefix(run, hiddenWord)
	return ok && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}

// humps returns the words of a name in capitals and small letters: NodeNotReady is Node, Not and Ready.
func humps(run string) []string {
	var parts []string
	start := 0
	var last rune
	for i, r := range run {
		if i > start && unicode.IsUpper(r) && !unicode.IsUpper(last) {
			parts = append(parts, run[start:i])
			start = i
		}
		last = r
	}
	return append(parts, run[start:])
}
