// Command score measures `rollcall scan` on texts whose cause is known: one JSON object a
// line with evidence, acceptable (names of causes, "unknown", "none"), confidence, and
// optionally in_scope. The first cause of an answer is right when it, or another name of
// it, is acceptable; an answer without a cause is right where "unknown" or "none" is.
//
//	go run ./internal/tools/score [-v] CASES.jsonl...
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// testCase is one text and what may be said of it.
type testCase struct {
	ID         string   `json:"id"`
	Evidence   string   `json:"evidence"`
	Acceptable []string `json:"acceptable"`
	Confidence string   `json:"confidence"`
	InScope    *bool    `json:"in_scope"`
}

// answer is what scan says.
type answer struct {
	Result  string `json:"result"`
	Matches []struct {
		Fault   string   `json:"fault"`
		Aliases []string `json:"aliases"`
	} `json:"matches"`
}

// The ways in which an answer can be.
const (
	right   = "right"
	wrong   = "wrong"   // it names another cause
	evasive = "evasive" // it names none where the text decides, or is unsure where nothing is wrong
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	verbose := flag.Bool("v", false, "print each answer that is not right")
	flag.Parse()
	if err := run(ctx, os.Stdout, flag.Args(), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, files []string, verbose bool) error {
	if len(files) == 0 {
		return fmt.Errorf("name files of cases")
	}
	count := map[string]map[string]int{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("open cases: %w", err)
		}
		err = each(f, func(c testCase) error {
			a, err := ask(ctx, c.Evidence)
			if err != nil {
				return fmt.Errorf("case %s: %w", c.ID, err)
			}
			how := judge(c, a)
			if count[c.Confidence] == nil {
				count[c.Confidence] = map[string]int{}
			}
			count[c.Confidence][how]++
			if verbose && how != right {
				fmt.Fprintf(out, "%s %s %s: %s, want one of %s\n", c.ID, c.Confidence, how, first(a), strings.Join(c.Acceptable, ", "))
			}
			return nil
		})
		if err := f.Close(); err != nil {
			return fmt.Errorf("close cases: %w", err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		n := count[k]
		all := n[right] + n[wrong] + n[evasive]
		fmt.Fprintf(out, "%-10s %3d of %3d right (%d %%), %d wrong, %d evasive\n", k, n[right], all, 100*n[right]/all, n[wrong], n[evasive])
	}
	return nil
}

// each reads cases, and leaves those out of scope out.
func each(in io.Reader, use func(testCase) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c := testCase{Confidence: "other"}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("read a case: %w", err)
		}
		if c.InScope != nil && !*c.InScope {
			continue
		}
		if err := use(c); err != nil {
			return err
		}
	}
	return lines.Err()
}

// ask scans a text.
func ask(ctx context.Context, text string) (answer, error) {
	var out, complaints bytes.Buffer
	code := cli.Main(ctx, []string{"rollcall", "scan", "-o", "json", "-"}, cmdutil.IO{
		In: strings.NewReader(text), Out: &out, Err: &complaints, Getenv: func(string) string { return "" }, Clock: time.Now,
	})
	var a answer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("scan ended with %d: %s", code, strings.TrimSpace(complaints.String()))
	}
	return a, ctx.Err()
}

// first is the first cause of an answer, or its result where it names none.
func first(a answer) string {
	if a.Result == "present" && len(a.Matches) > 0 {
		return a.Matches[0].Fault
	}
	return a.Result
}

func judge(c testCase, a answer) string {
	ok := func(name string) bool { return slices.Contains(c.Acceptable, name) }
	switch {
	case a.Result == "present" && len(a.Matches) > 0:
		if slices.ContainsFunc(append([]string{a.Matches[0].Fault}, a.Matches[0].Aliases...), ok) {
			return right
		}
		return wrong
	case ok("unknown"), a.Result == "absent" && ok("none"):
		return right
	}
	return evasive
}
