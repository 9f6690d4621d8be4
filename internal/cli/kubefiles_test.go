//go:build unix

package cli

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
		var k kubeFlags
		set := pflag.NewFlagSet("test", pflag.ContinueOnError)
		k.addFlags(set)
		if err := set.Parse(args); err != nil {
			t.Fatal(err)
		}
		k.has("one")
		return k.restConfig()
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString(twoContexts); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { writer.Close() })
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
	if _, err := loadKubeconfig(pipe); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Error(err)
	}
	if c, err := loadKubeconfig(file); err != nil || c.Host != "https://a.example:6443" {
		t.Errorf("a file: %+v, %v", c, err)
	}
}
