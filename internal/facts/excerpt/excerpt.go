// Package excerpt writes what facts quote: texts that others wrote, cut to what a report has
// room for, and times.
package excerpt

import (
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// most is how many characters of a text are quoted.
const most = 300

// Of returns a text without the blanks around it, cut.
func Of(text string) string { return evidence.Shorten(strings.TrimSpace(text), most) }

// OneLine returns a text on one line, cut.
func OneLine(text string) string {
	return evidence.Shorten(oneLine(text), most)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Around returns a text on one line, cut around the part that was looked for: it keeps how the
// text begins and that part with what is before it. A part that is not in the text is none.
func Around(text, part string) string { return AroundIn(text, part, most) }

// AroundIn is Around for so many characters.
func AroundIn(text, part string, most int) string {
	return evidence.ShortenAround(oneLine(text), strings.TrimSuffix(oneLine(part), "…"), most)
}

// Time returns a time as RFC 3339 in UTC.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }
