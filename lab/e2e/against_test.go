package e2e

import (
	"bytes"
	"encoding/base64"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// question is `preflight --against` once, and what it has to answer.
type question struct {
	name  string
	user  string                   // whom the scenario has made; "": the administrator
	after func(*testing.T, *world) // what is changed before it is asked
	flags []string                 // besides --against
	code  int
	roots []string // "FAULT KIND/NAME", in any order
	// says are parts of the verdict's reason.
	says []string
	// silent are faults that must not be shown: they concern a host that is there.
	silent []string
}

// plainFlags ask all that a new worker of a plain cluster needs; hostedAll those of a hosted one.
var (
	plainFlags  = []string{"--probe", "--read-secrets", "openshift-machine-api"}
	hostedPlain = []string{"--hosted", theGuest}
	hostedAll   = append(slices.Clone(hostedPlain), "--read-secrets", "clusters-guest")
)

const noneKnown = "nothing is known that keeps a new host from joining"

// against are the scenarios, and the questions about each while it stands.
var against = []struct {
	scenario string
	asked    []question
	onlyIf   string
}{
	{scenario: "rights-restricted", asked: []question{ // the cluster is healthy
		{name: "all", flags: plainFlags, says: []string{noneKnown}},
		{name: "not probed", says: []string{noneKnown, "not asked: what the servers of new hosts answer (--probe), user-data and tokens (--read-secrets NAMESPACE)"}},
		{name: "rights missing", user: "restricted", flags: plainFlags, code: 3, says: []string{noneKnown, "machines"}},
		{name: "pointer with two old authorities", after: giveOldPointer, flags: plainFlags, code: 2, roots: []string{"machineset-user-data-refused pool/worker"}},
		{name: "its contents not read", flags: plainFlags[:1], says: []string{noneKnown, "not asked: user-data and tokens"}},
		{name: "the current one again", after: giveCurrentPointer, flags: plainFlags, says: []string{noneKnown}, roots: []string{"pointer-ca-outdated pool/worker"}}, // a note: nothing uses it
	}},
	{scenario: "mcs-certificate-expired", asked: []question{
		{name: "probed", flags: plainFlags, code: 2, roots: []string{"mcs-certificate-expired cluster/"}},
		{name: "not probed", code: 3, says: []string{noneKnown, "worker3", "not asked: what the servers of new hosts answer (--probe)"}},
	}},
	{scenario: "mcs-refused-on-vip", onlyIf: full, asked: []question{
		{name: "probed", flags: plainFlags, code: 2, roots: []string{"mcs-refused-on-vip-holder cluster/"}},
	}},
	{scenario: "mcs-tls-deleted-no-machinesets", onlyIf: full, asked: []question{
		{name: "all", flags: plainFlags, code: 2, roots: []string{"mcs-tls-secret-missing cluster/"}},
	}},
	{scenario: "hosted", asked: []question{
		{name: "all", flags: append(slices.Clone(hostedAll), "--probe"), says: []string{noneKnown}},
		{name: "no secrets", flags: hostedPlain, says: []string{noneKnown, "not asked:"}},
	}},
	{scenario: "hosted-user-data-outdated", onlyIf: full, asked: []question{
		{name: "all", flags: hostedAll, code: 2, roots: []string{"user-data-outdated nodepool/guest"}},
		{name: "no secrets", flags: hostedPlain, code: 3, says: []string{noneKnown}},
	}},
	{scenario: "hosted-release-missing", onlyIf: full, asked: []question{
		{name: "all", flags: hostedAll, code: 2, roots: []string{"nodepool-release-invalid nodepool/guest"}},
	}},
	{scenario: "hosted-stale-token", onlyIf: full, asked: []question{ // one worker has an old copy, which only its console shows
		{name: "all", flags: hostedAll, code: 3, silent: []string{"user-data-copy-outdated"}, says: []string{noneKnown, "not asked: what the servers of new hosts answer"}},
	}},
	{scenario: "hosted-payload-failing", onlyIf: full, asked: []question{
		{name: "all", flags: hostedAll, code: 2, roots: []string{"ignition-payload-failed nodepool/guest"}},
	}},
}

// TestAgainst: before hosts are added, preflight shows what keeps new ones from joining and nothing
// else, and what it was not allowed to read is not taken for fine.
func TestAgainst(t *testing.T) {
	for _, c := range against {
		t.Run(c.scenario, func(t *testing.T) {
			if c.onlyIf != "" && os.Getenv(c.onlyIf) == "" {
				t.Skipf("set %s=1 for it", c.onlyIf)
			}
			w := up(t, c.scenario, false)
			for _, q := range c.asked {
				t.Run(q.name, func(t *testing.T) { q.check(t, w) })
			}
		})
	}
}

// giveOldPointer is the person who once added the CA of the company to the pointer config of
// the workers. The machine-config-controller does not renew one with two authorities, so it has kept an old
// one of the cluster. No host has been made with it since.
func giveOldPointer(t *testing.T, w *world) {
	t.Helper()
	var list []string
	for _, cn := range []string{"root-ca", "Example Corp"} {
		ca, err := pki.NewCA(pki.Name{CN: cn}, pki.TenYears)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, `{"source":"data:text/plain;charset=utf-8;base64,`+base64.StdEncoding.EncodeToString(ca.Cert)+`"}`)
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	have, err := w.client(t).Resource(secrets).Namespace("openshift-machine-api").Get(t.Context(), "worker-user-data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	encoded, _, _ := unstructured.NestedString(have.Object, "data", "userData")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	pointer := regexp.MustCompile(`"certificateAuthorities":\s*\[[^\]]*\]`).ReplaceAllLiteral(raw, []byte(`"certificateAuthorities":[`+strings.Join(list, ",")+`]`))
	if bytes.Equal(pointer, raw) {
		t.Fatalf("no authority in %s", raw)
	}
	w.merge(t, secrets, "openshift-machine-api", "worker-user-data", `{"data":{"userData":"`+base64.StdEncoding.EncodeToString(pointer)+`"}}`)
	nameUserData(t, w, "worker-user-data")
}

// giveCurrentPointer does what the remedy asks for.
func giveCurrentPointer(t *testing.T, w *world) { nameUserData(t, w, "worker-user-data-managed") }

func nameUserData(t *testing.T, w *world, secret string) {
	t.Helper()
	sets := schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}
	list, err := w.client(t).Resource(sets).Namespace("openshift-machine-api").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, or not one MachineSet", err)
	}
	patch := `[{"op":"replace","path":"/spec/template/spec/providerSpec/value/userData/name","value":"` + secret + `"}]`
	_, err = w.client(t).Resource(sets).Namespace("openshift-machine-api").Patch(t.Context(), list.Items[0].GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (q question) check(t *testing.T, w *world) {
	if q.after != nil {
		q.after(t, w)
	}
	kube := w.kube
	if q.user != "" {
		r := w.lab("kubeconfig", q.user)
		if r.code != 0 {
			t.Fatal(r)
		}
		kube = strings.TrimSpace(r.out)
	}
	config, err := clientcmd.LoadFromFile(kube)
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat([]string{"preflight", "--against", config.CurrentContext, "--kubeconfig", kube}, q.flags)
	r := w.rollcall(append(slices.Clone(args), "-o", "json")...)
	d := parse(t, r)
	var roots []string
	for _, root := range d.Roots {
		roots = append(roots, root.Fault+" "+root.Subject.String())
	}
	if slices.Sort(roots); r.code != q.code || !slices.Equal(roots, slices.Sorted(slices.Values(q.roots))) {
		t.Errorf("exit %d, roots %q; want exit %d, roots %q\n%s\npresent: %s\n%s", r.code, roots, q.code, q.roots, d.Verdict.Reason, d.present(), r.err)
	}
	for _, word := range q.says {
		if !strings.Contains(d.Verdict.Reason, word) {
			t.Errorf("the reason %q lacks %q", d.Verdict.Reason, word)
		}
	}
	for _, fault := range q.silent {
		if strings.Contains(d.present(), fault) {
			t.Errorf("%s concerns one host that is there: %s", fault, d.present())
		}
	}
	if len(d.Hosts) > 0 {
		t.Errorf("hosts that are there are listed: %s", d.hosts())
	}
	t.Log(w.rollcall(args...))
}
