// Package docsite makes one HTML page of many Markdown pages, with search.
//
// Invariants:
//   - The page loads nothing: it works from a file and without a network, and its policy
//     forbids every script but its own.
//   - HTML and unsafe links in the Markdown have no effect.
//   - Without JavaScript all pages can be read and followed; only search is missing.
//   - The same pages give the same bytes.
package docsite

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
)

// Page is one page in Markdown.
type Page struct {
	Path     string // where it is among the others: "repair.md", "catalog/faults/x.md"
	Group    string // the heading that it is listed under
	Markdown string // begins with a heading of level 1
}

var (
	//go:embed site.css
	css string
	//go:embed site.js
	script string
	//go:embed site.html
	layout string // with {places} for what is put into it
)

// Title is the title of the site.
const Title = "Rollcall documentation"

// fewPages is how many pages a group may have and still be open at first.
const fewPages = 60

// article is a page in HTML.
type article struct {
	id, group, title string // text
	body             string // HTML of a renderer that escapes
}

// href is the address of a page in the site.
func (a article) href() string { return (&url.URL{Fragment: a.id}).String() }

// Write writes the site. The first page is shown first; groups are in the order of their first
// pages.
func Write(w io.Writer, pages []Page) error {
	if len(pages) == 0 {
		return errors.New("make the site: there are no pages")
	}
	r := newRenderer(pages)
	var articles strings.Builder
	var names []string
	groups := map[string][]article{}
	for _, p := range pages {
		a, err := r.article(p)
		if err != nil {
			return fmt.Errorf("make the page %s: %w", p.Path, err)
		}
		if groups[a.group] == nil {
			names = append(names, a.group)
		}
		groups[a.group] = append(groups[a.group], a)
		fmt.Fprintf(&articles, "<article id=\"%s\" data-group=\"%s\" tabindex=\"-1\">\n%s</article>\n", html.EscapeString(a.id),
			html.EscapeString(a.group), a.body)
	}
	var lists strings.Builder
	for _, name := range names {
		list(&lists, name, groups[name])
	}
	sum := sha256.Sum256([]byte(script))
	page := strings.NewReplacer("{title}", html.EscapeString(Title), "{css}", css, "{first}", cssName(idOf(pages[0].Path)), "{groups}", lists.String(),
		"{articles}", articles.String(), "{script}", script, "{sum}", base64.StdEncoding.EncodeToString(sum[:])).Replace(layout)
	if _, err := io.WriteString(w, page); err != nil {
		return fmt.Errorf("write the site: %w", err)
	}
	return nil
}

// list writes the links to the pages of a group.
func list(b *strings.Builder, name string, pages []article) {
	open := ""
	if len(pages) <= fewPages {
		open = " open"
	}
	fmt.Fprintf(b, "<details%s>\n<summary>%s <small>%d</small></summary>\n<ul>\n", open, html.EscapeString(name), len(pages))
	for _, p := range pages {
		fmt.Fprintf(b, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(p.href()), html.EscapeString(p.title))
	}
	b.WriteString("</ul>\n</details>\n")
}
