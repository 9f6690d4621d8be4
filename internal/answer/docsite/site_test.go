package docsite

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// whole is the site of the built-in catalog.
func whole(t *testing.T) []byte {
	t.Helper()
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Pages(c, all.All())
	if err != nil {
		t.Fatal(err)
	}
	return write(t, pages)
}

func write(t *testing.T, pages []Page) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, pages); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// elements parses a site as a browser does.
func elements(t *testing.T, site []byte) (list []*html.Node) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(site))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n)
		}
	}
	return list
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// TestWhole: every entry has its page, every link inside the site leads somewhere, ids are
// unique, and nothing is loaded.
func TestWhole(t *testing.T) {
	site := whole(t)
	if !bytes.Equal(site, whole(t)) {
		t.Error("two runs differ")
	}
	ids := map[string]bool{}
	list := elements(t, site)
	articles, scripts := 0, 0
	for _, n := range list {
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("the id %s is there twice", id)
			}
			ids[id] = true
		}
		switch n.Data {
		case "article":
			articles++
		case "script":
			scripts++
		}
	}
	for _, n := range list {
		if to, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[to] {
			t.Errorf("a link leads to #%s, which is not there", to)
		}
		for _, key := range []string{"src", "srcset", "style"} {
			if v := attribute(n, key); v != "" {
				t.Errorf("%s has %s=%q", n.Data, key, v)
			}
		}
		if n.Data == "link" || n.Data == "img" || n.Data == "iframe" || n.Data == "object" {
			t.Errorf("there is an element %s", n.Data)
		}
	}
	if articles < 800 || scripts != 1 {
		t.Errorf("%d pages, %d scripts", articles, scripts)
	}
	for _, id := range []string{"catalog", "catalog/faults/config-drift", "catalog/faults/config-drift:what-to-do", "catalog/refused:approve-all-csrs",
		"catalog/remedies/reapply-config", "catalog/by-message", "incidents/bootstrap-desync", "reading-the-answer"} {
		if !ids[id] {
			t.Errorf("there is no %s", id)
		}
	}
	if text := string(site); strings.Contains(text, "flowchart") || strings.Contains(text, "Generated from") {
		t.Error("there is a chart or a comment, which a browser shows as text")
	}
}

// TestHostile: what an entry has is text, and not HTML, a script or a link that runs one.
func TestHostile(t *testing.T) {
	const hostile = `<script>alert(1)</script> <img src=x onerror=alert(1)> "' [x](javascript:alert(1)) [y](data:text/html,x) &lt; <b>`
	site := write(t, []Page{
		{Path: "a.md", Group: `<i>"group`, Markdown: "# A <script>alert(2)</script> `</h1>`\n\n" + hostile + "\n\n<script>alert(3)</script>\n\n```sh\n</code></pre><script>alert(4)</script>\n```\n"},
		{Path: `b"><x.md`, Group: "b", Markdown: "# B\n\n| a |\n| --- |\n| " + strings.ReplaceAll(hostile, "|", `\|`) + " |\n\n[page](a.md#b) [file](x.yaml) [up](../y.yaml)\n\n## B\n\n## B\n"},
	})
	scripts := 0
	var hrefs, ids []string
	for _, n := range elements(t, site) {
		switch n.Data {
		case "script":
			scripts++
		case "img", "b", "i", "x":
			t.Errorf("there is an element %s", n.Data)
		case "article":
			if !slices.Contains([]string{"a", `b"><x`}, attribute(n, "id")) {
				t.Errorf("article %q", attribute(n, "id"))
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has %s", n.Data, a.Key)
			}
		}
		if href := attribute(n, "href"); href != "" {
			hrefs = append(hrefs, href)
		}
		if id := attribute(n, "id"); strings.Contains(id, ":") {
			ids = append(ids, id)
		}
	}
	if scripts != 1 {
		t.Errorf("%d scripts", scripts)
	}
	for _, href := range hrefs {
		if strings.HasPrefix(href, "javascript:") || strings.HasPrefix(href, "data:") {
			t.Errorf("there is a link to %s", href)
		}
	}
	for _, want := range []string{"#a:b", repository + "docs/x.yaml", repository + "y.yaml"} {
		if !slices.Contains(hrefs, want) {
			t.Errorf("links %q, want %s", hrefs, want)
		}
	}
	if !slices.Contains(ids, `b"><x:b-1`) {
		t.Errorf("ids of headings %q", ids)
	}
}

// TestRefused: what is no page is an error.
func TestRefused(t *testing.T) {
	if err := Write(&bytes.Buffer{}, nil); err == nil {
		t.Error("no pages are a site")
	}
	if err := Write(&bytes.Buffer{}, []Page{{Path: "a.md", Markdown: "text"}}); err == nil || !strings.Contains(err.Error(), "a.md") {
		t.Errorf("a page without a heading: %v", err)
	}
}
