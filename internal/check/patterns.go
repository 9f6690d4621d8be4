package check

import (
	"regexp"

	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// matches evaluates a pattern of this package; each is compiled by a test.
func matches(text, pattern string) bool {
	ok, err := regexp.MatchString(pattern, text)
	return ok && err == nil
}

// has looks for a pattern in the whole command line of a call.
func has(c *shellcommand.Call, pattern string) bool { return matches(c.Text, pattern) }
