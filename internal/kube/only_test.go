package kube_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elsewhere are the files that may use what makes a client, with the reason. The list only
// shrinks.
var elsewhere = map[string]string{}

// makers are what makes a client, a transport or a connection of the Kubernetes API of a
// rest.Config, by import path; "" stands for every name of the package.
var makers = map[string][]string{
	"k8s.io/client-go/rest": {
		"HTTPClientFor", "TransportFor", "TLSConfigFor", "HTTPWrappersForConfig", "RESTClientFor", "RESTClientForConfigAndClient",
		"UnversionedRESTClientFor", "UnversionedRESTClientForConfigAndClient", "NewRESTClient", "NewRequest", "NewRequestWithClient",
	},
	"k8s.io/client-go/dynamic":                  {""},
	"k8s.io/client-go/kubernetes":               {""},
	"k8s.io/client-go/discovery":                {""},
	"k8s.io/client-go/metadata":                 {""},
	"k8s.io/client-go/tools/remotecommand":      {""},
	"k8s.io/client-go/transport":                {""},
	"k8s.io/client-go/transport/spdy":           {""},
	"k8s.io/client-go/transport/websocket":      {""},
	"sigs.k8s.io/controller-runtime/pkg/client": {""},
}

// TestOnlyHere: no other package makes a client of the Kubernetes API, for it would have
// none of the protections.
func TestOnlyHere(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, file)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && name != "cmd" && !strings.HasPrefix(name, "cmd/") && name != "internal" && !strings.HasPrefix(name, "internal/") || name == "internal/kube" {
				return fs.SkipDir // lab and providers are modules of their own
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for _, what := range made(t, file) {
			if used[name] = true; elsewhere[name] == "" {
				t.Errorf("%s uses %s: clients are made by internal/kube", name, what)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range elsewhere {
		if !used[name] {
			t.Errorf("%s makes no client any more: take it off the list", name)
		}
	}
}

// made lists what a file uses of makers.
func made(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	local := map[string][]string{} // the local name of an import -> names
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		names := makers[p]
		if slices.Equal(names, []string{""}) {
			list = append(list, p)
			continue
		}
		as := path.Base(p)
		if i.Name != nil {
			as = i.Name.Name
		}
		local[as] = names
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && slices.Contains(local[x.Name], s.Sel.Name) {
			list = append(list, x.Name+"."+s.Sel.Name)
		}
		return true
	})
	return list
}
