// Package catalogpages makes the pages about the catalog, in Markdown: indexes by layer,
// symptom, message and command, the decision tree of a host that does not join, and a page for
// each fault and each remedy.
//
// Invariants:
//   - The same catalog gives the same bytes.
//   - Every fault, remedy and refused advice has an address of its own, which it keeps when the
//     entry moves to another layer.
package catalogpages

import (
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// All returns all pages, by their path below the directory of the catalog: "README.md",
// "faults/<id>.md". known are the facts that faults refer to.
func All(c *fault.Catalog, known []facts.Fact) map[string]string {
	b := newBook(c, known, true)
	pages := b.indexes()
	for _, f := range c.Faults {
		pages["faults/"+f.ID+".md"] = b.fault(f)
	}
	for _, r := range c.Remedies() {
		pages["remedies/"+r.ID+".md"] = b.remedy(r)
	}
	return pages
}

// Indexes returns the pages that are in the repository: All without those of single faults
// and remedies, which are named there and not linked.
func Indexes(c *fault.Catalog, known []facts.Fact) map[string]string {
	return newBook(c, known, false).indexes()
}

func (b *book) indexes() map[string]string {
	return map[string]string{
		"README.md":     b.readme(),
		"by-layer.md":   b.byLayer(),
		"by-symptom.md": b.bySymptom(),
		"by-message.md": b.byMessage(),
		"by-command.md": b.byCommand(),
		"join-path.md":  b.joinPath(),
		"confusable.md": b.confusable(),
		"refused.md":    b.refused(),
	}
}
