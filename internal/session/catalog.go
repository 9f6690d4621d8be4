package session

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
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// CatalogVariable is the environment variable with directories of faults, separated as
// those of PATH.
const CatalogVariable = "ROLLCALL_CATALOG"

// LoadCatalog loads the built-in entries but for the messages, and the directories of
// $ROLLCALL_CATALOG and --catalog, which are checked as `lint` does.
func (ses *Session) LoadCatalog() (*fault.Catalog, error) {
	c, _, err := ses.loadOnce()
	return c, err
}

// WholeCatalog is LoadCatalog with the messages.
func (ses *Session) WholeCatalog() (*fault.Catalog, error) {
	c, _, err := ses.loadWhole()
	return c, err
}

func (ses *Session) load(read func(...fs.FS) (*fault.Catalog, error)) (*fault.Catalog, error) {
	dirs, err := ses.CatalogDirs(nil)
	if err != nil {
		return nil, err
	}
	c, problems, err := ses.ReadCatalog(read, dirs)
	if err != nil {
		return nil, err
	}
	return c, problems.Err()
}

// ReadCatalog loads the built-in entries, which are root 0, and directories. Their mistakes
// are the problems; what is sound is in the catalog all the same.
func (ses *Session) ReadCatalog(read func(...fs.FS) (*fault.Catalog, error), dirs []string) (*fault.Catalog, fault.Problems, error) {
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
	return c, slices.Concat(problems, compiler.Check(c), CheckActions(c, ses.Remedies()), CheckPages(c, ses.Checks()),
		c.CheckLeaves(logline.Leaves())).Sorted(), nil
}

// CheckPages reports pages of checks that preflight does not have, and checks without a page.
func CheckPages(c *fault.Catalog, known []string) fault.Problems {
	var list fault.Problems
	for _, f := range c.Faults {
		if fault.Preflight(f) && !slices.Contains(known, f.ID) {
			list = append(list, c.ProblemAt(f, fault.Where{"when"}, "is missing, and preflight has no check of this id",
				"write the expression that is true when the fault is present"))
		}
	}
	for _, id := range known {
		if f, ok := c.Fault(id); !ok || !fault.Preflight(f) {
			list = append(list, &fault.Problem{File: "catalog", Message: fmt.Sprintf("the check %s of preflight has no page", id)})
		}
	}
	return list
}

// CheckActions reports remedies that `fix` is to carry out and cannot, and actions without a
// remedy.
func CheckActions(c *fault.Catalog, known []string) fault.Problems {
	var list fault.Problems
	for _, r := range c.Remedies() {
		if r.Fix && !slices.Contains(known, r.ID) {
			list = append(list, c.ProblemAt(r, fault.Where{"fix"}, "there is no action of this id", "leave fix out: only the program's own actions have it"))
		}
	}
	for _, id := range known {
		if r, ok := c.Remedy(id); !ok || !r.Fix {
			list = append(list, &fault.Problem{File: "catalog", Message: fmt.Sprintf("the action %s has no remedy with fix: true", id)})
		}
	}
	return list
}

// CatalogDirs returns the directories of $ROLLCALL_CATALOG, of --catalog, and those that a
// command names, each once: the last name of one counts.
func (ses *Session) CatalogDirs(named []string) ([]string, error) {
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
	for _, dir := range filepath.SplitList(ses.Getenv(CatalogVariable)) {
		if dir == "" {
			continue
		}
		if err := add(dir, "$"+CatalogVariable+" names ", "; correct the variable, or unset it"); err != nil {
			return nil, err
		}
	}
	for _, dir := range ses.Catalogs {
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
