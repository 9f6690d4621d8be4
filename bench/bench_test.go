package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

// shared is the compiled catalog of all runs: to load it takes longer than an answer.
var shared = &session.Cache{}

// inProcess runs Rollcall without a process: hundreds of starts take longer than the answers.
func inProcess(ctx context.Context, args []string) ([]byte, int, error) {
	var out, complaints bytes.Buffer
	code := cli.Main(ctx, args, cmdutil.IO{Cache: shared,
		In: strings.NewReader(""), Out: &out, Err: &complaints, Getenv: func(string) string { return "" }, Clock: time.Now})
	if out.Len() == 0 {
		return []byte(`{"error": "` + strings.ReplaceAll(complaints.String(), `"`, "'") + `"}`), int(code), nil
	}
	return out.Bytes(), int(code), nil
}

// sampled is how many cases plain `go test` runs: every so many of the list. ROLLCALL_WHOLE=1
// runs them all, as CI does.
const sampled = 15

// Rollcall passes its own benchmark.
func TestRollcall(t *testing.T) {
	tool, err := readTool("rollcall.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tool.run = inProcess
	list, err := load(os.DirFS("cases"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		c := &list[i]
		if os.Getenv("ROLLCALL_WHOLE") == "" && i%sampled != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			results, err := try(t.Context(), tool, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if len(r.wrong) > 0 {
					t.Errorf("%s: %s", r.gate, strings.Join(r.wrong, "; "))
				}
			}
		})
	}
}

// A program that always names the same cause does not pass, nor one that never names any.
func TestGatesFail(t *testing.T) {
	list, err := load(os.DirFS("cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		says  string
		gates map[string]bool // that fail for a case with a cause
	}{
		{`{"causes": ["CAUSE"]}`, map[string]bool{gateScenario: false, gateMutation: true, gateNoise: false}},
		{`{"causes": []}`, map[string]bool{gateScenario: true, gateMutation: false, gateNoise: true}},
	} {
		for i := range list {
			c := &list[i]
			if c.Outcome != outcomeCause {
				continue
			}
			c.NextStep, c.Shows = "", ""
			said := strings.ReplaceAll(tt.says, "CAUSE", c.Cause[0])
			tool := &tool{Text: []string{"x"}, Archive: []string{"x"}, Causes: []string{"causes[]"}, run: func(context.Context, []string) ([]byte, int, error) { return []byte(said), 0, nil }}
			results, err := try(t.Context(), tool, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if (len(r.wrong) > 0) != tt.gates[r.gate] {
					t.Errorf("%s: %s fails: %t, want %t", c.name, r.gate, len(r.wrong) > 0, tt.gates[r.gate])
				}
			}
			break
		}
	}
}
