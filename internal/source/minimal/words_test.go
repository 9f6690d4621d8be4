package minimal

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/scan"
)

func words(t *testing.T) *Words {
	t.Helper()
	w, err := Vocabulary(fstest.MapFS{"messages/a.yaml": {Data: []byte(
		"text: the host did not answer; error getting node NotReady: failed to pull image from the registry, user, path, home, x509, http, com, io")}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWords: of a line that a message matches the words of the vocabulary, what has a form and the variables of messages
// stay, and no other word.
func TestWords(t *testing.T) {
	known, err := scan.Compile([]scan.Signature{
		{ID: "a", Literal: "did not answer"},
		{ID: "b", Literal: "failed to pull image", Pattern: regexp.MustCompile(`(?i)failed to pull image "([^"]+)": (.*)`)},
		{ID: "c", Literal: "jsmith did it", Pattern: regexp.MustCompile(`(?i)jsmith did it`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"nothing that is known of jsmith", ""},
		{"host jsmith-laptop did not answer", "host HIDDEN-HIDDEN did not answer"},
		{"2026-11-29T10:00:01.5Z acme host 10.0.0.7:22623 did not answer in 1m30s", "2026-11-29T10:00:01.5Z HIDDEN host 10.0.0.7:22623 did not answer in 1m30s"},
		{"I1129 10:00:01.123 4711 cheese.go:12] NodeNotReady did not answer at fd00:acdc::beef aa:bb:cc:dd:ee:ff",
			"I1129 10:00:01.123 4711 cheese.go:12] NodeNotReady did not answer at fd00:acdc::beef aa:bb:cc:dd:ee:ff"},
		{"user=jsmith path=/home/jsmith/x did not answer: 0f9d0e6a-0c1b-4d5e-8f9a-0123456789ab",
			"user=HIDDEN path=/home/HIDDEN/x did not answer: 0f9d0e6a-0c1b-4d5e-8f9a-0123456789ab"},
		{"worker-1.plant7.example.com did not answer", "worker-1.plant7.example.com did not answer"},
		{"Nov 29 10:00:01 m1.acme.corp cheesed[12]: jsmith did not answer", "Nov 29 10:00:01 m1.acme.corp cheesed[12]: HIDDEN did not answer"},
		{"worker-2.plant8.example.com did not answer", "worker-2.HIDDEN.example.com did not answer"},
		{`Failed to pull image "registry.acme.com/app:1": the jsmith error`, `Failed to pull image "registry.acme.com/app:1": the HIDDEN error`},
		{"jsmith did it", "jsmith did it"},                                   // the message itself has the word
		{"jsmithdid not answer of jsmith", "jsmithdid not answer of jsmith"}, // without the word the message would not be found
		{"host did not answer \xff\xfe grüße", "host did not answer \xff\xfe HIDDEN"},
	} {
		w := words(t)
		w.Name("worker-1.plant7.example.com")
		got := string(w.Keep(known, []byte(c.line+"\n")))
		if again := string(w.Keep(known, []byte(got))); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
		if got := strings.TrimSuffix(regexp.MustCompile(hiddenWord+`[0-9a-f]{8}`).ReplaceAllString(got, "HIDDEN"), "\n"); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.line, got, c.want)
		}
	}
}

// TestEqualWords: what is equal stays equal within a collection, and says nothing in another one.
func TestEqualWords(t *testing.T) {
	known, err := scan.Compile([]scan.Signature{{ID: "a", Literal: "did not answer"}})
	if err != nil {
		t.Fatal(err)
	}
	w := words(t)
	keep := func(w *Words, line string) string { return string(w.Keep(known, []byte(line))) }
	a, b := keep(w, "jsmith did not answer\n"), keep(w, "mmiller did not answer\n")
	if a != keep(w, "jsmith did not answer\n") || a == b || a == keep(words(t), "jsmith did not answer\n") {
		t.Errorf("%q, %q", a, b)
	}
}
