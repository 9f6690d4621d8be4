package assisted

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const id = "948b8ba9-798f-4310-bb08-67a6b56ebdcc"

const hostJSON = `{"id":"h-1","cluster_id":"` + id + `","kind":"Host","requested_hostname":"","role":"auto-assign","suggested_role":"worker",
 "status":"insufficient","status_info":"Host cannot be installed","status_updated_at":"2026-03-01T10:00:00.5Z","created_at":"2026-03-01T09:00:00Z",
 "checked_in_at":"2026-03-01T10:01:00Z","stage_started_at":"0001-01-01T00:00:00.000Z","progress":{"stage_started_at":"2000-01-01T00:00:00.000Z"},
 "progress_stages":["Starting installation","Installing"],"installation_disk_path":"/dev/sda","ignition_config_overrides":"SECRET","fencing_credentials":"SECRET",
 "inventory":"{\"hostname\":\"w0.lark\",\"bmc_address\":\"0.0.0.0\",\"bmc_v6address\":\"::/0\",\"interfaces\":[{\"mac_address\":\"52:54:00:AA:00:01\",\"ipv4_addresses\":[\"192.0.2.31/24\"],\"ipv6_addresses\":[\"fe80::1/64\",\"2001:db8::31/64\"]}]}",
 "validations_info":"{\"network\":[{\"id\":\"ntp-synced\",\"status\":\"failure\",\"message\":\"Host couldn't synchronize with any NTP server\"}],\"hardware\":[{\"id\":\"has-min-memory\",\"status\":\"success\",\"message\":\"Sufficient minimum RAM\"}]}"}`

const clusterJSON = `{"id":"` + id + `","name":"lark","openshift_version":"4.18.1","platform":{"type":"baremetal"},"status":"insufficient","status_info":"Cluster is not ready for install",
 "install_completed_at":"2000-01-01T00:00:00.000Z","control_plane_count":3,"pull_secret":"SECRET","hosts":[` + hostJSON + `]}`

func service(t *testing.T, handle http.HandlerFunc, token Token) *Source {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	return New(Options{Address: strings.TrimPrefix(srv.URL, "http://"), Token: token, Vantage: "bastion",
		Now: func() time.Time { return time.Date(2026, 3, 1, 10, 2, 0, 0, time.UTC) }, Wait: time.Second})
}

func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/assisted-install/v2/clusters":
		fmt.Fprintf(w, `[{"id":%q}]`, id)
	case "/api/assisted-install/v2/clusters/" + id:
		fmt.Fprint(w, clusterJSON)
	default:
		http.NotFound(w, r)
	}
}

func TestHosts(t *testing.T) {
	s := service(t, serve, Token{})
	list, err := s.List(t.Context(), evidence.AssistedHosts, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%d hosts", len(list))
	}
	if raw, _ := json.Marshal(list[0].Content); strings.Contains(string(raw), "SECRET") {
		t.Errorf("a field that is not read was kept: %s", raw)
	}
	got, err := HostOf(list[0])
	if err != nil {
		t.Fatal(err)
	}
	want := Host{
		ID: "h-1", ClusterID: id, Name: "w0.lark", Hostname: "w0.lark", Role: "worker", Status: Insufficient, StatusInfo: "Host cannot be installed",
		StatusAt: time.Date(2026, 3, 1, 10, 0, 0, 500e6, time.UTC), Registered: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		CheckedIn: time.Date(2026, 3, 1, 10, 1, 0, 0, time.UTC), Stages: []string{"Starting installation", "Installing"}, Disk: "/dev/sda",
		MACs: []string{"52:54:00:aa:00:01"}, Addresses: []string{"192.0.2.31", "2001:db8::31"},
		Validations: []Validation{{"has-min-memory", Success, "Sufficient minimum RAM"}, {"ntp-synced", Failure, "Host couldn't synchronize with any NTP server"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	clusters, err := s.List(t.Context(), evidence.AssistedClusters, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := ClusterOf(clusters[0])
	if err != nil || c.Name != "lark" || c.ControlPlanes != 3 || !c.Completed.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestToken(t *testing.T) {
	var seen []string
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Watcher-Authorization"))
		serve(w, r)
	}, Token{"Watcher-Authorization", "t0k3n"})
	if _, err := s.List(t.Context(), evidence.AssistedHosts, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"t0k3n", "t0k3n"}, seen); diff != "" {
		t.Error(diff)
	}
	services, err := s.List(t.Context(), evidence.AssistedServices, "")
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(services[0].Content); strings.Contains(string(raw), "t0k3n") || !strings.Contains(string(raw), `"token":true`) {
		t.Errorf("%s", raw)
	}
}

// TestTokenStays: a redirect is an answer and is not followed with the token.
func TestTokenStays(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked with %v", r.Header)
	}))
	defer elsewhere.Close()
	s := service(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, Token{"Authorization", "t0k3n"})
	_, err := s.List(t.Context(), evidence.AssistedHosts, "")
	if _, ok := evidence.AsUnavailable(err); !ok {
		t.Errorf("err = %v", err)
	}
}

func TestNoUsableAnswer(t *testing.T) {
	tests := []struct {
		name   string
		handle http.HandlerFunc
		token  Token
		why    evidence.Why
		detail string
	}{
		{"a token is wanted", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, Token{}, evidence.Forbidden, "asks for a token"},
		{"the token is of another install", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, Token{"Authorization", "x"}, evidence.Forbidden, "does not accept the token"},
		{"something else answers", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, Token{}, evidence.Unreachable, "not an assisted-service"},
		{"it starts", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, Token{}, evidence.Unreachable, "HTTP 503"},
		{"an id that leads elsewhere", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"id":"../../x"}]`) }, Token{}, evidence.Unreachable, "not a UUID"},
		{"too many clusters", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "["+strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, 9), ",")+"]")
		}, Token{}, evidence.Unreachable, "9 clusters"},
		{"it dies midway", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "[")
		}, Token{}, evidence.Unreachable, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := service(t, tt.handle, tt.token)
			_, err := s.List(t.Context(), evidence.AssistedClusters, "")
			u, ok := evidence.AsUnavailable(err)
			if !ok || u.Why != tt.why || !strings.Contains(u.Detail, tt.detail) {
				t.Errorf("err = %v", err)
			}
			list, err := s.List(t.Context(), evidence.AssistedServices, "")
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			svc, err := evidence.Decode[Service](list[0])
			if err != nil || svc.Usable || svc.Error == "" || svc.Vantage != "bastion" {
				t.Errorf("%+v, %v", svc, err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	s := New(Options{Address: strings.TrimPrefix(srv.URL, "http://"), Wait: time.Second})
	list, err := s.List(t.Context(), evidence.AssistedServices, "")
	if err != nil {
		t.Fatal(err)
	}
	svc, err := evidence.Decode[Service](list[0])
	if err != nil || !svc.Refused || svc.Status != 0 {
		t.Errorf("%+v, %v", svc, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := service(t, func(http.ResponseWriter, *http.Request) { cancel() }, Token{})
	if _, err := s.List(ctx, evidence.AssistedHosts, ""); err == nil || ctx.Err() == nil {
		t.Errorf("err = %v", err)
	}
}

func TestPast(t *testing.T) {
	sno := []string{"Starting installation", "Installing", "Waiting for bootkube", StageWriting, StageRebooting, StageJoined, StageDone}
	tests := []struct {
		stage  string
		stages []string
		past   string
		want   bool
	}{
		{"Installing", nil, StageWriting, false},
		{StageWriting, nil, StageWriting, false},
		{StageRebooting, nil, StageWriting, true},
		{"Waiting for bootkube", nil, StageWriting, true},
		{"Waiting for bootkube", sno, StageWriting, false},
		{StageJoined, sno, StageConfiguring, true},
		{"", nil, StageWriting, false},
		{"a stage of tomorrow", nil, StageWriting, false},
	}
	for _, tt := range tests {
		if got := (Host{Stage: tt.stage, Stages: tt.stages}).Past(tt.past); got != tt.want {
			t.Errorf("%q of %v past %q: %t", tt.stage, tt.stages, tt.past, got)
		}
	}
}

func TestParseAddress(t *testing.T) {
	good := map[string]string{"192.0.2.20": "192.0.2.20:8090", "192.0.2.20:80": "192.0.2.20:80", "2001:db8::1": "[2001:db8::1]:8090", "[2001:db8::1]:80": "[2001:db8::1]:80", "[2001:db8::1]": "[2001:db8::1]:8090"}
	for in, want := range good {
		if got, err := ParseAddress(in); err != nil || got != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "rendezvous.example.com", "192.0.2.20:0", "192.0.2.20:x", "http://192.0.2.20", "192.0.2.20/24"} {
		if got, err := ParseAddress(in); err == nil {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// FuzzAnswers: whatever a service says, reading it ends and keeps its bounds.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(clusterJSON))
	f.Add([]byte(`{"id":"x","hosts":[{"id":"h","inventory":"{","validations_info":"{\"a\":[{}]}"}]}`))
	f.Add([]byte(`{"id":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, hosts, err := parseCluster(raw)
		if err != nil {
			return
		}
		if c.ID == "" || len(c.StatusInfo) > maxText+4 {
			t.Errorf("%+v", c)
		}
		for _, h := range hosts {
			if h.ID == "" || len(h.Validations) > maxValidations || len(h.StatusInfo) > maxText+4 {
				t.Errorf("%+v", h)
			}
			if _, err := object(evidence.AssistedHosts, "AssistedHost", h.ID, "x", time.Time{}, h); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestUnmet: the first validation has its message, the others their ids.
func TestUnmet(t *testing.T) {
	list := []Validation{{ID: "a", Status: Failure, Message: "A is wrong. Please\ncheck it."}, {ID: "b", Status: Success}, {ID: "c", Status: Faulty, Message: "no answer"},
		{ID: "d", Status: Pending, Message: "It waits."}}
	if got, want := Unmet(Failing(list)), "validation a fails: A is wrong; also c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Unmet(Awaited(list)), "validation d is pending: It waits"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Unmet(nil); got != "" {
		t.Errorf("%q without one", got)
	}
}

// TestSpecRole: what an Agent is to be, by its spec.
func TestSpecRole(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{`{"role":"worker"}`, "worker"}, {`{}`, ""}, {`{"role":"master"}`, "master"},
		{`{"role":"worker","nodeLabels":{"node-role.kubernetes.io/infra":""}}`, "worker"},
		{`{"role":"worker","nodeLabels":{"node-role.kubernetes.io/master":""}}`, "master"},
		{`{"nodeLabels":{"node-role.kubernetes.io/control-plane":""}}`, "master"},
	} {
		var content map[string]any
		if err := json.Unmarshal([]byte(`{"spec":`+c.spec+`,"status":{"role":"worker"}}`), &content); err != nil {
			t.Fatal(err)
		}
		got, err := HostOf(evidence.Object{Resource: evidence.Agents, Name: "a", Content: content})
		if err != nil || got.SpecRole != c.want || got.Role != "worker" {
			t.Errorf("%s: %q, %q, %v", c.spec, got.SpecRole, got.Role, err)
		}
	}
}
