package sanitize

import "strings"

// A URL of data (RFC 2397) holds the contents of a file, in Ignition configs and in
// what logs print of them. All of it is hidden.

// minData is the least length of data that is hidden.
const minData = 8

// dataURLs returns where the data of URLs is.
func dataURLs(v string) (found []span) {
	for i := 0; ; {
		n := indexFold(v, "data:", i)
		if n < 0 {
			return found
		}
		i = n + len("data:")
		if n > 0 && word(v[n-1]) {
			continue
		}
		comma := i
		for comma < len(v) && comma < i+256 && v[comma] != ',' && strings.IndexByte(" \t\r\n", v[comma]) < 0 {
			comma++
		}
		if comma >= len(v) || v[comma] != ',' || comma > i && v[i] != ';' && !mediaType(v[i:comma]) {
			continue
		}
		end := comma + 1
		quote := byte(0) // a single quote is part of the data, unless it was opened
		if n > 0 && v[n-1] == '\'' {
			quote = '\''
		}
		for end < len(v) && strings.IndexByte(" \t\r\n\"<>", v[end]) < 0 && (quote == 0 || v[end] != quote) {
			end++
		}
		if data := strings.TrimRight(v[comma+1:end], `\,])}`); len(data) >= minData || hasAtom(data) {
			found = append(found, span{comma + 1, comma + 1 + len(data)})
		}
		i = end
	}
}

// mediaType reports whether a text is a type, a subtype and parameters.
func mediaType(v string) bool {
	kind, _, _ := strings.Cut(v, ";")
	return strings.Trim(strings.ToLower(kind), "abcdefghijklmnopqrstuvwxyz0123456789/.+-") == ""
}

func hasAtom(v string) bool { return strings.IndexFunc(v, isAtom) >= 0 }

// indexFold returns where a text of lower case is from i on, in any case, or -1.
func indexFold(v, lower string, i int) int {
	for first := lower[0]; i+len(lower) <= len(v); i++ {
		if c := v[i]; c != first && (c|0x20 != first || !letter(c)) {
			continue
		}
		if strings.EqualFold(v[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}
