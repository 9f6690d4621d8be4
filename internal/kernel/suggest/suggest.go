// Package suggest finds what a person probably meant by a word that is not known.
package suggest

import (
	"slices"
	"strings"
)

// Nearest returns the known word that is nearest to a word, or else one that contains it,
// "" where none is near.
func Nearest(word string, known []string) string {
	if whole := onlyWith(word, known); whole != "" {
		return whole
	}
	best, at := 4, ""
	for _, k := range known {
		if apart := len(word) - len(k); apart >= best || -apart >= best {
			continue // and a word of 100,000 letters costs nothing
		}
		n := distance(strings.ToLower(word), strings.ToLower(k))
		if n < best && 2*n <= max(len(word), len(k)) { // two letters of three are another word
			best, at = n, k
		}
	}
	if at == "" {
		if i := slices.IndexFunc(known, func(k string) bool { return len(word) > 3 && strings.Contains(k, word) }); i >= 0 {
			at = known[i]
		}
	}
	return at
}

// onlyWith returns the one known word that begins with a word of three letters or more, "" where it is not one.
func onlyWith(word string, known []string) string {
	at := ""
	for _, k := range known {
		if len(word) < 3 || !strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) {
			continue
		}
		if at != "" {
			return ""
		}
		at = k
	}
	return at
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

// DidYouMean is Nearest as the end of a message, "" where none is near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// Few names a few words of a list.
func Few(list []string) string {
	const most = 10
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + ", ..."
}
