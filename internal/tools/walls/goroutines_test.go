package walls

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNoBareGoroutines(t *testing.T) {
	lines, err := bareGoroutines("../../..", "internal", "cmd")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		t.Error(l)
	}
}

func TestBareGoroutines(t *testing.T) {
	root := t.TempDir()
	code := `package x

func f() {
	go g()
	go func() {}()
	go crash.Func(func() {})()
	group.Go(func() {})
	group.Go(crash.Func(func() {}))
	group.Go(func() error { return nil })
}
`
	if err := os.WriteFile(filepath.Join(root, "x.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := bareGoroutines(root, ".")
	if err != nil || len(lines) != 3 {
		t.Errorf("%q, %v", lines, err)
	}
}
