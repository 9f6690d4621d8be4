package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// newGuests are a management cluster and a hosted one of platform None, whose ignition
// endpoint is an address of this machine at which nothing listens.
func newGuests(t *testing.T, change func(userData string) string) *pair {
	t.Helper()
	p := pairOf(t, "ocp-4.14-hosted-none", "edge.one")
	kubeconfig := p.management.secret
	p.management.secret = func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "-admin-kubeconfig") {
			kubeconfig(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		o := p.management.one(q, evidence.Secrets, "v1", "Secret")
		if o == nil {
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
			return
		}
		if data, _ := o["data"].(map[string]any); data["value"] != nil {
			raw, err := base64.StdEncoding.DecodeString(data["value"].(string))
			if err != nil {
				t.Error(err)
			}
			text := strings.ReplaceAll(string(raw), "203.0.113.7:30080", "127.0.0.1:1")
			if change != nil {
				text = change(text)
			}
			o["data"] = map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(text))}
		}
		_ = json.NewEncoder(w).Encode(o)
	}
	return p
}

func TestWorkerPlan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, tt := range []struct {
		name   string
		args   []string
		change func(string) string
		code   cmdutil.ExitCode
		want   []string
	}{
		{"all is well", []string{"--host", "vm-8=192.0.2.8", "--plan"}, nil, cmdutil.ExitOK,
			[]string{"NodePool np-a of hosted cluster guests/edge.one", "vm-8 (192.0.2.8): file vm-8.ign", "needs in the hosted cluster: to list Nodes, list requests", "pods and Secrets of guests-edge-one", "are absent", "has the present token", "not checked the ignition endpoint was not reached from here"}},
		{"a name that is taken", []string{"--host", "vm-7=192.0.2.8"}, nil, cmdutil.ExitFault, []string{"has a host vm-7 already", "Nothing was made"}},
		{"a token that was rotated", []string{"--host", "vm-8=192.0.2.8"}, func(s string) string {
			return strings.Replace(s, "Bearer NmIxZjBmMGUt", "Bearer AAAAAAAAAAAA", 1)
		}, cmdutil.ExitFault, []string{"failed", "just rotated"}},
		{"no address", []string{"--host", "vm-8"}, nil, cmdutil.ExitFailed, []string{"write it as NAME=IP"}},
		{"no host", nil, nil, cmdutil.ExitFailed, []string{"no worker is named"}},
		{"a number for a person", []string{"--count", "2"}, nil, cmdutil.ExitFailed, []string{"--count is for a provider that gives addresses"}},
		{"a NodePool that is not there", []string{"--host", "vm-8=192.0.2.8", "--nodepool", "x"}, nil, cmdutil.ExitFailed, []string{"has the NodePools np-a"}},
		{"no terminal to ask at", []string{"--host", "vm-8=192.0.2.8"}, nil, cmdutil.ExitFailed, []string{"add --yes"}},
		{"a provider that is not there", []string{"--host", "vm-8=192.0.2.8", "--provider", "nosuch", "--yes"}, nil, cmdutil.ExitFailed, []string{"no program rollcall-provider-nosuch"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newGuests(t, tt.change)
			args := append([]string{"worker", "create", "--hosted", "guests/edge.one", "--dir", dir, "--state-dir", filepath.Join(t.TempDir(), "state")}, tt.args...)
			out, errs, code := p.run(t, args...)
			all := strings.Join(strings.Fields(out+errs), " ")
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("want %q\n%s%s", w, out, errs)
				}
			}
			if strings.Contains(all, "NmIxZjBm") || strings.Contains(all, "6b1f0f0e") {
				t.Errorf("the token is on the screen: %s", all)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("something was made")
			}
		})
	}
}

// TestWorkerPlanUnread: names that could not be compared with Nodes are named as not checked.
func TestWorkerPlanUnread(t *testing.T) {
	p := newGuests(t, nil)
	whole := p.handler
	p.handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/nodes") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403})
			return
		}
		whole.ServeHTTP(w, q)
	})
	out, errs, code := p.run(t, "worker", "create", "--hosted", "guests/edge.one", "--host", "vm-8=192.0.2.8", "--plan")
	if all := strings.Join(strings.Fields(out), " "); code != cmdutil.ExitOK || !strings.Contains(all, "not checked whether a Node has one of the names") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

// TestWorkerList: a machine without runs, and wrong ids.
func TestWorkerList(t *testing.T) {
	p := newPair(t)
	state := t.TempDir()
	if out, errs, code := p.run(t, "worker", "list", "--state-dir", state); code != cmdutil.ExitOK || !strings.Contains(out, "No run") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs, code := p.run(t, "worker", "delete", "vm-7", "--state-dir", state, "--yes"); code != cmdutil.ExitFailed || !strings.Contains(errs, "no run of this machine made a worker vm-7") {
		t.Errorf("delete: %d %s", code, errs)
	}
	for _, verb := range []string{"resume", "rollback"} {
		if _, errs, code := p.run(t, "worker", verb, "w-0123456789", "--state-dir", state); code != cmdutil.ExitFailed || !strings.Contains(errs, "there is no run w-0123456789") {
			t.Errorf("%s: %d %s", verb, code, errs)
		}
		if _, errs, code := p.run(t, "worker", verb, "../x", "--state-dir", state); code != cmdutil.ExitFailed || !strings.Contains(errs, "is not the id of a run") {
			t.Errorf("%s: %d %s", verb, code, errs)
		}
	}
}

// TestWorkerProvider: what a provider's program checks is shown with its outcome, and what it
// does not check is not taken for a success. The boot image is that of the stream.
func TestWorkerProvider(t *testing.T) {
	bin := t.TempDir()
	answer := func(json string) {
		script := "#!/bin/sh\ncat >" + filepath.Join(bin, "request") + "\necho '" + json + "'\n"
		if err := os.WriteFile(filepath.Join(bin, "rollcall-provider-fake"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	stream := func(name string) string {
		path := filepath.Join(bin, name+".json")
		text := `{"stream": "` + name + `", "architectures": {"x86_64": {"images": {"gcp": {"project": "p", "name": "image-of-the-stream"}}}}}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const version = `{"apiVersion":"rollcall.dev/provider/v1alpha1",`
	for _, tt := range []struct {
		name, answer string
		args         []string
		code         cmdutil.ExitCode
		want         []string
	}{
		{"passed", version + `"checks":[{"outcome":"passed","text":"quota is there"}]}`, nil, cmdutil.ExitOK, []string{"passed quota is there", "image as the provider's options name it"}},
		{"failed", version + `"checks":[{"outcome":"failed","text":"no quota"}]}`, nil, cmdutil.ExitFault, []string{"failed no quota", "Nothing was made"}},
		{"warning", version + `"checks":[{"outcome":"warning","text":"no way out"}]}`, nil, cmdutil.ExitOK, []string{"warning no way out"}},
		{"a word that does not exist", version + `"checks":[{"outcome":"fine","text":"all is well"}]}`, nil, cmdutil.ExitOK, []string{"not checked all is well"}},
		{"no such operation", version + `"unsupported":true}`, nil, cmdutil.ExitOK, []string{"not checked rights, quotas and images: provider fake checks none"}},
		{"it fails", version + `"error":"the cloud is down"}`, nil, cmdutil.ExitOK, []string{"not checked rights, quotas and images", "the cloud is down"}},
		{"it answers nothing", `x`, nil, cmdutil.ExitOK, []string{"not checked rights, quotas and images"}},
		{"a stream of the release", version + `"checks":[]}`, []string{"--stream", stream("rhcos-4.14")}, cmdutil.ExitOK, []string{"same minor version", "image image-of-the-stream, that of the stream"}},
		{"a later stream", version + `"checks":[]}`, []string{"--stream", stream("rhcos-4.19")}, cmdutil.ExitFault, []string{"newer than the release"}},
		{"a stream that shows no version", version + `"checks":[]}`, []string{"--stream", stream("rhel-9.6")}, cmdutil.ExitOK, []string{"not checked boot image of stream rhel-9.6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer(tt.answer)
			p := newGuests(t, nil)
			args := append([]string{"worker", "create", "--hosted", "guests/edge.one", "--provider", "fake", "--count", "2", "--plan"}, tt.args...)
			out, errs, code := p.run(t, args...)
			all := strings.Join(strings.Fields(out+errs), " ")
			if code != tt.code || strings.Count(all, "makes np-a-") != 2 {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("want %q\n%s%s", w, out, errs)
				}
			}
			request, err := os.ReadFile(filepath.Join(bin, "request"))
			if err != nil || strings.Contains(string(request), "userData") || strings.Count(string(request), `"name":"np-a-`) != 2 {
				t.Errorf("the request: %v, %s", err, request)
			}
			if len(tt.args) > 0 && !strings.Contains(string(request), "image-of-the-stream") {
				t.Errorf("the provider does not get the image: %s", request)
			}
		})
	}
}

// TestWorkerRights: can-i asks each API for what makes workers there, and only when asked to.
func TestWorkerRights(t *testing.T) {
	p := newGuests(t, nil)
	p.management.denied = "nodepools"
	out, errs, code := p.run(t, "can-i", "--hosted", "guests/edge.one", "--workers")
	for _, want := range []string{"no management: create nodepools.hypershift.openshift.io in guests ", "yes management: get secrets in guests-edge-one ", "yes create pods/eviction ",
		"yes approve signers.certificates.k8s.io kubernetes.io/kubelet-serving "} {
		if code != cmdutil.ExitFailed || !strings.Contains(strings.Join(strings.Fields(out), " ")+" ", want) {
			t.Errorf("exit code %d, want %q\n%s%s", code, want, out, errs)
		}
	}
	if out, _, _ := p.run(t, "can-i", "--hosted", "guests/edge.one"); strings.Contains(out, "create nodepools") || strings.Contains(out, "eviction") {
		t.Errorf("without --workers:\n%s", out)
	}
	if _, errs, code := p.run(t, "can-i", "--workers"); code != cmdutil.ExitFailed || !strings.Contains(errs, "name it with --hosted") {
		t.Errorf("%d %s", code, errs)
	}
}
