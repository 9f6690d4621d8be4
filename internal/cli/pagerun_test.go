package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// runPages are the pages whose `console` blocks are run. Each block is one shell; those of a
// page share a directory, with the files of testdata/pages.txtar and the clusters of
// writeClusters in it.
var runPages = []string{"docs/install.md", "docs/first-ten-minutes.md", "docs/troubleshooting.md", "docs/jq-recipes.md"}

// cutMark stands in a page for output that is left out.
const cutMark = "[...]"

// pageCommand is a command of a page with the output that the page shows.
type pageCommand struct {
	text   string // without the prompt; several lines where it has them
	output []string
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

func parseBlock(block string) (commands []pageCommand) {
	continued := false
	for _, line := range strings.Split(strings.TrimSuffix(block, "\n"), "\n") {
		text, ok := strings.CutPrefix(line, "$ ")
		switch {
		case continued:
			commands[len(commands)-1].text += "\n" + line
		case ok:
			commands = append(commands, pageCommand{text: text})
		case len(commands) > 0:
			last := &commands[len(commands)-1]
			last.output = append(last.output, line)
		}
		if ok || continued {
			// a quote or a backslash continues in the next line
			text := commands[len(commands)-1].text
			continued = strings.HasSuffix(text, "\\") || strings.Count(text, "'")%2 == 1
		}
	}
	return commands
}

// separator comes between the outputs of two commands.
const separator = "\x1e\n"

// runBlock runs the commands of a block in one shell, and returns the output of each.
func runBlock(t *testing.T, dir string, commands []pageCommand) []string {
	t.Helper()
	script := "exec 2>&1\n"
	for _, c := range commands {
		script += onThisMachine.Replace(c.text) + "\nlast=$?; printf '" + `\036\n` + "'; (exit $last)\n"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "KUBECONFIG=", "LC_ALL=C.UTF-8", "TZ=UTC", clitest.ClockVariable+"="+clitest.Now.Format("2006-01-02T15:04:05Z07:00"), clitest.WidthVariable+"=80")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	parts := strings.Split(asInPages(out.String(), dir), separator)
	if len(parts) != len(commands)+1 {
		t.Fatalf("%d outputs of %d commands:\n%s", len(parts)-1, len(commands), out.String())
	}
	return parts[:len(commands)]
}

// onThisMachine are addresses of the pages, with what is asked in their stead: ports where
// nothing listens.
var (
	onThisMachine = strings.NewReplacer("192.0.2.20", "127.0.0.1:2", "192.0.2.21", "127.0.0.1:3")
	inThePages    = map[string]string{"127.0.0.1:2": "192.0.2.20:6443", "127.0.0.1:3": "192.0.2.21:6443"}
)

var loopback = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// asInPages replaces what differs from run to run and from machine to machine: ports, the
// name of this machine, the directory.
func asInPages(text, dir string) string {
	text = loopback.ReplaceAllStringFunc(text, func(address string) string {
		if shown, ok := inThePages[address]; ok {
			return shown
		}
		return "192.0.2.10:6443"
	})
	text = strings.ReplaceAll(text, dir+"/", "")
	if name, err := os.Hostname(); err == nil && name != "" {
		text = strings.ReplaceAll(text, "from "+name, "from vm")
	}
	return text
}

// cut leaves out of the output what the page leaves out: it keeps as many lines at the start
// and at the end as the page has.
func cut(output string, page []string) []string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if output == "" {
		lines = nil
	}
	at := slices.Index(page, cutMark)
	if at < 0 {
		return lines
	}
	behind := len(page) - at - 1
	if at+behind >= len(lines) {
		return lines
	}
	return slices.Concat(lines[:at], []string{cutMark}, lines[len(lines)-behind:])
}

// TestPagesRun runs the commands of the pages, and holds what the pages show against what
// they print. Where lines are broken does not count: it depends on the name of the machine.
//
//	go test ./internal/cli -run TestPagesRun -update
func TestPagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs what other tests run")
	}
	for _, name := range runPages {
		if !sample.Whole() && !*update && name != runPages[0] {
			continue // the commands are those of the scripts
		}
		file := filepath.Join(repository, name)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir := pageDir(t)
			ran := 0
			page := consoleBlock.ReplaceAllStringFunc(string(raw), func(block string) string {
				commands := parseBlock(consoleBlock.FindStringSubmatch(block)[1])
				var b strings.Builder
				b.WriteString("```console\n")
				for i, output := range runBlock(t, dir, commands) {
					ran++
					c := commands[i]
					if strings.HasPrefix(output, "jq: ") || strings.Contains(output, "not found\n") && strings.HasPrefix(output, "sh: ") {
						t.Errorf("$ %s\n%s", c.text, output)
					}
					have := cut(output, c.output)
					if diff := cmp.Diff(strings.Fields(strings.Join(c.output, "\n")), strings.Fields(strings.Join(have, "\n"))); diff != "" && !*update {
						t.Errorf("$ %s\nprints\n%s\nand the page shows\n%s\n(-update writes it)", c.text, strings.Join(have, "\n"), strings.Join(c.output, "\n"))
					}
					fmt.Fprintf(&b, "$ %s\n", c.text)
					for _, l := range have {
						b.WriteString(strings.TrimRight(l, " ") + "\n")
					}
				}
				return b.String() + "```"
			})
			if ran == 0 {
				t.Error("no command was found")
			}
			if *update {
				if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// pageDir makes the directory in which the commands of a page run.
func pageDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ar, err := txtar.ParseFile("testdata/pages.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(ar, dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files { // the time of a file is the time of what it holds
		if err := os.Chtimes(filepath.Join(dir, f.Name), clitest.Now, clitest.Now); err != nil {
			t.Fatal(err)
		}
	}
	files, err := clitest.Fixture("user-data-outdated")
	if err != nil {
		t.Fatal(err)
	}
	if err := clitest.WriteFiles(files, filepath.Join(dir, "hypershift-dump")); err != nil {
		t.Fatal(err)
	}
	writeClusters(t, dir)
	return dir
}
