package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
)

// TestSeveralArchives: the archives of a directory that nobody named as parts of one reading are not read as one cluster,
// however they are packed and where they lie; a single one is.
func TestSeveralArchives(t *testing.T) {
	one, other := archived(t, ""), archived(t, "healthy")
	waits := func(api string) string {
		return `time="2026-03-01T07:10:00Z" level=info msg="Waiting up to 20m0s for the Kubernetes API at https://` + api + `:6443..."` + "\n"
	}
	text := func(s string) func(string) error {
		return func(to string) error { return os.WriteFile(to, []byte(s), 0o600) }
	}
	file := func(from string) func(string) error {
		return func(to string) error {
			raw, err := os.ReadFile(from)
			return errors.Join(err, os.WriteFile(to, raw, 0o600))
		}
	}
	for name, c := range map[string]struct {
		files map[string]func(string) error
		want  string // in the error; "": it is read
	}{
		"nothing but archives":     {map[string]func(string) error{"a.tar.gz": file(one), "b.tar.gz": file(other)}, "a.tar.gz and b.tar.gz are each a collection"},
		"with a note":              {map[string]func(string) error{"a.tar.gz": file(one), "b.tar.gz": file(other), "NOTE": text("mine")}, "the directory holds 2 archives"},
		"with another ending":      {map[string]func(string) error{"a.tgz": file(one), "b.tgz": file(other)}, "the directory holds 2 archives"},
		"below":                    {map[string]func(string) error{"x/a.tgz": file(one), "y/b.tgz": file(other)}, "fleet --archives "},
		"one and a note":           {map[string]func(string) error{"a.tgz": file(one), "NOTE": text("mine")}, ""},
		"logs of two clusters":     {map[string]func(string) error{"a.log": text(waits("api.a.example.com")), "b.log": text(waits("api.b.example.com"))}, "api.b.example.com:6443. A line for each: rollcall fleet"},
		"two logs of one cluster":  {map[string]func(string) error{"a.log": text(waits("api.a.example.com")), "b.log": text(waits("api.a.example.com"))}, ""},
		"an ending is no archive":  {map[string]func(string) error{"a.tgz": file(one), "b.tgz": text("no archive")}, ""},
		"logs and a text of notes": {map[string]func(string) error{"a.log": text(waits("api.a.example.com")), "b.log": text(waits("api.b.example.com")), "n.md": text("# notes\n")}, "Name those of one cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, write := range c.files {
				to := filepath.Join(dir, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), write(to)); err != nil {
					t.Fatal(err)
				}
			}
			env, _ := surroundings(t)
			r, err := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{dir}}).Open(t.Context())
			if err == nil {
				err = r.Close()
			}
			several := (*SeveralArchivesError)(nil)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &several) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v, want %q in it", err, c.want)
			}
		})
	}
}
