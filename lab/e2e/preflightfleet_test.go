package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// redfishTrees names a directory with captured trees of real services: each has redfish/v1/index.json
// (NVIDIA/libredfish:tests/mockups, DMTF/Redfish-Mockup-Server). None is in the repository.
const redfishTrees = "ROLLCALL_LAB_REDFISH_TREES"

// TestPreflightBMCAccounts: a wrong password is sent once to each BMC, however many hosts have it,
// and to two BMCs at most.
func TestPreflightBMCAccounts(t *testing.T) {
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	const hosts = 12
	for name, c := range map[string]struct {
		bmcs, all int
		pass      func(i int) string
	}{
		"many-bmcs":           {hosts, 2, func(int) string { return bmcWrong }},
		"one-bmc":             {1, 1, func(int) string { return bmcWrong }},
		"one-bmc-as-many":     {1, 1, func(i int) string { return fmt.Sprintf("%s-%d", bmcWrong, i) }},
		"one-wrong-among-all": {hosts, 1, func(i int) string { return map[bool]string{true: bmcWrong, false: bmcPassword}[i == 5] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, ca)
			pair, err := ca.Server(pki.Name{CN: "bmcs"}, []string{"127.0.0.1"}, pki.OneYear)
			if err != nil {
				t.Fatal(err)
			}
			var list, logins bytes.Buffer
			for i := range hosts {
				if i < c.bmcs {
					f.add(bmc.Config{Name: fmt.Sprintf("m%d", i), Vendor: bmc.Supermicro, MaxFailures: 2, Pair: &pair})
				}
				b := f.bmcs[i%c.bmcs]
				fmt.Fprintf(&list, "m%d redfish-virtualmedia%s%s worker\n", i, strings.TrimPrefix(b.URL(), "https"), b.SystemPath())
				fmt.Fprintf(&logins, "  m%d: {username: %s, password: %s}\n", i, bmcUser, c.pass(i))
			}
			f.file("bmcs.txt", list.String())
			f.file("credentials.yaml", "hosts:\n"+logins.String())
			f.file("ca.pem", string(ca.Cert))
			r := f.run("preflight", "--bmc-list", f.path("bmcs.txt"), "--bmc-credentials", f.path("credentials.yaml"), "--bmc-ca", f.path("ca.pem"))
			sum := 0
			for i := range f.bmcs {
				if f.refused(i) > 1 {
					t.Errorf("%s refused %d attempts", f.names[i], f.refused(i))
				}
				sum += f.refused(i)
			}
			if sum < 1 || sum > c.all {
				t.Errorf("%d attempts were refused, want 1 to %d", sum, c.all)
			}
			if r.code != 2 || !strings.Contains(r.out, "redfish-credentials-refused") {
				t.Errorf("%s", r)
			}
		})
	}
}

// TestPreflightBMCMany: 200 BMCs, some of them in trouble, are asked side by side within bounds.
func TestPreflightBMCMany(t *testing.T) {
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server(pki.Name{CN: "bmcs"}, []string{"127.0.0.1"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	const all, atOnce = 200, 32
	var gauge bmc.Gauge
	f := newFleet(t, ca)
	vendors := []bmc.Vendor{bmc.Dell, bmc.HPE, bmc.Lenovo, bmc.Supermicro}
	bad := map[int]bmc.Trouble{20: {Hang: true}, 60: {Endless: true}, 100: {Half: true}, 140: {Deep: true}, 180: {Unavailable: true}}
	for i := range all {
		b := f.add(bmc.Config{Name: fmt.Sprintf("m%d", i), Vendor: vendors[i%len(vendors)], MaxFailures: 2, Pair: &pair, Gauge: &gauge})
		trouble := bad[i]
		trouble.Delay = 5 * time.Millisecond
		b.Behave(trouble)
	}
	f.write()
	w := &world{t: t, state: t.TempDir()}
	cmd := w.command("preflight", "--bmc-list", f.path("bmcs.txt"), "--bmc-credentials", f.path("credentials.yaml"), "--bmc-ca", f.path("ca.pem"), "--bmc-timeout", "20s", "-o", "json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage of resources")
	}
	requests := 0
	for _, b := range f.bmcs {
		for _, q := range b.Requests() {
			requests++
			if q.Method != http.MethodGet {
				t.Errorf("%s %s", q.Method, q.Path)
			}
		}
	}
	t.Logf("%d BMCs: %s, %d requests, at most %d at once, %d MiB of memory, %s of processor", all, time.Since(began).Round(time.Millisecond), requests,
		gauge.Most(), usage.Maxrss/1024, cmd.ProcessState.UserTime().Round(time.Millisecond))
	if gauge.Most() > atOnce {
		t.Errorf("%d requests were being answered at the same time", gauge.Most())
	}
	if usage.Maxrss/1024 > 1024 {
		t.Errorf("%d MiB of memory", usage.Maxrss/1024)
	}
	if strings.Contains(out.String()+errs.String(), planted) {
		t.Error("a secret comes out")
	}
	var d struct {
		Findings []struct {
			Fault, Outcome string
			Evidence       []struct{ Excerpt string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	named := map[string]bool{}
	for _, x := range d.Findings {
		if x.Outcome != "present" || !strings.HasPrefix(x.Fault, "redfish-") {
			continue
		}
		for _, e := range x.Evidence {
			host, _, _ := strings.Cut(e.Excerpt, ":")
			named[host] = true
		}
	}
	for i := range all {
		if _, wrong := bad[i]; wrong != named[fmt.Sprintf("m%d", i)] {
			t.Errorf("m%d: named as one in trouble: %t", i, !wrong)
		}
	}
}

// TestPreflightBMCTrees: captured services of real servers are read whole, and preflight shows of
// them what is in their trees.
func TestPreflightBMCTrees(t *testing.T) {
	dir := os.Getenv(redfishTrees)
	if dir == "" {
		t.Skipf("set %s to a directory with captured trees", redfishTrees)
	}
	roots, err := filepath.Glob(filepath.Join(dir, "*/redfish/v1/index.json"))
	if err != nil || len(roots) == 0 {
		t.Fatalf("no tree in %s: %v", dir, err)
	}
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range roots {
		tree := filepath.Dir(filepath.Dir(filepath.Dir(root)))
		t.Run(filepath.Base(tree), func(t *testing.T) {
			f := newFleet(t, ca)
			b := f.add(bmc.Config{Name: "m0", Tree: os.DirFS(tree), Sign: ca})
			f.file("bmcs.txt", "m0 redfish-virtualmedia"+strings.TrimPrefix(b.URL(), "https")+" master\n")
			f.file("credentials.yaml", fmt.Sprintf("default: {username: %s, password: %s}\n", bmcUser, bmcPassword))
			f.file("ca.pem", string(ca.Cert))
			args := []string{"preflight", "--bmc-list", f.path("bmcs.txt"), "--bmc-credentials", f.path("credentials.yaml"), "--bmc-ca", f.path("ca.pem"), "-o"}
			r := f.run(append(args, "json")...)
			var d struct {
				Machines struct {
					Rows []struct {
						Property string
						Values   []string
					}
				}
			}
			if err := json.Unmarshal([]byte(r.out), &d); err != nil {
				t.Fatalf("%v: %s", err, r)
			}
			text := treeText(t, tree)
			shown := 0
			for _, row := range d.Machines.Rows {
				if row.Property != "serial number" && row.Property != "BMC firmware" && row.Property != "BIOS" {
					continue
				}
				shown++
				if !bytes.Contains(text, bytes.ToLower([]byte(row.Values[0]))) {
					t.Errorf("%s %q is not in the tree", row.Property, row.Values[0])
				}
			}
			if shown != 3 {
				t.Errorf("%d of 3 properties are shown: %s", shown, r)
			}
			for _, trouble := range []bmc.Trouble{{Half: true}, {Half: true, Late: true}, {Forbidden: true}} {
				b.Behave(trouble)
				if r := f.run(append(args, "json")...); r.code != 2 {
					t.Errorf("%+v: %s", trouble, r)
				}
			}
		})
	}
}

// treeText is all resources of a tree in lower case.
func treeText(t *testing.T, tree string) []byte {
	var all []byte
	err := filepath.WalkDir(tree, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "index.json" {
			return err
		}
		raw, err := os.ReadFile(path)
		all = append(all, bytes.ToLower(raw)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPreflightBMCInspected: of BareMetalHosts what their BMCs show is compared with what metal3 found
// at their inspection.
func TestPreflightBMCInspected(t *testing.T) {
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneYear)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mebibytes int
		disk      string // besides the one that the BMC shows
		says      string
	}{
		"equal":     {65536, "", ""},
		"memory":    {131072, "", "it has 64 GiB of memory, and had 128 when it was inspected"},
		"disk":      {65536, "GONE1", "the disk with serial number GONE1 is no longer shown"},
		"more-here": {32768, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, ca)
			b := f.add(bmc.Config{Name: "m0", Vendor: bmc.Dell, Sign: ca})
			serials := "{name: /dev/sda, serialNumber: DLAB0000, sizeBytes: 480103981056}"
			if c.disk != "" {
				serials += ", {name: /dev/sdb, serialNumber: " + c.disk + ", sizeBytes: 480103981056}"
			}
			dir := f.path("must-gather/quay-io-example/namespaces/openshift-machine-api/metal3.io")
			for _, kind := range []string{"baremetalhosts", "hardwaredata"} {
				if err := os.MkdirAll(filepath.Join(dir, kind), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			f.file("must-gather/quay-io-example/namespaces/openshift-machine-api/metal3.io/baremetalhosts/m0.yaml", fmt.Sprintf(
				"apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: m0, namespace: openshift-machine-api}\nspec:\n  online: true\n  bootMACAddress: %q\n  bmc: {address: \"idrac-virtualmedia%s%s\", credentialsName: m0-bmc-secret}\n",
				macOf(0), strings.TrimPrefix(b.URL(), "https"), b.SystemPath()))
			f.file("must-gather/quay-io-example/namespaces/openshift-machine-api/metal3.io/hardwaredata/m0.yaml", fmt.Sprintf(
				"apiVersion: metal3.io/v1alpha1\nkind: HardwareData\nmetadata: {name: m0, namespace: openshift-machine-api}\nspec:\n  hardware: {ramMebibytes: %d, storage: [%s]}\n", c.mebibytes, serials))
			f.file("credentials.yaml", fmt.Sprintf("default: {username: %s, password: %s}\n", bmcUser, bmcPassword))
			f.file("ca.pem", string(ca.Cert))
			r := f.run("preflight", "--bmc-from", f.path("must-gather"), "--bmc-credentials", f.path("credentials.yaml"), "--bmc-ca", f.path("ca.pem"))
			if !strings.Contains(r.out, c.says) || strings.Contains(r.out, "hardware-changed") != (c.says != "") || strings.Contains(r.out, "DO NOT INSTALL") {
				t.Errorf("want %q: %s", c.says, r)
			}
		})
	}
}
