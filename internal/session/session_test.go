package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// at is the clock of these tests.
var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// surroundings returns an environment without a kubeconfig, and the warnings that are printed.
func surroundings(t *testing.T) (Env, *[]string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var warned []string
	return Env{
		Name: "rollcall", In: strings.NewReader(""), Getenv: func(string) string { return "" }, Clock: func() time.Time { return at },
		Log: slog.New(slog.DiscardHandler), Remedies: func() []string { return nil }, Clean: func(s string) string { return s },
		Warn:     func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) },
		Progress: func(string, ...any) func() { return func() {} },
	}, &warned
}

// archived writes the archive of an example to a file.
func archived(t *testing.T, name string) string {
	t.Helper()
	set, err := demo.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := set.Archive(d)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), d.Name+".tar.gz")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenLeavesOptions: a session opens as often as is wanted, with the same answer, and does not
// change its options, also where a former id of a fault is named.
func TestOpenLeavesOptions(t *testing.T) {
	env, _ := surroundings(t)
	o := Options{Kube: kubeconfig.New(), From: []string{archived(t, "")}, Only: []string{"api-front-refused"}}
	ses := New(env, &Cache{}, o)
	var first string
	for range 2 {
		r, err := ses.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Session.Only[0] == o.Only[0] || ses.Only[0] != o.Only[0] {
			t.Errorf("the run has %q, the session %q", r.Session.Only, ses.Only)
		}
		d, err := r.Diagnose(t.Context())
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		answer := fmt.Sprint(d.Verdict, len(d.Findings), d.Now)
		if first == "" {
			first = answer
		}
		if answer != first || len(d.Findings) == 0 {
			t.Errorf("%s, and then %s", first, answer)
		}
	}
}

// TestWith: another session of the same process has its own options and the same catalog.
func TestWith(t *testing.T) {
	env, _ := surroundings(t)
	ses := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{archived(t, "")}})
	if err := ses.KeepCompiled(); err != nil {
		t.Fatal(err)
	}
	whole := ses.Options
	whole.Whole = true
	r, err := ses.With(whole).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known, err := ses.LoadCatalog()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := r.Session.compiler()
	if ses.Whole || !r.Session.Whole || r.Catalog != known || compiler == nil || err != nil {
		t.Errorf("options are shared, or the catalog is not: %v", err)
	}
	other := New(env, ses.cache, ses.Options)
	other.Catalogs = []string{t.TempDir()}
	other.Remedies, other.Checks = func() []string { return nil }, func() []string { return nil }
	if c, err := other.LoadCatalog(); c == known || err == nil { // nobody carries out the remedies, which is a mistake of the catalog
		t.Errorf("a directory of faults is not read: %v", err)
	}
}

// TestRecorded: what a run reads reaches the recorder, at the time of the archive.
func TestRecorded(t *testing.T) {
	env, _ := surroundings(t)
	ses := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{archived(t, "")}})
	wrong := errors.New("no space left on device")
	var now time.Time
	_, err := ses.OpenRecorded(t.Context(), func(n time.Time, _ evidence.Description, _ *scan.Set) (reader.Recorder, error) {
		now = n
		return nil, wrong
	})
	if !errors.Is(err, wrong) || now.IsZero() || now.Equal(at) {
		t.Errorf("%v at %s", err, now)
	}
}

// TestRefused: what cannot be meant is a mistake of the options, before anything is asked.
func TestRefused(t *testing.T) {
	from := []string{archived(t, "")}
	for _, c := range []struct {
		what string
		o    Options
		says string
	}{
		{"a time in another form", Options{From: from, Now: "yesterday"}, "not an RFC 3339 time"},
		{"an unknown fault", Options{From: from, Only: []string{"etcd-no-quorom"}}, "did you mean etcd"},
		{"nothing to check", Options{From: from, Only: []string{"etcd-no-quorum"}, Skip: []string{"etcd-no-quorum"}}, "nothing would be checked"},
		{"an archive and an installation", Options{From: from, InstallDir: "."}, "--from asks none"},
		{"an archive and masters", Options{From: from, Masters: []string{"m0=192.0.2.1"}}, "needs --probe"},
		{"an archive and a node", Options{From: from, ProbeFrom: "node/a"}, "no"},
		{"a hosted cluster without a name", Options{From: from, Hosted: "a"}, "--hosted"},
		{"a kubeconfig of no hosted cluster", Options{HostedKubeconfig: "x"}, "needs --hosted"},
		{"a host without a file", Options{From: from, Consoles: []string{"m0"}}, "HOST=FILE"},
		{"an address that is none", Options{From: from, Expect: []string{"m0=a.b"}}, "a.b"},
	} {
		env, _ := surroundings(t)
		c.o.Kube = kubeconfig.New()
		r, err := New(env, &Cache{}, c.o).Open(t.Context())
		if err == nil {
			r.Close()
		}
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
		}
	}
}

// TestNoCluster: without a kubeconfig the error names the ways out, and of them only those that the command has.
func TestNoCluster(t *testing.T) {
	env, _ := surroundings(t)
	_, err := New(env, &Cache{}, Options{Kube: kubeconfig.New()}).Open(t.Context())
	var none NoClusterError
	if !errors.As(err, &none) || !strings.HasSuffix(none.Error(), "Name one with --kubeconfig FILE") {
		t.Fatal(err)
	}
	for flags, want := range map[string]string{
		"":             "",
		"console":      "",
		"from":         ", read an archive with --from PATH, or look at an example: oc rollcall demo",
		"from console": ", read an archive with --from PATH, a console with --console HOST=FILE, or look at an example: oc rollcall demo",
	} {
		if got := none.Instead("oc rollcall", func(flag string) bool { return slices.Contains(strings.Fields(flags), flag) }); got != want {
			t.Errorf("with flags %q: %q, want %q", flags, got, want)
		}
	}
}

// TestTextAlone: a text in which no object and no log is found is an error that has the text.
func TestTextAlone(t *testing.T) {
	env, _ := surroundings(t)
	path := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(path, []byte("the colleague said that it hangs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{path}}).Open(t.Context())
	var text *TextError
	if !errors.As(err, &text) || text.Path != path || !strings.Contains(string(text.Text), "hangs") {
		t.Error(err)
	}
}

// TestStandardInput: --from - reads an archive once; the session's input is not changed.
func TestStandardInput(t *testing.T) {
	env, _ := surroundings(t)
	f, err := os.Open(archived(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env.In = f
	ses := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{"-"}})
	r, err := ses.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Source.Kind == "" || ses.In != io.Reader(f) {
		t.Errorf("%+v", r.Source)
	}
}

// TestWarnOfNow: a --now far from the archive is said, and taken.
func TestWarnOfNow(t *testing.T) {
	env, warned := surroundings(t)
	r, err := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{archived(t, "")}, Now: "2036-01-01T00:00:00Z"}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(*warned) != 1 || !strings.Contains((*warned)[0], "days from the newest time") || r.Now.Year() != 2036 {
		t.Errorf("%q, %s", *warned, r.Now)
	}
}

// TestSources: sources without a run are closed by the caller, whatever the error is.
func TestSources(t *testing.T) {
	env, _ := surroundings(t)
	list, closeAll, err := New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{archived(t, "")}}).Sources(context.Background())
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if err := closeAll(); err != nil {
		t.Error(err)
	}
	_, closeAll, err = New(env, &Cache{}, Options{Kube: kubeconfig.New(), From: []string{"no-such-file"}}).Sources(context.Background())
	if err == nil || closeAll() != nil {
		t.Error(err)
	}
}

// TestAgain: the flags that read the same once more, each quoted for a shell.
func TestAgain(t *testing.T) {
	live := kubeconfig.New()
	live.KubeConfig, live.Context = "my config", "prod"
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{Kube: live}, "--kubeconfig 'my config' --context prod"},
		{Options{From: []string{"a", "b c"}, Kube: live}, "--from a --from 'b c'"},
		{Options{From: []string{"a"}, Probe: true, Kube: live}, "--from a --probe --kubeconfig 'my config' --context prod"},
		{Options{Kube: live, InstallDir: "d", ofDir: "my config"}, "--install-dir d --context prod"},
		{Options{Consoles: []string{"m0=s"}, Expect: []string{"m1"}, Now: "t", Catalogs: []string{"c"}, Masters: []string{"m=1"}, ProbeFrom: "node/a", Rendezvous: "r"},
			"--rendezvous r --console m0=s --expect m1 --now t --catalog c --master m=1 --probe-from node/a"},
	} {
		if got := c.o.Again(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
	accepted := Options{Accept: "a b", AcceptNamed: true}
	if accepted.AnswerFlags() != "--accept 'a b'" || (&Options{Accept: "a"}).AnswerFlags() != "" {
		t.Error("--accept")
	}
	if !slices.Equal((&Options{Kube: live}).Connection(), []string{"--kubeconfig", "'my config'", "--context", "prod"}) {
		t.Error("the flags of the cluster")
	}
}
