package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/machine/machinetest"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

func open(t *testing.T, m *machinetest.Machine, o Options) *Source {
	t.Helper()
	o.Root, o.Runner, o.Now = m.Root, m.Commands, func() time.Time { return machinetest.Now }
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func get[T any](t *testing.T, s *Source, r evidence.Resource) T {
	t.Helper()
	list, err := s.List(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := evidence.Decode[T](list[0])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIdentity(t *testing.T) {
	id := get[onhost.Identity](t, open(t, machinetest.New(t), Options{}), evidence.HostIdentities)
	if id.Hostname != "m1" || id.NameFrom != "/etc/hostname" || id.BootID == "" {
		t.Errorf("%q from %q, boot %q", id.Hostname, id.NameFrom, id.BootID)
	}
	if c := id.Client; !c.Exists || !c.KeyFits || c.Leaf == nil || c.Leaf.CommonName != "system:node:m1" || !strings.HasSuffix(c.Target, "2026-03-01-08-06-00.pem") {
		t.Errorf("client certificate: %+v", c)
	}
	if k := id.Runtime; k.Server != "https://api-int.lark.example.com:6443" || k.UserKind != onhost.UserFile || len(k.Authorities) != 1 {
		t.Errorf("kubeconfig: %+v", k)
	}
	if k := id.Bootstrap; k.UserKind != onhost.UserToken || k.Problem != "" {
		t.Errorf("bootstrap kubeconfig: %+v", k)
	}
	if len(id.RootCA) != 1 {
		t.Errorf("%d root authorities", len(id.RootCA))
	}
}

func TestKubeconfigs(t *testing.T) {
	tests := []struct{ name, text, problem string }{
		{"empty", "", "its current-context names no context"},
		{"binary", "\x00\x01\xff", "it is not YAML"},
		{"no cluster", "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n", "its context names no cluster"},
		{"no URL", "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: [{name: b, cluster: {server: '::'}}]\n", "its server is not a URL"},
		{"bad certificate", "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\nclusters: [{name: b, cluster: {server: 'https://x:6443'}}]\nusers: [{name: c, user: {client-certificate-data: '!!'}}]\n", "its client certificate cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := machinetest.New(t)
			m.Put(bootstrapKubeconfig, tt.text)
			if k := open(t, m, Options{}).id.Bootstrap; k.Problem != tt.problem || !k.Exists {
				t.Errorf("%+v, want the problem %q", k, tt.problem)
			}
		})
	}
}

// TestHostileTree: links do not lead out, pipes do not hang, large files do not fill
// the memory.
func TestHostileTree(t *testing.T) {
	m := machinetest.New(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte(m.Kubeconfig("https://outside:1", "token: x")), 0o600); err != nil {
		t.Fatal(err)
	}
	depth := strings.Repeat("../", 40)
	m.Link(bootstrapKubeconfig, depth+outside)
	m.Link(kubeconfig, "/var/lib/kubelet/kubeconfig") // itself
	m.Remove("/etc/hostname")
	if err := syscall.Mkfifo(filepath.Join(m.Root, "/etc/hostname"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Put(currentConfig, `{"metadata":{"name":"`+strings.Repeat("x", 4096)+`"}}`)
	m.Put(rootCA, strings.Repeat("-", maxFile+10))
	s := open(t, m, Options{Name: "M1"})
	if s.Name() != "m1" {
		t.Errorf("it is called %q", s.Name())
	}
	if s.id.Bootstrap.Exists || s.id.Bootstrap.Server != "" {
		t.Errorf("a link led out of the root: %+v", s.id.Bootstrap)
	}
	if s.id.Runtime.Error == "" || s.id.StaticName != "" || len(s.id.RootCA) != 0 {
		t.Errorf("%+v", s.id)
	}
	if c := get[onhost.Config](t, s, evidence.HostConfigs); c.Current.Name != "" {
		t.Errorf("a name of %d bytes was taken", len(c.Current.Name))
	}
}

func TestPrograms(t *testing.T) {
	m := machinetest.New(t)
	s := open(t, m, Options{Network: true})
	units := get[onhost.Units](t, s, evidence.HostUnits)
	if len(units.Units) != 4 || units.Units[0].Since.IsZero() {
		t.Errorf("%+v", units.Units)
	}
	clock := get[onhost.Clock](t, s, evidence.HostClocks)
	if !clock.Synchronised || clock.Stratum != 3 || len(clock.Sources) != 2 || clock.Sources[0].Reach != 255 || clock.RTC.IsZero() {
		t.Errorf("%+v", clock)
	}
	names := get[onhost.Resolutions](t, s, evidence.HostResolutions)
	want := []onhost.Resolution{{Name: "api-int.lark.example.com", Why: "the server of /var/lib/kubelet/kubeconfig", Addresses: []string{"192.0.2.5"}, From: "/etc/hosts"}}
	if diff := cmp.Diff(want, names.Names); diff != "" {
		t.Error(diff)
	}
	if c := get[onhost.Containers](t, s, evidence.HostContainers); len(c.Containers) != 2 || c.Containers[0].State != "running" || len(c.Manifests) != 2 {
		t.Errorf("%+v", c)
	}
	disks := get[onhost.Disks](t, s, evidence.HostDisks)
	for _, d := range disks.FileSystems {
		if d.Path == "/var/lib/etcd" && (d.Mount != "/var" || d.Device != "sda" || d.Model != "ACME NVMe 1T" || !d.Known || d.Bytes == 0) {
			t.Errorf("%+v", d)
		}
	}
	if c := get[onhost.Config](t, s, evidence.HostConfigs); c.Booted != machinetest.Image || c.Current.Name != "rendered-master-1" {
		t.Errorf("%+v", c)
	}
}

func TestProgramsMissing(t *testing.T) {
	m := machinetest.New(t)
	m.Commands = machinetest.Commands{}
	s := open(t, m, Options{})
	for _, r := range []evidence.Resource{evidence.HostUnits, evidence.HostClocks, evidence.HostContainers, evidence.HostResolutions} {
		_, err := s.List(t.Context(), r, "")
		if _, ok := evidence.AsUnavailable(err); !ok {
			t.Errorf("%s: %v, want that it is unavailable", r.Name, err)
		}
	}
	if _, err := s.List(t.Context(), evidence.Nodes, ""); err == nil {
		t.Error("a machine lists Nodes")
	}
}

func TestJournal(t *testing.T) {
	s := open(t, machinetest.New(t), Options{})
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := texts[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if want := "Mar  1 11:59:00 m1 kubenswrapper[3100]: I0301"; !strings.HasPrefix(string(raw), want) {
		t.Errorf("%q, want %q", raw, want)
	}
	if _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Host: "m2"}); err == nil {
		t.Error("it has the journal of another machine")
	}
}

// TestJournalOfCopy: a link does not lead journalctl out of the copy.
func TestJournalOfCopy(t *testing.T) {
	const dir = "/var/log/journal"
	outside := t.TempDir()
	for name, c := range map[string]struct {
		make func(m *machinetest.Machine)
		want string // of the error; "" for none
	}{
		"a directory":         {func(m *machinetest.Machine) { m.Put(dir+"/0123/system.journal", "") }, ""},
		"a link within":       {func(m *machinetest.Machine) { m.Put("/srv/j/0123/system.journal", ""); m.Link(dir, "/srv/j") }, ""},
		"a link to elsewhere": {func(m *machinetest.Machine) { m.Link(dir, outside) }, "no such file"},
		"a link in it":        {func(m *machinetest.Machine) { m.Link(dir+"/0123", outside) }, "is a link"},
		"a link below":        {func(m *machinetest.Machine) { m.Link(dir+"/0123/system.journal", outside) }, "is a link"},
		"a file":              {func(m *machinetest.Machine) { m.Put(dir, "") }, "not a directory"},
		"none":                {func(*machinetest.Machine) {}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machinetest.New(t)
			m.Copy()
			m.Remove(dir)
			c.make(m)
			texts, err := open(t, m, Options{}).Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"})
			if c.want == "" && (err != nil || len(texts) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%d texts, %v, want %q", len(texts), err, c.want)
			}
		})
	}
}

// TestManyManifests: a directory of which a part would be read is not read.
func TestManyManifests(t *testing.T) {
	m := machinetest.New(t)
	for i := range maxManifests + 1 {
		m.Put(fmt.Sprintf("%s/p%03d.yaml", manifestDir, i), "kind: Pod")
	}
	c := get[onhost.Containers](t, open(t, m, Options{}), evidence.HostContainers)
	if c.ManifestError == "" || len(c.Manifests) != 0 {
		t.Errorf("%d manifests, %q", len(c.Manifests), c.ManifestError)
	}
}

// TestInside runs real programs: bounds of time and output, and what stderr said.
func TestInside(t *testing.T) {
	r := inside{"/"}
	const sh = "/bin/sh"
	if _, err := output(t.Context(), r, sh, "-c", "echo no bus >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "no bus") {
		t.Errorf("%v, want what stderr said", err)
	}
	if raw, err := output(t.Context(), r, sh, "-c", "echo $LC_ALL $TZ $HOME"); err != nil || string(raw) != "C UTC\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, err := output(t.Context(), r, sh, "-c", "cat /dev/zero"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v, want that it is too much", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := output(ctx, r, sh, "-c", "exec sleep 60"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that the time ran out", err)
	}
	if _, err := output(t.Context(), r, "/no/such/program"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that there is none", err)
	}
}

func TestNameServers(t *testing.T) {
	got := nameServers("# x\nnameserver 192.0.2.1\nnameserver bad\nnameserver 2001:db8::1\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n")
	if diff := cmp.Diff([]string{"192.0.2.1", "2001:db8::1", "192.0.2.3"}, got); diff != "" {
		t.Error(diff)
	}
	if q := resolve(t.Context(), onhost.Resolution{Name: "a.example"}, nil, ""); q.Class != onhost.NoServer {
		t.Errorf("%+v", q)
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add([]byte(machinetest.Units(map[string]string{"kubelet.service": "active running Job=3"})))
	f.Add([]byte("C0000278,192.0.2.120,3,1772366380.1,0.000013,0,0,1.1,0.0,0.01,0.002,0.0005,64.2,Normal\n"))
	f.Add([]byte("^,*,192.0.2.120,2,6,377,35,0.000001,0.000001,0.0003\n"))
	f.Add([]byte(machinetest.Containers("a b c RUNNING")))
	f.Add([]byte("21 20 8:4 / /var\\040x ro,relatime shared:2 - xfs /dev/sda4 rw\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, u := range onhost.ParseUnits(raw) {
			if u.Name == "" {
				t.Error("a unit without a name")
			}
		}
		if c, ok := parseTracking(raw); ok && c.Offset < 0 {
			t.Error("an offset with a sign")
		}
		parseSources(raw)
		if list, err := parseContainers(raw); err == nil && len(list) > maxContainers {
			t.Error("too many containers")
		}
		for _, m := range onhost.ParseMountInfo(string(raw)) {
			onhost.MountOf("/var/lib/etcd", []onhost.Mount{m})
		}
		nameServers(string(raw))
		inHosts(string(raw), "a")
	})
}

func FuzzKubeconfig(f *testing.F) {
	m := machinetest.New(f)
	s, err := Open(Options{Root: m.Root, Runner: m.Commands})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Add([]byte(m.Kubeconfig("https://user:pass@x:6443", "token: planted")))
	f.Add([]byte(m.Kubeconfig("https://x/user:pass@y:6443", "token: planted")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(filepath.Join(m.Root, bootstrapKubeconfig), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		k := s.kubeconfig(bootstrapKubeconfig)
		if strings.Contains(k.Server, "@") && strings.Contains(k.Server, "pass@") {
			t.Errorf("the server keeps a password: %q", k.Server)
		}
	})
}
