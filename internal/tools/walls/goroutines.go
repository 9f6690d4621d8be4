package walls

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// bareGoroutines lists the goroutines of the files below root of which nobody takes the panic: it would
// end the process with exit code 2, which says that a fault is proven.
func bareGoroutines(root string, tops ...string) ([]string, error) {
	var lines []string
	skip := func(dir string) bool { return path.Base(dir) == "crash" || strings.HasSuffix(dir, "test") }
	err := eachFile(root, tops, skip, func(_ string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if isBare(n) {
				lines = append(lines, fmt.Sprintf("%s: write go crash.Func(func() {...})(), or use a crash.Group", set.Position(n.Pos())))
			}
			return true
		})
	})
	return lines, err
}

// isBare reports whether a node starts a goroutine by a go statement or by the Go of a sync.WaitGroup,
// whose function returns nothing, and not through crash.Func.
func isBare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		call, ok := n.Call.Fun.(*ast.CallExpr)
		return !ok || !isCrashFunc(call)
	case *ast.CallExpr:
		selector, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Go" || len(n.Args) != 1 {
			return false
		}
		f, ok := n.Args[0].(*ast.FuncLit)
		return ok && f.Type.Results == nil
	}
	return false
}

func isCrashFunc(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == "crash" && selector.Sel.Name == "Func"
}
