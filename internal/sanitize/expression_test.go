package sanitize

import (
	"encoding/base64"
	"go/ast"
	"go/constant"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestExpressionsCompile compiles what a run compiles only when it needs it.
func TestExpressionsCompile(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := gotoken.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Constants are all that is asked for: the types of other packages do not matter.
	_, _ = (&types.Config{Error: func(error) {}}).Check("sanitize", set, files, info)
	found := 0
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "lazily" {
				return true
			}
			found++
			value := info.Types[call.Args[0]].Value
			if value == nil {
				t.Errorf("%s: the expression is no constant", set.Position(call.Pos()))
				return true
			}
			if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
				t.Errorf("%s: %v", set.Position(call.Pos()), err)
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("found %d expressions, which are not all", found)
	}
}

// TestPlainEnds holds the quick look at the names of fields against what it saves.
func TestPlainEnds(t *testing.T) {
	for _, n := range keyNames {
		for _, k := range []string{n.name, strings.ToUpper(n.name), n.name + "s", n.name + "12", "x_" + n.name, n.name[:len(n.name)-1] + "_" + n.name[len(n.name)-1:], n.name + "-s", n.name + "_"} {
			if plainEnd(k) {
				t.Errorf("%q is taken for a plain name at once", k)
			}
		}
	}
	if plainEnd("ps\u212a") { // its lower case is psk
		t.Error("a Kelvin sign is no k")
	}
	for _, k := range []string{"name", "image", "labels", "ready", "podIP", ""} {
		if !plainEnd(k) {
			t.Errorf("%q is looked at closer", k)
		}
	}
}

// TestSpansIndentedScalar: a line that no query looks for opens the block of the next.
func TestSpansIndentedScalar(t *testing.T) {
	s := sanitizer(t, "salt").Lines()
	for _, head := range []string{"password: |2", "password: >2-", "password: |-2", "  name: DB_PASSWORD", "- --password", `- "--password"`, `  "name": "DB_PASSWORD",`} {
		if !s.Spans([]byte(head)) {
			t.Errorf("%q is passed over", head)
		}
	}
	for _, line := range []string{"nothing to do for node control2", "at 2026-11-20", "x: 12", "name: a b"} {
		if s.Spans([]byte(line)) {
			t.Errorf("%q is said to open a secret of several lines", line)
		}
	}
}

// TestSharedCertificates: a bundle that was found to be public is not read again, and what
// differs from it in one byte is.
func TestSharedCertificates(t *testing.T) {
	s := sanitizer(t, "salt")
	object := func(value string) string {
		o := evidence.Object{Resource: evidence.Secrets, Content: map[string]any{"kind": "Secret", "data": map[string]any{"tls.crt": value}}}
		s.Object(o.Resource.Group, o.Resource.Name, o.Content)
		return evidence.String(o.Content, "data", "tls.crt")
	}
	public := base64.StdEncoding.EncodeToString([]byte(testCert))
	for range 2 {
		if got := object(public); got != public {
			t.Fatalf("a certificate is hidden: %s", got)
		}
	}
	secret := base64.StdEncoding.EncodeToString([]byte(testCert + "hunter2\n"))
	for range 2 {
		if got := object(secret); !Redacted(got) {
			t.Fatalf("what stands behind a certificate is kept: %s", got)
		}
	}
}
