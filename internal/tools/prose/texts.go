package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// screens are the packages of the programs and of what they print.
var screens = []string{"internal/cli", "internal/answer", "internal/hostcli", "internal/watch/screen", "internal/after", "internal/baseline", "internal/page"}

// messages are the packages whose errors, reasons and headings reach a screen or a page.
var messages = []string{
	"internal/source/collect", "internal/csr", "internal/demo", "internal/kernel/diagnose", "internal/kernel/diagnosis", "internal/kernel/evidence",
	"internal/kernel/facts",
	"internal/kernel/fault", "internal/hosts/inventory", "internal/text/message", "internal/kernel/reader", "internal/repair",
	"internal/hosts/stages", "internal/sanitize",
	"internal/scan", "internal/source/*", "internal/source/archive/*", "internal/source/archive/layout/*",
	"internal/answer/catalogpages",
}

// proseKeys are the fields of the catalog that are prose, by the directory of the file.
// In a fault `when` is an expression, in a refused remedy it is a sentence.
var proseKeys = map[string][]string{
	"":         {"title", "general", "means"},
	"remedies": {"title", "riskText", "where", "says", "do", "expect", "undo", "ifWrong"},
	"refused":  {"title", "happens", "when", "instead"},
	"messages": {"where", "normal", "failure", "next"},
}

// collect reads all prose of the repository.
func collect(root string) ([]text, error) {
	var list []text
	for _, group := range []struct {
		globs []string
		read  func(name string, content []byte) ([]text, error)
	}{
		{[]string{"catalog/*/*.yaml"}, catalogTexts},
		{[]string{"README.md", "docs/*.md", "docs/incidents/*.md", "lab/README.md", "CONTRIBUTING.md"}, pageTexts},
		{goFiles(screens), goLiterals},
		{goFiles(messages), goLiterals},
	} {
		for _, glob := range group.globs {
			names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(glob)))
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", glob, err)
			}
			if len(names) == 0 {
				return nil, fmt.Errorf("list %s in %s: there is no such file", glob, root)
			}
			for _, name := range names {
				texts, err := readTexts(root, name, group.read)
				if err != nil {
					return nil, err
				}
				list = append(list, texts...)
			}
		}
	}
	return list, nil
}

func goFiles(packages []string) []string {
	var globs []string
	for _, p := range packages {
		globs = append(globs, p+"/*.go")
	}
	return globs
}

func readTexts(root, name string, read func(string, []byte) ([]text, error)) ([]text, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read prose: %w", err)
	}
	short, err := filepath.Rel(root, name)
	if err != nil {
		return nil, fmt.Errorf("name %s from %s: %w", name, root, err)
	}
	texts, err := read(filepath.ToSlash(short), content)
	if err != nil {
		return nil, fmt.Errorf("read prose of %s: %w", short, err)
	}
	return texts, nil
}

// catalogTexts returns the prose of one file of the catalog.
func catalogTexts(name string, content []byte) ([]text, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	keys, special := proseKeys[filepath.Base(filepath.Dir(name))]
	if !special {
		keys = proseKeys[""]
	}
	lines := strings.Split(string(content), "\n")
	var list []text
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode {
				list = append(list, scalar(name, n.Content[i-1].Value, keys, child, lines)...)
			}
			walk(child)
		}
	}
	walk(&doc)
	return list, nil
}

// scalar returns the text of one field, nothing where it is no prose.
func scalar(name, key string, keys []string, n *yaml.Node, lines []string) []text {
	for _, k := range keys {
		if k != key {
			continue
		}
		t := text{file: name, place: catalog, words: strings.Join(strings.Fields(n.Value), " ")}
		if key == "title" {
			t.place = title
		}
		line, rest := n.Line, lines[n.Line-1][n.Column-1:]
		if n.Style&(yaml.FoldedStyle|yaml.LiteralStyle) != 0 {
			rest = ""
		}
		for need := len(strings.Fields(n.Value)); len(t.lines) < need; line, rest = line+1, lines[line] {
			for range strings.Fields(rest) {
				t.lines = append(t.lines, line)
			}
			if line == len(lines) {
				break
			}
		}
		return []text{t}
	}
	return nil
}

// item begins a paragraph of its own in Markdown.
var item = regexp.MustCompile(`^\s*([-*+] |[#|>]|\d+\. )`)

// pageTexts returns the paragraphs, list items and table rows of a Markdown page,
// without code blocks.
func pageTexts(name string, content []byte) ([]text, error) {
	var list []text
	t := text{file: name, place: docs}
	flush := func() {
		if t.words != "" {
			list = append(list, t)
		}
		t = text{file: name, place: docs}
	}
	fenced := false
	for i, line := range strings.Split(string(content), "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || strings.HasPrefix(line, "    ") && t.words == "" {
			flush()
			continue
		}
		if strings.TrimSpace(line) == "" || item.MatchString(line) {
			flush()
		}
		t.add(line, i+1)
	}
	flush()
	return list, nil
}

// add appends the words of a line.
func (t *text) add(line string, number int) {
	for _, word := range strings.Fields(line) {
		if t.words != "" {
			t.words += " "
		}
		t.words += word
		t.lines = append(t.lines, number)
	}
}

// goLiterals returns the string literals of a Go file, none of a test.
func goLiterals(name string, content []byte) ([]text, error) {
	if strings.HasSuffix(name, "_test.go") {
		return nil, nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []text
	ast.Inspect(file, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			t := text{file: name, place: screen}
			if literal(&t, files, e) {
				if strings.Contains(t.words, " ") { // one word is a value, not prose
					list = append(list, t)
				}
				return false
			}
		}
		return true
	})
	return list, nil
}

// verb is a verb of fmt.
var verb = regexp.MustCompile(`%[-+# 0]*[0-9*]*(\.[0-9*]+)?[a-zA-Z]`)

// literal appends a string literal, or literals that are joined by plus, and reports
// whether the expression is nothing else.
func literal(t *text, files *token.FileSet, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return false
		}
		left := text{file: t.file, place: t.place}
		right := left
		if !literal(&left, files, e.X) || !literal(&right, files, e.Y) {
			return false
		}
		*t = join(*t, join(left, right))
		return true
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return false
		}
		value, err := strconv.Unquote(e.Value)
		if err != nil {
			return false
		}
		line := files.Position(e.Pos()).Line
		for i, part := range strings.Split(verb.ReplaceAllString(value, "{}"), "\n") {
			if e.Value[0] != '`' {
				i = 0
			}
			t.add(part, line+i)
		}
		return true
	}
	return false
}

func join(a, b text) text {
	if a.words != "" && b.words != "" {
		a.words += " "
	}
	a.words += b.words
	a.lines = append(a.lines, b.lines...)
	return a
}
