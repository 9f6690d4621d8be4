package sanitize

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const testCA = "-----BEGIN CERTIFICATE-----\nMIIBZzCCAQ6gAwIBAgIUQ3hmIfRaDLpnrQH+6wB4KsWs7SgwCgYIKoZIzj0EAwIw\n-----END CERTIFICATE-----\n"

func userDataSecret(config string) evidence.Object {
	return evidence.Object{Resource: evidence.Secrets, Namespace: "openshift-machine-api", Name: "worker-user-data", Content: map[string]any{
		"metadata": map[string]any{"name": "worker-user-data"},
		"data":     map[string]any{"userData": base64.StdEncoding.EncodeToString([]byte(config)), "disableTemplating": "dHJ1ZQ=="},
	}}
}

// TestPointerUserData: of a pointer the addresses and CAs stay, and nothing else.
func TestPointerUserData(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	ca := base64.StdEncoding.EncodeToString([]byte(testCA))
	key := base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIPLANTEDKEY\n-----END PRIVATE KEY-----\n"))
	tests := []struct {
		name, config string
		stays, goes  []string
	}{
		{"of the operator", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.5:22623/config/worker"}]},"security":{"tls":{"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,` + ca + `"}]}}}}`,
			[]string{`"3.2.0"`, "https://192.0.2.5:22623/config/worker", ca}, nil},
		{"of spec 2", `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://api-int.a.example.com:22623/config/worker","verification":{}}]}}}`,
			[]string{"append", "https://api-int.a.example.com:22623/config/worker"}, nil},
		{"certificates in percent encoding", `{"ignition":{"version":"3.2.0","security":{"tls":{"certificateAuthorities":[{"source":"data:,` + strings.ReplaceAll(testCA, "\n", "%0A") + `"}]}}}}`,
			[]string{ca}, nil},
		{"with more than a pointer", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.5:22623/config/worker"}]}},"passwd":{"users":[{"name":"core","passwordHash":"PLANTEDHASH"}]},"storage":{"files":[{"path":"/etc/x","contents":{"source":"data:,PLANTEDFILE"}}]},"systemd":{"units":[{"name":"a.service","contents":"PLANTEDUNIT"}]}}`,
			[]string{"https://192.0.2.5:22623/config/worker"}, []string{"PLANTED", "passwd", "systemd", "storage"}},
		{"headers and verification", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.5:22623/config/worker","httpHeaders":[{"name":"Authorization","value":"Bearer PLANTEDTOKEN"}]}]}}}`,
			[]string{"https://192.0.2.5:22623/config/worker"}, []string{"PLANTEDTOKEN", "Authorization"}},
		{"credentials in the address", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://user:PLANTEDPASS@host.example.com/PLANTEDPATH?api_key=PLANTEDQUERY#PLANTEDPART"}]}}}`,
			[]string{"https://host.example.com/[redacted "}, []string{"PLANTED", "user"}},
		{"a key among the authorities", `{"ignition":{"version":"3.2.0","security":{"tls":{"certificateAuthorities":[{"source":"data:text/plain;base64,` + key + `"}]}}}}`,
			[]string{"[redacted "}, []string{key, "PRIVATE"}},
		{"a config inside", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"data:,PLANTEDCONFIG"}]}}}`, []string{"[redacted "}, []string{"PLANTED"}},
		{"secrets in the version", `{"ignition":{"version":"PLANTEDVERSION"}}`, nil, []string{"PLANTED"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := userDataSecret(tt.config)
			s.Object(o.Resource.Group, o.Resource.Name, o.Content)
			first := evidence.String(o.Content, "data", "userData")
			raw, err := base64.StdEncoding.DecodeString(first)
			if err != nil {
				t.Fatalf("what is left is no base64: %q", first)
			}
			if !json.Valid(raw) {
				t.Errorf("what is left is no JSON: %s", raw)
			}
			for _, want := range tt.stays {
				if !strings.Contains(string(raw), want) {
					t.Errorf("%q is gone from %s", want, raw)
				}
			}
			for _, never := range tt.goes {
				if strings.Contains(string(raw), never) {
					t.Errorf("%q is still in %s", never, raw)
				}
			}
			s.Object(o.Resource.Group, o.Resource.Name, o.Content)
			if again := evidence.String(o.Content, "data", "userData"); again != first {
				t.Errorf("the second time: %q, the first time: %q", again, first)
			}
		})
	}
}

// TestOtherUserData: what is no pointer is a digest.
func TestOtherUserData(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"cloud-init":      base64.StdEncoding.EncodeToString([]byte("#cloud-config\npassword: PLANTED\n")),
		"no base64":       "PLANTED PLANTED",
		"JSON, no object": base64.StdEncoding.EncodeToString([]byte(`["PLANTED"]`)),
		"no ignition":     base64.StdEncoding.EncodeToString([]byte(`{"token":"PLANTED"}`)),
		"too long":        base64.StdEncoding.EncodeToString([]byte(`{"ignition":{"version":"3.2.0"},"x":"` + strings.Repeat("P", maxUserData) + `"}`)),
	} {
		o := userDataSecret("")
		o.Content["data"] = map[string]any{"userData": value}
		s.Object(o.Resource.Group, o.Resource.Name, o.Content)
		if got := evidence.String(o.Content, "data", "userData"); !Redacted(got) {
			t.Errorf("%s: %.80q, want a digest", name, got)
		}
	}
	o := userDataSecret("1704 bytes long")
	s.Object(o.Resource.Group, o.Resource.Name, o.Content)
	if got := evidence.String(o.Content, "data", "userData"); got != "[redacted by the collector, 1704 bytes]" {
		t.Errorf("what the collector left out: %q", got)
	}
	nested := evidence.Object{Resource: evidence.ConfigMaps, Content: map[string]any{"spec": map[string]any{"userData": "PLANTED"}}}
	s.Object(nested.Resource.Group, nested.Resource.Name, nested.Content)
	if got := evidence.String(nested.Content, "spec", "userData"); !Redacted(got) {
		t.Errorf("userData elsewhere: %q", got)
	}
}

// FuzzPointer: whatever userData holds, the second look changes nothing and a
// private key does not stay.
func FuzzPointer(f *testing.F) {
	f.Add([]byte(`{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://a/config/worker"}],"replace":{"source":"http://b"}},"security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}}}}`))
	f.Add([]byte(`{"ignition":null}`))
	s, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := s.userData(base64.StdEncoding.EncodeToString(raw))
		if twice := s.userData(once); twice != once {
			t.Errorf("once %q, twice %q", once, twice)
		}
		left, _ := base64.StdEncoding.DecodeString(once)
		if strings.Contains(string(left), "PRIVATE KEY-----") {
			t.Errorf("a private key stays: %q", left)
		}
	})
}
