package evidence

import "testing"

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"short":                   "short",
		"exactly ten":             "exactly ten",
		"one or more conditions":  "one or more…",
		"one or more: Deployment": "one or…",
		"a-name-without-a-blank":  "a-name-with…",
		"ä ö ü ä ö ü ä ö ü":       "ä ö ü ä ö ü…",
		"one, two, three":         "one, two…",
		"four-five-s ix":          "four-five-s…",
	} {
		if got := Shorten(text, 11); got != want {
			t.Errorf("Shorten(%q) = %q, want %q", text, got, want)
		}
	}
}
