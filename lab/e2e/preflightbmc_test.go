package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// What is planted in the plans, lists and BMCs here begins with planted, and comes out nowhere.
const (
	bmcUser  = "planted-user"
	bmcWrong = "planted-wrong-password"
	planted  = "planted"
)

// bmcRow is a BMC in trouble among three, and what preflight has to make of it.
type bmcRow struct {
	name    string
	trouble bmc.Trouble
	config  func(t *testing.T, ca pki.Pair, c *bmc.Config)
	wrong   bool     // the password of the plan is not that of the BMC
	flags   []string // besides --bmc
	fault   string   // that is present, "" where none is
	says    string   // of the host, in the evidence of the fault
	unknown []string // checks that the other two cannot answer for it
	seen    bool     // the machine was read all the same
	list    bool     // the fault shows with --bmc-list, too
}

// blind are checks that need the machine itself.
var blind = []string{"hardware-too-small", "hardware-mac-missing", "hardware-unhealthy", "hardware-disk-small"}

var bmcRows = []bmcRow{
	{name: "healthy", seen: true},
	{name: "slow", trouble: bmc.Trouble{Delay: 30 * time.Millisecond}, seen: true},
	{name: "too-slow", trouble: bmc.Trouble{Delay: 700 * time.Millisecond}, flags: []string{"--bmc-timeout", "4s"}, fault: "redfish-not-answering", says: "in 4s", seen: true, list: true},
	{name: "hangs", trouble: bmc.Trouble{Hang: true}, flags: []string{"--bmc-timeout", "4s"}, fault: "redfish-not-answering", says: "no answer in", list: true},
	{name: "hangs-after-login", trouble: bmc.Trouble{Hang: true, Late: true}, flags: []string{"--bmc-timeout", "4s"}, fault: "redfish-not-answering", says: "no answer in", list: true},
	{name: "unavailable", trouble: bmc.Trouble{Unavailable: true}, fault: "redfish-not-answering", says: "HTTP 503", list: true},
	{name: "goes-away", trouble: bmc.Trouble{GoneAfter: 1}, fault: "redfish-not-answering", says: "closed before the answer", list: true},
	{name: "reads-nothing", trouble: bmc.Trouble{Forbidden: true}, fault: "redfish-read-forbidden", says: "may not read the system (HTTP 403)", list: true},
	{name: "reads-a-part", trouble: bmc.Trouble{ForbidBelow: []string{"/EthernetInterfaces", "/NetworkAdapters", "/Storage"}}, unknown: []string{"hardware-mac-missing", "hardware-disk-small"}, seen: true},
	{name: "rights-hidden", trouble: bmc.Trouble{ForbidBelow: []string{"/AccountService"}}, unknown: []string{"redfish-rights-missing"}, seen: true},
	{name: "read-only", trouble: bmc.Trouble{ReadOnly: true}, fault: "redfish-rights-missing", says: "role ReadOnly", seen: true},
	{name: "other-name", config: func(_ *testing.T, _ pki.Pair, c *bmc.Config) { c.Names = []string{"bmc.example.com"} }, fault: "redfish-certificate-name", says: "IP SANs", list: true},
	{name: "unknown-authority", config: func(_ *testing.T, _ pki.Pair, c *bmc.Config) { c.Sign = pki.Pair{} }, fault: "redfish-certificate-untrusted", says: "https://127.0.0.1:", list: true},
	{name: "expired", config: expired, fault: "redfish-certificate-expired", says: "https://127.0.0.1:", list: true},
	{name: "half", trouble: bmc.Trouble{Half: true}, fault: "redfish-service-unusable", says: "is not whole", list: true},
	{name: "half-after-login", trouble: bmc.Trouble{Half: true, Late: true}, fault: "redfish-service-unusable", says: "is not whole", list: true},
	{name: "web-page", trouble: bmc.Trouble{HTML: true}, fault: "redfish-service-unusable", says: "a web page", list: true},
	{name: "web-page-after-login", trouble: bmc.Trouble{HTML: true, Late: true}, fault: "redfish-service-unusable", says: "a web page", list: true},
	{name: "deep", trouble: bmc.Trouble{Deep: true}, fault: "redfish-service-unusable", says: "is not whole", list: true},
	{name: "endless", trouble: bmc.Trouble{Endless: true}, fault: "redfish-service-unusable", says: "more than 1 MiB", list: true},
	{name: "endless-after-login", trouble: bmc.Trouble{Endless: true, Late: true}, fault: "redfish-service-unusable", says: "more than 1 MiB", list: true},
	{name: "one-answer-to-all", trouble: bmc.Trouble{Same: true}, fault: "redfish-service-unusable", says: "no Redfish version", list: true},
	{name: "redirect", trouble: bmc.Trouble{Redirect: "elsewhere"}, fault: "redfish-service-unusable", says: "a redirect to https://127.0.0.1:", list: true},
	{name: "redirect-after-login", trouble: bmc.Trouble{Redirect: "elsewhere", Late: true}, fault: "redfish-service-unusable", says: "a redirect to https://127.0.0.1:", list: true},
	{name: "redirect-to-itself", trouble: bmc.Trouble{Redirect: "itself"}, fault: "redfish-service-unusable", says: "more than 3 redirects", list: true},
	{name: "echo", trouble: bmc.Trouble{Echo: true}, fault: "redfish-credentials-refused", says: "refuses the credential of the plan", list: true},
	{name: "locked", trouble: bmc.Trouble{Locked: true}, fault: "redfish-credentials-refused", says: "HTTP 401", list: true},
	{name: "wrong-password", wrong: true, fault: "redfish-credentials-refused", says: "it was sent once and will not be again", list: true},
}

// expired gives the BMC a certificate of its authority that has expired an hour ago.
func expired(t *testing.T, ca pki.Pair, c *bmc.Config) {
	pair, err := ca.Server(pki.Name{CN: c.Name}, []string{"127.0.0.1"}, pki.OneDay)
	if err == nil {
		pair, err = ca.Again(pair, time.Now().Add(-pki.OneDay), time.Now().Add(-time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Pair = &pair
}

// TestPreflightBMC: what BMCs do wrong is named with its host, and is never taken for a healthy
// machine. Nothing but reads reaches them, no account is locked, and no credential comes out.
func TestPreflightBMC(t *testing.T) {
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	places := make(chan struct{}, 4)
	for _, row := range bmcRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			places <- struct{}{} // the BMCs are of this process: not all at the same time
			defer func() { <-places }()
			row.run(t, ca)
		})
	}
}

func (row bmcRow) run(t *testing.T, ca pki.Pair) {
	var elsewhere atomic.Int64
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	f := newFleet(t, ca)
	for i, vendor := range []bmc.Vendor{bmc.Lenovo, bmc.HPE, bmc.Dell} {
		c := bmc.Config{Name: fmt.Sprintf("m%d", i), Vendor: vendor, MaxFailures: 2, Sign: ca}
		if i == 0 && row.config != nil {
			row.config(t, ca, &c)
		}
		f.add(c)
	}
	trouble := row.trouble
	switch trouble.Redirect {
	case "elsewhere":
		trouble.Redirect = other.URL
	case "itself":
		trouble.Redirect = f.bmcs[0].URL()
	}
	f.bmcs[0].Behave(trouble)
	if row.wrong {
		f.pass["m0"] = bmcWrong
	}
	f.write()
	for _, how := range [][]string{
		{f.dir, "--bmc", "-o", "json"}, {f.dir, "--bmc", "-o", "html"}, {f.dir, "--bmc", "-o", "wide"},
		{"--bmc-list", f.path("bmcs.txt"), "--bmc-credentials", f.path("credentials.yaml"), "-o", "json"},
	} {
		args := append(append([]string{"preflight", "--bmc-ca", f.path("ca.pem"), "--release", "4.20"}, how...), row.flags...)
		r := f.run(args...)
		if refused := f.refused(0); refused > 1 {
			t.Errorf("%s: the BMC of m0 has refused %d attempts to log in", r, refused)
		}
		if !slices.Contains(how, "json") {
			if row.fault != "" && !strings.Contains(r.out, row.fault) {
				t.Errorf("it does not name %s: %s", row.fault, r)
			}
			continue
		}
		row.judge(t, r, how[0] == "--bmc-list")
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests followed a redirect to another host", n)
	}
}

// judge compares the answer with what the row wants.
func (row bmcRow) judge(t *testing.T, r result, list bool) {
	var d struct {
		Verdict  struct{ Class string }
		Findings []struct {
			Fault, Outcome, Severity string
			Evidence                 []struct{ Excerpt string }
		}
	}
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatalf("%v: %s", err, r)
	}
	outcome := map[string]string{}
	for _, f := range d.Findings {
		outcome[f.Fault] = f.Outcome
		if f.Outcome == "present" && f.Severity == "error" && f.Fault != row.fault {
			t.Errorf("%v: %s is present: %v", r.args, f.Fault, f.Evidence)
		}
		if f.Fault != row.fault || list && !row.list {
			continue
		}
		if n := len(f.Evidence); n != 1 || !strings.HasPrefix(f.Evidence[0].Excerpt, "m0: ") || !strings.Contains(strings.Replace(f.Evidence[0].Excerpt, "the credentials file", "the plan", 1), row.says) {
			t.Errorf("%v: %s has the evidence %v, want one of m0 with %q", r.args, f.Fault, f.Evidence, row.says)
		}
	}
	named := row.fault != "" && (row.list || !list)
	if named != (r.code == 2) || named && outcome[row.fault] != "present" {
		t.Errorf("%v: exit %d, %s is %q", r.args, r.code, row.fault, outcome[row.fault])
	}
	unknown := row.unknown
	if list {
		unknown = slices.DeleteFunc(slices.Clone(unknown), func(id string) bool { return id == "redfish-rights-missing" })
	}
	if !row.seen {
		unknown = blind
	}
	for _, id := range unknown {
		if outcome[id] != "unknown" {
			t.Errorf("%v: %s is %q and not unknown", r.args, id, outcome[id])
		}
	}
	if (named || len(unknown) > 0) && (d.Verdict.Class == "healthy" || r.code == 0) {
		t.Errorf("%v: verdict %s, exit %d", r.args, d.Verdict.Class, r.code)
	}
}

// fleet is BMCs and the files that name them.
type fleet struct {
	t     *testing.T
	ca    pki.Pair
	dir   string
	bmcs  []*bmc.BMC
	names []string
	pass  map[string]string // in the files; default: the right one
	asked []int             // requests at the start of the run, of each BMC
}

func newFleet(t *testing.T, ca pki.Pair) *fleet {
	return &fleet{t: t, ca: ca, dir: t.TempDir(), pass: map[string]string{}}
}

func (f *fleet) path(name string) string { return filepath.Join(f.dir, name) }

// macOf is the MAC address of the i-th machine.
func macOf(i int) string { return fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256) }

// add starts a BMC.
func (f *fleet) add(c bmc.Config) *bmc.BMC {
	f.t.Helper()
	i := len(f.bmcs)
	c.Address, c.User, c.Pass, c.On, c.Serial, c.MACs = "127.0.0.1:0", bmcUser, bmcPassword, true, fmt.Sprintf("LAB%04d", i), []string{macOf(i)}
	b, err := bmc.Start(c)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = b.Close() })
	f.bmcs, f.names = append(f.bmcs, b), append(f.names, c.Name)
	return b
}

// run is preflight, and what has to be so whatever the BMCs do.
func (f *fleet) run(args ...string) result {
	f.t.Helper()
	f.asked = f.asked[:0]
	for _, b := range f.bmcs {
		f.asked = append(f.asked, len(b.Requests()))
	}
	w := &world{t: f.t, state: f.t.TempDir()}
	r := w.rollcall(args...)
	if r.code == 1 {
		f.t.Errorf("%s", r)
	}
	for _, text := range []string{r.out, r.err} {
		if i := strings.Index(text, planted); i >= 0 {
			f.t.Errorf("%v: a secret comes out: %s", r.args, text[max(0, i-80):min(len(text), i+80)])
		}
	}
	for i, b := range f.bmcs {
		for _, q := range b.Requests()[f.asked[i]:] {
			if q.Method != http.MethodGet && q.Method != http.MethodHead {
				f.t.Errorf("%v: the BMC of %s was sent %s %s", r.args, f.names[i], q.Method, q.Path)
			}
		}
	}
	return r
}

// refused is how many attempts to log in the BMC has refused in this run.
func (f *fleet) refused(i int) int {
	n := 0
	for _, q := range f.bmcs[i].Requests()[f.asked[i]:] {
		if q.User != "" && q.Status == http.StatusUnauthorized {
			n++
		}
	}
	return n
}

func (f *fleet) file(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// write writes the plan, the list and the credentials.
func (f *fleet) write() {
	var hosts, list, logins bytes.Buffer
	for i, b := range f.bmcs {
		name, pass := f.names[i], bmcPassword
		if f.pass[name] != "" {
			pass = f.pass[name]
		}
		address := "redfish-virtualmedia" + strings.TrimPrefix(b.URL(), "https") + b.SystemPath()
		role := "worker"
		if i < 3 {
			role = "master"
			fmt.Fprintf(&hosts, hostForm, name, macOf(i), address, bmcUser, pass)
		}
		fmt.Fprintf(&list, "%s %s %s\n", name, address, role)
		fmt.Fprintf(&logins, "  %s: {username: %s, password: %s}\n", name, bmcUser, pass)
	}
	f.file("install-config.yaml", planForm+hosts.String())
	f.file("bmcs.txt", list.String())
	f.file("credentials.yaml", "hosts:\n"+logins.String())
	f.file("ca.pem", string(f.ca.Cert))
}

const hostForm = `    - name: %s
      role: master
      bootMACAddress: %s
      bmc: {address: "%s", username: %s, password: %s}
`

const planForm = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
networking:
  machineNetwork: [{cidr: 192.168.10.0/24}]
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 0}]
pullSecret: '{"auths":{"quay.io":{"auth":"dTpw"},"registry.redhat.io":{"auth":"dTpw"},"cloud.openshift.com":{"auth":"dTpw"},"registry.connect.redhat.com":{"auth":"dTpw"}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGn0bWFkZS11cC1rZXktZm9yLXRoaXMtdGVzdC1vbmx5 a@example.com
platform:
  baremetal:
    provisioningNetwork: Disabled
    apiVIPs: [192.168.10.5]
    ingressVIPs: [192.168.10.6]
    hosts:
`
