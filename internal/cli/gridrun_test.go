package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// inTime runs a cell alone, up to three times, until it ends in time. How long the same command takes with the whole API is
// measured just before: what a machine is too busy for is slow there, too, and what waits too long is late each time.
func (g *gridFiles) inTime(t *testing.T, c cell) (r result) {
	base := c
	base.kind, base.hosted = clitest.BrokenServers()[0], false
	for range 3 {
		whole := g.run(t, base)
		if r = g.run(t, c); r.took <= gridMost+max(gridWork, 3*whole.took) {
			r.took = min(r.took, gridMost+gridWork)
			break
		}
	}
	r.judge()
	return r
}

// judge fills in what is wrong.
func (r *result) judge() {
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	all := r.out + r.errs
	switch {
	case r.hung:
		wrong("it does not end")
	case r.took > gridMost+gridWork:
		wrong("too late")
	}
	switch r.code {
	case cmdutil.ExitOK, cmdutil.ExitFailed, cmdutil.ExitFault, cmdutil.ExitUndecided, cmdutil.ExitRolledBack, cmdutil.ExitNeedsHuman, cmdutil.ExitPartlyDone,
		cmdutil.ExitInterrupted:
	default:
		wrong("not an exit code of the table")
	}
	if strings.Contains(all, "defect of the program") || strings.Contains(all, "goroutine ") || strings.Contains(all, "panic: ") {
		wrong("a panic")
	}
	if strings.Contains(all, clitest.PlantedWord) {
		wrong("the secret is shown")
	}
	if strings.TrimSpace(all) == "" {
		wrong("no word")
	}
	if r.kind.Blind && r.code == cmdutil.ExitOK && !r.hosted && r.command != "rollcall __complete" {
		wrong("exit code 0 and nothing was read")
	}
	if r.code == cmdutil.ExitFailed && strings.TrimSpace(r.errs) == "" {
		wrong("exit code 1 and no sentence")
	}
}

// run runs a cell with files of its own.
func (g *gridFiles) run(t *testing.T, c cell) result {
	dir := t.TempDir()
	if err := copyTree(dir, g.dir); err != nil {
		t.Error(err)
	}
	var whole http.Handler = g.broken
	hostedAPI := http.Handler(g.guests.hosted)
	if strings.Contains(c.words, "--hosted ") {
		whole = g.guests.management
	}
	kind, hostedKind := c.kind, clitest.BrokenServers()[0]
	if c.hosted {
		kind, hostedKind = hostedKind, kind
	}
	guest := httptest.NewUnstartedServer(nil)
	stop := make(chan struct{})
	guest.Config.Handler, guest.Config.ErrorLog = hostedKind.Over(hostedAPI, stop), log.New(io.Discard, "", 0)
	guest.StartTLS()
	defer func() { close(stop); guest.CloseClientConnections(); guest.Close() }()
	served := whole
	whole = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "-admin-kubeconfig") {
			serveKubeconfig(w, guest, hostedKind.TLS)
			return
		}
		served.ServeHTTP(w, q)
	})
	server, end := kind.Serve(whole)
	defer end()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	write := func() error { return clitest.WriteKubeconfig(kubeconfig, server.URL) }
	if kind.Plugin != "" {
		write = func() error { return clitest.WritePluginKubeconfig(kubeconfig, server, kind.Plugin) }
	}
	if err := write(); err != nil {
		t.Error(err)
	}
	words := strings.Fields(strings.NewReplacer("{k}", kubeconfig, "{d}", dir, "{run}", g.id).Replace(c.words))
	args := append(strings.Fields(c.command), words...)
	if c.command != "rollcall __complete" { // there it is not the last word
		args = append(args, "--request-timeout", gridRequest.String())
	}
	r := result{cell: c}
	ctx, cancel := context.WithTimeout(t.Context(), gridEnd)
	defer cancel()
	// A process of its own: a panic anywhere in it ends as it does for a user.
	var out, errs bytes.Buffer
	run := exec.CommandContext(ctx, "rollcall", args[1:]...)
	run.Dir, run.Stdout, run.Stderr = dir, &out, &errs
	if c.command == "rollcall csr serve" { // it serves until it is stopped: some time after its first word
		run.Stderr = io.MultiWriter(&errs, &firstWord{func() { time.AfterFunc(gridRequest, cancel) }})
	}
	run.Env = append(os.Environ(), "HOME="+dir, "KUBECONFIG=", "LC_ALL=C.UTF-8", clitest.ClockVariable+"="+clitest.Now.Format(time.RFC3339)+"+")
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = gridMost
	began := time.Now()
	err := run.Run()
	r.hung = errors.Is(err, exec.ErrWaitDelay) || run.ProcessState == nil || run.ProcessState.ExitCode() < 0
	if !r.hung {
		r.code = cmdutil.ExitCode(run.ProcessState.ExitCode())
	}
	r.took, r.out, r.errs = time.Since(began), out.String(), errs.String()
	if leak := planted(dir); leak != "" {
		r.wrong = append(r.wrong, "the secret is in "+leak)
	}
	if half := halfWritten(dir); half != "" {
		r.wrong = append(r.wrong, "left behind: "+half)
	}
	return r
}

// firstWord is called once, with the first write.
type firstWord struct{ call func() }

func (w *firstWord) Write(p []byte) (int, error) {
	if w.call != nil {
		w.call()
		w.call = nil
	}
	return len(p), nil
}

// halfWritten is a file below a directory that has the name of one on the way.
func halfWritten(dir string) (half string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && slices.ContainsFunc([]string{".part", ".new-", ".rollcall-"}, func(mark string) bool { return strings.Contains(d.Name(), mark) }) {
			half = d.Name()
		}
		return err
	})
	return half
}

// planted is a file below a directory with the secret in it.
func planted(dir string) (leak string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(clitest.PlantedWord)) {
			leak = filepath.Base(path)
		}
		return nil
	})
	return leak
}

// serveKubeconfig answers with the Secret that has the kubeconfig of a hosted cluster.
func serveKubeconfig(w http.ResponseWriter, guest *httptest.Server, unknownCA bool) {
	ca := guest.Certificate().Raw
	if unknownCA {
		other := httptest.NewTLSServer(nil)
		defer other.Close()
		ca = other.Certificate().Raw
	}
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"+
		"clusters: [{name: c, cluster: {server: '%s', certificate-authority-data: %s}}]\nusers: [{name: u, user: {token: hosted-token}}]\n",
		guest.URL, base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca})))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Secret", "apiVersion": "v1", "metadata": clitest.Object{},
		"data": clitest.Object{"kubeconfig": []byte(config)}})
}
