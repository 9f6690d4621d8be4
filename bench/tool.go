package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// tool is a program that is measured: how it is run, and where its answer has the causes.
type tool struct {
	Text    []string `json:"text"`    // command for a text or for objects; {input} is the file
	Archive []string `json:"archive"` // for an archive; {input} is the directory
	Words   []string `json:"words"`   // appended to either for the answer that people read; empty: the JSON is searched
	Causes  []string `json:"causes"`  // paths in the JSON, as roots[].fault: the causes that it concludes, best first
	Others  []string `json:"others"`  // paths of what else it names
	Sure    []sure   `json:"sure"`    // conditions under which the causes count as concluded; empty: always
	Quiet   []int    `json:"quiet"`   // exit codes with which it says that nothing is wrong

	run func(ctx context.Context, args []string) (out []byte, code int, err error)
}

// sure is a condition: the value at a path is one of a list.
type sure struct {
	Path string   `json:"path"`
	Is   []string `json:"is"`
}

// answer is what a tool says of one input.
type answer struct {
	causes []string // that it concludes
	others []string
	code   int
	text   string
}

// readTool reads how a program is run.
func readTool(name string) (*tool, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read tool: %w", err)
	}
	t := &tool{run: execute}
	if err := yaml.UnmarshalStrict(raw, t); err != nil {
		return nil, fmt.Errorf("read tool %s: %w", name, err)
	}
	return t, nil
}

// longest bounds one run of a tool.
const longest = 2 * time.Minute

func execute(ctx context.Context, args []string) ([]byte, int, error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.Bytes(), exit.ExitCode(), nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w", args[0], err)
	}
	return out.Bytes(), 0, nil
}

// ask gives an input to a tool. With words the answer for people is asked for as well.
func (t *tool) ask(ctx context.Context, c *benchCase, files fs.FS, words bool) (answer, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return answer{}, fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, files); err != nil {
		return answer{}, fmt.Errorf("write input: %w", err)
	}
	command, input := t.Text, filepath.Join(dir, inputFile)
	if c.Form == "archive" {
		command, input = t.Archive, dir
	}
	args := make([]string, 0, len(command))
	for _, a := range command {
		args = append(args, strings.ReplaceAll(a, "{input}", input))
	}
	out, code, err := t.run(ctx, args)
	if err != nil {
		return answer{}, err
	}
	var doc any
	if err := json.Unmarshal(out, &doc); err != nil {
		return answer{}, fmt.Errorf("read the answer of %q: %w", strings.Join(args, " "), err)
	}
	a := answer{code: code, text: string(out)}
	for _, p := range t.Causes {
		a.causes = append(a.causes, at(doc, p)...)
	}
	for _, p := range t.Others {
		a.others = append(a.others, at(doc, p)...)
	}
	for _, s := range t.Sure {
		if values := at(doc, s.Path); len(values) > 0 && !slices.Contains(s.Is, values[0]) {
			a.others, a.causes = append(a.causes, a.others...), nil
		}
	}
	if words && len(t.Words) > 0 {
		said, _, err := t.run(ctx, append(args, t.Words...))
		if err != nil {
			return answer{}, err
		}
		a.text = string(said)
	}
	return a, nil
}

// at returns the strings at a path of a document: "roots[].cases[].fault".
func at(doc any, p string) (list []string) {
	key, rest, _ := strings.Cut(p, ".")
	key, isList := strings.CutSuffix(key, "[]")
	object, ok := doc.(map[string]any)
	if !ok {
		return nil
	}
	values := []any{object[key]}
	if isList {
		values, _ = object[key].([]any)
	}
	for _, v := range values {
		if rest != "" {
			list = append(list, at(v, rest)...)
		} else if s, ok := v.(string); ok {
			list = append(list, s)
		}
	}
	return list
}
