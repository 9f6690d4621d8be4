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
	return evidence.Shorten(strings.Join(strings.Fields(text), " "), most)
}

// Time returns a time as RFC 3339 in UTC.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }
