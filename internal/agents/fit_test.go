package agents

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// made is an answer with lists of many sizes.
func made(r *rand.Rand) Answer {
	doc := map[string]any{"apiVersion": "v1", "kind": "Diagnosis", "groups": map[string]any{"a": strings.Repeat("g", r.IntN(4000))}}
	for _, name := range []string{"coverage", "findings", "timeline", "hosts", "unexplained"} {
		var entries []any
		for i := range r.IntN(60) {
			entries = append(entries, map[string]any{"n": i, "text": strings.Repeat("x", r.IntN(900))})
		}
		doc[name] = entries
	}
	var cases []any
	for range r.IntN(3) {
		cases = append(cases, map[string]any{"fault": "f", "ruledOut": make([]int, r.IntN(2000))})
	}
	doc["roots"] = []any{map[string]any{"fault": "f<&>", "cases": cases}}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return Answer{strings.Repeat("a line of text\n", r.IntN(3000)), raw}
}

// TestBudget: no answer is larger than the budget, what is left out is named with its call, and the
// calls get every entry once.
func TestBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		f := &fake{answer: made(r)}
		o := options()
		o.Budget = MinBudget + r.IntN(40<<10)
		c := connect(t, o, f)
		text, doc, failed := call(t, c, "diagnose", nil)
		raw, err := json.Marshal(doc)
		if failed || err != nil || len(text)+len(raw) > o.Budget {
			t.Fatalf("%d: failed %t, %d + %d bytes of %d", i, failed, len(text), len(raw), o.Budget)
		}
		var whole map[string]any
		if err := json.Unmarshal(f.answer.Data, &whole); err != nil {
			t.Fatal(err)
		}
		left := map[string]bool{}
		list, _ := doc["leftOut"].([]any)
		for _, l := range list {
			l := l.(map[string]any)
			left[l["part"].(string)] = true
			if l["get"] == "" || !strings.Contains(text, l["get"].(string)) {
				t.Errorf("%d: %v is not in the text", i, l)
			}
		}
		for name, want := range whole {
			if fmt.Sprint(doc[name]) != fmt.Sprint(want) && !left[name] && !left[name+"[].cases[].ruledOut"] {
				t.Errorf("%d: %s is cut, and it is not said", i, name)
			}
		}
		collect(t, f, o, "findings", whole)
	}
}

// collect reads a part page by page.
func collect(t *testing.T, f *fake, o Options, part string, whole map[string]any) {
	t.Helper()
	want, _ := whole[part].([]any)
	var got []any
	c := connect(t, o, f)
	for len(got) < len(want) {
		_, doc, failed := call(t, c, "diagnose", map[string]any{"part": part, "from": len(got)})
		page, _ := doc[part].([]any)
		if failed || len(page) == 0 {
			t.Fatalf("from %d: failed %t, %v", len(got), failed, doc)
		}
		got = append(got, page...)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestLargeEntry: an entry that alone is too large is named with its size, and does not hide those
// behind it.
func TestLargeEntry(t *testing.T) {
	raw := fmt.Sprintf(`{"hosts": [{"name": %q}, {"name": "b"}]}`, strings.Repeat("x", MinBudget))
	o := options()
	o.Budget = MinBudget
	c := connect(t, o, &fake{answer: Answer{"t\n", []byte(raw)}})
	text, doc, _ := call(t, c, "diagnose", map[string]any{"part": "hosts"})
	if len(doc["hosts"].([]any)) != 0 || !strings.Contains(text, "entry 0 alone has") || !strings.Contains(text, "from=1") {
		t.Errorf("%s", text)
	}
	if _, doc, _ = call(t, c, "diagnose", map[string]any{"part": "hosts", "from": 1}); len(doc["hosts"].([]any)) != 1 {
		t.Errorf("%v", doc)
	}
}

// FuzzArguments: whatever a client sends is arguments within their bounds, or an error.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `{}`, `null`, `[]`, `{"archive":"x","from":1}`, `{"part":"roots"}`, `{"from":1e9}`, `{"archive":null}`, `{"a":{}}{}`} {
		f.Add([]byte(seed))
	}
	params := tools(true)[1].params
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := parse(raw, params)
		if err == nil && (len(args.text("archive")) > 4*4096 || args.number("from") < 0 || args.number("from") > 1<<20) {
			t.Errorf("%v", args)
		}
	})
}
