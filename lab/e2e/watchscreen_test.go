package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// seesEvents: on the terminal of a watch over hundreds of nodes, a node that becomes not ready
// is named in seconds. What it took is logged: the bound is wide, as other labs run at the same time.
func seesEvents(t *testing.T, w *world) {
	t.Helper()
	const within = 10 * time.Second
	cmd := w.command("watch", "--stop-on", "never", "--kubeconfig", w.kube)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	screen := &screen{}
	ended := make(chan struct{})
	go func() { defer close(ended); screen.read(terminal) }()
	defer func() {
		_ = terminal.Close()
		<-ended
	}()
	screen.await(t, 0, 4*time.Minute, "hosts have joined")
	for i := 1; i <= 3; i++ {
		name := fmt.Sprintf("worker-%04d", i)
		for _, ready := range []string{"False", "True"} {
			at, began := screen.len(), time.Now()
			w.setReady(t, name, ready)
			screen.await(t, at, within, name)
			t.Logf("%s Ready=%s: on the screen after %s", name, ready, time.Since(began).Round(time.Millisecond))
			time.Sleep(time.Second)
		}
	}
	if _, err := terminal.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v", err)
	}
}

// setReady writes the condition as a kubelet does.
func (w *world) setReady(t *testing.T, node, status string) {
	t.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"TestRow","lastTransitionTime":%q}]}}`,
		status, time.Now().UTC().Format(time.RFC3339))
	nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	if _, err := w.client(t).Resource(nodes).Patch(t.Context(), node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// screen is what a terminal was sent.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) read(f *os.File) {
	chunk := make([]byte, 4096)
	for {
		n, err := f.Read(chunk)
		s.mu.Lock()
		s.buf.Write(chunk[:n])
		s.mu.Unlock()
		if err != nil { // EIO where the program has exited
			return
		}
	}
}

func (s *screen) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Len()
}

// await waits until the text was sent after a place.
func (s *screen) await(t *testing.T, at int, within time.Duration, text string) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		s.mu.Lock()
		now := s.buf.String()[at:]
		s.mu.Unlock()
		if strings.Contains(now, text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not on the screen after %s: %q\n%q", within, text, now)
		}
	}
}
