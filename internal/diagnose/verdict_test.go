package diagnose

import "testing"

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"b", "a"}, "b, a"},
		{[]string{"b", "a", "b", "b"}, "b (3 times), a"},
	} {
		if got := counted(c.names); got != c.want {
			t.Errorf("counted(%v) = %q, want %q", c.names, got, c.want)
		}
	}
}
