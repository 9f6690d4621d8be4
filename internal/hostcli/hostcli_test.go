package hostcli

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/machine/machinetest"
)

// typed runs the program on a machine. The machine's file systems are those of
// whoever runs the test: what is said of their space is left out.
func typed(t *testing.T, m *machinetest.Machine, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), append([]string{"--root", m.Root, "--skip", "host-file-system-full"}, args...), IO{
		Out: &o, Err: &e, Getenv: func(string) string { return "" }, Clock: func() time.Time { return machinetest.Now },
		Width: 80, Runner: m.Commands, CanReadSecret: true,
	})
	return code, o.String(), e.String()
}

func diagnoseMachine(t *testing.T, m *machinetest.Machine, args ...string) (int, diagnosis.Diagnosis) {
	t.Helper()
	code, out, errs := typed(t, m, append(args, "-o", "json")...)
	var d diagnosis.Diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("exit code %d, %v\n%s\n%s", code, err, out, errs)
	}
	return code, d
}

// shown lists the faults that are present, or still normal with a "~".
func shown(d diagnosis.Diagnosis) []string {
	var list []string
	for _, f := range d.Findings {
		switch {
		case f.Outcome == fault.Present:
			list = append(list, f.Fault)
		case f.Waiting():
			list = append(list, "~"+f.Fault)
		}
	}
	return list
}

// TestKnown: every fault about hosts that rests on what a machine alone can show is
// chosen, and all its facts are known.
func TestKnown(t *testing.T) {
	loaded, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, f := range known() {
		have[f.Name] = true
	}
	for _, f := range all.All() {
		if !have[f.Name] && slices.ContainsFunc(f.Needs, func(n evidence.Need) bool {
			return n.Text.Kind == evidence.Journal
		}) {
			for _, bad := range loaded.Faults {
				if bad.For == fault.Host && slices.ContainsFunc(slices.Collect(maps.Values(bad.Given)), func(g fault.FactRef) bool { return g.Fact == f.Name }) {
					t.Errorf("the fact %s, which %s rests on, is not known", f.Name, bad.ID)
				}
			}
		}
	}
	chosen, err := (&app{}).choose(loaded)
	if err != nil || len(chosen) == 0 {
		t.Fatalf("%d faults, %v", len(chosen), err)
	}
	for _, id := range chosen {
		f, _ := loaded.Fault(id)
		for _, g := range f.Given {
			if !have[g.Fact] {
				t.Errorf("%s rests on %s, which is not known", id, g.Fact)
			}
		}
	}
}

func TestHealthyMachine(t *testing.T) {
	code, d := diagnoseMachine(t, machinetest.New(t))
	if code != exitOK || d.Verdict.Class != diagnosis.Healthy || len(shown(d)) > 0 {
		t.Errorf("exit code %d, %+v, present: %v", code, d.Verdict, shown(d))
	}
	for _, f := range d.Findings {
		if f.Outcome == fault.Unknown {
			t.Errorf("%s is unknown: %s", f.Fault, f.Reason)
		}
	}
	stages := map[fault.Stage]diagnosis.StageOutcome{}
	for _, s := range d.Hosts[0].Stages {
		stages[s.Stage] = s.State
	}
	for _, s := range []fault.Stage{fault.Powered, fault.IgnitionFetched, fault.FirstBoot, fault.ClientCert} {
		if stages[s] != diagnosis.StagePassed {
			t.Errorf("stage %s is %s", s, stages[s])
		}
	}
	if stages[fault.Registered] != diagnosis.StageUnknown {
		t.Errorf("registered is %s: only the API tells", stages[fault.Registered])
	}
}

// firstBoot gets the machine again to its first boot.
func firstBoot(m *machinetest.Machine, units map[string]string) {
	m.Remove("/etc/ignition-machine-config-encapsulated.json.bak", "/etc/machine-config-daemon/currentconfig", "/var/lib/kubelet/pki", "/var/lib/kubelet/kubeconfig")
	m.Put("/etc/ignition-machine-config-encapsulated.json", "{}")
	units["kubelet.service"], units["crio.service"] = "inactive dead", "inactive dead"
	m.Commands["/usr/bin/systemctl"] = machinetest.Units(units)
	m.Commands["/usr/bin/crictl"] = machinetest.Containers()
	m.Remove("/etc/kubernetes/manifests/etcd-pod.yaml", "/etc/kubernetes/manifests/coredns.yaml")
}

// pulling: the first boot cannot pull the daemon's image.
func pulling(m *machinetest.Machine) {
	firstBoot(m, map[string]string{
		"machine-config-daemon-pull.service": "activating start", "machine-config-daemon-firstboot.service": "inactive dead Job=31",
	})
	var entries []string
	for ago := 6 * time.Minute; ago > 0; ago -= time.Minute {
		entries = append(entries, machinetest.Entry("machine-config-daemon-pull.service", "podman", machinetest.Now.Add(-ago),
			"Error: initializing source docker://quay.example.com/mco@sha256:1: reading manifest sha256:1: unauthorized: authentication required"))
	}
	m.Commands["/usr/bin/journalctl --unit=machine-config-daemon-pull.service"] = machinetest.Journal(entries...)
}

// TestCopyWithoutCertificate: a copy that lacks the kubelet's credentials shows nothing of them, and the answer
// names what to copy. A copy with the link and what it leads to shows the certificate.
func TestCopyWithoutCertificate(t *testing.T) {
	const pki = "/var/lib/kubelet/pki/"
	for _, c := range []struct {
		name   string
		remove []string
		link   string // where the link leads
		why    string
	}{
		{"whole", nil, "", ""},
		{"no directory", []string{pki}, "", "it is not in the copy"},
		{"no directory and no bootstrap kubeconfig", []string{pki, "/etc/kubernetes/kubeconfig"}, "", "it is not in the copy"},
		{"no link", []string{pki + "kubelet-client-current.pem"}, "", "it is not in the copy"},
		{"a link of which the file is not there", []string{pki + "kubelet-client-2026-03-01-08-06-00.pem"}, "",
			"it is a link to " + pki + "kubelet-client-2026-03-01-08-06-00.pem, and that file is not in the copy"},
		{"a relative one", []string{pki}, "kubelet-client-x.pem", "it is a link to " + pki + "kubelet-client-x.pem, and that file"},
	} {
		m := machinetest.New(t)
		m.Copy()
		m.Remove(c.remove...)
		if c.link != "" {
			m.Link(pki+"kubelet-client-current.pem", c.link)
		}
		_, d := diagnoseMachine(t, m)
		for _, id := range shown(d) {
			t.Errorf("%s: %s is present", c.name, id)
		}
		i := slices.IndexFunc(d.Coverage, func(v evidence.Coverage) bool { return v.Need == "the kubelet's client certificate" })
		switch {
		case c.why == "" && i >= 0:
			t.Errorf("%s: %s", c.name, d.Coverage[i].Reason)
		case c.why == "":
		case i < 0 || !strings.Contains(d.Coverage[i].Reason, c.why):
			t.Errorf("%s: the coverage does not show that %q", c.name, c.why)
		default:
			_, text, _ := typed(t, m, "-o", "wide")
			if !strings.Contains(strings.Join(strings.Fields(text), " "), "copy the whole /var/lib/kubelet/pki, with the files that its links lead to") {
				t.Errorf("%s: the answer does not name what to copy:\n%s", c.name, text)
			}
		}
	}
}

// TestFaults puts one trouble after the other into a real tree and its programs.
func TestFaults(t *testing.T) {
	const (
		kubelet = "kubelet.service"
		current = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	)
	tests := []struct {
		name    string
		trouble func(m *machinetest.Machine)
		want    []string
		roots   []string
	}{
		{"the certificate has ended", func(m *machinetest.Machine) {
			m.Certificate("system:node:m1", "system:nodes", machinetest.Now.Add(-24*time.Hour), machinetest.Now.Add(-time.Hour))
		}, []string{"kubelet-client-file-expired"}, []string{"kubelet-client-file-expired"}},
		{"the key is another's", func(m *machinetest.Machine) {
			cert, _ := m.Issue("system:node:m1", "system:nodes", machinetest.Now.Add(-time.Hour), machinetest.Now.Add(time.Hour))
			_, key := m.Issue("system:node:m1", "system:nodes", machinetest.Now.Add(-time.Hour), machinetest.Now.Add(time.Hour))
			m.Put("/var/lib/kubelet/pki/kubelet-client-2026-03-01-08-06-00.pem", string(cert)+string(key))
		}, []string{"kubelet-client-file-unusable"}, []string{"kubelet-client-file-unusable"}},
		{"another name", func(m *machinetest.Machine) { m.Put("/etc/hostname", "m9\n") }, []string{"kubelet-client-file-other-name"}, []string{"kubelet-client-file-other-name"}},
		{"administrator", func(m *machinetest.Machine) {
			m.Certificate("system:admin", "system:masters", machinetest.Now.Add(-time.Hour), machinetest.Now.Add(time.Hour))
			m.Put("/var/lib/kubelet/kubeconfig", m.Kubeconfig("https://localhost:6443", "client-certificate: "+current))
		}, []string{"kubelet-runs-as-admin"}, []string{"kubelet-runs-as-admin"}},
		{"no certificate and no way to ask for one", func(m *machinetest.Machine) {
			m.Remove("/var/lib/kubelet/pki", "/etc/kubernetes/kubeconfig")
		}, []string{"bootstrap-kubeconfig-unusable", "kubelet-certificate-missing"}, []string{"bootstrap-kubeconfig-unusable"}},
		{"the first boot pulls", pulling, []string{"firstboot-not-finished", "firstboot-pull-runs-on", "firstboot-pull-waiting", "image-pull-unauthorized"}, []string{"image-pull-unauthorized"}},
		{"the first boot failed", func(m *machinetest.Machine) {
			firstBoot(m, map[string]string{"machine-config-daemon-firstboot.service": "failed failed Result=exit-code ExecMainStatus=255"})
		}, []string{"container-runtime-stopped", "firstboot-not-finished", "firstboot-unit-failed", "kubelet-service-stopped"}, nil},
		{"no address for the node", func(m *machinetest.Machine) {
			m.Commands["/usr/bin/systemctl"] = machinetest.Units(map[string]string{kubelet: "inactive dead", "crio.service": "active running", "nodeip-configuration.service": "activating start"})
		}, []string{"kubelet-service-stopped", "kubelet-waits-for-unit"}, []string{"kubelet-waits-for-unit"}},
		{"no name", func(m *machinetest.Machine) { m.Put("/etc/hostname", "localhost.localdomain\n") }, []string{"host-name-localhost"}, []string{"host-name-localhost"}},
		{"the clock runs free and is hours off", func(m *machinetest.Machine) {
			m.Commands["/usr/bin/chronyc tracking"] = "7F7F0101,,0,0.0,32400.5,0,0,0,0,0,0,0,0,Not synchronised\n"
			m.Commands["/usr/bin/chronyc sources"] = "^,?,192.0.2.120,0,6,0,4294967295,0,0,0\n"
		}, []string{"host-clock-not-synchronised", "host-clock-wrong"}, nil},
		{"the hardware clock has local time", func(m *machinetest.Machine) { m.Put("/sys/class/rtc/rtc0/since_epoch", "1772398800") }, []string{"hardware-clock-wrong"}, nil},
		{"another image was booted", func(m *machinetest.Machine) {
			m.Put("/ostree/deploy/rhcos/deploy/0f0f.0.origin", "container-image-reference=ostree-unverified-registry:quay.example.com/os@sha256:1111\n")
		}, []string{"booted-image-differs"}, nil},
		{"an empty currentconfig", func(m *machinetest.Machine) { m.Put("/etc/machine-config-daemon/currentconfig", "") }, []string{"config-file-damaged"}, nil},
		{"coredns ended", func(m *machinetest.Machine) {
			m.Commands["/usr/bin/crictl"] = machinetest.Containers("openshift-etcd etcd-m1 etcd RUNNING", "openshift-kni-infra coredns-m1 coredns EXITED")
		}, []string{"onprem-containers-stopped"}, nil},
		{"/var is read-only", func(m *machinetest.Machine) {
			m.Put("/proc/1/mountinfo", "20 1 8:4 / / ro - xfs /dev/sda4 ro\n21 20 8:4 / /var ro,relatime shared:2 - xfs /dev/sda4 ro\n22 20 8:4 / /etc rw - xfs /dev/sda4 rw\n")
		}, []string{"host-file-system-read-only"}, nil},
		{"etcd on a disk that turns", func(m *machinetest.Machine) { m.Put("/sys/devices/pci0/block/sda/queue/rotational", "1") }, []string{"etcd-disk-rotational"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := machinetest.New(t)
			tt.trouble(m)
			code, d := diagnoseMachine(t, m)
			if got := shown(d); !slices.Equal(got, tt.want) {
				t.Errorf("present: %v, want %v", got, tt.want)
			}
			if code == exitOK && !slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.Outcome == fault.Present && f.Severity == fault.Warning }) {
				t.Errorf("exit code 0: %+v", d.Verdict)
			}
			var roots []string
			for _, r := range d.Roots {
				roots = append(roots, r.Fault)
			}
			if tt.roots != nil && !slices.Equal(roots, tt.roots) {
				t.Errorf("roots: %v, want %v", roots, tt.roots)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the golden files")

// TestScreens holds what a person sees, at 80 columns.
// commandLine is a command of a remedy: it is not wrapped, so that it can be pasted.
var commandLine = regexp.MustCompile(`^ {5}(oc|rollcall|sudo|\(umask|curl|for) `)

func TestScreens(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trouble func(*machinetest.Machine)
		code    int
	}{
		{"healthy", func(*machinetest.Machine) {}, exitOK},
		{"first-boot-pulls", pulling, exitFault},
		{"certificate-ended", func(m *machinetest.Machine) {
			m.Certificate("system:node:m1", "system:nodes", machinetest.Now.Add(-24*time.Hour), machinetest.Now.Add(-time.Hour))
		}, exitFault},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := machinetest.New(t)
			tt.trouble(m)
			code, out, errs := typed(t, m)
			if code != tt.code || errs != "" {
				t.Errorf("exit code %d, stderr %q", code, errs)
			}
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out); diff != "" {
				t.Error(diff)
			}
			for line := range strings.Lines(out) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !commandLine.MatchString(line) {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// TestSecrets: what lies on the machine in secret is in no answer and in no collection.
func TestSecrets(t *testing.T) {
	m := machinetest.New(t)
	m.Commands["/usr/bin/journalctl"] = machinetest.Journal(
		machinetest.Entry("kubelet.service", "kubenswrapper", machinetest.Now, `E0301 11:59:00.1 3100 x.go:1] user "system:anonymous" cannot: Authorization: Bearer `+machinetest.PlantedToken),
	)
	dir := filepath.Join(t.TempDir(), "case")
	_, text, errs := typed(t, m, "-o", "wide", "--collect", dir)
	_, doc := typedJSON(t, m)
	all := text + errs + doc
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(p)
		all += string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Split(string(m.Key), "\n")[1]
	for _, secret := range []string{machinetest.PlantedToken, machinetest.PlantedPull, machinetest.PlantedConfig, key} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is shown or kept", secret)
		}
	}
	if !strings.Contains(all, "BEGIN CERTIFICATE") {
		t.Error("the collection has lost the certificates")
	}
}

func typedJSON(t *testing.T, m *machinetest.Machine) (int, string) {
	t.Helper()
	code, out, _ := typed(t, m, "-o", "json")
	return code, out
}

func TestWrongUse(t *testing.T) {
	m := machinetest.New(t)
	empty := &machinetest.Machine{Root: t.TempDir()}
	tests := []struct {
		name string
		m    *machinetest.Machine
		args []string
		want string
	}{
		{"argument", m, []string{"m1"}, "--root"},
		{"format", m, []string{"-o", "xml"}, "want one of text"},
		{"no such flag", m, []string{"--frm", "x"}, "--frm"},
		{"severity", m, []string{"--fail-on", "bad"}, "want one of info"},
		{"time", m, []string{"--now", "yesterday"}, "RFC 3339"},
		{"fault", m, []string{"--only", "no-such"}, "there is no fault"},
		{"fault of the cluster", m, []string{"--only", "etcd-no-quorum"}, "a machine alone"},
		{"not a machine", empty, nil, "not a root directory of an OpenShift machine"},
		{"nothing there", &machinetest.Machine{Root: filepath.Join(empty.Root, "x")}, nil, "there is no such directory"},
		{"collection is there", m, []string{"--collect", m.Root}, "something is there already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := typed(t, tt.m, tt.args...)
			if code != exitFailed || out != "" || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want 1 and %q", code, out, errs, tt.want)
			}
		})
	}
}

// TestPage: the answer as a page.
func TestPage(t *testing.T) {
	code, out, errs := typed(t, machinetest.New(t), "-o", "html")
	whole := strings.HasPrefix(strings.ToLower(out), "<!doctype html>") && strings.HasSuffix(strings.TrimSpace(out), "</html>")
	if code != 0 || errs != "" || !whole || !strings.Contains(out, "m1") {
		t.Errorf("exit code %d, stderr %q, a page of %d bytes: %.200s", code, errs, len(out), out)
	}
}

// TestCollection: what was kept is read together with an archive of the cluster and
// gives the machine's finding to its Node.
func TestCollection(t *testing.T) {
	m := machinetest.New(t)
	m.Put("/etc/hostname", "m2\n")
	m.Put("/etc/machine-id", "55555552\n") // as the Node m2 has it
	m.Certificate("system:node:m2", "system:nodes", machinetest.Now.Add(-24*time.Hour), machinetest.Now.Add(-time.Hour))
	packed := filepath.Join(t.TempDir(), "m2.tar.gz")
	if code, _, errs := typed(t, m, "--collect", packed); code != exitFault || !strings.Contains(errs, "rollcall diagnose --from") {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	gathered, err := archive.FS(files, "cluster")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := archive.Open(t.Context(), packed)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if err := archive.Join(t.Context(), []*archive.Source{gathered, kept}); err != nil {
		t.Fatal(err)
	}
	d := diagnosed(t, gathered, kept)
	for _, f := range d.Findings {
		if f.Fault == "kubelet-client-file-expired" && f.Subject.Name == "m2" {
			if f.Outcome != fault.Present || len(f.Evidence) == 0 || f.Evidence[0].Locator.Path != "/var/lib/kubelet/pki/kubelet-client-current.pem" {
				t.Errorf("%s: %+v", f.Outcome, f.Evidence)
			}
			return
		}
	}
	t.Error("nothing is said of the machine's certificate")
}

func diagnosed(t *testing.T, sources ...evidence.Source) *diagnosis.Diagnosis {
	t.Helper()
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	known, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options(known, all.All(), reader.New(set, clean, nil, reader.Limits{}, sources...))
	o.Clock, o.Log = time.Now, slog.New(slog.DiscardHandler)
	d, err := diagnose.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSchema: the JSON is that of rollcall, by its published schema.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/diagnosis.v1alpha1.json")
	if err != nil {
		t.Fatal(err)
	}
	m := machinetest.New(t)
	pulling(m)
	_, doc := typedJSON(t, m)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
}

// TestCopy: of a copy of the files nothing that runs is said, least of all what runs
// on the machine of whoever looks.
func TestCopy(t *testing.T) {
	m := machinetest.New(t)
	m.Copy()
	code, d := diagnoseMachine(t, m)
	if code != exitUndecided {
		t.Errorf("exit code %d", code)
	}
	for _, f := range d.Findings {
		running := slices.Contains([]string{"kubelet-service-stopped", "host-clock-wrong", "onprem-containers-stopped", "host-cannot-resolve-api", "host-file-system-read-only"}, f.Fault)
		if running && f.Outcome != fault.Unknown {
			t.Errorf("%s is %s of a copy", f.Fault, f.Outcome)
		}
		if f.Fault == "kubelet-client-file-expired" && f.Outcome != fault.Absent {
			t.Errorf("%s is %s: the file is there (%s)", f.Fault, f.Outcome, f.Reason)
		}
	}
	if !d.Now.Equal(machinetest.Now.Add(-3 * time.Hour)) {
		t.Errorf("the present of the copy is %s", d.Now)
	}
}
