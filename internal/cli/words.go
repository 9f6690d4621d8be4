package cli

import (
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
)

// didYouMean suggests the nearest of the known words, "" where none is near.
func didYouMean(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// quote makes a word safe for a POSIX shell.
func quote(word string) string {
	safe := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-", r)
	})
	if safe {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func joinWords(words []string) string { return strings.Join(words, " ") }

// example renders one example of a help text.
func example(program, words, about string) string {
	return strings.TrimRight("  "+program+" "+words, " ") + "\n      " + about + "\n"
}
