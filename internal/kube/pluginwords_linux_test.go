package kube

import (
	"bytes"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// buffer is a stderr that a test reads while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// stderr is what plugins of a test are shown on.
func stderr(t *testing.T) *buffer {
	t.Helper()
	EndPlugins() // of other tests
	out, own := &buffer{}, pluginOut
	pluginOut = out
	t.Cleanup(func() { EndPlugins(); pluginOut = own })
	return out
}

const gives = `; echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'`

// TestPluginWords: what a credential plugin writes to its stderr has no secrets and nothing that a terminal obeys, whether
// it gives a credential or not.
func TestPluginWords(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"secret":     {`echo 'login password: kestrel77exec' >&2`, "login password: [redacted"},
		"colored":    {`printf 'login password: \033[1mkestrel77exec\033[0m\n' >&2`, "login password: [redacted"},
		"next line":  {`printf 'password:\nkestrel77exec\n' >&2`, "password:\n[redacted"},
		"escapes":    {`printf 'see \033]0;t\aand\033[2J log in\r\n' >&2`, "see and log in\n"},
		"no end":     {`printf 'log in at https://idp.example/device' >&2`, "log in at https://idp.example/device\n"},
		"parted":     {`printf 'login password: kestrel' >&2; sleep 0.4; printf '77exec\n' >&2`, "login password: [redacted"},
		"blank":      {`printf 'login password: kestrel77exec ' >&2; sleep 0.4; printf 'x\n' >&2`, "login password: [redacted"},
		"value late": {`printf 'password:\nkestrel77exec ' >&2; sleep 0.4; echo >&2`, "password:\n[redacted"},
		"as before":  {`printf 'code \000ABC\000 is shown\n' >&2`, "code ABC is shown\n"},
	} {
		for _, end := range []string{gives, "; exit 1"} {
			t.Run(name+end[:6], func(t *testing.T) {
				out := stderr(t)
				c2, _ := clientWith(t, c.script+end, time.Minute, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
				_, _, err := c2.Do(t.Context(), pods)
				if failed := end != gives; failed != (err != nil) {
					t.Error(err)
				}
				if err == nil {
					EndPlugins() // an error waits for it by itself
				}
				if got := out.String(); !strings.HasPrefix(got, c.want) || strings.Contains(got, "kestrel") || strings.ContainsAny(got, "\x1b\a\r\x00") {
					t.Errorf("%q", got)
				}
			})
		}
	}
}

// TestPluginPrompt: a prompt is shown while the plugin waits, and what follows on its line once.
func TestPluginPrompt(t *testing.T) {
	out := stderr(t)
	c, file := clientWith(t, `printf 'MFA code: ' >&2; while ! [ -e "$1" ]; do sleep 0.02; done; echo thanks >&2`+gives, time.Minute,
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	done := make(chan error, 1)
	go func() { _, _, err := c.Do(t.Context(), pods); done <- err }()
	for range 500 {
		if out.String() != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := out.String(); got != "MFA code: " {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	EndPlugins()
	if got := out.String(); got != "MFA code: thanks\n" {
		t.Errorf("%q", got)
	}
}

// TestPluginFloods: what a plugin writes without end is bounded, in lines and in one, and does not hold it up; a later
// credential has its own bound.
func TestPluginFloods(t *testing.T) {
	for name, flood := range map[string]string{
		"lines":    `yes 'please log in first' | head -c 3000000 >&2`,
		"one line": `head -c 3000000 /dev/zero | tr '\0' 'x' >&2`,
	} {
		t.Run(name, func(t *testing.T) {
			out := stderr(t)
			refuse := false
			c, file := clientWith(t, `if [ -e "$1" ]; then echo again >&2; else touch "$1"; `+flood+`; fi`+gives, time.Minute,
				http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if refuse {
						w.WriteHeader(http.StatusUnauthorized)
					}
					_, _ = w.Write([]byte("{}"))
				}))
			if _, _, err := c.Do(t.Context(), pods); err != nil {
				t.Fatal(err)
			}
			refuse = true
			_, _, _ = c.Do(t.Context(), pods)
			EndPlugins()
			got := out.String()
			if len(got) > maxWords+200 || strings.Count(got, "is not shown)\n") != 1 || !strings.HasSuffix(got, "is not shown)\nagain\n") {
				t.Errorf("%d bytes, the last are %q", len(got), got[max(0, len(got)-200):])
			}
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPluginsEnd: nothing is left of a plugin's pipe, also where a process that it has started keeps it, and os.Stderr is
// what it was.
func TestPluginsEnd(t *testing.T) {
	out, own := stderr(t), os.Stderr
	before := goleak.IgnoreCurrent()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			c, file := clientWith(t, `sleep 1000 >/dev/null & echo $! > "$1"; echo 'Logged in.' >&2`+gives+" # "+strings.Repeat("x", i%5),
				time.Minute, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
			if _, _, err := c.Do(t.Context(), pods); err != nil {
				t.Error(err)
			}
			c.Close()
			raw, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err != nil || syscall.Kill(pid, 0) != nil {
				t.Error("the process that the plugin has started is not there")
			} else {
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			}
		})
	}
	all.Wait()
	EndPlugins()
	if os.Stderr != own {
		t.Error("os.Stderr was replaced")
	}
	if got := out.String(); got != strings.Repeat("Logged in.\n", 20) {
		t.Errorf("%q", got)
	}
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("net/http/httptest.(*Server).goServe.func1"),
		goleak.IgnoreAnyFunction("net/http.(*conn).serve"), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
