package yamlin

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestAliases: what aliases stand for is bounded before it is made.
func TestAliases(t *testing.T) {
	const limit = 1 << 20
	many := func(first string) string {
		return "a: &a " + first + "\nb: [" + strings.Repeat("*a,", 1500) + "]\n"
	}
	long := `"` + strings.Repeat("x", 100<<10) + `"`
	var wide []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + many(long))) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, c := range map[string]struct {
		raw  string
		says string // "" where it can be read
	}{
		"no alias":                {"a: [1, 2]\n", ""},
		"short ones":              {many("x"), ""},
		"one long text":           {many(long), "aliases"},
		"as UTF-16":               {string(wide), "aliases"},
		"bytes":                   {many("!!binary " + strings.Repeat("QUFB", 25<<10)), "aliases"},
		"merged":                  {"a: &a {x: " + long + "}\nb:\n" + strings.Repeat("- <<: *a\n", 1500), "aliases"},
		"on several levels":       {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", "aliases"},
		"in itself":               {"a: &a [*a]\n", "alias"},
		"signs of other meanings": {"a: |\n  cmd 2>&1 && rm *x\n", ""},
		"no YAML":                 {"a: &b\n\tc: *b\n", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ToJSON([]byte(c.raw), limit)
			var v, strict struct {
				A any `json:"a"`
				B any `json:"b"`
				C any `json:"c"`
				D any `json:"d"`
				E any `json:"e"`
				F any `json:"f"`
			}
			for what, err := range map[string]error{"json": err, "v": Unmarshal([]byte(c.raw), &v, limit), "strict": UnmarshalStrict([]byte(c.raw), &strict, limit)} {
				if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v, want %q", what, err, c.says)
				}
			}
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 50<<20 {
				t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
			}
		})
	}
	if text, err := ToJSON([]byte("a: &x {b: 1}\nc: *x\n"), limit); err != nil || string(text) != `{"a":{"b":1},"c":{"b":1}}` {
		t.Errorf("%s, %v", text, err)
	}
}
