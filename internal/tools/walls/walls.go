// Package walls holds the layout of the house: which room may import which. It has no code of
// the program; its test reads the import declarations of every file below internal and cmd.
//
// Invariants:
//   - The ground imports nothing of ours but the ground: the names of the product, the search for
//     literals, the removal of secrets, panics.
//   - The kernel imports the kernel and the ground, nothing else of ours.
//   - What reads pasted text imports the kernel and the ground. No fact and no judgement about
//     hosts imports it.
//   - What lays text out imports nothing of ours, and an answer nothing that wings share.
//   - No wing imports another one. An exception would be in a list with its reason; one that
//     is no longer needed fails the test. The list is empty.
//   - Only the command line, the programs and the tools import wings.
//   - Only the command line and the commands of the wings import cobra.
package walls

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path of the module, with a slash.
const module = "github.com/rollcall-project/rollcall/"

// wings are the products. Who maintains one reads it, the kernel and what both stand on.
var wings = []string{"agents", "check", "fleet", "preflight", "repair", "serve", "update", "watch", "workers"}

// shared are the rooms below the wings of which two wings have need. They print what is theirs.
var shared = []string{"csr", "after", "follow", "baseline", "service", "smoke"}

// ground are the rooms below the kernel: they know neither evidence nor faults.
var ground = []string{"openshift", "scan", "backlog", "sanitize", "crash"}

// readText are the rooms that may import what reads pasted text; the wings may, too.
var readText = []string{"answer", "session", "source", "cli", "tools"}

// exception is an import that a wall forbids, and why it is there.
type exception struct {
	from, to string // packages below internal; a package stands for itself alone
	why      string
}

// exceptions are empty, and stay so: what two wings need stands below both, as csr, after, follow
// and baseline do.
var exceptions []exception

// mayImportWings are the rooms that put the wings together: the programs and the tools.
var mayImportWings = []string{"cli", "hostcli", "tools"}

// mayImportCobra are the packages with commands; "*" stands for one element.
var mayImportCobra = []string{"cli", "cli/cmdutil", "*/command", "tools/*"}

// Import is one import of ours, or of cobra, in a file that is no test.
type Import struct {
	From, To string // packages below internal, "cobra", "errgroup", or a program as cmd/NAME
	File     string
}

// imports reads the imports of the tree at root.
func imports(root string) ([]Import, error) {
	var list []Import
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if d.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
			if err != nil {
				return fmt.Errorf("read the imports of %s: %w", p, err)
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			from := strings.TrimPrefix(path.Dir(rel), "internal/")
			for _, spec := range file.Imports {
				to, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return fmt.Errorf("read the imports of %s: %w", p, err)
				}
				switch {
				case to == "github.com/spf13/cobra":
					list = append(list, Import{from, "cobra", rel})
				case to == "golang.org/x/sync/errgroup":
					list = append(list, Import{from, "errgroup", rel})
				case strings.HasPrefix(to, module+"internal/"):
					list = append(list, Import{from, strings.TrimPrefix(to, module+"internal/"), rel})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// room is the first element of a package's path.
func room(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// broken returns a line for each import that crosses a wall without an exception, and for each
// exception that is no longer needed.
func broken(list []Import, exceptions []exception) []string {
	var lines []string
	used := make([]bool, len(exceptions))
	for _, i := range list {
		why := crossed(i)
		if why == "" {
			continue
		}
		at := slices.IndexFunc(exceptions, func(e exception) bool { return e.from == i.From && e.to == i.To })
		if at >= 0 {
			used[at] = true
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s imports %s: %s", i.File, i.From, i.To, why))
	}
	for n, e := range exceptions {
		if !used[n] {
			lines = append(lines, fmt.Sprintf("the exception %s -> %s is not needed any more: take it out", e.from, e.to))
		}
	}
	return lines
}

// crossed says which wall an import crosses, "" where it crosses none.
func crossed(i Import) string {
	from, to := room(i.From), room(i.To)
	wing := slices.Contains(wings, to)
	switch {
	case i.To == "cobra":
		if !slices.ContainsFunc(mayImportCobra, func(p string) bool { ok, _ := path.Match(p, i.From); return ok }) {
			return "only the command line and the commands of the wings know cobra"
		}
	case from == "openshift" && to != "openshift":
		return "the names of the product import nothing of ours"
	case i.To == "errgroup":
		if from != "crash" && from != "tools" {
			return "goroutines run in a crash.Group: a panic in one of an errgroup ends with exit code 2"
		}
	case slices.Contains(ground, from) && to != from && !slices.Contains(ground, to):
		return "the ground imports nothing but the ground"
	case from == "kernel" && to != "kernel" && !slices.Contains(ground, to):
		return "the kernel imports nothing but itself and the ground"
	case from == "text" && to != "text" && to != "kernel" && !slices.Contains(ground, to):
		return "what reads pasted text imports nothing but the kernel and the ground"
	case to == "text" && from != "text" && from != "cmd" && !slices.Contains(readText, from) && !slices.Contains(wings, from):
		return "a diagnosis of a cluster reads no pasted text"
	case from == "answer" && slices.Contains(shared, to):
		return "an answer is about a diagnosis alone: what wings share prints itself, on a page"
	case from == "page":
		return "what lays text out imports nothing of ours"
	case from == to || from == "cmd":
	case wing && slices.Contains(wings, from):
		return "no wing imports another"
	case wing && !slices.Contains(mayImportWings, from):
		return "only the command line, the programs and the tools import wings"
	case i.To == "cli" && from != "tools":
		return "only the programs import the command line"
	case to == "cli" && from != "tools" && path.Base(i.From) != "command":
		return "only the commands of the wings import what the command line shares"
	}
	return ""
}
