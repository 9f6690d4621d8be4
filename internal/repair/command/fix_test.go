package command

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// TestPlanName: a file is told from an id.
func TestPlanName(t *testing.T) {
	if id, _, err := planName("bootstrap-mc-mismatch-20260501-030000"); err != nil || id != "bootstrap-mc-mismatch-20260501-030000" {
		t.Errorf("an id: %q, %v", id, err)
	}
	for _, file := range []string{"p.yaml", "p.yml", "p.json", "./p", "dir/p"} {
		if _, _, err := planName(file); err == nil || !strings.Contains(err.Error(), "there is no such file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestConfirm: a person at a terminal sees the steps before anything is done, and only
// "yes" continues; who is at no terminal, or says --yes, is not asked.
func TestConfirm(t *testing.T) {
	plan := &repair.Plan{ID: "p", Steps: []repair.Step{{ID: "1-adopt-spec-config", Action: repair.AdoptSpecConfig, Title: "fill the status", OC: "oc patch"}}}
	for _, tt := range []struct {
		typed          string
		terminal, yes  bool
		quiet          bool
		refused, shown bool
	}{
		{"yes\n", true, false, false, false, true},
		{"yes", true, false, true, false, true}, // quiet, and still shown
		{"y\n", true, false, false, true, true},
		{"\n", true, false, false, true, true},
		{"", true, false, false, true, true},
		{"", true, true, false, false, true},
		{"", false, false, false, false, true},
		{"", false, false, true, false, false},
	} {
		for _, verb := range []string{"apply", "resume", "undo"} {
			var errs bytes.Buffer
			a := &app{App: cmdutil.New("rollcall", cmdutil.IO{In: strings.NewReader(tt.typed), Out: io.Discard, Err: &errs, Getenv: func(string) string { return "" },
				Screen: cmdutil.Screen{InTerminal: tt.terminal, ErrTerminal: tt.terminal}}), source: cmdutil.Options()}
			a.Quiet = tt.quiet
			err := a.announce(fixFlags{yes: tt.yes}, verb, plan, plan.Steps)
			if (err != nil) != tt.refused || strings.Contains(errs.String(), "fill the status") != tt.shown {
				t.Errorf("%s %+v: %v\n%s", verb, tt, err, &errs)
			}
			if asked := strings.Contains(errs.String(), "Type yes to "+verb); asked != (tt.terminal && !tt.yes) {
				t.Errorf("%s %+v: asked: %v", verb, tt, asked)
			}
		}
	}
}

// TestFreshUnknownVersion: where ClusterVersion cannot be read, no fault is called
// absent.
func TestFreshUnknownVersion(t *testing.T) {
	c, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(c)
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(path, srv.URL); err != nil {
		t.Fatal(err)
	}
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Clock: func() time.Time { return clitest.Now }}), source: cmdutil.Options()}
	a.source.Kube.KubeConfig = path
	key := fault.Key{Fault: "pool-source-missing", Subject: fault.Subject{Kind: fault.Pool, Name: "master"}}
	for _, want := range []fault.Outcome{fault.Absent, fault.Unknown} {
		f, err := fresh{a}.Evaluate(t.Context(), key)
		if err != nil || f.Outcome != want {
			t.Errorf("Evaluate: %+v, %v, want %s", f, err, want)
		}
		c.Mu.Lock()
		c.Denied["clusterversions"] = http.StatusForbidden
		c.Mu.Unlock()
	}
}
