package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// startMCP starts `rollcall mcp` over a directory, and returns a client of it.
func startMCP(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan cmdutil.ExitCode, 1)
	go func() {
		code := cli.Main(context.Background(), []string{"rollcall", "mcp", "--archives-only", "--root", dir, "--budget", "16777216"},
			cmdutil.IO{Cache: shared, In: in, Out: out, Err: io.Discard, Getenv: func(string) string { return "" }, Clock: sameClock})
		_ = out.Close() // a pipe: it has no error
		ended <- code
	}()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "bench"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close() // the server ends with its input, which the code shows
		if code := <-ended; code != cmdutil.ExitOK {
			t.Errorf("mcp ends with %d", code)
		}
	})
	return c
}

// sameClock is the time of both runs.
func sameClock() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// TestMCP: through the tools of `rollcall mcp` each case has the answer of the command line.
func TestMCP(t *testing.T) {
	list, err := load(os.DirFS("cases"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	c := startMCP(t, root)
	for i := range list {
		one := &list[i]
		if os.Getenv("ROLLCALL_WHOLE") == "" && i%sampled != 0 {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			dir := filepath.Join(root, one.name)
			if err := os.CopyFS(dir, one.files); err != nil {
				t.Fatal(err)
			}
			params, args := &mcp.CallToolParams{Name: "diagnose", Arguments: map[string]any{"archive": one.name}}, []string{"diagnose", "--from", dir}
			if one.Form != "archive" {
				text := strings.ToValidUTF8(string(one.files[inputFile].Data), "\ufffd")
				params, args = &mcp.CallToolParams{Name: "scan", Arguments: map[string]any{"text": text}}, []string{"scan", filepath.Join(dir, inputFile)}
			}
			got, err := c.CallTool(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			if got.IsError {
				t.Fatal(got.Content[0].(*mcp.TextContent).Text)
			}
			raw, err := json.Marshal(got.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			cli.Main(t.Context(), append(append([]string{"rollcall"}, args...), "-o", "json"), cmdutil.IO{Cache: shared,
				In: strings.NewReader(""), Out: &out, Err: io.Discard,
				Getenv: func(string) string { return "" }, Clock: sameClock})
			want := strings.ReplaceAll(out.String(), filepath.Join(dir, inputFile), "the text")
			if a, b := sameIn(t, string(raw)), sameIn(t, want); !reflect.DeepEqual(a, b) {
				t.Errorf("mcp: %v\ncommand line: %v", a, b)
			}
		})
	}
}

// salted are digests, which differ from run to run.
var salted = regexp.MustCompile(`redacted [0-9a-f]{16}`)

// sameIn is a document without what differs from run to run.
func sameIn(t *testing.T, raw string) map[string]any {
	t.Helper()
	doc := map[string]any{}
	if err := json.Unmarshal([]byte(salted.ReplaceAllString(raw, "redacted")), &doc); err != nil {
		t.Fatalf("%v: %.300s", err, raw)
	}
	delete(doc, "stats") // times
	return doc
}
