package installer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/installer"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// records of a service, one a line: clock, phase, stage or command, result, message.
func serviceFile(t *testing.T, lines string) string {
	t.Helper()
	list := []map[string]string{}
	for l := range strings.Lines(strings.TrimSpace(lines)) {
		f := strings.Split(strings.TrimSpace(l), "|")
		r := map[string]string{"timestamp": "2026-03-01T" + f[0] + ":00Z", "phase": f[1]}
		for i, key := range []string{"stage", "result", "errorMessage"} {
			if len(f) > i+2 && f[i+2] != "" {
				r[key] = f[i+2]
			}
		}
		if strings.HasPrefix(f[1], "pre-command") {
			r["preCommand"] = r["stage"]
			delete(r, "stage")
		}
		list = append(list, r)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func readServices(t *testing.T, files map[string]string) (installer.Bootstrap, error) {
	t.Helper()
	const bundle = "log-bundle-20260301090000/bootstrap/"
	tree := fstest.MapFS{bundle + "journals/bootkube.log": {}}
	for unit, text := range files {
		tree[bundle+"services/"+unit+".json"] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := fixture.Reader(tree)
	if err != nil {
		t.Fatal(err)
	}
	return compute[installer.Bootstrap](t, facts.NewWorld(r, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), "bootstrap-services")
}

func clock(s string) time.Time {
	at, err := time.Parse(time.RFC3339, "2026-03-01T"+s+":00Z")
	if err != nil {
		panic(err)
	}
	return at
}

const good = "07:00|service start\n07:01|service end||success"

func TestBootstrap(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  installer.Bootstrap
	}{
		"bootkube has ended": {map[string]string{"bootkube": good}, installer.Bootstrap{Ran: facts.Known([]string{"bootkube"})}},
		"bootkube has ended, whatever else cannot be read": {map[string]string{"bootkube": good, "kubelet": "[5]"}, installer.Bootstrap{Ran: facts.Known([]string{"bootkube"})}},
		"began again after its end": {map[string]string{"release-image": good, "bootkube": good + "\n08:00|service start"},
			installer.Bootstrap{Service: facts.Known("bootkube"), What: facts.Known("bootkube does not get to its end"), Since: facts.Known(clock("08:00")), Ran: facts.Known([]string{"bootkube", "release-image"})}},
		"the records end with the success of its last stage but one": {map[string]string{"bootkube": `08:40|service start
			08:45|stage start|cb-bootstrap
			08:50|stage end|cb-bootstrap|success`},
			installer.Bootstrap{Passed: facts.Known("cb-bootstrap"), Since: facts.Known(clock("08:50")), Ran: facts.Known([]string{"bootkube"})}},
		"nothing follows that success for long": {map[string]string{"bootkube": `07:00|service start
			07:10|stage start|cb-bootstrap
			07:20|stage end|cb-bootstrap|success`},
			installer.Bootstrap{Service: facts.Known("bootkube"), What: facts.Known("bootkube does not get to its end"), Since: facts.Known(clock("07:00")), Ran: facts.Known([]string{"bootkube"})}},
		"the success of an earlier stage": {map[string]string{"bootkube": `08:40|service start
			08:45|stage start|mco-bootstrap
			08:50|stage end|mco-bootstrap|success`},
			installer.Bootstrap{Service: facts.Known("bootkube"), What: facts.Known("bootkube does not get to its end"), Since: facts.Known(clock("08:40")), Ran: facts.Known([]string{"bootkube"})}},
		"a stage failed in a row": {map[string]string{"bootkube": `07:00|service start
			07:01|stage start|mco-bootstrap
			07:02|stage end|mco-bootstrap|failure|error: one
			07:02|service end||failure|error: one
			07:03|service start
			07:04|stage start|mco-bootstrap
			07:05|stage end|mco-bootstrap|failure|Error: two`},
			installer.Bootstrap{Service: facts.Known("bootkube"), Stage: facts.Known("mco-bootstrap"), What: facts.Known("bootkube in stage mco-bootstrap: two"), Failures: facts.Known[int64](2), Error: facts.Known("two"),
				Since: facts.Known(clock("07:02")), Ran: facts.Known([]string{"bootkube"})}},
		"a stage that failed and then succeeded counts no more": {map[string]string{"bootkube": `07:00|service start
			07:01|stage start|mco-bootstrap
			07:02|stage end|mco-bootstrap|failure|error: one
			07:02|service end||failure|error: one
			07:03|service start
			07:04|stage start|mco-bootstrap
			07:05|stage end|mco-bootstrap|success
			07:06|stage start|wait-for-ceo`},
			installer.Bootstrap{Service: facts.Known("bootkube"), Stage: facts.Known("wait-for-ceo"), What: facts.Known("bootkube does not get past stage wait-for-ceo"), Waits: facts.Known(true),
				Since: facts.Known(clock("07:06")), Ran: facts.Known([]string{"bootkube"})}},
		"stages that are done again do not hide the one that fails": {map[string]string{"bootkube": `07:00|service start
			07:10|stage start|cb-bootstrap
			07:30|stage end|cb-bootstrap|failure|timed out
			07:30|service end||failure|timed out
			08:50|service start
			08:51|stage start|wait-for-etcd`},
			installer.Bootstrap{Service: facts.Known("bootkube"), Stage: facts.Known("cb-bootstrap"), What: facts.Known("bootkube does not get past stage cb-bootstrap"), Waits: facts.Known(true), Failures: facts.Known[int64](1),
				Error: facts.Known("timed out"), Since: facts.Known(clock("07:10")), Ran: facts.Known([]string{"bootkube"})}},
		"but one in which it is for long does": {map[string]string{"bootkube": `07:00|service start
			07:10|stage start|cb-bootstrap
			07:30|stage end|cb-bootstrap|failure|timed out
			07:30|service end||failure|timed out
			07:31|service start
			07:32|stage start|wait-for-etcd`},
			installer.Bootstrap{Service: facts.Known("bootkube"), Stage: facts.Known("wait-for-etcd"), What: facts.Known("bootkube does not get past stage wait-for-etcd"), Waits: facts.Known(true),
				Since: facts.Known(clock("07:32")), Ran: facts.Known([]string{"bootkube"})}},
		"outside of its stages": {map[string]string{"bootkube": "07:00|service start\n07:01|service end||failure|"},
			installer.Bootstrap{Service: facts.Known("bootkube"), What: facts.Known("bootkube outside of its stages: no message was recorded"), Failures: facts.Known[int64](1), Error: facts.Known("no message was recorded"),
				Since: facts.Known(clock("07:01")), Ran: facts.Known([]string{"bootkube"})}},
		"the checks of the API's names are no stages": {map[string]string{"bootkube": `07:00|service start
			07:01|stage start|resolve-api-int-url
			07:01|stage end|resolve-api-int-url|failure|Unable to resolve API_INT_URL
			07:01|stage start|check-api-url
			07:01|stage end|check-api-url|failure|Unable to reach
			07:02|stage start|cb-bootstrap`},
			installer.Bootstrap{Service: facts.Known("bootkube"), Stage: facts.Known("cb-bootstrap"), What: facts.Known("bootkube does not get past stage cb-bootstrap"), Waits: facts.Known(true),
				Since: facts.Known(clock("07:02")), Ran: facts.Known([]string{"bootkube"}), Unresolved: facts.Known([]string{"api-int"})}},
		"the kubelet runs without end": {map[string]string{"release-image": good, "kubelet": "07:02|pre-command start|pause\n07:02|pre-command end|pause|success\n07:03|service start"},
			installer.Bootstrap{NeverRan: facts.Known("bootkube"), Since: facts.Known(clock("07:03")), Ran: facts.Known([]string{"kubelet", "release-image"})}},
		"a command before the kubelet": {map[string]string{"release-image": good, "kubelet": "07:02|pre-command start|pause\n07:03|pre-command end|pause|failure|no such image"},
			installer.Bootstrap{Service: facts.Known("kubelet"), Stage: facts.Known("pause"), What: facts.Known("kubelet in its command pause: no such image"), Failures: facts.Known[int64](1), Error: facts.Known("no such image"),
				Since: facts.Known(clock("07:03")), Ran: facts.Known([]string{"kubelet", "release-image"})}},
		"nothing of the image, but something else": {map[string]string{"approve-csr": "07:02|service start"},
			installer.Bootstrap{NeverRan: facts.Known("release-image"), Since: facts.Known(clock("07:02")), Ran: facts.Known([]string{"approve-csr"})}},
		"no record of the image, which something after it needed": {map[string]string{"crio-configure": good},
			installer.Bootstrap{NeverRan: facts.Known("bootkube"), Since: facts.Known(clock("07:01")), Ran: facts.Known([]string{"crio-configure"})}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for unit, lines := range c.files {
				if files[unit] = lines; lines[0] != '[' {
					files[unit] = serviceFile(t, lines)
				}
			}
			got, err := readServices(t, files)
			if err != nil {
				t.Fatal(err)
			}
			if c.want.Unresolved.Value() == nil {
				c.want.Unresolved.Set([]string{})
			}
			facts.Complete(&c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Service.Proof()) == 0 {
				t.Error("no proof")
			}
		})
	}
}

// TestBootstrapUnknown: what cannot be read is no service that did not run.
func TestBootstrapUnknown(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no records": {}, "an empty file": {"release-image": ""}, "cut off": {"release-image": serviceFile(t, good), "bootkube": `[{"phase": "service st`},
	} {
		if got, err := readServices(t, files); err == nil {
			t.Errorf("%s: %+v", name, got)
		} else if u, ok := evidence.AsUnavailable(err); !ok || u.Supply.IsZero() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBootstrapEmpty: a list of services without any is no service that did not run.
func TestBootstrapEmpty(t *testing.T) {
	r, err := fixture.Reader(fstest.MapFS{
		"cluster-scoped-resources/rollcall.dev/bootstrapservices.yaml": {Data: []byte("apiVersion: rollcall.dev/v1alpha1\nkind: BootstrapServiceList\nitems: []\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := compute[installer.Bootstrap](t, facts.NewWorld(r, clock("09:00")), "bootstrap-services")
	if _, ok := evidence.AsUnavailable(err); !ok {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBootstrapSecrets: a journal's lines are foreign text; they are shortened and without secrets.
func TestBootstrapSecrets(t *testing.T) {
	message := `Error: Get "https://ocp:hunter2-hunter2@mirror.example.com:5000/v2/": ` + strings.Repeat("no ", 500)
	got, err := readServices(t, map[string]string{"release-image": serviceFile(t, "07:00|service start\n07:01|stage start|pull-release-image\n07:02|stage end|pull-release-image|failure|"+message)})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", got); strings.Contains(all, "hunter2") {
		t.Errorf("the password is in %s", all)
	}
	if !strings.HasPrefix(got.Error.Value(), `Get "https://`) || len([]rune(got.Error.Value())) > 401 {
		t.Errorf("the error is %q", got.Error)
	}
}

// TestServicesOfJournals: where journals stand for the records, that one is missing is not that its service never ran; and of an
// error that repeats its image only what decides is left.
func TestServicesOfJournals(t *testing.T) {
	read := func(lines string) (installer.Bootstrap, error) {
		t.Helper()
		r, err := fixture.Reader(fstest.MapFS{"log-bundle-20260301090000/bootstrap/journals/release-image.log": {Data: []byte(lines)}})
		if err != nil {
			t.Fatal(err)
		}
		return compute[installer.Bootstrap](t, facts.NewWorld(r, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), "bootstrap-services")
	}
	const (
		at      = "Mar  1 08:00:00 b1.example.com "
		pulling = at + "release-image-download.sh[9]: Pulling mirror.example.com:5000/ocp/release@sha256:0a...\n"
	)
	if b, err := read(pulling + at + "systemd[1]: Finished Download the OpenShift Release Image.\n"); err == nil {
		t.Errorf("its journal is missing: bootkube never ran: %s", b.NeverRan)
	}
	image := "mirror.example.com:5000/ocp/release@sha256:" + strings.Repeat("0a", 32)
	b, err := read(pulling + at + "release-image-download.sh[9]: Error: error pulling image \"" + image + "\": unable to pull " + image +
		": unable to pull image: Error initializing source docker://" + image + ": Error reading manifest in mirror.example.com:5000/ocp/release: " +
		"unauthorized: authentication required\n")
	if got, want := b.Error.Value(), "mirror.example.com:5000: unauthorized: authentication required"; err != nil || got != want || b.Failures.Value() != 1 {
		t.Errorf("%q, %s failures, %v; want %q", got, b.Failures, err, want)
	}
}
