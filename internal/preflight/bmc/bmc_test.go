package bmc

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMachine: all that is wanted of a machine is read, with nothing but GET.
func TestMachine(t *testing.T) {
	e := emulate(t, nil)
	target := e.target("m0")
	target.MACs = []string{"52:54:00:aa:bb:02"}
	a := answers(t, Options{Targets: []Target{target}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
	if a.Failure != "" || a.Login != LoginAccepted || a.Trust != probe.TrustVerified || a.LoginBy != FromEnvironment {
		t.Fatalf("%+v", a)
	}
	want := &System{
		Path: "/redfish/v1/Systems/1", Manufacturer: "Lenovo", Model: "SR650", Serial: "J1", UUID: "6173ECEC-6EF5-11EE-834A-0A8FC3A58A71", Power: "On", Health: "Warning",
		BIOS: "U8", CPUs: 2, CPUModel: "Xeon Gold", Threads: 64, Architecture: "amd64", MemoryGiB: 128, TPM: "TPM2_0", BootMode: "Legacy", OverrideMode: "UEFI",
		OverrideEnabled: "Disabled", OverrideTarget: "None", BootOrder: []string{"Boot0003"}, SecureBoot: "Disabled", SecureBootMode: "UserMode",
	}
	if d := cmp.Diff(want, a.System); d != "" {
		t.Errorf("system (-want +got):\n%s", d)
	}
	nics := []NIC{
		{ID: "1", MAC: "52:54:00:aa:bb:01", Link: LinkUp, Mbps: 25000, Model: "E810", Firmware: "4.2"},
		{ID: "ToManager", MAC: "0a:8f:c3:a5:8a:71", Link: LinkDown, Internal: true},
		{ID: "s port 2", MAC: "52:54:00:aa:bb:02", Link: LinkDown, Model: "E810", Firmware: "4.2"},
	}
	if d := cmp.Diff(nics, a.NICs); d != "" {
		t.Errorf("NICs (-want +got):\n%s", d)
	}
	disks := []Disk{{ID: "0", Model: "M", Vendor: "V", Serial: "S0", WWN: "5002538E00000001", Bytes: 480103981056, Media: "SSD", Health: "OK", Failing: true}}
	if d := cmp.Diff(disks, a.Disks); d != "" {
		t.Errorf("disks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Slot{{ID: "1", CD: true, Inserted: true, Image: "agent.iso"}}, a.Media); d != "" {
		t.Errorf("virtual media (-want +got):\n%s", d)
	}
	if m := a.Manager; m == nil || !m.Clock.Equal(time.Date(2026, 1, 1, 5, 0, 0, 0, time.UTC)) || m.NTP != "on" || m.Firmware != "2.83" || m.AskedAt.IsZero() {
		t.Errorf("manager %+v", m)
	}
	if a.RoleID != "ReadOnly" || len(a.Privileges) != 2 || len(a.Unread) != 0 {
		t.Errorf("role %s with %v, unread %v", a.RoleID, a.Privileges, a.Unread)
	}
	if _, _, requests, methods := e.counts(); methods[http.MethodGet] != requests || a.Requests != requests {
		t.Errorf("%d requests by our count, %d reached the BMC: %v", a.Requests, requests, methods)
	}
}

// TestWrongCredential: a BMC is asked once with a wrong one, and of many BMCs only so many
// that no directory behind them locks the account.
func TestWrongCredential(t *testing.T) {
	var targets []Target
	var bmcs []*emulator
	for i := range 30 {
		e := emulate(t, nil)
		bmcs = append(bmcs, e)
		targets = append(targets, e.target(fmt.Sprintf("m%d", i)))
	}
	list := answers(t, Options{Targets: targets, Credentials: given(goodUser, "planted-wrong"), Roots: bmcs[0].roots()})
	refused, held, sent := 0, 0, 0
	for i, a := range list {
		logins, _, _, _ := bmcs[i].counts()
		sent += logins
		if logins > 1 {
			t.Errorf("%s got the wrong credential %d times", a.Host, logins)
		}
		switch a.Failure {
		case Refused:
			refused++
		case HeldBack:
			held++
			if logins != 0 {
				t.Errorf("%s got a credential that was held back", a.Host)
			}
		default:
			t.Errorf("%s: %s %s", a.Host, a.Failure, a.Error)
		}
	}
	if refused != mostRefused || sent != mostRefused || held != len(list)-mostRefused {
		t.Errorf("%d refused, %d held back, %d sent; want %d refused", refused, held, sent, mostRefused)
	}
}

// TestWrongCredentialOfSome: what others accept continues, until some have refused it.
func TestWrongCredentialOfSome(t *testing.T) {
	var targets []Target
	var bmcs []*emulator
	for i := range 40 {
		var spoil func(http.ResponseWriter, *http.Request) bool
		if i > 0 && i < 20 {
			spoil = func(w http.ResponseWriter, r *http.Request) bool {
				_, _, sent := r.BasicAuth()
				if sent {
					w.WriteHeader(http.StatusUnauthorized)
				}
				return sent
			}
		}
		e := emulate(t, spoil)
		bmcs, targets = append(bmcs, e), append(targets, e.target(fmt.Sprintf("m%d", i)))
	}
	refused := 0
	for i, a := range answers(t, Options{Targets: targets, Credentials: given(goodUser, goodPass), Roots: bmcs[0].roots()}) {
		if a.Failure == Refused {
			refused++
		}
		if logins, _, _, _ := bmcs[i].counts(); i > 0 && i < 20 && logins > 1 {
			t.Errorf("%s got a refused credential %d times", a.Host, logins)
		}
	}
	if refused == 0 || refused > mostExcepted {
		t.Errorf("%d BMCs refused, want 1 to %d", refused, mostExcepted)
	}
}

// TestLaterRefusal: a BMC that refuses in the middle is not asked again.
func TestLaterRefusal(t *testing.T) {
	var after atomic.Int32
	e := emulate(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "Processors") || after.Load() > 0 {
			after.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	})
	a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
	if a.Failure != Refused || after.Load() != 1 || a.System == nil {
		t.Errorf("%s, %d requests after the refusal", a.Failure, after.Load())
	}
}

// TestUntrusted: to a certificate that does not verify nothing is sent, unless the plan says
// so.
func TestUntrusted(t *testing.T) {
	e := emulate(t, nil)
	other := emulate(t, nil)
	target := e.target("m0")
	o := Options{Targets: []Target{target}, Credentials: given(goodUser, goodPass), Roots: nil}
	a := answers(t, o)[0]
	if _, _, requests, _ := e.counts(); a.Failure != Untrusted || a.Trust != probe.TrustUnknownCA || requests != 0 || len(a.Chain) == 0 {
		t.Errorf("%s %s, %d requests", a.Failure, a.Trust, requests)
	}
	o.Targets[0].Address = strings.Replace(target.Address, "127.0.0.1", "localhost", 1)
	o.Roots = other.roots()
	if a := answers(t, o)[0]; a.Failure != Untrusted || a.Trust != probe.TrustWrongName {
		t.Errorf("another name: %s %s", a.Failure, a.Trust)
	}
	o.Targets[0], o.Roots = target, nil
	o.Targets[0].Off = true
	if a := answers(t, o)[0]; a.Failure != "" || a.Login != LoginAccepted || a.Trust != probe.TrustUnknownCA {
		t.Errorf("verification off: %s %s", a.Failure, a.Trust)
	}
	o.Targets[0], o.Roots = target, e.roots()
	o.Clock = func() time.Time { return e.Certificate().NotAfter.Add(time.Hour) }
	if a := answers(t, o)[0]; a.Failure != Untrusted || a.Trust != probe.TrustExpired {
		t.Errorf("expired: %s %s", a.Failure, a.Trust)
	}
}

// TestRedirects: a credential goes to no other host, whatever a BMC or a link says.
func TestRedirects(t *testing.T) {
	stranger := emulate(t, nil)
	for name, spoil := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"all": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		},
		"after the login": func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/Bios") {
				http.Redirect(w, r, stranger.URL+r.URL.Path, http.StatusMovedPermanently)
				return true
			}
			return false
		},
		"to http": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://"+r.Host+r.URL.Path, http.StatusFound)
			return true
		},
		"links to strangers": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/redfish/v1/Systems/1" {
				_, _ = fmt.Fprintf(w, `{"PowerState":"On","Bios":{"@odata.id":"%s/redfish/v1/Bios"},"SecureBoot":{"@odata.id":"//%s/redfish/v1/x"},"Storage":{"@odata.id":"https://u:p@%[2]s/redfish/v1/x"}}`,
					stranger.URL, strings.TrimPrefix(stranger.URL, "https://"))
				return true
			}
			return false
		},
	} {
		e := emulate(t, spoil)
		a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
		if a.Failure == "" && len(a.Unread) == 0 {
			t.Errorf("%s: nothing is missing", name)
		}
	}
	if _, _, requests, _ := stranger.counts(); requests != 0 {
		t.Errorf("the stranger got %d requests", requests)
	}
	slash := emulate(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/redfish/v1/Systems/1/Bios" && r.URL.RawQuery == "" {
			http.Redirect(w, r, "/redfish/v1/Systems/1/Bios?a", http.StatusPermanentRedirect)
			return true
		}
		return false
	})
	if a := answers(t, Options{Targets: []Target{slash.target("m0")}, Credentials: given(goodUser, goodPass), Roots: slash.roots()})[0]; a.System == nil || a.System.BootMode != "Legacy" {
		t.Error("a redirect on the same server is not followed")
	}
}

// TestTroubles: what a BMC does wrong is named, in bounded time and bytes.
func TestTroubles(t *testing.T) {
	text := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte(body)); return true }
	}
	for _, c := range []struct {
		name  string
		spoil func(http.ResponseWriter, *http.Request) bool
		want  Failure
	}{
		{"a web page", text("<!DOCTYPE html><html>Sign in</html>"), NotAService},
		{"half of the JSON", text(`{"RedfishVersion":"1.1`), Damaged},
		{"JSON of something else", text(`{"a":1}`), NotAService},
		{"nothing", text(""), NotAService},
		{"deep", text(strings.Repeat(`{"a":`, 20000)), Damaged},
		{"503", func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}, Unavailable},
		{"403 behind the login", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/redfish/v1/Systems" {
				w.WriteHeader(http.StatusForbidden)
			}
			return r.URL.Path == "/redfish/v1/Systems"
		}, Forbidden},
		{"never", func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, Timeout},
		{"drop by drop", func(w http.ResponseWriter, r *http.Request) bool {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
			return true
		}, Timeout},
		{"without end", func(w http.ResponseWriter, _ *http.Request) bool {
			chunk := bytes.Repeat([]byte("a"), 64<<10)
			for {
				if _, err := w.Write(chunk); err != nil {
					return true
				}
			}
		}, TooLarge},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"Redf`))
			return true
		}, Damaged},
		{"no Redfish", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusNotFound); return true }, NotAService},
		{"in a circle", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}, Redirected},
		{"several systems", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != systems {
				return false
			}
			_, _ = w.Write([]byte(`{"Members":[{"@odata.id":"/redfish/v1/Systems/A"},{"@odata.id":"/redfish/v1/Systems/B"}]}`))
			return true
		}, SeveralSystem},
		{"pages in a circle", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != systems {
				return false
			}
			_, _ = w.Write([]byte(`{"Members":[],"Members@odata.nextLink":"/redfish/v1/Systems"}`))
			return true
		}, TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := emulate(t, c.spoil)
			begun := time.Now()
			a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots(), AnswerLimit: 300 * time.Millisecond, Limit: 2 * time.Second})[0]
			if a.Failure != c.want {
				t.Errorf("%s (%s), want %s", a.Failure, a.Error, c.want)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestAddresses: what is not Redfish is not asked, and plain HTTP gets no credential.
func TestAddresses(t *testing.T) {
	open := &emulator{tree: small(), methods: map[string]int{}}
	plain := httptest.NewServer(open)
	defer plain.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for address, want := range map[string]Failure{
		"ipmi://127.0.0.1":        NotRedfish,
		"10.0.0.1":                NotRedfish,
		"libvirt://x":             NotRedfish,
		"redfish://":              BadAddress,
		"redfish+" + plain.URL:    PlainHTTP,
		"redfish+" + closed.URL:   Unreachable,
		"redfish" + plain.URL[4:]: NoTLS,
	} {
		a := answers(t, Options{Targets: []Target{{Host: "m0", Address: address}}, Credentials: given(goodUser, goodPass)})[0]
		if a.Failure != want {
			t.Errorf("%s: %s (%s), want %s", address, a.Failure, a.Error, want)
		}
	}
	if logins, _, requests, _ := open.counts(); logins != 0 || requests == 0 {
		t.Errorf("%d of %d requests over HTTP had a credential", logins, requests)
	}
	e := emulate(t, nil)
	if a := answers(t, Options{Targets: []Target{e.target("m0")}, Roots: e.roots()})[0]; a.Failure != NoCredential {
		t.Errorf("without a credential: %s", a.Failure)
	}
}

// TestCredentialPrintsNothing: in no way of printing.
func TestCredentialPrintsNothing(t *testing.T) {
	c, ok := newCredential("planted-user", "planted-pass", FromFile)
	if !ok {
		t.Fatal("no credential")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c, "p", &c)
	all := given("planted-user", "planted-pass")
	o := Options{Credentials: all}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %+v", all, all, all, o), fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c, c), fmt.Sprintf("%+v", &c), log.String()} {
		if strings.Contains(text, "planted") {
			t.Errorf("it prints itself: %s", text)
		}
	}
}
