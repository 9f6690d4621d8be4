package walls

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// clientRooms make connections and clients, each with its bounds: of the Kubernetes API, and of every
// other server.
var clientRooms = []string{"internal/kube", "internal/outbound"}

// ownClients make a client of their own, with the reason.
var ownClients = map[string]string{
	"providers/gcp/client.go":  "httptransport adds a credential to the client of internal/outbound that it is given",
	"providers/redfish/bmc.go": "gofish takes a client with a password for one BMC; it follows no redirect and its answers are bounded",
}

// makers are what makes a client or a connection, by import path. Those of client-go are in internal/kube
// (TestOnlyHere).
var makers = map[string][]string{
	"net/http": {"Client", "Transport", "Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport"},
	"net": {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Resolver", "DefaultResolver", "LookupHost", "LookupIP",
		"LookupAddr", "LookupCNAME", "LookupMX", "LookupNS", "LookupSRV", "LookupTXT", "ResolveIPAddr", "ResolveTCPAddr", "ResolveUDPAddr"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer", "Client"},
	// Google's library, which makes a client by itself where it is given none.
	"cloud.google.com/go/auth/httptransport": {"NewClient", "AddAuthorizationMiddleware"},
	"cloud.google.com/go/auth/credentials":   {"DetectDefault", "NewCredentialsFromFile", "NewCredentialsFromJSON"},
	"google.golang.org/api/transport/http":   {"NewClient", "NewTransport"},
}

// typeNames are those of makers that are types: a value of one is made by a literal, by new, or by a variable.
var typeNames = []string{"Client", "Transport", "Dialer", "Resolver"}

// clientsMade lists what the files below root make without the rooms that are for it.
func clientsMade(root string, tops ...string) ([]string, error) {
	var lines []string
	skip := func(dir string) bool { return slices.Contains(clientRooms, dir) }
	err := eachFile(root, tops, skip, func(rel string, _ *token.FileSet, file *ast.File) {
		if ownClients[rel] != "" {
			return
		}
		for _, what := range clientsIn(file) {
			lines = append(lines, fmt.Sprintf("%s uses %s: connections and clients are made by internal/outbound, those of the API "+
				"by internal/kube", rel, what))
		}
	})
	return lines, err
}

// eachFile reads each Go file of the program below directories of root, without tests, testdata and what
// skip leaves out. Paths are below root, with slashes.
func eachFile(root string, tops []string, skip func(dir string) bool, use func(rel string, set *token.FileSet, file *ast.File)) error {
	for _, top := range tops {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			if d.IsDir() {
				if d.Name() == "testdata" || skip(rel) {
					return fs.SkipDir
				}
				return nil
			}
			if path.Ext(rel) != ".go" || strings.HasSuffix(rel, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("read %s: %w", p, err)
			}
			use(rel, set, file)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clientsIn lists what a file uses of makers: functions and variables wherever they stand, types where a
// value is made.
func clientsIn(file *ast.File) []string {
	local := map[string]string{} // the local name of an import -> its path
	for _, i := range file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		local[name] = p
	}
	selected := func(e ast.Expr) (what string, isType bool) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || !slices.Contains(makers[local[x.Name]], s.Sel.Name) {
			return "", false
		}
		p := local[x.Name]
		return p + "." + s.Sel.Name, slices.Contains(typeNames, s.Sel.Name) && (p != "crypto/tls" || s.Sel.Name == "Dialer")
	}
	var list []string
	made := func(e ast.Expr) {
		if what, isType := selected(e); isType {
			list = append(list, what)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			made(n.Type)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" && len(n.Args) == 1 {
				made(n.Args[0])
			}
		case *ast.ValueSpec: // var c http.Client
			made(n.Type)
		case *ast.Field: // of a struct, by value
			made(n.Type)
		case *ast.SelectorExpr:
			if what, isType := selected(n); what != "" && !isType {
				list = append(list, what)
			}
		}
		return true
	})
	return list
}
