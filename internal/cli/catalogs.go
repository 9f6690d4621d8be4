package cli

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// rootsOf are the indexes of directories among the roots of readCatalog.
func rootsOf(dirs, named []string) []int {
	var list []int
	for i, dir := range dirs {
		if slices.Contains(named, dir) {
			list = append(list, i+1)
		}
	}
	return list
}

// count is how many entries of each kind there are.
type count struct {
	Faults   int `json:"faults"`
	Remedies int `json:"remedies"`
	Refused  int `json:"refused"`
	Messages int `json:"messages"` // files of them
}

func (n count) sum() int { return n.Faults + n.Remedies + n.Refused + n.Messages }

// countOf counts the entries of roots.
func countOf(c *fault.Catalog, roots ...int) (n count) {
	in := func(entry any) int {
		if _, root := c.File(entry); slices.Contains(roots, root) {
			return 1
		}
		return 0
	}
	for _, f := range c.Faults {
		n.Faults += in(f)
	}
	for _, r := range c.Remedies() {
		n.Remedies += in(r)
	}
	for _, r := range c.Refused {
		n.Refused += in(r)
	}
	for _, m := range c.Messages {
		n.Messages += in(m)
	}
	return n
}
