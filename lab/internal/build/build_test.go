package build

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A build must be found again, and must not be found after anything that
// decides about it has changed.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module a\n")
	write(t, filepath.Join(dir, "cmd", "x", "main.go"), "package main\n")
	key := func(extra ...string) string {
		t.Helper()
		k, err := digest(dir, extra...)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key("flags")
	if again := key("flags"); again != first {
		t.Errorf("digest changed from %s to %s without a reason", first, again)
	}
	if key("other flags") == first {
		t.Error("other flags, same digest")
	}
	write(t, filepath.Join(dir, "cmd", "x", "main.go"), "package main // changed\n")
	if key("flags") == first {
		t.Error("other source, same digest")
	}
}

func TestCopyCRDsTakesTheDefaultVariant(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"0000_10_config-operator_01_images-Default.crd.yaml",
		"0000_10_config-operator_01_images-TechPreviewNoUpgrade.crd.yaml",
		"0000_80_machine-config_01_machineconfigpools.crd.yaml",
		"0000_50_console_01_consoles.crd.yaml", "doc.go",
	} {
		write(t, filepath.Join(from, name), "kind: CustomResourceDefinition\n")
	}
	if err := copyCRDs(from, to); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"0000_10_config-operator_01_images-Default.crd.yaml", "0000_80_machine-config_01_machineconfigpools.crd.yaml"}
	if !slices.Equal(got, want) {
		t.Errorf("copied %v, want %v", got, want)
	}
}

// The sources that targets name must be there, each with its sums.
func TestTargetsHaveModules(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source, err := FindSource(wd)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		for _, file := range []string{"go.mod", "go.sum"} {
			if _, err := os.Stat(filepath.Join(source, target.Module, file)); err != nil {
				t.Errorf("%s: %v", target.Name, err)
			}
		}
	}
}
