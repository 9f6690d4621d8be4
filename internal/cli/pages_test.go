package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

// repository is where the pages are, seen from this package.
const repository = "../.."

// pages returns the Markdown pages for users, by their path in the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	tree := os.DirFS(repository)
	add := func(name string) {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "lab/README.md"} {
		add(name)
	}
	err := fs.WalkDir(tree, "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			add(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// codeLine is a line of a fenced block or a code span, with its line number.
type codeLine struct {
	text string
	line int
	span bool // a code span: it may be no more than the name of a command
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// codeLines returns what a page shows as code. Lines that end with a backslash are joined
// with the next one. Of a block with prompts only the lines behind a prompt count: the
// others are output.
func codeLines(page string) []codeLine {
	var out, block []codeLine
	inside := false
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			if inside {
				out = append(out, behindPrompts(block)...)
			}
			inside, block = !inside, nil
		case inside && len(block) > 0 && strings.HasSuffix(block[len(block)-1].text, "\\"):
			last := &block[len(block)-1]
			last.text = strings.TrimSuffix(last.text, "\\") + trimmed
		case inside:
			block = append(block, codeLine{text: trimmed, line: i + 1})
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				out = append(out, codeLine{m[1], i + 1, true})
			}
		}
	}
	return out
}

// behindPrompts leaves out commands that the page shows as refused.
func behindPrompts(block []codeLine) []codeLine {
	var out []codeLine
	for i, l := range block {
		if text, ok := strings.CutPrefix(l.text, "$ "); ok {
			if i+2 < len(block) && strings.HasPrefix(block[i+1].text, "rollcall: ") && strings.HasPrefix(block[i+2].text, "See '") {
				continue
			}
			out = append(out, codeLine{text: text, line: l.line})
		}
	}
	if out == nil {
		return block
	}
	return out
}

// shellWords splits a line of shell into the words of its commands. It knows quotes,
// comments, redirections, what separates commands, and $(...), whose command counts, too.
func shellWords(line string) (commands [][]string) {
	line = blanks.ReplaceAllString(line, "NAME") // what a reader fills in is no redirection
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		inWord = false
		word.Reset()
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 { // an apostrophe of prose
				end = len(line) - i - 1
			}
			word.WriteString(line[i+1 : i+1+end])
			inWord = true
			i += end + 1
		case c == '#' && !inWord:
			endCommand()
			return commands
		case strings.HasPrefix(line[i:], "$(") || strings.HasPrefix(line[i:], "<("):
			end := strings.IndexByte(line[i:], ')')
			if end < 0 {
				end = len(line) - i
			}
			commands = append(commands, shellWords(line[i+2:i+end])...)
			word.WriteString("RESULT")
			inWord = true
			i += end
		case strings.IndexByte("|;&", c) >= 0:
			endCommand()
		case c == '>' || c == '<' && (i+1 == len(line) || line[i+1] == ' '):
			if digits := word.String(); digits == "1" || digits == "2" {
				inWord = false
				word.Reset()
			}
			endWord()
			rest := strings.TrimLeft(line[i:], "><& ")
			target, _, _ := strings.Cut(rest, " ")
			i = len(line) - len(rest) + len(strings.TrimRight(target, ";|)")) - 1
		case c == ' ' || c == '\t':
			endWord()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endCommand()
	return commands
}

// ofRollcall returns the arguments of a command that runs rollcall, also as a plugin, with
// a path, with variables in front of it, or as `go run ./cmd/rollcall`.
func ofRollcall(words []string) (args []string, ok bool) {
	for len(words) > 0 && (words[0] == "sudo" || words[0] == "time" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	switch {
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/rollcall":
		return words[3:], true
	case len(words) > 1 && (words[0] == "oc" || words[0] == "kubectl") && words[1] == "rollcall":
		return words[2:], true
	case len(words) > 0 && !strings.HasPrefix(words[0], "-") && path.Base(words[0]) == "rollcall" && words[0] != "cmd/rollcall" && words[0] != "./cmd/rollcall":
		return words[1:], true
	}
	return nil, false
}

// pattern matches a line that shows the form of a command and not a command.
var pattern = regexp.MustCompile(`\[flags\]|\bCOMMAND\b|\.\.\.$|\[[A-Z]+\]|WORDS|faults\|remedies`)

// knownEntries are the ids of which explain prints what is known.
func knownEntries(t *testing.T, a *app) []string {
	t.Helper()
	c, err := a.session().LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries(c) {
		ids = append(ids, e.id)
	}
	return ids
}

var looksLikeID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

// checkCommand says what is wrong with a command line: an unknown command, an unknown flag,
// a value or an argument that is refused, an id of nothing. With name it may be no more than
// the name of a command.
func checkCommand(args, ids []string, name bool) error {
	a := newApp("rollcall", cmdutil.IO{Cache: shared, Getenv: func(string) string { return "" }, Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	root := a.rootCommand()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd.DisableFlagParsing {
		return nil
	}
	cmd.InitDefaultHelpFlag()
	if cmd == root {
		cmd.InitDefaultVersionFlag()
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return a.flagError(cmd, err)
	}
	if help, _ := cmd.Flags().GetBool("help"); help {
		return nil
	}
	left := cmd.Flags().Args()
	if cmd.Name() == "explain" && cmd.Parent() == root && len(left) == 1 && looksLikeID.MatchString(left[0]) && !slices.Contains(ids, left[0]) {
		return session.Usagef("explain knows no %q", left[0])
	}
	if len(rest) == 0 && (name || !cmd.Runnable()) {
		return nil
	}
	return cmd.ValidateArgs(left)
}

// blanks are the placeholders of a command.
var blanks = regexp.MustCompile(`<[A-Z_]+>`)

// TestPagesCommands: each command line of rollcall in the pages has a known command, known
// flags with values that are taken, and arguments that are taken.
func TestPagesCommands(t *testing.T) {
	ids := knownEntries(t, newApp("rollcall", cmdutil.IO{Cache: shared, Getenv: func(string) string { return "" }}))
	checked := 0
	for name, page := range pages(t) {
		for _, l := range codeLines(page) {
			if pattern.MatchString(l.text) {
				continue
			}
			for _, words := range shellWords(l.text) {
				args, ok := ofRollcall(words)
				if !ok {
					continue
				}
				checked++
				if err := checkCommand(args, ids, l.span); err != nil {
					t.Errorf("%s:%d: %s\n\t%v", name, l.line, l.text, err)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands were found in the pages", checked)
	}
}

// TestPagesCommandsFails: the check above sees what it is there for.
func TestPagesCommandsFails(t *testing.T) {
	cases := map[string]bool{
		"rollcall diagnose --from mg.tar.gz -o html > answer.html": true,
		"rollcall demo -o json | jq -r '.roots[] | .fault'":        true,
		"export KUBECONFIG=$(rollcall lab kubeconfig)":             true,
		"sudo oc rollcall csr list":                                true,
		"rollcall diagnos":                                         false,
		"rollcall diagnose --form mg.tar.gz":                       false,
		"rollcall diagnose -o jsno":                                false,
		"echo $(rollcall list fault)":                              false,
		"KUBECONFIG=a rollcall scan a.txt b.txt":                   false,
		"cat a | rollcall explain no-such-fault":                   false,
		"rollcall list faults; rollcall version --short":           false,
	}
	ids := knownEntries(t, newApp("rollcall", cmdutil.IO{Cache: shared, Getenv: func(string) string { return "" }}))
	for line, good := range cases {
		var err error
		found := false
		for _, words := range shellWords(line) {
			if args, ok := ofRollcall(words); ok && err == nil {
				found, err = true, checkCommand(args, ids, false)
			}
		}
		if !found || (err == nil) != good {
			t.Errorf("%s: found %v, %v", line, found, err)
		}
	}
}

// link is the target of a link or an image.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// heading is a heading of a page.
var heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)

// anchors returns the anchors that GitHub gives the headings of a page.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ' || r == '-':
				b.WriteRune('-')
			case r == '_' || r > 127 || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			}
		}
		out = append(out, b.String())
	}
	return out
}

// TestPagesLinks: each relative link in the pages leads to a file that is there, and to a
// heading where it names one.
func TestPagesLinks(t *testing.T) {
	all := pages(t)
	checked := 0
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(page, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(repository, file)); err != nil {
				t.Errorf("%s: (%s) leads to no file", name, m[1])
				continue
			}
			if text, ok := all[file]; ok && anchor != "" && !slices.Contains(anchors(text), anchor) {
				t.Errorf("%s: (%s): %s has no such heading", name, m[1], file)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were found in the pages", checked)
	}
}
