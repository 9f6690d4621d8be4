package cli

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestWatchInterrupted: Ctrl-C ends with 130, also during the first run.
func TestWatchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	in := cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Clock: time.Now}
	time.AfterFunc(300*time.Millisecond, cancel)
	code := Main(ctx, []string{"rollcall", "watch", "--kubeconfig", unansweredKubeconfig(t)}, in)
	if code != cmdutil.ExitInterrupted || !strings.Contains(out.String(), "ended with 130: interrupted") {
		t.Errorf("code %d\n%s%s", code, out.String(), errs.String())
	}
}

// unansweredKubeconfig leads to an API server that takes connections and says nothing.
func unansweredKubeconfig(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://" + l.Addr().String() + "'}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\nusers: [{name: u, user: {token: t}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
