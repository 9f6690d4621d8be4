package docsite

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/rollcall-project/rollcall/internal/answer/catalogpages"
)

// repository is where a link leads to a file that is no page.
const repository = "https://github.com/rollcall-project/rollcall/blob/main/"

// renderer makes HTML of Markdown as GitHub shows it. Raw HTML is left out.
type renderer struct {
	markdown goldmark.Markdown
	known    map[string]bool // paths of pages
}

func newRenderer(pages []Page) *renderer {
	r := &renderer{markdown: goldmark.New(goldmark.WithExtensions(extension.Table)), known: map[string]bool{}}
	for _, p := range pages {
		r.known[p.Path] = true
	}
	return r
}

// idOf is the id of a page in the site: its path without .md; README is its directory.
func idOf(p string) string {
	return strings.TrimSuffix(strings.TrimSuffix(p, ".md"), "/README")
}

var inName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// cssName writes an id as a selector of CSS has it.
func cssName(id string) string { return inName.ReplaceAllString(id, `\$0`) }

// article makes the HTML of a page. Ids of headings have the id of the page before them.
func (r *renderer) article(p Page) (article, error) {
	source := []byte(p.Markdown)
	doc := r.markdown.Parser().Parse(text.NewReader(source))
	a := article{id: idOf(p.Path), group: p.Group}
	ids := map[string]int{}
	var dropped []ast.Node
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			words := textOf(n, source)
			if a.title == "" {
				a.title = words
			}
			id := catalogpages.Slug(words)
			if ids[id]++; ids[id] > 1 {
				id += fmt.Sprintf("-%d", ids[id]-1)
			}
			n.SetAttributeString("id", []byte(a.id+":"+id))
		case *ast.Link:
			n.Destination = []byte(r.target(p.Path, string(n.Destination)))
		case *ast.HTMLBlock:
			dropped = append(dropped, n)
		case *ast.FencedCodeBlock:
			if string(n.Language(source)) == "mermaid" { // what a chart shows is in the page, too
				dropped = append(dropped, n)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return a, err
	}
	for _, n := range dropped {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	if a.title == "" {
		return a, fmt.Errorf("it has no heading")
	}
	var out bytes.Buffer
	if err := r.markdown.Renderer().Render(&out, source, doc); err != nil {
		return a, err
	}
	// What is text is escaped: only a table of the renderer begins so.
	a.body = strings.NewReplacer("<table>", `<div class="scroll" tabindex="0" role="region" aria-label="table"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(out.String())
	return a, nil
}

// target is where a link of a page leads in the site.
func (r *renderer) target(from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	file, anchor, _ := strings.Cut(to, "#")
	page := from
	if file != "" {
		page = path.Join(path.Dir(from), file)
	}
	if !r.known[page] {
		return repository + path.Join("docs", page)
	}
	if anchor != "" {
		anchor = ":" + anchor
	}
	return "#" + idOf(page) + anchor
}

// textOf is the text of a node and of those below it.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
