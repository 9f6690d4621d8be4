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

// configName matches the name of a rendered config.
var configName = regexp.MustCompile(`rendered-[a-z0-9-]+`)

// has looks for a pattern in the whole command line of a call.
func has(c *shellcommand.Call, pattern string) bool { return matches(c.Text, pattern) }
