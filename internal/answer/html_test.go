package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

func TestHTMLGolden(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			var out, again bytes.Buffer
			if err := HTML(&out, s.make(), options(page.Style{})); err != nil {
				t.Fatal(err)
			}
			golden(t, "html-"+s.name+".html", out.Bytes())
			if err := HTML(&again, s.make(), options(page.Style{Width: 40, ASCII: true, Color: true})); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), again.Bytes()) {
				t.Error("the page is not the same twice, or depends on the terminal")
			}
			checkPage(t, out.String())
		})
	}
}

// hostile is what an attacker would write where text is expected: it breaks out of
// text, of attributes in either quote, of style, of titles and of tables.
const hostile = "x\"'><script>alert(1)</script></title></style></textarea></svg></table>" +
	"<img src=https://evil.example/x onerror=alert(2)>javascript:alert(3) {{.}} &lt;b&gt; \x1b[2J\u202e\x00\r\n\u2028--><base href=//evil.example>]]>"

// poison returns the diagnosis with the hostile text in every string, in words of
// closed lists as well. The ends stay different, so that keys do.
func poison(t *testing.T, d *diagnosis.Diagnosis, keep ...string) *diagnosis.Diagnosis {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var visit func(any, string) any
	visit = func(v any, name string) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = visit(v[k], k)
			}
		case []any:
			for i := range v {
				v[i] = visit(v[i], name)
			}
		case string:
			times := []string{"now", "since", "until", "at", "time"}
			if slices.Contains(times, name) || slices.Contains(keep, name) {
				return v
			}
			seen++
			return hostile + v
		}
		return v
	}
	if raw, err = json.Marshal(visit(tree, "")); err != nil {
		t.Fatal(err)
	}
	bad := &diagnosis.Diagnosis{}
	if err := json.Unmarshal(raw, bad); err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("nothing was poisoned")
	}
	return bad
}

func hostileOptions() Options {
	o := options(page.Style{})
	o.Source, o.Command = hostile, hostile
	o.Subject = &fault.Subject{Kind: fault.Host, Name: hostile}
	o.Refused = map[string]Remedy{hostile + "patch-annotations-blindly": {Title: hostile, Happens: hostile, When: hostile, Instead: hostile}}
	o.Plan = func(diagnosis.Case, string, bool) string { return hostile }
	o.Catalog = &fault.Catalog{}
	return o
}

func TestHTMLEscapesForeignText(t *testing.T) {
	// words that choose what is drawn are kept in a second round, so that every part is
	for _, keep := range [][]string{nil, {"state", "outcome", "stage", "kind", "class", "severity", "strength"}} {
		for _, s := range samples {
			t.Run(fmt.Sprintf("%s/%d", s.name, len(keep)), func(t *testing.T) {
				var out bytes.Buffer
				if err := HTML(&out, poison(t, s.make(), keep...), hostileOptions()); err != nil {
					t.Fatal(err)
				}
				checkPage(t, out.String())
				for _, r := range out.String() {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Fatalf("%U reaches the page", r)
					}
				}
			})
		}
	}
}

var (
	allowedTags = strings.Fields("html head meta title style body header p h1 h2 h3 span small dl div dt dd ul ol li b br nav a main section " +
		"code pre details summary figure figcaption svg g rect text path table thead tbody tr th td time footer")
	allowedAttributes = strings.Fields("lang charset http-equiv content name class id href title scope role aria-hidden aria-label " +
		"xmlns width height viewbox viewBox x y rx d tabindex")
)

// checkPage parses the page as a browser does and checks that it holds only what the
// template writes, and nothing that reaches for the network.
func checkPage(t *testing.T, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	headings, ids := 0, map[string]bool{}
	var links []string
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(allowedTags, n.Data) {
			t.Fatalf("element <%s>", n.Data)
		}
		if n.Data == "h1" {
			headings++
		}
		if n.Data == "style" && (strings.Contains(n.FirstChild.Data, "url(") || strings.Contains(n.FirstChild.Data, "@import")) {
			t.Error("the style reaches for something")
		}
		for _, a := range n.Attr {
			if !slices.Contains(allowedAttributes, a.Key) {
				t.Fatalf("attribute %s=%q of <%s>", a.Key, a.Val, n.Data)
			}
			switch a.Key {
			case "id":
				if ids[a.Val] {
					t.Errorf("id %q twice", a.Val)
				}
				ids[a.Val] = true
			case "href":
				links = append(links, a.Val)
			}
		}
	}
	for _, l := range links {
		if !strings.HasPrefix(l, "#") || !ids[l[1:]] {
			t.Errorf("the link %q leads nowhere on this page", l)
		}
	}
	if headings != 1 {
		t.Errorf("%d headings of the first level", headings)
	}
	if !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`) {
		t.Error("no content security policy")
	}
}

// TestHTMLHasEverything looks for what the page promises.
func TestHTMLHasEverything(t *testing.T) {
	var out bytes.Buffer
	o := options(page.Style{})
	o.Refused["patch-annotations-blindly"] = Remedy{Title: "patch by hand", Happens: "the daemon reboots", Instead: "render it again", When: "the configs are the same"}
	if err := HTML(&out, answertest.DesyncProven(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"BROKEN, CAUSE KNOWN", "proven", "DEADLOCK: each blocks the next", "BREAKS IT: pool-render-missing", "current.log:4711",
		"it asks for /config/master", "lets the third master boot", "breaks the deadlock", "the daemon reboots", "render it again",
		"the configs are the same", "not collected: an archive holds no probes", "--console control2=FILE", "ignition-fetched: failed, Ignition asks",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(out.String(), `<td class="cell `); n != 3*len(fault.Stages()) {
		t.Errorf("%d cells of stages for 3 hosts", n)
	}
}

// TestPictureStaysSmall draws a cause that leads to more than fits.
func TestGraphStaysSmall(t *testing.T) {
	d := answertest.DesyncProven()
	r := d.Roots[0]
	r.Deadlock = 0
	first := &r.Cases[0]
	last := first.Key
	for i := range 100 {
		k := answertest.Key(fmt.Sprintf("link-%d", i), answertest.Host("h"))
		d.Edges = append(d.Edges, diagnosis.EdgeSeen{Cause: last, Effect: k, Strength: fault.Certain})
		first.Explains = append(first.Explains, k)
		last = k
	}
	p := graphOf(d, r)
	if len(p.boxes) != maxBoxes {
		t.Errorf("%d boxes, want %d", len(p.boxes), maxBoxes)
	}
	faults := 0
	for _, b := range p.boxes[1:] {
		faults += len(b.links) + b.more
	}
	distinct := map[string]bool{}
	for _, k := range first.Explains {
		distinct[k.Fault] = true
	}
	if faults != len(distinct) {
		t.Errorf("%d faults drawn or counted, want %d", faults, len(distinct))
	}
}

func TestGraphGroupsEnds(t *testing.T) {
	d := answertest.TwoRoots()
	r := d.Roots[0]
	for _, id := range []string{"a", "b", "c"} {
		k := answertest.Key(id, answertest.Host("h"))
		r.Cases[0].Explains = append(r.Cases[0].Explains, k)
		d.Edges = append(d.Edges, diagnosis.EdgeSeen{Cause: r.Cases[0].Key, Effect: k, Strength: fault.Certain})
	}
	p := graphOf(d, r)
	if len(p.boxes) != 3 || len(p.boxes[1].links[0].keys) != 12 || len(p.boxes[2].links) != 3 {
		t.Errorf("want the cause, 12 requests in one box and three ends in another: %+v", p.boxes)
	}
}

func TestBreakText(t *testing.T) {
	for _, line := range breakText(strings.Repeat("rendered-master-0aa1f5c2d3e4b5a697887766554433aa/ ", 3)+strings.Repeat("長", 80), boxColumns, 100) {
		if columnsOf([]rune(line)) > boxColumns {
			t.Errorf("%q is too long", line)
		}
	}
	if got := breakText("one two three four", 9, 2); !slices.Equal(got, []string{"one two", "three…"}) {
		t.Errorf("%q", got)
	}
}

// TestMarkup: arguments are escaped, and a piece with another number of places is an
// error.
func TestMarkup(t *testing.T) {
	var m markup
	m.put(`<p title="{}">{}</p>`, `"><b>`, "a & {} 'b'")
	if got, want := m.b.String(), `<p title="&#34;&gt;&lt;b&gt;">a &amp; {} &#39;b&#39;</p>`; got != want || m.err != nil {
		t.Errorf("got %s, %v, want %s", got, m.err, want)
	}
	for _, args := range [][]string{{}, {"a"}, {"a", "b", "c"}} {
		var m markup
		if m.put(`<p>{}{}</p>`, args...); m.err == nil {
			t.Errorf("%d arguments for two places: %s", len(args), m.b.String())
		}
	}
}
