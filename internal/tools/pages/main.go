// Command pages writes the man pages and the scripts of shell completion for a release:
//
//	go run ./internal/tools/pages DIR
//
// The same commands give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/rollcall-project/rollcall/internal/cli"
)

// completer is what `kubectl rollcall <TAB>` runs, in archives, which hold no links.
const completer = "#!/bin/sh\nexec kubectl-rollcall __complete \"$@\"\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pages DIR")
		os.Exit(1)
	}
	if err := writePages(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "pages: %v\n", err)
		os.Exit(1)
	}
}

// writePages writes DIR/man/*.1.gz, DIR/completions/ and DIR/kubectl_complete-rollcall.
func writePages(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("empty %s: %w", dir, err)
	}
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("make a directory for pages: %w", err)
		}
	}
	root := cli.Command("rollcall")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if err := errors.Join(writeMan(root, man), writeCompletions(root, completions)); err != nil {
		return err
	}
	return write(filepath.Join(dir, "kubectl_complete-rollcall"), []byte(completer), 0o755)
}

// writeMan writes one page for each command. They have no date: the same commands give the
// same bytes.
func writeMan(cmd *cobra.Command, dir string) error {
	if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() || cmd.Name() == "help" {
		return nil
	}
	cmd.DisableAutoGenTag = true
	var page bytes.Buffer
	never := time.Unix(0, 0).UTC()
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "Rollcall", Manual: "Rollcall", Date: &never}, &page); err != nil {
		return fmt.Errorf("make the page of %s: %w", cmd.CommandPath(), err)
	}
	text := bytes.Replace(page.Bytes(), []byte(`"Jan 1970"`), []byte(`""`), 1)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	name := string(bytes.ReplaceAll([]byte(cmd.CommandPath()), []byte(" "), []byte("-")))
	if err := write(filepath.Join(dir, name+".1.gz"), packed.Bytes(), 0o644); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if err := writeMan(c, dir); err != nil {
			return err
		}
	}
	return nil
}

// writeCompletions writes the scripts under the names by which the shells find them.
func writeCompletions(root *cobra.Command, dir string) error {
	for name, generate := range map[string]func(*bytes.Buffer) error{
		"rollcall.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_rollcall":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"rollcall.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
	} {
		var script bytes.Buffer
		if err := generate(&script); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		if err := write(filepath.Join(dir, name), script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(path, content, mode); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	return nil
}
