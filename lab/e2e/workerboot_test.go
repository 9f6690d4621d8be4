package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// part is what the end of a run shows of one worker that has not joined.
func part(r result, name string) string {
	_, text, _ := strings.Cut(r.out, "\n"+name+": ")
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// tokenKey is the key of a token Secret of the hosted cluster that a token is in, "" where none is.
func (w *world) tokenKey(t *testing.T, token string) string {
	t.Helper()
	list, err := w.kubernetes(t).CoreV1().Secrets("clusters-guest").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Items {
		for key, value := range s.Data {
			if strings.HasPrefix(s.Name, "token-") && string(value) == token {
				return key
			}
		}
	}
	return ""
}

// bootSlowly begins a run, and rotates the token while the firmware of its worker still works:
// before Ignition asks for the config, and after the others of the run are in: six hours pass for
// those, too. It returns the token that the worker was given, and what ends with the run.
func (w *world) bootSlowly(t *testing.T, name string, others []string, rotations int, args []string) (token string, done chan result) {
	t.Helper()
	done = make(chan result, 1)
	go func() { done <- w.live(args...) }()
	eventually(t, time.Minute, func() string {
		_, err := os.Stat(filepath.Join(w.dir, "boot", name+".run"))
		if err != nil {
			return err.Error()
		}
		return ""
	})
	config, err := os.ReadFile(filepath.Join(w.dir, "boot", name+".ign"))
	if err != nil {
		t.Fatal(err)
	}
	token = tokenForms(t, config)[1]
	for _, other := range others {
		eventually(t, time.Minute, func() string { return w.isIn(t, other) })
	}
	for range rotations {
		if r := w.lab("outside", "token"); r.code != 0 {
			t.Fatal(r)
		}
	}
	screen, err := os.ReadFile(w.consoleFile(name))
	if err != nil || !strings.Contains(string(screen), "Linux version") || strings.Contains(string(screen), "Ignition") {
		t.Fatalf("%s is not in its firmware after the rotation: %v\n%s", name, err, screen)
	}
	return token, done
}

// isIn says what is missing until a run has nothing more to do for a worker: its user-data is
// removed, and its requests are decided on.
func (w *world) isIn(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(w.dir, "boot", name+".ign")); err == nil {
		return "the user-data of " + name + " is still there"
	}
	list, err := w.hostedKube(t).CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	issued := 0
	for _, q := range list.Items {
		if strings.HasSuffix(lab.CommonName(&q), ":"+name) && len(q.Status.Certificate) > 0 {
			issued++
		}
	}
	if issued < 3 {
		return fmt.Sprintf("%s has %d certificates, want those of its kubelet and of its network plugin", name, issued)
	}
	return ""
}

// TestWorkerRotated: the token is rotated while a machine boots. Once is no trouble, because the
// server keeps the token before. After the second time the machine is named as one whose
// user-data is outdated; the other worker of the run is not delayed, and re-created it joins.
func TestWorkerRotated(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	token, done := w.bootSlowly(t, "guest5", nil, 1, w.labWorkers(5, 1, "--option", "guest5=boots-slowly", "--window", "8m"))
	if key := w.tokenKey(t, token); key != "old_token" {
		t.Errorf("guest5 has the token of key %q, want that before the rotation", key)
	}
	r := <-done
	if r.code != 0 || !strings.Contains(r.out, "1 of 1 workers are Ready") || strings.Contains(r.out, "cause") {
		t.Fatalf("one rotation: %s", r)
	}
	t.Logf("one rotation during the boot: Ready after %s", r.took.Round(time.Second))

	token, done = w.bootSlowly(t, "guest6", []string{"guest7"}, 2, w.labWorkers(6, 2, "--option", "guest6=boots-slowly", "--window", "10m"))
	if key := w.tokenKey(t, token); key != "" {
		t.Errorf("the token of guest6 is still known as %s", key)
	}
	r = <-done
	if text := part(r, "guest6"); r.code != 3 || !strings.Contains(r.out, "1 of 2 workers are Ready") || !strings.Contains(r.out, "guest7: Node is Ready") ||
		!strings.Contains(text, "cause (proven): guest6") || !strings.Contains(text, "(user-data-copy-outdated)") {
		t.Fatalf("two rotations: %s", r)
	}
	t.Logf("two rotations during the boot: named and ended after %s", r.took.Round(time.Second))
	if again := w.live("worker", "resume", runID(r), "--recreate", "--window", "5m"); again.code != 0 || !strings.Contains(again.out, "2 of 2 workers are Ready") {
		t.Errorf("re-created: %s", again)
	}
}

// TestWorkerUnsigned: no one approves the request of one worker's network plugin, and another
// worker has a name that nothing expects, so that no one approves its first request. Each is
// named, and the two good ones of the run are not delayed.
func TestWorkerUnsigned(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("ten minutes; " + full)
	}
	w := up(t, "hosted", true)
	r := w.live(w.labWorkers(5, 4, "--option", "guest5=cni-unsigned", "--option", "guest6=host-name-other", "--window", "9m")...)
	if r.code != 3 || !strings.Contains(r.out, "2 of 4 workers are Ready") {
		t.Fatal(r)
	}
	if text := part(r, "guest5"); !strings.Contains(text, "network-ready") || !strings.Contains(text, "cause (proven): guest5: the network plugin waits for its certificate") || !strings.Contains(text, "(hosted-network-request-pending)") {
		t.Errorf("guest5: %s", text)
	}
	if text := part(r, "guest6"); text == "" || strings.Contains(text, "proven") || !strings.Contains(r.out, "Requests of names that nothing expects wait in the hosted cluster: stranger") {
		t.Errorf("guest6: %s", text)
	}
	first := firstEvent(t, r)
	for _, good := range []string{"guest7", "guest8"} {
		after := eventTime(t, r, good+": Node is Ready").Sub(first)
		t.Logf("%s is Ready after %s", good, after)
		if after > 2*time.Minute {
			t.Errorf("%s was delayed for %s", good, after)
		}
	}
	requests, err := w.hostedKube(t).CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for _, q := range requests.Items {
		if strings.Contains(lab.CommonName(&q), "stranger") {
			asked = true
			if len(q.Status.Conditions) > 0 {
				t.Errorf("somebody has decided on a request of the stranger: %s", q.Name)
			}
		}
	}
	if !asked {
		t.Error("the stranger has not asked")
	}
	if t.Failed() {
		t.Log(r)
	}
}

// eventTime is the time of the first event line of a run that ends with text.
func eventTime(t *testing.T, r result, text string) time.Time {
	t.Helper()
	for line := range strings.Lines(r.out) {
		if at, what, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && (text == "" || what == text) {
			if when, err := time.Parse(time.RFC3339, at); err == nil {
				return when
			}
		}
	}
	t.Fatalf("no event %q: %s", text, r)
	return time.Time{}
}

func firstEvent(t *testing.T, r result) time.Time { t.Helper(); return eventTime(t, r, "") }
