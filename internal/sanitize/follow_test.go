package sanitize

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/backlog"
)

// TestFollow: a line is hidden in the same way whether the lines before it were shown or only followed.
func TestFollow(t *testing.T) {
	s := sanitizer(t, "salt")
	lines, of := 0, 0
	same := func(kind, text string) {
		of++
		all := strings.Split(text, "\n")
		for i := 1; i < len(all); i++ {
			shown, followed := s.Lines(), s.Lines()
			for _, line := range all[:i] {
				if shown.Spans([]byte(line)) {
					shown.Line(line)
				}
				followed.Follow([]byte(line))
			}
			lines++
			if want, got := shown.Line(all[i]), followed.Line(all[i]); got != want {
				t.Errorf("%s: line %d of\n%s\nis %q behind lines that were shown, %q behind lines that were followed", kind, i, text, want, got)
				return
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, form := range plantedForms {
		for text := range max(1, len(form.texts)) {
			for _, family := range families {
				planted, _ := form.plant(text, family.names[r.IntN(len(family.names))], alphabets[r.IntN(len(alphabets))].of(r, 40))
				same(form.kind, planted)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pemForms)) {
		for _, kind := range []string{"rsa", "ec", "openssh"} {
			same(name, pemForms[name](strings.Split(keyBody(r, kind), "\n")))
		}
	}
	t.Logf("%d lines of %d texts", lines, of)
	if lines < 1000 {
		t.Errorf("%d lines are too few to tell", lines)
	}
}

// TestFollowMuch: more than waits for a line that is shown is followed all the same.
func TestFollowMuch(t *testing.T) {
	lines := sanitizer(t, "salt").Lines()
	defer lines.Done()
	lines.Follow([]byte("-----BEGIN RSA PRIVATE KEY-----"))
	body := []byte(strings.Repeat("word ", backlog.Max/5/100))
	for range 150 {
		lines.Follow(body)
	}
	if got := lines.Line("of the key"); !strings.HasPrefix(got, redactedPrefix) {
		t.Errorf("behind many lines of a key: %q", got)
	}
	if got := lines.Line("-----END RSA PRIVATE KEY-----"); got == "" {
		t.Error("the end is lost")
	}
	if got := lines.Line("of something else"); got != "of something else" {
		t.Errorf("behind the key: %q", got)
	}
}
