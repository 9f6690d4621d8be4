package answer

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/page"
)

// TestList: a group has a heading and a line for each entry; a long title goes on below it.
func TestList(t *testing.T) {
	rows := []Row{
		{Group: "api", ID: "lb-dead", Title: "the load balancer accepts connections and forwards them to no server that answers"},
		{Group: "api", ID: "name", Title: "no address"},
		{Group: "etcd", ID: "no-quorum-of-members", Title: "no quorum"},
	}
	for _, c := range []struct {
		about string
		o     Options
		want  string
	}{
		{"a terminal", Options{Style: page.Style{Width: 60}}, "api (2)\n" +
			"lb-dead  the load balancer accepts connections and forwards\n         them to no server that answers\nname     no address\n\netcd (1)\nno-quorum-of-members  no quorum\n"},
		{"a pipe, no headings", Options{Style: page.Style{Width: page.NoWrap}, NoHeaders: true}, "lb-dead  " + rows[0].Title + "\nname     no address\nno-quorum-of-members  no quorum\n"},
	} {
		var b strings.Builder
		if err := List(&b, rows, c.o); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.about, b.String(), c.want)
		}
	}
}
