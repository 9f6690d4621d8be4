package cli

import (
	"slices"
	"strings"
)

// didYouMean suggests the nearest of the known words, "" where none is near.
func didYouMean(word string, known []string) string {
	best, at := 4, ""
	for _, k := range known {
		if n := distance(strings.ToLower(word), strings.ToLower(k)); n < best {
			best, at = n, k
		}
	}
	if at == "" {
		if i := slices.IndexFunc(known, func(k string) bool { return len(word) > 3 && strings.Contains(k, word) }); i >= 0 {
			at = known[i]
		}
	}
	if at == "" {
		return ""
	}
	return " (did you mean " + at + "?)"
}

// distance is the Levenshtein distance of two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
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
