package workers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

const uuid = "0b0e6c5e-9d0e-4a57-8a43-6a1d3f1c2b3a"

// management is a management cluster in memory.
type management map[string]map[string]any

func (m management) Object(_ context.Context, _, resource, namespace, name string) (map[string]any, error) {
	if o, ok := m[resource+"/"+namespace+"/"+name]; ok {
		return o, nil
	}
	return nil, errors.New("not found")
}

func pointerTo(source, token string, ca []byte) map[string]any {
	header := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	return map[string]any{"ignition": map[string]any{
		"version": "3.2.0",
		"config": map[string]any{"merge": []any{map[string]any{"source": source, "httpHeaders": []any{
			header("Authorization", "Bearer "+base64.StdEncoding.EncodeToString([]byte(token))),
			header("NodePool", "clusters/guest"), header("TargetConfigVersionHash", "1a2b3c4d"),
		}}}},
		"security": map[string]any{"tls": map[string]any{"certificateAuthorities": []any{
			map[string]any{"source": "data:text/plain;base64," + base64.StdEncoding.EncodeToString(ca)},
		}}},
	}}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func hub(value []byte, token string, notes map[string]any) management {
	return management{
		"nodepools/clusters/guest": {"metadata": map[string]any{"annotations": map[string]any{openshift.NodePoolConfigAnnotation: "1a2b3c4d"}}},
		"secrets/clusters-guest/token-guest-1a2b3c4d": {
			"metadata": map[string]any{"annotations": notes},
			"data":     map[string]any{"token": base64.StdEncoding.EncodeToString([]byte(token))},
		},
		"secrets/clusters-guest/user-data-guest-1a2b3c4d": {"data": map[string]any{valueKey: base64.StdEncoding.EncodeToString(value)}},
	}
}

func TestFresh(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	const source = "https://ignition.example.com:30080/ignition"
	good := encode(t, pointerTo(source, uuid, ca))
	p := Plan{Hosted: "clusters/guest", ControlPlane: "clusters-guest", NodePool: "guest"}
	u, err := Fresh(t.Context(), hub(good, uuid, nil), p)
	if err != nil || u.Config != "1a2b3c4d" || u.Endpoint.Host != "ignition.example.com:30080" || u.Digest != digest(good) {
		t.Fatalf("%+v, %v", u, err)
	}
	other := pointerTo(source, uuid, ca)
	other["ignition"].(map[string]any)["config"].(map[string]any)["merge"].([]any)[0].(map[string]any)["httpHeaders"].([]any)[1] = map[string]any{"name": "NodePool", "value": "clusters/other"}
	for _, c := range []struct {
		name string
		hub  management
		want string
	}{
		{"rotated", hub(good, "another-token", nil), "just rotated"},
		{"outdated", hub(good, uuid, map[string]any{openshift.TokenExpiresAnnotation: "2026-05-01T13:00:00Z"}), "outdated"},
		{"no token yet", hub(good, "", nil), "no token yet"},
		{"not Ignition", hub([]byte("#cloud-config"), uuid, nil), "not a pointer"},
		{"plain http", hub(encode(t, pointerTo("http://ignition.example.com/ignition", uuid, ca)), uuid, nil), "without TLS"},
		{"the machine config server's path", hub(encode(t, pointerTo("https://ignition.example.com/config/worker", uuid, ca)), uuid, nil), "https://HOST/ignition"},
		{"another pool", hub(encode(t, other), uuid, nil), "header NodePool"},
		{"no certificate", hub(encode(t, pointerTo(source, uuid, []byte("none"))), uuid, nil), "not a certificate"},
		{"no NodePool", management{}, "read NodePool"},
		{"no Secret", management{"nodepools/clusters/guest": hub(nil, uuid, nil)["nodepools/clusters/guest"]}, "read the user-data"},
	} {
		_, err := Fresh(t.Context(), c.hub, p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), uuid) || strings.Contains(err.Error(), base64.StdEncoding.EncodeToString([]byte(uuid)))) {
			t.Errorf("%s: the token is in %v", c.name, err)
		}
	}
}

func TestAskEndpoint(t *testing.T) {
	ask := func(h http.HandlerFunc, change func(*UserData)) Endpoint {
		server := httptest.NewTLSServer(h)
		defer server.Close()
		server.Config.ErrorLog = nil
		u, err := parse(encode(t, pointerTo(server.URL+"/ignition", uuid, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))), "clusters/guest", "1a2b3c4d")
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&u)
		}
		return AskEndpoint(t.Context(), u)
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("Authorization"), base64.StdEncoding.EncodeToString([]byte(uuid))) {
				t.Error("the real token was sent")
			}
			if code == http.StatusFound {
				w.Header().Set("Location", "https://192.0.2.1/")
			}
			w.WriteHeader(code)
		}
	}
	if e := ask(status(511), nil); !e.OK || !e.Reached {
		t.Errorf("511: %+v", e)
	}
	for _, code := range []int{200, 302, 401, 404, 503} {
		if e := ask(status(code), nil); e.OK || !e.Reached {
			t.Errorf("%d: %+v", code, e)
		}
	}
	if e := ask(status(511), func(u *UserData) { u.CA = nil }); e.OK || !e.Reached || !strings.Contains(e.Detail, "certificate") {
		t.Errorf("another CA: %+v", e)
	}
	if e := ask(status(511), func(u *UserData) { u.Endpoint = &url.URL{Scheme: "https", Host: "127.0.0.1:1", Path: "/ignition"} }); e.OK || e.Reached {
		t.Errorf("nobody listens: %+v", e)
	}
}
