package browse

import "testing"

func TestPath(t *testing.T) {
	content := map[string]any{
		"a": map[string]any{"b.c/d": "dotted", "n": int64(3), "ok": true},
		"list": []any{
			map[string]any{"type": "X", "v": "1"}, map[string]any{"type": "Ready", "v": "2"}, map[string]any{"type": "Ready", "v": "3"},
		},
	}
	for _, c := range []struct{ path, want string }{
		{".a.n", "3"},
		{".a.ok", "true"},
		{"{.a.n}", "3"},
		{`.a.b\.c/d`, "dotted"},
		{`.a['b\.c/d']`, "dotted"},
		{`.list[?(@.type=="Ready")].v`, "2"},
		{`.list[?(@.type!="X")].v`, "2"},
		{`.list[?(@.type=="No")].v`, ""},
		{`.list[?(@.other!="X")].v`, ""}, // a filter finds what has the field
		{".list[0].v", "1"},
		{".list[-1].v", "3"},
		{".list[*].v", "1"},
		{".list[7].v", ""},
		{".a.none.deeper", ""},
		{".a", `{"b.c/d":"dotted","n":3,"ok":true}`},
	} {
		p, err := parsePath(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		v, _ := p.first(content)
		if got := scalar(v); got != c.want {
			t.Errorf("%s = %q, want %q", c.path, got, c.want)
		}
	}
	for path, want := range map[string]string{
		".a.n": "a.n", "{.a.n}": "a.n", `.a.b\.c/d`: "a", ".list[0].v": "list", "['a'].n": "a.n", "..n": "", "[*]": "", "$.a": "a",
	} {
		if p, err := parsePath(path); err != nil || p.fields != want {
			t.Errorf("%s begins with the fields %q, want %q: %v", path, p.fields, want, err)
		}
	}
	for _, bad := range []string{"", "a", ".a[", ".a[?(@.x==1", ".a[x]", ".a} and {.b", ".a}{.b"} {
		if _, err := parsePath(bad); err == nil {
			t.Errorf("%q is read as a path", bad)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{".a.b", `.a[?(@.b=="c")].d`, `.a['b\.c'][0][*]`, "{.a}"} {
		f.Add(s)
	}
	content := map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": "d"}, "x", nil}}}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err == nil {
			v, _ := p.first(content)
			scalar(v)
		}
	})
}
