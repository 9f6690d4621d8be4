//go:build unix

package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// TestKubeconfigPipe: a kubeconfig may come through a pipe and is read once, whoever asks; one
// without a writer, and a pipe instead of a certificate, are errors and no wait.
func TestKubeconfigPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(twoContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	config := func(args ...string) (*rest.Config, error) {
		k := New()
		set := pflag.NewFlagSet("test", pflag.ContinueOnError)
		k.AddFlags(set)
		if err := set.Parse(args); err != nil {
			t.Fatal(err)
		}
		k.HasContext("one")
		return k.RESTConfig()
	}
	writeOnce(t, pipe, twoContexts)
	if c, err := config("--kubeconfig", pipe, "--context", "two"); err != nil || c.Host != "https://b.example:6443" {
		t.Errorf("through a pipe: %+v, %v", c, err)
	}
	t.Setenv("KUBECONFIG", pipe)
	for want, args := range map[string][]string{
		"is empty: no program has written":        {"--kubeconfig", pipe},
		"pipe is empty":                           {},
		"client-certificate: open " + pipe:        {"--kubeconfig", file, "--client-certificate", pipe, "--client-key", file},
		"client-key: open " + pipe:                {"--kubeconfig", file, "--client-certificate", file, "--client-key", pipe},
		"certificate-authority: open " + pipe:     {"--kubeconfig", file, "--certificate-authority", pipe},
		"no-such-file: no such file or directory": {"--kubeconfig", file, "--certificate-authority", filepath.Join(dir, "no-such-file")},
	} {
		if _, err := config(args...); err == nil || !strings.Contains(strings.Replace(err.Error(), "the pipe "+pipe, "pipe", 1), strings.Replace(want, "the pipe", "pipe", 1)) {
			t.Errorf("%v: %v", args, err)
		}
	}
	t.Setenv("KUBECONFIG", pipe+string(filepath.ListSeparator)+file)
	if _, err := config(); err == nil || !strings.Contains(err.Error(), "has to be the only kubeconfig") {
		t.Error(err)
	}
	if _, err := Load(pipe); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Error(err)
	}
	if c, err := Load(file); err != nil || c.Host != "https://a.example:6443" {
		t.Errorf("a file: %+v, %v", c, err)
	}
}

// writeOnce writes to a pipe, and closes it shortly after.
func writeOnce(t *testing.T, pipe, text string) {
	t.Helper()
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString(text); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { writer.Close() })
}

// TestKubeconfigAgain: who watches loads the kubeconfig again, which can be another one by then,
// and does so at the same time as a run does; a pipe was read by then, and is known.
func TestKubeconfigAgain(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "config"), filepath.Join(dir, "pipe")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := func(k *Flags) string {
		k.loaded = nil
		c, err := k.RESTConfig()
		if err != nil {
			t.Error(err)
			return ""
		}
		return c.Host
	}
	write(twoContexts)
	k := New()
	k.KubeConfig = file
	if got := host(&k); got != "https://a.example:6443" {
		t.Errorf("at first %s", got)
	}
	write(strings.ReplaceAll(twoContexts, "a.example", "c.example"))
	if got := host(&k); got != "https://c.example:6443" {
		t.Errorf("after it was written again %s", got)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	writeOnce(t, pipe, twoContexts)
	k.KubeConfig = pipe
	other := k
	got := make(chan string)
	go func() { got <- host(&other) }()
	if a, b := host(&k), <-got; a != "https://a.example:6443" || a != b {
		t.Errorf("through one pipe %s and %s", a, b)
	}
}
