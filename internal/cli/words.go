package cli

import (
	"strings"
)

func joinWords(words []string) string { return strings.Join(words, " ") }

// example renders one example of a help text.
func example(program, words, about string) string {
	return strings.TrimRight("  "+program+" "+words, " ") + "\n      " + about + "\n"
}
