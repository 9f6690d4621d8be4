// Command changelog moves the files of changes/ into CHANGELOG.md under a new version.
//
//	go run ./internal/tools/changelog VERSION [ROOT]
//
// A file NAME.SECTION.md has one change; changes/README.md says how to write it. Nothing is
// written when a file has an unknown section or no text.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sections are the sections of a version, in order.
var sections = []string{"added", "changed", "fixed", "security"}

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: changelog VERSION [ROOT]")
		os.Exit(1)
	}
	root := "."
	if len(os.Args) == 3 {
		root = os.Args[2]
	}
	if err := assemble(root, os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

// assemble adds the version with all changes to CHANGELOG.md and deletes their files.
func assemble(root, version string, now time.Time) error {
	files, err := filepath.Glob(filepath.Join(root, "changes", "*.md")) // sorted
	if err != nil {
		return fmt.Errorf("list the changes: %w", err)
	}
	bySection := map[string][]string{}
	var used []string
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		section, text, err := readChange(file)
		if err != nil {
			return err
		}
		bySection[section] = append(bySection[section], text)
		used = append(used, file)
	}
	if len(used) == 0 {
		return errors.New("no file in changes: nothing to release")
	}
	path := filepath.Join(root, "CHANGELOG.md")
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	text, err := insert(string(old), render(version, now, bySection))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the changelog: %w", err)
	}
	for _, file := range used {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("delete a released change: %w", err)
		}
	}
	return nil
}

// readChange returns the section in the name of a file, and its text.
func readChange(file string) (section, text string, err error) {
	name := strings.TrimSuffix(filepath.Base(file), ".md")
	section = name[strings.LastIndexByte(name, '.')+1:]
	known := false
	for _, s := range sections {
		known = known || s == section
	}
	if !known || section == name {
		return "", "", fmt.Errorf("%s: name it NAME.SECTION.md with a section of %s", file, strings.Join(sections, ", "))
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("read a change: %w", err)
	}
	if text = strings.TrimSpace(string(raw)); text == "" {
		return "", "", fmt.Errorf("%s: it has no text", file)
	}
	return section, text, nil
}

// render writes a version as Markdown.
func render(version string, now time.Time, bySection map[string][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s (%s)\n", strings.TrimPrefix(version, "v"), now.UTC().Format(time.DateOnly))
	for _, section := range sections {
		list := bySection[section]
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n", strings.ToUpper(section[:1])+section[1:])
		for _, text := range list {
			b.WriteString("- " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}

// insert puts a version before the newest one of a changelog.
func insert(changelog, version string) (string, error) {
	at := strings.Index(changelog, "\n## ")
	if at < 0 {
		return "", errors.New("CHANGELOG.md has no version (a line that begins with \"## \")")
	}
	return changelog[:at+1] + version + "\n" + changelog[at+1:], nil
}
