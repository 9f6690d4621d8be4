package answer

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	fewProofs  = 3
	fewExcerpt = 2 // lines
)

// proof lists what was seen and where, best first.
func (t *text) proof(items []evidence.Item) {
	if len(items) == 0 {
		return
	}
	shown := bestFirst(distinct(items, t.o.Wide))
	heading := "Proof"
	if left := len(shown) - fewProofs; left > 0 && !t.o.Wide {
		shown = shown[:fewProofs]
		heading += " (" + moreHint(left) + ")"
	}
	t.Head(2, heading)
	for _, p := range shown {
		t.proofLine(p)
	}
}

// proofLine writes an excerpt and its place, on one line where there is room.
func (t *text) proofLine(p proof) {
	text, where := excerpt(p.Item), t.where(p.Item)
	if p.places > 1 {
		where += fmt.Sprintf(" (and %d more)", p.places-1)
	}
	if t.o.MarkLogged && p.Locator.Line > 0 {
		t.logged(2, page.Plain.Span("- "), "  ", text, t.limit(fewExcerpt))
		t.Para(4, page.Span{}, page.Dim, where)
		return
	}
	cut := strings.Contains(text, evidence.Gap) // its end is what was looked for
	if text = t.Clean(text); cut || p.Locator.Line > 0 {
		text = squeeze(text, t.limit(fewExcerpt), t.Sign(page.Ellipsis))
	}
	text = t.CutLines(text, t.limit(fewExcerpt))
	if 4+page.Length(text)+2+page.Length(t.Clean(where)) <= t.Room() {
		t.Line(2, page.Plain.Span("- "), page.Plain.Span(text), page.Dim.Span("  "+where))
		return
	}
	t.Lead(2, page.Plain.Span("- "), "  ", page.Plain, text, t.limit(fewExcerpt))
	t.Para(4, page.Span{}, page.Dim, where)
}

// squeeze leaves out words from the middle of a log line, or of an excerpt that has a gap already, until
// it has so many lines of any screen: how it begins says what was tried, how it ends says why it failed.
func squeeze(text string, limit int, gap string) string {
	if limit == 0 || fitsLines(text, limit) {
		return text
	}
	words := strings.Fields(text)
	short := squeezeMiddle(words, text, limit, gap)
	at := reasonAt(words)
	if inEnd := 2*len(strings.Join(words[:at], " ")) > len(text); inEnd && !strings.Contains(short, strings.Join(words[at+1:], " ")) {
		return beforeReason(words, at, limit, gap)
	}
	return short
}

// squeezeMiddle is squeeze for a text that is too long, whatever its words are.
func squeezeMiddle(words []string, text string, limit int, gap string) string {
	const room = page.LineRoom
	// Of a very long line only what could be left is tried.
	from := min(len(words)/2, within(slices.All(words), room*limit))
	to := max(len(words)/2, len(words)-within(slices.Backward(words), room*limit))
	for {
		switch {
		case from > 1 && from >= len(words)-to:
			from--
		case to < len(words)-1:
			to++
		case from > 1:
			from--
		default:
			return text // words that cannot be broken
		}
		short := strings.Join(words[:from], " ") + " " + gap + " " + strings.Join(words[to:], " ")
		if fitsLines(short, limit) {
			return short
		}
	}
}

// fitsLines reports whether a text has so many lines of any screen: one with a word that is longer than a line is cut at its end
// though it breaks into few lines.
func fitsLines(text string, limit int) bool {
	return len(page.Break(text, page.LineRoom, page.LineRoom)) <= limit && page.Length(text) <= limit*(page.LineRoom+1)-1
}

// reasonAt is where the last "error:" of a line is that has words behind it; 0 where it has none.
func reasonAt(words []string) int {
	at := max(0, len(words)-2)
	for at > 0 && strings.TrimLeft(words[at], `"'\(`) != "error:" {
		at--
	}
	return at
}

// beforeReason leaves out words before the reason of a line. Where the reason alone is too long, its beginning is what counts.
func beforeReason(words []string, at, limit int, gap string) string {
	reason := gap + " " + strings.Join(words[at:], " ")
	for from := at; from > leastHead; from-- {
		if short := strings.Join(words[:from], " ") + " " + reason; fitsLines(short, limit) {
			return short
		}
	}
	return strings.Join(words[:min(at, leastHead)], " ") + " " + reason
}

// leastHead is how many words of a line stay before its reason.
const leastHead = 2

// within is how many words fill so many bytes, the one with which it is full included.
func within(words iter.Seq2[int, string], most int) int {
	n, size := 0, 0
	for _, w := range words {
		n, size = n+1, size+len(w)+1
		if size > most {
			break
		}
	}
	return n
}

// proof is an item and how many others say the same.
type proof struct {
	evidence.Item
	places int
}

// distinct keeps the first item of each place and of each text; all, if asked.
func distinct(items []evidence.Item, all bool) []proof {
	var list []proof
	for _, item := range items {
		i := slices.IndexFunc(list, func(have proof) bool {
			return !all && (have.Locator == item.Locator || have.Excerpt == item.Excerpt)
		})
		switch {
		case i < 0:
			list = append(list, proof{item, 1})
		case list[i].Locator != item.Locator:
			list[i].places++
		}
	}
	return list
}

// bestFirst puts what shows a mechanism before what shows a state, and one of each
// sort before the second of any: three lines from one log prove no more than one.
func bestFirst(list []proof) []proof {
	slices.SortStableFunc(list, func(a, b proof) int { return sortOf(a.Item) - sortOf(b.Item) })
	var first, rest []proof
	for i, p := range list {
		if i == 0 || sortOf(p.Item) != sortOf(list[i-1].Item) {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(first, rest...)
}

// failing is how log lines say that something went wrong.
var failing = regexp.MustCompile(`(?i)error|fail|not found|couldn't|could not|cannot|unable|refused|denied|forbidden|timed out|timeout|expired|x509|\b5\d\d\b`)

// sortOf orders items: what a server said when it failed; what should be there and
// is not; what a component gives as its reason; the state of a field.
func sortOf(item evidence.Item) int {
	field := strings.ToLower(item.Locator.Field)
	switch {
	case item.Locator.Line > 0 && failing.MatchString(item.Excerpt):
		return 0
	case strings.HasPrefix(item.Excerpt, "no "):
		return 1
	case strings.HasSuffix(field, "reason"), strings.HasSuffix(field, "message"):
		return 2
	}
	return 3
}

// where says where an item can be looked up again. The source is named where it is
// another than that of the answer; the directories with which every path of an
// archive begins are left to -o wide.
func (t *text) where(item evidence.Item) string {
	loc := item.Locator
	if !t.o.Wide {
		for _, begin := range []string{"/namespaces/", "/cluster-scoped-resources/"} {
			if i := strings.Index(loc.Path, begin); i > 0 {
				loc.Path = t.Sign(page.Ellipsis) + loc.Path[i:]
				break
			}
		}
	}
	where := loc.String()
	s := loc.Source
	itself := loc.Path == s || strings.HasPrefix(loc.Path, s+":") // a file that is a source by itself
	if s != "" && s != "live" && s != t.d.Source.Name && s != path.Base(t.d.Source.Name) && !itself {
		where = s + ": " + where
	}
	if item.From != "" {
		where += " (asked from " + item.From + ")"
	}
	return where
}

// klogHeader is what klog writes before a message: severity, date, time, thread, place.
var klogHeader = regexp.MustCompile(`^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ \S+\] `)

// excerpt is what an item shows. Of a log line the times and the place in the source
// are left out: where the line is is shown below, and the message has the room.
func excerpt(item evidence.Item) string {
	text := cmp.Or(item.Excerpt, "(empty)")
	if item.Locator.Line == 0 {
		return text
	}
	at := item.Time
	if stamp, rest, ok := strings.Cut(text, " "); ok {
		if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			at, text = t, rest
		}
	}
	text = klogHeader.ReplaceAllString(text, "")
	if at.IsZero() {
		return text
	}
	return page.Clock(at) + " " + text
}
