package bmc

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// everywhere answers each request with the same bytes, without a network.
type everywhere struct {
	body string
	t    *testing.T
}

func (e everywhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.URL.Host != "10.1.1.1" || r.URL.Scheme != "https" {
		e.t.Errorf("%s %s leaves", r.Method, r.URL)
	}
	body := e.body
	if r.URL.Path == "/redfish/v1/Systems/1" { // so that the rest is read, too
		body = small()[r.URL.Path]
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// FuzzAnswers: whatever a BMC answers, reading it ends, asks no one else, and gives an
// object that can be read again.
func FuzzAnswers(f *testing.F) {
	for _, body := range small() {
		f.Add(body)
	}
	f.Add(`{"Members":[{"@odata.id":"https://x/redfish"},{"@odata.id":"/redfish/../../x"},{"@odata.id":"//x/redfish"}],"Drives":[{"@odata.id":"/redfish/v1/%2e%2e"}],"CapacityBytes":1e300}`)
	f.Add(`{"DateTime":"9999-99-99T00:00:00Z","UserName":"u","Links":{"Role":{"@odata.id":"/redfish/v1/r"}},"AssignedPrivileges":[1,null,{}],"Members":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		base := &url.URL{Scheme: "https", Host: "10.1.1.1"}
		c := &client{base: base, answerTime: time.Second, clock: func() time.Time { return now }, http: &http.Client{
			Transport: everywhere{body, t}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}, credential: &Credential{user: "planted-u", pass: "planted-p"}}
		a := Answer{Target: Target{Host: "m0", Address: "redfish://10.1.1.1", MACs: []string{"52:54:00:00:00:01"}}, At: now}
		system, p := c.system(t.Context(), address{base: base, system: "/redfish/v1/Systems/1"})
		if p != nil {
			t.Fatal(p.detail)
		}
		c.machine(t.Context(), &a, system)
		if c.requests > maxRequests+1 {
			t.Errorf("%d requests", c.requests)
		}
		o, err := a.Object("m0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(o); err != nil {
			t.Fatal(err)
		}
		if raw, err := json.Marshal(o.Content); err != nil || strings.Contains(string(raw), "planted") && !strings.Contains(body, "planted") {
			t.Errorf("%v: %s", err, raw)
		}
	})
}

// FuzzTargets: lists, plans and addresses that others wrote.
func FuzzTargets(f *testing.F) {
	f.Add(installConfig)
	f.Add("m0 redfish://[::1]:443/x master\n")
	f.Add("hosts: [{bmc: {address: [a]}}]\nplatform: {baremetal: {hosts: {a: b}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var c Credentials
		_ = c.UseFile(p) // most are none
		list, err := ListTargets(p)
		if err == nil {
			for _, x := range list {
				parse(x.Address)
			}
		}
		planned, err := PlanTargets([]string{p}, nil, &c)
		if err == nil {
			for _, x := range planned {
				if parsed, failure, _ := parse(x.Address); failure == "" && parsed.base.User != nil {
					t.Errorf("%q keeps its user", x.Address)
				}
			}
		}
		parse(text)
		if _, _, err := listOf(text); err != nil {
			t.Fatal(err)
		}
	})
}

// listOf reads BareMetalHosts of a text, if it is JSON.
func listOf(text string) ([]Target, bool, error) {
	var content map[string]any
	if json.Unmarshal([]byte(text), &content) != nil {
		return nil, false, nil
	}
	list, err := HostTargets([]evidence.Object{{Resource: evidence.BareMetalHosts, Content: content}}, nil, nil)
	if _, unread := evidence.AsUnavailable(err); unread || err != nil {
		return nil, false, nil
	}
	return list, true, nil
}
