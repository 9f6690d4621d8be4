package bmc

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

func start(t *testing.T, cfg Config) *BMC {
	t.Helper()
	cfg.Name, cfg.Address, cfg.User, cfg.Pass = "worker0", "127.0.0.1:0", "admin", "right"
	if cfg.Serial == "" {
		cfg.Serial = "LAB0001"
	}
	if cfg.MACs == nil {
		cfg.MACs = []string{"52:54:00:aa:bb:cc"}
	}
	b, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// client trusts this controller and no other.
func client(t *testing.T, b *BMC) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b.Certificate()) {
		t.Fatal("the certificate is no PEM")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

func connect(t *testing.T, b *BMC, pass string, basic bool) (*gofish.APIClient, error) {
	t.Helper()
	return gofish.ConnectContext(t.Context(), gofish.ClientConfig{
		Endpoint: b.URL(), Username: "admin", Password: pass, BasicAuth: basic, HTTPClient: client(t, b),
	})
}

// TestLibraryReadsEveryShape: the library that people read controllers with finds
// the same machine in each vendor's shape, switches it and mounts an image.
func TestLibraryReadsEveryShape(t *testing.T) {
	for vendor, s := range shapes {
		t.Run(string(vendor), func(t *testing.T) {
			b := start(t, Config{Vendor: vendor})
			c, err := connect(t, b, "right", vendor == HPE)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Logout()
			systems, err := c.Service.Systems()
			if err != nil || len(systems) != 1 {
				t.Fatalf("systems %v, %v", systems, err)
			}
			sys := systems[0]
			if sys.Manufacturer != s.manufacturer || sys.PowerState != schemas.OffPowerState {
				t.Errorf("system %+v", sys)
			}
			nics, err := sys.EthernetInterfaces()
			if err != nil || len(nics) != 1 || !strings.EqualFold(nics[0].MACAddress, "52:54:00:aa:bb:cc") {
				t.Fatalf("network cards %v, %v", nics, err)
			}
			if _, err := sys.Reset(schemas.OnResetType); err != nil || !b.On() {
				t.Fatalf("power on: %v, on %v", err, b.On())
			}
			media, err := sys.VirtualMedia()
			if s.media[0] == "Managers" {
				managers, merr := c.Service.Managers()
				if merr != nil || len(managers) != 1 {
					t.Fatalf("managers %v, %v", managers, merr)
				}
				media, err = managers[0].VirtualMedia()
			}
			if err != nil || len(media) != 2 {
				t.Fatalf("virtual media %v, %v", media, err)
			}
		})
	}
}

// do sends one request with basic authentication.
func do(t *testing.T, b *BMC, method, path, pass string, body any) (int, map[string]any) {
	t.Helper()
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, b.URL()+path, &data)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", pass)
	resp, err := client(t, b).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return resp.StatusCode, out
}

func TestWithoutLoginOnlyTheRootAnswers(t *testing.T) {
	b := start(t, Config{Vendor: Dell})
	for path, want := range map[string]int{
		"/redfish": 200, "/redfish/v1/": 200, "/redfish/v1/Systems": 401, b.SystemPath(): 401, "/redfish/v1/Nothing": 401,
	} {
		resp, err := client(t, b).Get(b.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if _, err := connect(t, b, "wrong", false); err == nil {
		t.Error("a session with a wrong password was opened")
	}
}

func TestCertificateIsTrustedByNobodyElse(t *testing.T) {
	b := start(t, Config{Vendor: Dell})
	if _, err := http.Get(b.URL() + "/redfish/v1/"); err == nil {
		t.Fatal("the system's authorities trust the controller")
	}
}

// TestTroubles: each misbehaviour, and that it ends.
func TestTroubles(t *testing.T) {
	b := start(t, Config{Vendor: Dell})
	reset := b.SystemPath() + "/Actions/ComputerSystem.Reset"
	on := map[string]any{"ResetType": "On"}
	for _, test := range []struct {
		name         string
		trouble      Trouble
		method, path string
		body         any
		status       int
		poweredOn    bool
	}{
		{"locked account", Trouble{Locked: true}, "GET", b.SystemPath(), nil, 401, false},
		{"unavailable", Trouble{Unavailable: true}, "GET", "/redfish/v1/", nil, 503, false},
		{"power stuck", Trouble{PowerStuck: true}, "POST", reset, on, 204, false},
		{"read only", Trouble{ReadOnly: true}, "POST", reset, on, 403, false},
		{"read only reads", Trouble{ReadOnly: true}, "GET", b.SystemPath(), nil, 200, false},
		{"none", Trouble{}, "POST", reset, on, 204, true},
	} {
		b.Behave(test.trouble)
		status, _ := do(t, b, test.method, test.path, "right", test.body)
		if status != test.status || b.On() != test.poweredOn {
			t.Errorf("%s: status %d, on %v; want %d, %v", test.name, status, b.On(), test.status, test.poweredOn)
		}
	}
}

func TestAccountLocksAfterFailures(t *testing.T) {
	b := start(t, Config{Vendor: HPE, MaxFailures: 3})
	for range 3 {
		if status, _ := do(t, b, "GET", b.SystemPath(), "wrong", nil); status != 401 {
			t.Fatalf("wrong password: %d", status)
		}
	}
	if status, _ := do(t, b, "GET", b.SystemPath(), "right", nil); status != 401 {
		t.Fatalf("the right password after three wrong ones: %d, want 401", status)
	}
	b.Behave(Trouble{})
	if status, _ := do(t, b, "GET", b.SystemPath(), "right", nil); status != 200 {
		t.Fatalf("after the lock was taken off: %d", status)
	}
}

// TestBootFromImage: an inserted image and a boot override are what the machine
// is told at its next start, and the override holds once.
func TestBootFromImage(t *testing.T) {
	var boots []Boot
	b := start(t, Config{Vendor: Supermicro, PowerChanged: func(on bool, boot Boot) { boots = append(boots, boot) }})
	slot := "/redfish/v1/Systems/1/VirtualMedia/VirtualMedia1"
	insert := slot + "/Actions/VirtualMedia.InsertMedia"
	for _, step := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"POST", insert, map[string]any{"Image": "http://h/a.iso?b=c"}, 400},
		{"POST", insert, map[string]any{"Image": "http://h/a.iso"}, 204},
		{"POST", insert, map[string]any{"Image": "http://h/b.iso"}, 409},
		{"PATCH", b.SystemPath(), map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Cd"}}, 400},
		{"PATCH", b.SystemPath(), map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Cd", "BootSourceOverrideEnabled": "Once"}}, 204},
		{"POST", b.SystemPath() + "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, 204},
		{"POST", b.SystemPath() + "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "ForceRestart"}, 204},
		{"POST", b.SystemPath() + "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "Melt"}, 400},
		{"POST", slot + "/Actions/VirtualMedia.EjectMedia", map[string]any{}, 204},
		{"POST", "/redfish/v1/Systems/1/Bios", map[string]any{}, 405},
		{"POST", "/redfish/v1/Nothing", map[string]any{}, 404},
	} {
		if status, body := do(t, b, step.method, step.path, "right", step.body); status != step.status {
			t.Errorf("%s %s %v: %d %v, want %d", step.method, step.path, step.body, status, body, step.status)
		}
	}
	want := []Boot{{"Cd", "http://h/a.iso"}, {"None", "http://h/a.iso"}}
	if len(boots) != 2 || boots[0] != want[0] || boots[1] != want[1] {
		t.Errorf("booted %v, want %v", boots, want)
	}
}

// TestLenovoIsPatched: no actions, the image is a property.
func TestLenovoIsPatched(t *testing.T) {
	b := start(t, Config{Vendor: Lenovo})
	slot := "/redfish/v1/Managers/1/VirtualMedia/EXT1"
	if status, _ := do(t, b, "POST", slot+"/Actions/VirtualMedia.InsertMedia", "right", map[string]any{"Image": "http://h/a.iso"}); status != 404 {
		t.Errorf("InsertMedia: %d, want 404", status)
	}
	if status, _ := do(t, b, "PATCH", slot, "right", map[string]any{"Image": "http://h/a.iso"}); status != 204 {
		t.Errorf("PATCH: %d, want 204", status)
	}
	if _, body := do(t, b, "GET", slot, "right", nil); body["Image"] != "http://h/a.iso" || body["Inserted"] != true {
		t.Errorf("after PATCH: %v", body)
	}
}

func TestRequestsAreRemembered(t *testing.T) {
	b := start(t, Config{Vendor: Dell})
	do(t, b, "GET", b.SystemPath(), "wrong", nil)
	got := b.Requests()
	if len(got) != 1 || got[0] != (Request{"GET", b.SystemPath(), "admin", "Go-http-client/1.1", 401}) {
		t.Fatalf("remembered %+v", got)
	}
}

func TestOnlyLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "10.0.0.1:443", "localhost:0", "nothing"} {
		if b, err := Start(Config{Name: "w", Address: address, Vendor: Dell}); err == nil {
			b.Close()
			t.Errorf("listens on %s", address)
		}
	}
	if _, err := Start(Config{Name: "w", Address: "127.0.0.1:0", Vendor: "acme"}); err == nil {
		t.Error("a vendor without a shape was accepted")
	}
}
