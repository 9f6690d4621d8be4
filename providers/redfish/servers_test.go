package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
	"github.com/rollcall-project/rollcall/lab/bmc"
)

const (
	token = "cGxhbnRlZC10b2tlbg=="
	data  = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.1/ignition","httpHeaders":[{"name":"Authorization","value":"Bearer ` + token + `"}]}]}}}`
	pass  = "planted-bmc-password"
)

func TestMain(m *testing.M) {
	powerTimeout, powerEvery = 200*time.Millisecond, 5*time.Millisecond
	os.Exit(m.Run())
}

// rack is one server with its BMC, and a web server's directory.
type rack struct {
	t     *testing.T
	bmc   *bmc.BMC
	dir   string
	order provider.Order
	hosts map[string]server
	boots []bmc.Boot
}

func newRack(t *testing.T, vendor bmc.Vendor, change ...func(*bmc.Config)) *rack {
	t.Helper()
	r := &rack{t: t, dir: t.TempDir()}
	var err error
	config := bmc.Config{Name: "guest0", Address: "127.0.0.1:0", Vendor: vendor, Serial: "S1", User: "admin", Pass: pass, PowerChanged: func(on bool, b bmc.Boot) {
		if on {
			r.boots = append(r.boots, b)
		}
	}}
	for _, c := range change {
		c(&config)
	}
	r.bmc, err = bmc.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.bmc.Close() })
	r.file("ca.pem", r.bmc.Certificate())
	r.file("login.json", []byte(`{"username":"admin","password":"`+pass+`"}`))
	r.file("live.iso", liveISO())
	if err := os.Mkdir(filepath.Join(r.dir, "www"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.hosts = map[string]server{"guest0": {BMC: r.bmc.URL() + r.bmc.SystemPath(), CA: r.path("ca.pem"), Credentials: r.path("login.json"), Disk: "/dev/disk/by-id/wwn-0x5000c500", UUID: r.uuid()}}
	r.order = provider.Order{
		Run: "w-0123456789", Hosted: "clusters/guest", NodePool: "guest", Worker: provider.Worker{Name: "guest0"}, Attempt: 1,
		Options: map[string]string{"iso": r.path("live.iso"), "publish": r.path("www"), "url": "https://192.0.2.9/images/", "hosts": r.path("hosts.json")},
	}
	r.save()
	return r
}

func (r *rack) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rack) file(name string, content []byte) {
	if err := os.WriteFile(r.path(name), content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rack) save() {
	raw, err := json.Marshal(r.hosts)
	if err != nil {
		r.t.Fatal(err)
	}
	r.file("hosts.json", raw)
}

// uuid asks the BMC, as a person does before.
func (r *rack) uuid() string {
	s := server{BMC: r.bmc.URL() + r.bmc.SystemPath(), CA: r.path("ca.pem"), Credentials: r.path("login.json"), UUID: "x"}
	_, err := open(r.t.Context(), s)
	m := regexp.MustCompile(`uuid ([-0-9a-fA-F]{36})`).FindStringSubmatch(fmt.Sprint(err))
	if m == nil {
		r.t.Fatalf("a server with another uuid was taken: %v", err)
	}
	return m[1]
}

// liveISO has the header and the place of a live ISO.
func liveISO() []byte {
	iso := make([]byte, 300<<10)
	copy(iso[headerAt:], magic)
	binary.LittleEndian.PutUint64(iso[headerAt+8:], 40<<10)
	binary.LittleEndian.PutUint64(iso[headerAt+16:], 256<<10)
	copy(iso[296<<10:], "what follows it")
	return iso
}

// left are the files that this run has made.
func (r *rack) left() []string {
	var names []string
	entries, err := os.ReadDir(r.path("www"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") || len(entries) == 1 { // it goes with what it is about
			names = append(names, e.Name())
		}
	}
	return names
}

func (r *rack) media() string {
	m, err := open(r.t.Context(), r.hosts["guest0"])
	if err != nil {
		r.t.Fatal(err)
	}
	list, err := m.drives()
	if err != nil {
		r.t.Fatal(err)
	}
	all := ""
	for _, v := range list {
		all += v.Image
	}
	o := m.override()
	return all + "|" + o.Enabled + " " + o.Target
}

// TestLife on the shapes of four vendors: the server boots the image once, from which its
// config can be read; Clean leaves neither image nor override, Delete nothing.
func TestLife(t *testing.T) {
	for _, vendor := range []bmc.Vendor{bmc.Dell, bmc.HPE, bmc.Lenovo, bmc.Supermicro} {
		t.Run(string(vendor), func(t *testing.T) {
			r := newRack(t, vendor)
			before := r.media()
			checks, err := (&servers{}).Check(t.Context(), r.order, []provider.Worker{r.order.Worker})
			if err != nil || len(checks) != 2 || checks[0].Outcome != provider.Passed {
				t.Fatalf("Check: %+v, %v", checks, err)
			}
			other := r.order
			other.Image.Digest = strings.Repeat("0", 64)
			if checks, err := (&servers{}).Check(t.Context(), other, nil); err != nil || checks[0].Outcome != provider.Failed || !strings.Contains(checks[0].Text, "SHA-256") {
				t.Errorf("an ISO of another release: %+v, %v", checks, err)
			}
			for _, q := range r.bmc.Requests() {
				if q.Method != "GET" {
					t.Errorf("a check wrote: %+v", q)
				}
			}
			for range 2 {
				if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil {
					t.Fatal(err)
				}
			}
			if len(r.boots) != 1 || r.boots[0].Target != "Cd" || !strings.HasPrefix(r.boots[0].Image, "https://192.0.2.9/images/guest0-") {
				t.Fatalf("boots: %+v", r.boots)
			}
			r.readImage(strings.TrimPrefix(r.boots[0].Image, "https://192.0.2.9/images/"))
			if m, err := (&servers{}).Find(t.Context(), r.order); err != nil || m.ID == "" {
				t.Errorf("Find: %+v, %v", m, err)
			}
			for range 2 {
				if err := (&servers{}).Clean(t.Context(), r.order); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.media(); got != before || !r.bmc.On() || len(r.left()) != 1 {
				t.Errorf("after Clean: %s, was %s; on=%v, %v", got, before, r.bmc.On(), r.left())
			}
			for range 2 {
				if err := (&servers{}).Delete(t.Context(), r.order); err != nil {
					t.Fatal(err)
				}
			}
			if r.bmc.On() || len(r.left()) > 0 {
				t.Errorf("after Delete: on=%v, %v", r.bmc.On(), r.left())
			}
		})
	}
}

// readImage reads the config out of the image as Ignition's live system does.
func (r *rack) readImage(name string) {
	raw, err := os.ReadFile(filepath.Join(r.path("www"), name))
	if err != nil {
		r.t.Fatal(err)
	}
	if !bytes.Equal(raw[296<<10:], liveISO()[296<<10:]) {
		r.t.Error("what follows the config was changed")
	}
	z, err := gzip.NewReader(bytes.NewReader(raw[40<<10:]))
	if err != nil {
		r.t.Fatal(err)
	}
	z.Multistream(false)
	archive, err := io.ReadAll(z)
	if err != nil || !bytes.HasPrefix(archive, []byte("070701")) {
		r.t.Fatalf("%v, %.20q", err, archive)
	}
	var size, nameSize int
	if _, err := fmt.Sscanf(string(archive[54:62]), "%x", &size); err != nil {
		r.t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(archive[94:102]), "%x", &nameSize); err != nil {
		r.t.Fatal(err)
	}
	start := (110 + nameSize + 3) / 4 * 4
	config := archive[start : start+size]
	var doc struct {
		Storage struct {
			Files []struct{ Contents struct{ Source string } }
		}
		Systemd struct{ Units []struct{ Contents string } }
	}
	if err := json.Unmarshal(config, &doc); err != nil || string(archive[110:110+nameSize-1]) != "config.ign" {
		r.t.Fatalf("%v: %s", err, config)
	}
	inner, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(doc.Storage.Files[0].Contents.Source, "data:;base64,"))
	if err != nil || !strings.Contains(string(inner), token) || !strings.Contains(string(inner), "guest0%0A") {
		r.t.Errorf("its user-data: %v, %s", err, inner)
	}
	if !strings.Contains(doc.Systemd.Units[0].Contents, "coreos-installer install /dev/disk/by-id/wwn-0x5000c500 ") {
		r.t.Errorf("its unit: %s", doc.Systemd.Units[0].Contents)
	}
}

// TestRefused: what is of others stays as it is, and no password is shown or sent in vain.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *rack)
		want   string
	}{
		{"it is on", func(r *rack) { r.bmc.SetPower(true) }, "is switched on"},
		{"another server", func(r *rack) {
			s := r.hosts["guest0"]
			s.UUID = "00000000-0000-0000-0000-000000000000"
			r.hosts["guest0"] = s
			r.save()
		}, "another server"},
		{"a certificate of somebody else", func(r *rack) { s := r.hosts["guest0"]; s.CA = ""; r.hosts["guest0"] = s; r.save() }, "certificate"},
		{"a wrong password", func(r *rack) { r.bmc.SetPassword("another") }, "401"},
		{"an account that may only read", func(r *rack) { r.bmc.Behave(bmc.Trouble{ReadOnly: true}) }, "403"},
		{"power that does not change", func(r *rack) { r.bmc.Behave(bmc.Trouble{PowerStuck: true}) }, "did not change"},
		{"a BMC that sends elsewhere", func(r *rack) { r.bmc.Behave(bmc.Trouble{Redirect: "https://192.0.2.1"}) }, "not followed"},
		{"a BMC that sends a page", func(r *rack) { r.bmc.Behave(bmc.Trouble{HTML: true}) }, "BMC"},
		{"credentials that all can read", func(r *rack) { _ = os.Chmod(r.path("login.json"), 0o644) }, "chmod 600"},
		{"no live ISO", func(r *rack) { r.file("live.iso", make([]byte, 64<<10)) }, "not a live ISO"},
		{"a disk without an id", func(r *rack) { s := r.hosts["guest0"]; s.Disk = "/dev/sda"; r.hosts["guest0"] = s; r.save() }, "by-id"},
		{"another run", func(r *rack) {
			r.file("www/.rollcall-guest0.json", []byte(`{"run":"w-9999999999","hosted":"clusters/guest"}`))
		}, "w-9999999999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRack(t, bmc.Dell)
			c.change(r)
			_, err := (&servers{}).Create(t.Context(), r.order, []byte(data))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), pass) || strings.Contains(err.Error(), token) {
				t.Fatalf("Create: %v, want %q", err, c.want)
			}
			if c.name != "another run" {
				r.bmc.Behave(bmc.Trouble{})
				if n := len(r.boots); n > 0 {
					t.Errorf("it booted %d times", n)
				}
			}
			if c.name == "a wrong password" {
				refused := 0
				for _, q := range r.bmc.Requests() {
					if q.Status == 401 {
						refused++
					}
				}
				if refused > 1 {
					t.Errorf("the wrong password was sent %d times", refused)
				}
			}
		})
	}
}

// TestForeignImage: an image of somebody else stays in its drive, also through Delete.
func TestForeignImage(t *testing.T) {
	r := newRack(t, bmc.HPE) // has one drive for CDs
	m, err := open(t.Context(), r.hosts["guest0"])
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.drives()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.insert(list[0], "https://192.0.2.77/theirs.iso"); err != nil {
		t.Fatal(err)
	}
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("Create: %v", err)
	}
	if err := (&servers{}).Delete(t.Context(), r.order); err != nil {
		t.Error(err)
	}
	if got := r.media(); !strings.HasPrefix(got, "https://192.0.2.77/theirs.iso|") || len(r.left()) > 0 || len(r.boots) > 0 {
		t.Errorf("%s, %v, %v", got, r.left(), r.boots)
	}
}

// TestFailedHalfway: after each request that changes something fails once, the next call
// finishes, with one boot, and Delete leaves nothing.
func TestFailedHalfway(t *testing.T) {
	for _, then := range []string{"create", "delete"} {
		for _, trouble := range []bmc.Trouble{{ReadOnly: true}, {PowerStuck: true}, {Unavailable: true}} {
			t.Run(fmt.Sprintf("%+v, then %s", trouble, then), func(t *testing.T) {
				r := newRack(t, bmc.Lenovo)
				before := r.media()
				r.bmc.Behave(trouble)
				if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err == nil {
					t.Fatal("nothing failed")
				}
				r.bmc.Behave(bmc.Trouble{})
				if then == "create" {
					if _, err := (&servers{}).Find(t.Context(), r.order); !errors.Is(err, provider.ErrNone) {
						t.Errorf("Find: %v", err)
					}
					if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil || len(r.boots) != 1 {
						t.Errorf("again: %v, %d boots", err, len(r.boots))
					}
				}
				if err := (&servers{}).Delete(t.Context(), r.order); err != nil {
					t.Fatal(err)
				}
				if got := r.media(); got != before || r.bmc.On() || len(r.left()) > 0 {
					t.Errorf("left: %s, was %s; on=%v, %v", got, before, r.bmc.On(), r.left())
				}
			})
		}
	}
}
