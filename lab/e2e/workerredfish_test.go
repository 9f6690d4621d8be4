package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
)

// rack is servers with emulated BMCs, whose power switches machines of the lab: a server that
// is switched on reads its image from the web server, as its firmware would, and boots with
// the config that is in it.
type rack struct {
	t   *testing.T
	w   *world
	dir string
	web *httptest.Server

	mu    sync.Mutex
	bmcs  map[string]*bmc.BMC
	boots map[string][]bmc.Boot
	wrong []error

	one sync.Mutex // the lab takes one order at a time
}

const bmcPassword = "planted-bmc-password"

// newRack has a server for each name, of the vendor; boot is "http" or "".
func newRack(t *testing.T, w *world, servers map[string]struct {
	vendor bmc.Vendor
	boot   string
}) *rack {
	t.Helper()
	r := &rack{t: t, w: w, dir: t.TempDir(), bmcs: map[string]*bmc.BMC{}, boots: map[string][]bmc.Boot{}}
	if err := os.Mkdir(filepath.Join(r.dir, "www"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.web = httptest.NewTLSServer(http.FileServer(http.Dir(filepath.Join(r.dir, "www"))))
	t.Cleanup(r.web.Close)
	hosts := map[string]map[string]string{}
	for name, s := range servers {
		b, err := bmc.Start(bmc.Config{
			Name: name, Address: "127.0.0.1:0", Vendor: s.vendor, Serial: "S" + name, User: "admin", Pass: bmcPassword, HTTPBoot: s.boot != "",
			PowerChanged: func(on bool, boot bmc.Boot) { r.power(name, on, boot) },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		r.bmcs[name] = b
		r.file(name+"-ca.pem", b.Certificate())
		r.file(name+"-login.json", []byte(`{"username":"admin","password":"`+bmcPassword+`"}`))
		hosts[name] = map[string]string{
			"bmc": b.URL() + b.SystemPath(), "ca": r.path(name + "-ca.pem"), "credentials": r.path(name + "-login.json"),
			"disk": "/dev/disk/by-id/wwn-0x5000c500", "uuid": r.uuid(b), "boot": s.boot,
		}
	}
	raw, err := json.Marshal(hosts)
	if err != nil {
		t.Fatal(err)
	}
	r.file("hosts.json", raw)
	r.file("live.iso", liveISO())
	return r
}

func (r *rack) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rack) file(name string, content []byte) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// uuid asks the BMC, as a person does who writes the file of servers.
func (r *rack) uuid(b *bmc.BMC) string {
	r.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(b.Certificate())
	client := r.client(pool)
	request, err := http.NewRequest(http.MethodGet, b.URL()+b.SystemPath(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.SetBasicAuth("admin", bmcPassword)
	resp, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var system struct{ UUID string }
	if err := json.NewDecoder(resp.Body).Decode(&system); err != nil || system.UUID == "" {
		r.t.Fatalf("uuid: %v", err)
	}
	return system.UUID
}

// liveISO has the header and the place for a config of a live ISO of RHCOS, and nothing else
// (coreos/coreos-installer:src/live/embed.rs).
func liveISO() []byte {
	const header, at, size = 32768 - 24, 40 << 10, 256 << 10
	iso := make([]byte, at+size)
	copy(iso[header:], "coreiso+")
	binary.LittleEndian.PutUint64(iso[header+8:], at)
	binary.LittleEndian.PutUint64(iso[header+16:], size)
	return iso
}

// power is the machine behind a BMC.
func (r *rack) power(name string, on bool, boot bmc.Boot) {
	r.mu.Lock()
	r.boots[name] = append(r.boots[name], boot)
	r.mu.Unlock()
	go func() {
		if err := r.powered(name, on, boot); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.wrong = append(r.wrong, fmt.Errorf("%s: %w", name, err))
		}
	}()
}

func (r *rack) powered(name string, on bool, boot bmc.Boot) error {
	what := "scrap-guest"
	if on {
		config, err := r.installs(boot)
		if err != nil {
			return err
		}
		what = "boot-guest"
		dir := filepath.Join(r.w.dir, "boot")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".ign"), config, 0o600); err != nil {
			return err
		}
	}
	r.one.Lock()
	defer r.one.Unlock()
	if result := r.w.lab("outside", what, name); result.code != 0 {
		return errors.New(result.String())
	}
	return nil
}

// installs is the Ignition config that the live system of the image installs with.
func (r *rack) installs(boot bmc.Boot) ([]byte, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.web.Certificate().Raw}))
	client := r.client(pool)
	resp, err := client.Get(boot.Image)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	iso, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK || len(iso) < 40<<10 {
		return nil, fmt.Errorf("read %s: %s, %d bytes, %w", boot.Image, resp.Status, len(iso), err)
	}
	z, err := gzip.NewReader(bytes.NewReader(iso[40<<10:]))
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	archive, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	var size, nameSize int
	if _, err := fmt.Sscanf(string(archive[54:62])+" "+string(archive[94:102]), "%x %x", &size, &nameSize); err != nil {
		return nil, err
	}
	start := (110 + nameSize + 3) / 4 * 4
	var doc struct {
		Storage struct {
			Files []struct{ Contents struct{ Source string } }
		}
	}
	if err := json.Unmarshal(archive[start:start+size], &doc); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(doc.Storage.Files[0].Contents.Source, "data:;base64,"))
}

// client trusts the authorities of pool only.
func (r *rack) client(pool *x509.CertPool) *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// state is each server's power and boots, and what is left of the run at the web server.
func (r *rack) state() string {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.wrong {
		r.t.Error(err)
	}
	entries, err := os.ReadDir(r.path("www"))
	if err != nil {
		r.t.Fatal(err)
	}
	var list []string
	for _, name := range []string{"guest5", "guest6", "guest7"} {
		list = append(list, fmt.Sprintf("%s on=%v", name, r.bmcs[name].On()))
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".lock") && len(entries) > 1 {
			continue // it goes with what it is about
		}
		if strings.HasSuffix(name, ".iso") {
			name = "ISO"
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

// TestWorkerRedfish goes with the tool and the program of the provider against emulated BMCs
// whose servers boot, by virtual media and by HTTP, through the real Ignition: create, a run
// that is killed, replace, delete. Passwords and user-data are nowhere afterwards.
func TestWorkerRedfish(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	buildProvider(t, "redfish", ".", "rollcall-provider-redfish")
	r := newRack(t, w, map[string]struct {
		vendor bmc.Vendor
		boot   string
	}{"guest5": {bmc.Dell, ""}, "guest6": {bmc.HPE, "http"}, "guest7": {bmc.Supermicro, ""}})
	flags := []string{"--hosted", "clusters/guest", "--provider", "redfish", "--option", "hosts=" + r.path("hosts.json"), "--option", "iso=" + r.path("live.iso"),
		"--option", "publish=" + r.path("www"), "--option", "url=" + r.web.URL, "--yes"}
	host := func(n int) []string { return []string{"--host", fmt.Sprintf("guest%d=%s", n, w.guestAddress(t, n))} }
	command := func(verb string, more ...string) []string {
		return append([]string{"worker", verb}, append(flags, more...)...)
	}

	r.bmcs["guest7"].SetPower(true)
	if refused := w.live(command("create", append(host(5), host(7)...)...)...); refused.code != 2 || !strings.Contains(refused.out, "guest7: it is switched on") {
		t.Fatalf("a server that somebody uses: %s", refused)
	}
	r.bmcs["guest7"].SetPower(false)

	began := time.Now()
	made := w.live(command("create", append(append(host(5), host(6)...), "--window", "6m", "-vv")...)...)
	if made.code != 0 || !strings.Contains(made.out, "2 of 2 workers are Ready") {
		t.Fatalf("%s: %s", r.state(), made)
	}
	t.Logf("2 servers in %s", time.Since(began).Round(time.Second))
	if got, want := r.state(), "guest5 on=true guest6 on=true guest7 on=false .rollcall-guest5.json .rollcall-guest6.json"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if a, b := r.boots["guest5"], r.boots["guest6"]; len(a) != 1 || a[0].Target != "Cd" || len(b) != 1 || b[0].Target != "UefiHttp" {
		t.Errorf("boots: %v, %v", a, b)
	}
	if strings.Contains(made.out+made.err, bmcPassword) || strings.Contains(made.out+made.err, "Bearer") {
		t.Errorf("a secret is on the screen: %s", made)
	}

	// The tool is killed when the server has its image.
	r.bmcs["guest7"].Behave(bmc.Trouble{Delay: 300 * time.Millisecond})
	id := w.killed(t, append(command("create", append(host(7), "--window", "6m")...), "--kubeconfig", w.kube), func() bool {
		return strings.Contains(r.state(), "ISO")
	})
	r.bmcs["guest7"].Behave(bmc.Trouble{})
	if resumed := w.live("worker", "resume", id, "--window", "6m"); resumed.code != 0 || !strings.Contains(resumed.out, "1 of 1 workers are Ready") {
		t.Fatalf("resumed: %s", resumed)
	}
	if n := len(r.boots["guest7"]); n != 1 {
		t.Errorf("guest7 was booted %d times", n)
	}

	for _, name := range []string{"guest5", "guest6", "guest7"} {
		if gone := w.live("worker", "delete", name, "--hosted", "clusters/guest", "--yes", "--force", "--delete-emptydir-data"); gone.code != 0 {
			t.Fatal(gone)
		}
	}
	if got, want := r.state(), "guest5 on=false guest6 on=false guest7 on=false"; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
	for _, b := range r.bmcs {
		for _, q := range b.Requests() {
			if q.Status == http.StatusUnauthorized {
				t.Errorf("a login was refused: %+v", q)
			}
		}
	}
}
