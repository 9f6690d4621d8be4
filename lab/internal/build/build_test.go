package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// What is missing is said before the first build, all at once, and how to get it; what
// is in the cache needs nothing.
func TestCheckComesBeforeTheBuilds(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source, err := FindSource(wd)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", "no-such-compiler")
	t.Setenv("GOFLAGS", "")
	var progress strings.Builder
	empty := Builder{Source: source, Cache: t.TempDir(), Progress: &progress}
	_, err = empty.All(t.Context())
	for _, want := range []string{"no-such-compiler", "libblkid-dev", "libblkid-devel"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	if progress.Len() > 0 {
		t.Errorf("something was built first: %s", progress.String())
	}

	built := Builder{Source: source, Cache: t.TempDir(), Progress: &progress}
	for _, target := range targets {
		file, err := built.file(target)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, "")
	}
	if err := built.Check(t.Context()); err != nil && strings.Contains(err.Error(), "compiler") {
		t.Errorf("a compiler is asked for although everything is built: %v", err)
	}
}

func TestCheckQuotesTheCompiler(t *testing.T) {
	dir := t.TempDir()
	for _, program := range []string{"pkg-config", "cc"} {
		script := "#!/bin/sh\necho \"Package blkid was not found in the pkg-config search path.\" >&2\nexit 1\n"
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("CC", "cc")
	t.Setenv("PKG_CONFIG", "")
	if err := compilesBlkid(t.Context()); err == nil || !strings.Contains(err.Error(), "blkid was not found") {
		t.Errorf("not the words of pkg-config: %v", err)
	}
}
