package openshift_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elsewhere are files that type a name of the product although it is here, with the reason.
// The list only shrinks.
var elsewhere = map[string]string{}

// plainWords are directories in which the names are words of a text or of a command.
var plainWords = []string{"internal/tools", "internal/shellcommand"}

// TestTypedOnce: a name of the product is typed in this package and nowhere else, but in
// tests and in the packages that make their inputs (named ...test), which say what the
// product has and not what this package says.
func TestTypedOnce(t *testing.T) {
	root := filepath.Join("..", "..")
	names := namesIn(t, filepath.Join(root, "internal", "openshift"))
	if len(names) < 60 {
		t.Fatalf("only %d names were found: %v", len(names), slices.Sorted(maps.Keys(names)))
	}
	used := map[string]bool{}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, file)
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if name == "internal/openshift" || strings.HasSuffix(name, "test") || d.Name() == "testdata" || slices.Contains(plainWords, name) {
					return fs.SkipDir
				}
				return nil
			case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			for _, v := range literals(t, file) {
				if names[v] == "" {
					continue
				}
				if used[name] = true; elsewhere[name] == "" {
					t.Errorf("%s types %q: use %s", name, v, names[v])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range elsewhere {
		if !used[name] {
			t.Errorf("%s types no name any more: take it off the list", name)
		}
	}
}

// TestImportsNothing: the names are of the product, so nothing of ours is needed to say them.
func TestImportsNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if imports := parse(t, file).Imports; len(imports) > 0 && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s imports %s", file, imports[0].Path.Value)
		}
	}
}

// namesIn returns the texts of the exported constants in a folder and below it, by value.
// Values of fields (phases, kinds of conditions) have a type of their own or no punctuation.
func namesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	names := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		f := parse(t, file)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, n := range v.Names {
					if i >= len(v.Values) || v.Type != nil || !n.IsExported() {
						continue
					}
					if text := value(t, dir, v.Values[i]); strings.ContainsAny(text, "-./:") {
						names[text] = f.Name.Name + "." + n.Name
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// value evaluates a constant of this package: a text, a name of another constant, or a sum.
func value(t *testing.T, dir string, e ast.Expr) string {
	t.Helper()
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return constant.StringVal(constant.MakeFromLiteral(x.Value, token.STRING, 0))
		}
	case *ast.BinaryExpr:
		return value(t, dir, x.X) + value(t, dir, x.Y)
	case *ast.Ident:
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, d := range parse(t, file).Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.CONST {
					continue
				}
				for _, s := range g.Specs {
					if v := s.(*ast.ValueSpec); v.Names[0].Name == x.Name {
						return value(t, dir, v.Values[0])
					}
				}
			}
		}
	}
	return ""
}

// literals are the texts that a file types, but for its imports and tags.
func literals(t *testing.T, file string) []string {
	t.Helper()
	var list []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				v, _ := strconv.Unquote(x.Value) // what was parsed can be unquoted
				list = append(list, v)
			}
		}
		return true
	})
	return list
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
