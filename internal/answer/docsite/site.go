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
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
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
	layout string

	siteTemplate = template.Must(template.New("site").Parse(layout))
)

// Title is the title of the site.
const Title = "Rollcall documentation"

// fewPages is how many pages a group may have and still be open at first.
const fewPages = 60

// group is pages under one heading.
type group struct {
	Name  string
	Open  bool
	Pages []article
}

// article is a page in HTML.
type article struct {
	ID, Group, Title string
	Href             template.URL  // as a query a template would escape its slashes
	Body             template.HTML // made by a renderer that escapes
}

// Write writes the site. The first page is shown first; groups are in the order of their first
// pages.
func Write(w io.Writer, pages []Page) error {
	if len(pages) == 0 {
		return errors.New("make the site: there are no pages")
	}
	r := newRenderer(pages)
	var groups []*group
	byName := map[string]*group{}
	for _, p := range pages {
		a, err := r.article(p)
		if err != nil {
			return fmt.Errorf("make the page %s: %w", p.Path, err)
		}
		g := byName[p.Group]
		if g == nil {
			g = &group{Name: p.Group}
			byName[p.Group] = g
			groups = append(groups, g)
		}
		g.Pages = append(g.Pages, a)
	}
	for _, g := range groups {
		g.Open = len(g.Pages) <= fewPages
	}
	sum := sha256.Sum256([]byte(script))
	var out bytes.Buffer
	err := siteTemplate.Execute(&out, map[string]any{
		"Title": Title, "CSS": template.CSS(css), "Script": template.JS(script), "ScriptSum": base64.StdEncoding.EncodeToString(sum[:]),
		"Groups": groups, "First": template.CSS(cssName(idOf(pages[0].Path))),
	})
	if err != nil {
		return fmt.Errorf("make the site: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write the site: %w", err)
	}
	return nil
}
