package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// TestShownPlansAreMade takes every fixture of each fault with a remedy that `fix plan` carries
// out, as an archive and as a cluster, and runs each `fix plan` that the screen shows, as it is
// shown: the plan is made, and it is for the cause that showed it. What the documents call a
// repair of Rollcall (remedies[].fix, verdict.fix) is one that the screen has such a line for.
func TestShownPlansAreMade(t *testing.T) {
	list, err := clitest.Overlays()
	if err != nil {
		t.Fatal(err)
	}
	known, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range list {
		f, ok := known.Fault(o.Fault)
		if !ok || !slices.ContainsFunc(f.Remedies, func(id string) bool { r, ok := known.Remedy(id); return ok && r.Fix }) {
			continue
		}
		if !sample.Has(12, "plans", o.Path) || testing.Short() && i%40 != 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(o.Path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			planShown(t, o)
		})
	}
}

func planShown(t *testing.T, o fixture.Overlay) {
	files, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "mg")
	if err := clitest.WriteFiles(files, dir); err != nil {
		t.Fatal(err)
	}
	from := []string{"--from", dir}
	if !o.Now.IsZero() {
		from = append(from, "--now", o.Now.Format(time.RFC3339))
	}
	d := door{now: o.Now, read: from, again: from}.try(t)
	d.live(t, files)
}

// door is one way to the evidence.
type door struct {
	now         time.Time // of the program's clock; zero: clitest.Now
	read, again []string  // the flags of diagnose, and those that its plans need in addition
}

// live tries the same with an API server that has what the archive has.
func (d door) live(t *testing.T, files fstest.MapFS) {
	c, err := clitest.ClusterOf(files)
	if err != nil {
		t.Fatal(err)
	}
	giveAuthority(t, c)
	srv := httptest.NewServer(c)
	defer srv.Close()
	d.read, d.again = []string{"--kubeconfig", filepath.Join(t.TempDir(), "kubeconfig")}, nil
	if err := clitest.WriteKubeconfig(d.read[1], srv.URL); err != nil {
		t.Fatal(err)
	}
	d.try(t)
}

var shownPlan = regexp.MustCompile(`(?m)^\s*(rollcall fix plan.*?)(?:    #.*)?$`)

// try diagnoses and makes every plan that is shown. The answer's time becomes that of the door.
func (d door) try(t *testing.T) door {
	t.Helper()
	_, text, errs := d.run("diagnose", append([]string{"-o", "wide"}, d.read...)...)
	_, raw, _ := d.run("diagnose", append([]string{"-o", "json"}, d.read...)...)
	var answer diagnosis.Diagnosis
	if err := json.Unmarshal([]byte(raw), &answer); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	d.now = answer.Now
	var lines []string
	for _, m := range shownPlan.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(lines, m[1]) {
			lines = append(lines, m[1])
		}
	}
	for _, line := range lines {
		d.plan(t, &answer, line)
	}
	if answer.Verdict.Fix == fault.ByRollcall && len(lines) == 0 {
		t.Errorf("%v: Rollcall can repair it, and no plan is shown", d.read)
	}
	for _, r := range answer.Roots {
		c := r.Cases[0] // the screen has one line for those that are alike
		for i, a := range c.Remedies {
			if i > 0 && a.By == fault.ByDecision && len(a.Requires) == 0 {
				continue // whether a plan can be made is seen when somebody has decided
			}
			if a.Fix && a.Applies != fault.Absent && !slices.ContainsFunc(lines, func(l string) bool { return isFor(&answer, c, l) }) {
				t.Errorf("%v: %s of %s is to be planned, and no line of the screen does it: %q", d.read, a.ID, c.Fault, lines)
			}
		}
	}
	return d
}

// isFor reports whether a line plans a cause.
func isFor(d *diagnosis.Diagnosis, c diagnosis.Case, line string) bool {
	return strings.Contains(line, c.Fault+"@") || d.OneCase() && !strings.Contains(line, "--root")
}

// placeholders are what a person fills in.
func placeholders(file string) *strings.Replacer {
	return strings.NewReplacer("=IP", "=192.0.2.99", " ADDRESS", " redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1", " CIDR", " 198.51.100.0/24",
		" FILE", " "+file, " USER", " admin", " NAMESPACE/NAME", " openshift-kube-apiserver/aggregator-client", " HOST", " m2")
}

// ofValue is what a plan says of what the test gives instead of the person: a file, and the name of
// a Secret, which no archive holds.
var ofValue = regexp.MustCompile(`the kept copy is not a Secret|etcd-backup|snapshot|secrets -n openshift-kube-apiserver: not collected`)

func (d door) plan(t *testing.T, answer *diagnosis.Diagnosis, line string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("calvin"), 0o600); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(placeholders(file).Replace(line), "'", ""))[2:]
	words = append(words, "--state-dir", filepath.Join(dir, "state"), "--to", filepath.Join(dir, "plan.json"))
	code, _, errs := d.run("fix", append(words, d.again...)...)
	switch raw, err := os.ReadFile(filepath.Join(dir, "plan.json")); {
	case code != 0 && ofValue.MatchString(errs):
	case code != 0 || err != nil:
		t.Errorf("%s: exit code %d, %v: %s", line, code, err, errs)
	default:
		var plan struct{ Root fault.Key }
		if err := json.Unmarshal(raw, &plan); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(answer.Roots, func(r diagnosis.Root) bool {
			return slices.ContainsFunc(r.Cases, func(c diagnosis.Case) bool { return c.Key == plan.Root && isFor(answer, c, line) })
		}) {
			t.Errorf("%s: the plan is for %s at %s", line, plan.Root.Fault, plan.Root.Subject)
		}
	}
}

// run runs the program at the door's time.
func (d door) run(command string, words ...string) (code cmdutil.ExitCode, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": os.DevNull, "LC_ALL": "C.UTF-8"}
	now := d.now
	if now.IsZero() {
		now = clitest.Now
	}
	code = Main(context.Background(), append([]string{"rollcall", command}, words...), cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs,
		Getenv: func(name string) string { return env[name] }, Clock: func() time.Time { return now }})
	return code, out.String(), errs.String()
}

// giveAuthority gives a cluster what no fixture has: the CA of its machine config server with the
// key, and a certificate of the kube-apiserver.
func giveAuthority(t *testing.T, c *clitest.Cluster) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "machine-config-server-ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: clitest.Now.AddDate(-1, 0, 0), NotAfter: clitest.Now.AddDate(20, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	in64 := base64.StdEncoding.EncodeToString
	at := func() clitest.Object {
		return clitest.Object{"namespace": "openshift-machine-config-operator", "name": "machine-config-server-ca"}
	}
	c.Put("secrets", clitest.Object{"apiVersion": "v1", "kind": "Secret", "metadata": at(), "data": clitest.Object{"tls.crt": in64(cert),
		"tls.key": in64(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))}})
	c.Put("secrets", clitest.Object{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": clitest.Object{"tls.crt": in64(cert), "tls.key": ""},
		"metadata": clitest.Object{"namespace": "openshift-kube-apiserver", "name": "aggregator-client", "annotations": clitest.Object{
			"auth.openshift.io/certificate-not-after": "2026-02-01T00:00:00Z", "auth.openshift.io/certificate-not-before": "2026-01-01T00:00:00Z",
			"auth.openshift.io/certificate-issuer": "openshift-kube-apiserver-operator_aggregator-client-signer"}}})
	c.Put("configmaps", clitest.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": at(), "data": clitest.Object{"ca-bundle.crt": string(cert)}})
}

// TestInspectAgainByName: a host whose inspection hangs for a reason that is not known is inspected
// again where a person names it, and no other.
func TestInspectAgainByName(t *testing.T) {
	files, err := clitest.Fixture("bmh-inspection-stuck")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := clitest.WriteFiles(files, filepath.Join(dir, "mg")); err != nil {
		t.Fatal(err)
	}
	fix := func(host string) (cmdutil.ExitCode, string, string) {
		return door{}.run("fix", "plan", "--from", filepath.Join(dir, "mg"), "--inspect-again", host, "--to", filepath.Join(dir, host+".yaml"),
			"--state-dir", filepath.Join(dir, "state"))
	}
	if code, out, errs := fix("w0"); code != 0 || !strings.Contains(out, "have metal3 inspect BareMetalHost w0 again") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs := fix("w1"); code == 0 {
		t.Errorf("w1 is not inspecting: %s%s", out, errs)
	}
}
