package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func compile(t testing.TB, literals ...string) *Set {
	t.Helper()
	var list []Signature
	for i, l := range literals {
		list = append(list, Signature{ID: fmt.Sprint(i, " ", l), Literal: l})
	}
	s, err := Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// naive is what Find must equal.
func naive(s *Set, line []byte) []string {
	lower := slices.Clone(line)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	var out []string
	for _, sig := range s.signatures {
		if bytes.Contains(lower, []byte(sig.Literal)) {
			out = append(out, sig.ID)
		}
	}
	return out
}

// TestFindEqualsNaive tries literals that are suffixes, prefixes and parts of each
// other, over a small alphabet, so that they overlap all the time.
func TestFindEqualsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	word := func(n int, alphabet string) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 300 {
		var literals []string
		least := shortest + r.IntN(longGram+longStride) // every gram and stride
		for range 1 + r.IntN(12) {
			literals = append(literals, word(least+r.IntN(12), "ab-\xff"))
		}
		s := compile(t, literals...)
		for range 30 {
			line := []byte(word(r.IntN(40), "aAbB-\xff\x00"))
			if l := literals[r.IntN(len(literals))]; r.IntN(2) == 0 { // long ones are not met by chance
				line = slices.Insert(line, r.IntN(len(line)+1), []byte(strings.ToUpper(l))...)
			}
			if got, want := ids(s.Find(line)), naive(s, line); !slices.Equal(got, want) {
				t.Fatalf("Find(%q) of %q = %q, want %q", line, literals, got, want)
			}
		}
	}
}

func TestFind(t *testing.T) {
	s, err := Compile([]Signature{
		{ID: "plain", Literal: "not found"},
		{ID: "status", Literal: "status code", Pattern: regexp.MustCompile(`(?i)status code (\d+)(?: from (\S+))?`)},
		{ID: "upper", Literal: "x509:", Pattern: regexp.MustCompile(`x509: .* unknown authority`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]Hit{
		"": nil, "nothing": nil,
		"Not Found":                           {{ID: "plain"}},
		"not found, NOT FOUND, status code x": {{ID: "plain"}},
		"Status Code 500":                     {{ID: "status", Groups: []string{"Status Code 500", "500", ""}}},
		"status code 500 from api: not found": {{ID: "plain"}, {ID: "status", Groups: []string{"status code 500 from api:", "500", "api:"}}},
		"x509: certificate has expired":       nil,
	} {
		got := s.Find([]byte(line))
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("Find(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for literal, want := range map[string]string{"ab": "shorter than 3", "": "shorter than 3", "Not": "not lower case"} {
		if _, err := Compile([]Signature{{ID: "bad-one", Literal: literal}}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bad-one") {
			t.Errorf("Compile(%q): %v, want %q", literal, err, want)
		}
	}
	if s, err := Compile(nil); err != nil || s.Find([]byte("anything")) != nil {
		t.Errorf("an empty set: %v", err)
	}
}

func TestEveryByteInALiteral(t *testing.T) {
	var all []byte
	for c := range 256 {
		if c < 'A' || c > 'Z' {
			all = append(all, byte(c))
		}
	}
	s := compile(t, string(all))
	if got := s.Find(append([]byte("before"), all...)); len(got) != 1 {
		t.Errorf("Find = %v", got)
	}
}

func TestFindAllocatesNothingOnAMiss(t *testing.T) {
	s := compile(t, "not found", "refused")
	line := []byte("I0102 10:00:00 1 controller.go:1] nothing that anybody looks for, found none")
	if n := testing.AllocsPerRun(100, func() { s.Find(line) }); n != 0 {
		t.Errorf("a line without a hit costs %v allocations", n)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("not found", "found it", []byte("was NOT FOUND it"))
	f.Fuzz(func(t *testing.T, a, b string, line []byte) {
		s, err := Compile([]Signature{{ID: "a", Literal: a}, {ID: "b", Literal: b}})
		if err != nil {
			return
		}
		if got, want := ids(s.Find(line)), naive(s, line); !slices.Equal(got, want) {
			t.Errorf("Find(%q) of %q, %q = %q, want %q", line, a, b, got, want)
		}
	})
}

// BenchmarkFind scans lines of which one in ten thousand hits, for sixty literals.
func BenchmarkFind(b *testing.B) {
	words := []string{"connection", "refused", "ignition", "rendered", "certificate", "authority", "unauthorized", "timeout", "lease", "kubelet", "not found", "degraded"}
	var literals []string
	for i := range 60 {
		literals = append(literals, fmt.Sprintf("%s %s %d", words[i%len(words)], words[(i/5)%len(words)], i))
	}
	s := compile(b, literals...)
	r := rand.New(rand.NewPCG(1, 1))
	var lines [][]byte
	size := 0
	for i := range 20000 {
		line := fmt.Sprintf("Jan 02 10:00:%02d control1 kubelet[2100]: I0102 10:00:%02d.%06d 2100 reconciler.go:%d] \"operationExecutor.MountVolume started for %s\" pod=\"ns/%x\"",
			i%60, i%60, r.IntN(1e6), r.IntN(999), words[r.IntN(len(words))], r.Uint64())
		if i%10000 == 0 {
			line += literals[i%60]
		}
		lines = append(lines, []byte(line))
		size += len(line) + 1
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range lines {
			s.Find(l)
		}
	}
}
