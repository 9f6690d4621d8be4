package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// catalogVariable is the environment variable with directories of faults, separated as
// those of PATH.
const catalogVariable = "ROLLCALL_CATALOG"

// loadCatalog loads the built-in entries but for the messages, and the directories of
// $ROLLCALL_CATALOG and --catalog, which are checked as `lint` does.
func (a *app) loadCatalog() (*fault.Catalog, error) { return a.load(fault.LoadChecks) }

// wholeCatalog is loadCatalog with the messages.
func (a *app) wholeCatalog() (*fault.Catalog, error) { return a.load(fault.Load) }

func (a *app) load(read func(...fs.FS) (*fault.Catalog, error)) (*fault.Catalog, error) {
	dirs, err := a.catalogDirs(nil)
	if err != nil {
		return nil, err
	}
	c, problems, err := readCatalog(read, dirs)
	if err != nil {
		return nil, err
	}
	return c, problems.Err()
}

// readCatalog loads the built-in entries, which are root 0, and directories. Their mistakes
// are the problems; what is sound is in the catalog all the same.
func readCatalog(read func(...fs.FS) (*fault.Catalog, error), dirs []string) (*fault.Catalog, fault.Problems, error) {
	roots := []fs.FS{fault.Named("built-in catalog", catalog.FS)}
	for _, dir := range dirs {
		roots = append(roots, fault.Named(dir, os.DirFS(dir)))
	}
	c, err := read(roots...)
	problems, other := fault.ProblemsOf(err)
	if other != nil {
		return nil, nil, other
	}
	if len(dirs) == 0 {
		return c, problems, nil
	}
	compiler, err := fault.NewCompiler(facts.Types(all.All()))
	if err != nil {
		return nil, nil, fmt.Errorf("make the compiler of expressions: %w", err)
	}
	actions, other := fault.ProblemsOf(c.CheckActions(repair.RemedyIDs()))
	if other != nil {
		return nil, nil, other
	}
	return c, slices.Concat(problems, compiler.Check(c), actions).Sorted(), nil
}

// catalogDirs returns the directories of $ROLLCALL_CATALOG, of --catalog, and those that a
// command names, each once: the last name of one counts.
func (a *app) catalogDirs(named []string) ([]string, error) {
	var dirs []string
	var infos []fs.FileInfo
	add := func(dir, by, hint string) error {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			return fmt.Errorf("%s%s: it is not a readable directory%s", by, dir, hint)
		}
		if i := slices.IndexFunc(infos, func(have fs.FileInfo) bool { return os.SameFile(have, info) }); i >= 0 {
			dirs[i] = dir
			return nil
		}
		dirs, infos = append(dirs, dir), append(infos, info)
		return nil
	}
	for _, dir := range filepath.SplitList(a.io.Getenv(catalogVariable)) {
		if dir == "" {
			continue
		}
		if err := add(dir, "$"+catalogVariable+" names ", "; correct the variable, or unset it"); err != nil {
			return nil, err
		}
	}
	for _, dir := range a.source.catalogs {
		if err := add(dir, "--catalog ", ""); err != nil {
			return nil, err
		}
	}
	for _, dir := range named {
		if err := add(dir, "", ""); err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

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
