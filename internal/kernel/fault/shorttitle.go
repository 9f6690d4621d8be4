package fault

import "regexp"

// ShortTitle is a fault's title without the values that only a diagnosis knows.
func ShortTitle(f *Fault) string {
	if f.General != "" {
		return f.General
	}
	title := FillTitle(f, f.Title, "the "+subjectWord(f.For), func(string) string { return "" })
	return twice.ReplaceAllString(title, "the $1")
}

// twice is a kind in front of the words that stand for its name: "pool the pool".
var twice = regexp.MustCompile(`(?:\bthe )?\b(pool|node|operator|NodePool|Machine|host|request|cluster) the (?:pool|host|operator|nodepool|machine|request|csr|cluster)\b`)

func subjectWord(k Kind) string {
	if k == CSR {
		return "request"
	}
	return string(k)
}
