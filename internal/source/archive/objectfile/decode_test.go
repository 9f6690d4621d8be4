package objectfile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestAnswer: IDs of 64 bits stay what they are, and what cannot be read is an error.
func TestAnswer(t *testing.T) {
	v, err := Answer([]byte(`{"a":[12438974592719204410,961661703505595398,1.5],"b":true}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(v)
	if want := `{"a":["12438974592719204410",961661703505595398,1.5],"b":true}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, raw := range map[string]string{
		"empty": " \n", "cut off": `{"members":[{"ID":1`, "text": "Error: context deadline exceeded", "deep": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"no number": "1e999",
	} {
		if v, err := Answer([]byte(raw)); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"members":[{"ID":12438974592719204410,"name":"m0"}]}`))
	f.Add([]byte(`[{"endpoint":"https://192.0.2.10:2379","health":true}]`))
	f.Add([]byte(`-1e400`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := Answer(raw)
		if err != nil {
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

func TestDecodeIsBounded(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		p := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	for name, raw := range map[string]string{
		"aliases":    bomb,
		"one alias":  `a: &a "` + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 1500) + "]\n",
		"deep flow":  "a: " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000),
		"open flow":  strings.Repeat("{a: ", 100000),
		"deep block": deepBlock(1000),
		"deep JSON":  strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		"large":      "a: " + strings.Repeat("x", MaxObject),
		"a list":     "- a\n",
		"a scalar":   "x\n",
		"merge loop": "a: &a\n  <<: *a\n",
	} {
		if got, err := decode([]byte(raw)); err == nil {
			t.Errorf("%s: decodes to %.80v", name, got)
		}
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// FuzzDecode holds that foreign YAML neither hangs nor crashes the decoder.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a: &x {b: [1, 2.5, ~]}\nc: *x\n"))
	f.Add([]byte(`{"a":{"b":[1,null]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decode(raw)
		if (v == nil) == (err == nil) {
			t.Errorf("decode(%q) = %v, %v", raw, v, err)
		}
		scanHeader(raw)
	})
}

// TestBudget: the objects of one answer are bounded together, however small each is.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	for name, c := range map[string]struct {
		raw  string
		want int // objects that fit into 2000 bytes
	}{
		"texts":    {`"` + strings.Repeat("x", 900) + `"`, 2},
		"no texts": {"[0,0,0,0,0,0,0]", 4},
		"few":      {"{}", 10},
	} {
		budget, got := Budget{limit: 2000}, 0
		for range 10 {
			if _, err := budget.Decode([]byte(`{"a": ` + c.raw + "}")); err == nil {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	var items jsonItems
	if err := json.Unmarshal([]byte("["+strings.Repeat("0,", maxItems+3)+"0]"), &items); err != nil || len(items.list) != maxItems || !items.more {
		t.Errorf("%d items, %v", len(items.list), err)
	}
}
