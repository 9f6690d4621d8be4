package repair

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// hidden is shown for a value that is, or may hold, a secret.
const hidden = "(not shown)"

// userInfo is the user and password in a URL.
var userInfo = regexp.MustCompile(`://[^/@\s]+@`)

// diffText shows a write as a unified diff: for each field that changes, its YAML as it is
// and as it will be. Of Secrets and MachineConfigs only the names of the fields are in it.
func diffText(ref Ref, content Object, fields []string, set map[string]any) (string, error) {
	var b strings.Builder
	last := ""
	for _, f := range fields {
		have, there := fieldAt(content, f)
		want := set[f]
		if there == (want != nil) && sameValue(have, want) {
			continue
		}
		path := splitPointer(f)
		name := path[len(path)-1]
		var before, after []string
		var err error
		if there {
			if before, err = yamlLines(ref, name, have); err != nil {
				return "", err
			}
		}
		if want != nil {
			if after, err = yamlLines(ref, name, want); err != nil {
				return "", err
			}
		}
		if at := strings.Join(path[:len(path)-1], "."); at != last {
			fmt.Fprintf(&b, "@@ %s @@\n", at)
			last = at
		}
		diffLines(&b, before, after)
	}
	if b.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf("--- %s (now)\n+++ %s (after)\n%s", ref, ref, b.String()), nil
}

func sameValue(a, b any) bool {
	same, err := sameJSON(a, b)
	return err == nil && same
}

// yamlLines renders one field; a URL is shown without user and password.
func yamlLines(ref Ref, name string, value any) ([]string, error) {
	if !showable(ref) {
		return []string{name + ": " + hidden}, nil
	}
	raw, err := yaml.Marshal(map[string]any{name: value})
	if err != nil {
		return nil, fmt.Errorf("show field %s: %w", name, err)
	}
	return strings.Split(strings.TrimSuffix(userInfo.ReplaceAllString(string(raw), "://"+hidden+"@"), "\n"), "\n"), nil
}

// diffLines writes lines that are the same at both ends once, and what is between them as
// removed and added. Two hidden values that differ look the same and are shown as both.
func diffLines(b *strings.Builder, before, after []string) {
	same := func(a, c string) bool { return a == c && !strings.Contains(a, hidden) }
	head := 0
	for head < min(len(before), len(after)) && same(before[head], after[head]) {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && same(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	write := func(mark string, lines []string) {
		for _, l := range lines {
			b.WriteString(mark + l + "\n")
		}
	}
	write(" ", before[:head])
	write("-", before[head:len(before)-tail])
	write("+", after[head:len(after)-tail])
	write(" ", slices.Clone(before[len(before)-tail:]))
}
