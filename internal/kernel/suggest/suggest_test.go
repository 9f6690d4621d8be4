package suggest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"title", "means", "on", "for", "remedies", "etcd-no-quorum"}
	for word, want := range map[string]string{
		"titel": "title", "Means": "means", "quorum": "etcd-no-quorum", "fro": "", "fo": "for", "xyz": "", "zzzzzzzz": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
