package docsite

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/rollcall-project/rollcall/docs"
	"github.com/rollcall-project/rollcall/internal/answer/catalogpages"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Pages returns all pages there are: those of a catalog, and the hand-written ones. The first
// page of the catalog is the first. known are the facts that faults refer to.
func Pages(c *fault.Catalog, known []facts.Fact) ([]Page, error) {
	const first = "README.md"
	made := catalogpages.All(c, known)
	pages := []Page{{Path: "catalog/" + first, Group: catalogGroup(first), Markdown: made[first]}}
	names := slices.Sorted(maps.Keys(made))
	for _, indexes := range []bool{true, false} { // before the pages of single entries
		for _, name := range names {
			if name != first && (path.Dir(name) == ".") == indexes {
				pages = append(pages, Page{Path: "catalog/" + name, Group: catalogGroup(name), Markdown: made[name]})
			}
		}
	}
	err := fs.WalkDir(docs.Pages, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := docs.Pages.ReadFile(name)
		pages = append(pages, Page{Path: name, Group: guideGroup(name), Markdown: string(text)})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the guides: %w", err)
	}
	return pages, nil
}

func catalogGroup(name string) string {
	switch path.Dir(name) {
	case "faults":
		return "Faults"
	case "remedies":
		return "Remedies"
	}
	return "Catalog"
}

func guideGroup(name string) string {
	if path.Dir(name) == "incidents" {
		return "Incidents"
	}
	return "Guides"
}
