package inventory_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	metal = "ocp-4.20-baremetal"
	upi   = "ocp-4.14-none"
)

// lines renders an inventory: name, role, what it was joined from, its pool.
func lines(list []inventory.Host) []string {
	var out []string
	for _, h := range list {
		var from []string
		for _, part := range []struct {
			name string
			has  bool
		}{{"node", h.Node != nil}, {"machine", h.Machine != nil}, {"bmh", h.BMH != nil}, {"console", h.Console != ""}, {"spare", h.Spare}, {"claimed", !h.Expected}} {
			if part.has {
				from = append(from, part.name)
			}
		}
		out = append(out, fmt.Sprintf("%s %s [%s] %s %s", h.Name, h.Role, strings.Join(from, " "), h.Pool.Name, h.Pool.Standing))
	}
	return out
}

const whole = "[node machine bmh console]"

func TestRoll(t *testing.T) {
	tests := []struct {
		name, base, changes string
		want                []string // lines that are to be there
		hosts               int
		gaps                []string
	}{
		{name: "a healthy bare-metal cluster", base: metal, hosts: 5,
			want: []string{"m0 master " + whole + " master proven", "w1 worker " + whole + " worker proven"}},
		{name: "a healthy cluster without Machines", base: upi, hosts: 5,
			want: []string{"cp-a.finch.example.net master [node console] master proven", "node-1.finch.example.net worker [node console] worker proven"}},
		{name: "a host that never became a Node is in the inventory", base: metal, hosts: 5,
			changes: "-- delete:cluster-scoped-resources/core/nodes/m2.yaml --\n-- delete:consoles --\n",
			want:    []string{"m2 master [machine bmh] master likely"}},
		{name: "what it asked for on its console proves its pool", base: metal, hosts: 5,
			changes: "-- delete:cluster-scoped-resources/core/nodes/m2.yaml --\n",
			want:    []string{"m2 master [machine bmh console] master proven"}},
		{name: "a console of a host that no object names", base: upi, hosts: 6,
			changes: "-- console:cp-d --\n[   12.1] ignition[1]: GET https://api-int.finch.example.net:22623/config/master: attempt #7\n",
			want:    []string{"cp-d master [console] master proven"}},
		{name: "a console named by the first label", base: upi, hosts: 5,
			changes: "-- delete:consoles --\n-- console:cp-a --\n[   12.1] ignition[1]: Ignition 2.16.2\n",
			want:    []string{"cp-a.finch.example.net master [node console] master proven"}},
		{name: "hosts that are only counted are a gap", base: upi, hosts: 4, gaps: []string{"master 2 of 3"},
			changes: "-- delete:cluster-scoped-resources/core/nodes/cp-c.finch.example.net.yaml --\n-- delete:consoles --\n-- delete:cluster-scoped-resources/operator.openshift.io --\n",
			want:    []string{"cp-a.finch.example.net master [node] master proven"}},
		{name: "a Node that is gone and that operators still name", base: upi, hosts: 5,
			changes: "-- delete:cluster-scoped-resources/core/nodes/cp-c.finch.example.net.yaml --\n-- delete:consoles --\n",
			want:    []string{"cp-c.finch.example.net master []  "}},
		{name: "a host that nothing consumes is spare", base: metal, hosts: 6,
			changes: "-- namespaces/openshift-machine-api/metal3.io/baremetalhosts/x9.yaml --\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: x9, namespace: openshift-machine-api}\nspec: {online: true, bootMACAddress: \"52:54:00:cc:00:09\"}\nstatus: {provisioning: {state: available}}\n",
			want:    []string{"x9  [bmh spare]  "}},
		{name: "a custom pool", base: metal, hosts: 5,
			changes: "-- patch:cluster-scoped-resources/core/nodes/w0.yaml --\nmetadata:\n  labels: {node-role.kubernetes.io/infra: \"\"}\n  annotations:\n    machineconfiguration.openshift.io/desiredConfig: rendered-infra-00000000000000000000000000000001\n",
			want:    []string{"w0 infra " + whole + " infra proven"}},
		{name: "an object that does not fit its schema keeps its host", base: metal, hosts: 5,
			changes: "-- patch:namespaces/openshift-machine-api/metal3.io/baremetalhosts/w0.yaml --\nspec: {online: [1]}\n",
			want:    []string{"w0 worker " + whole + " worker proven"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := inventory.Read(t.Context(), factstest.World(t, tt.base, tt.changes))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(r.Hosts)
			for _, want := range tt.want {
				if !slices.Contains(got, want) {
					t.Errorf("no line %q in\n%s", want, strings.Join(got, "\n"))
				}
			}
			if len(r.Hosts) != tt.hosts {
				t.Errorf("%d hosts, want %d:\n%s", len(r.Hosts), tt.hosts, strings.Join(got, "\n"))
			}
			var gaps []string
			for _, g := range r.Gaps {
				gaps = append(gaps, fmt.Sprintf("%s %d of %d", g.Role, g.Named, g.Wanted))
			}
			if diff := cmp.Diff(tt.gaps, gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRollClaims: whoever asks for a certificate chooses the name. A name that
// nothing else knows is listed and is not expected.
func TestRollClaims(t *testing.T) {
	file := func(name, cn string) string {
		return fmt.Sprintf("-- cluster-scoped-resources/certificates.k8s.io/certificatesigningrequests/%s.yaml --\n"+
			"apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: %s, creationTimestamp: \"2026-03-01T11:00:00Z\"}\n"+
			"spec: {signerName: kubernetes.io/kube-apiserver-client-kubelet, request: %s}\n", name, name, request(t, cn))
	}
	w := factstest.World(t, metal, "-- delete:cluster-scoped-resources/core/nodes/m2.yaml --\n"+file("csr-known", "system:node:m2")+file("csr-stranger", "system:node:evil")+file("csr-other", "someone"))
	list, err := inventory.All(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		switch h.Name {
		case "m2":
			if !slices.ContainsFunc(h.Claims, func(c inventory.Claim) bool { return c.Name == "csr-known" }) || !h.Expected {
				t.Errorf("m2: claims %+v, expected %t", h.Claims, h.Expected)
			}
		case "evil":
			if h.Expected {
				t.Error("a name that only a request claims is expected")
			}
		case "someone":
			t.Error("a request that asks for no node made a host")
		}
	}
	if !slices.ContainsFunc(list, func(h inventory.Host) bool { return h.Name == "evil" }) {
		t.Error("a claimed name is not listed")
	}
}

func request(t *testing.T, cn string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: cn}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// TestRollPartial: a kind that could not be read makes the inventory partial and is
// named; an inventory of which nothing could be read is unavailable, not empty.
func TestRollPartial(t *testing.T) {
	machines := evidence.Objects(evidence.Machines, openshift.MachineAPINamespace)
	r, err := inventory.Read(t.Context(), factstest.World(t, metal, "", machines))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hosts) != 5 || len(r.Missing) != 1 || r.Missing[0].Need != machines {
		t.Errorf("%d hosts, missing %v", len(r.Hosts), r.Missing)
	}
	_, err = inventory.All(t.Context(), factstest.World(t, metal, "", inventory.Needs()...))
	if _, ok := evidence.AsUnavailable(err); !ok {
		t.Errorf("error %v, want unavailable", err)
	}
}

func TestFind(t *testing.T) {
	w := factstest.World(t, metal, "")
	for _, name := range []string{"m0", "lark-x7k2p-master-0"} {
		h, ok, err := inventory.Find(t.Context(), w, name)
		if err != nil || !ok || h.Name != "m0" {
			t.Errorf("Find(%s) = %q, %t, %v", name, h.Name, ok, err)
		}
	}
	if _, ok, _ := inventory.Find(t.Context(), w, "m9"); ok {
		t.Error("found a host that is not there")
	}
}

func TestSameName(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"m0", "m0", true}, {"M0", "m0.", true}, {"m0", "m0.example.com", true}, {"m0.a.example.com", "m0.b.example.com", false},
		{"m0", "m01", false}, {"", "", false}, {"m0", "", false},
	}
	for _, tt := range tests {
		if got := inventory.SameName(tt.a, tt.b); got != tt.want {
			t.Errorf("SameName(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}

func TestPoolOfConfig(t *testing.T) {
	for name, want := range map[string]string{
		"rendered-master-0123456789abcdef0123456789abcdef":  "master",
		"rendered-gpu-a-0123456789abcdef0123456789abcdef":   "gpu-a",
		"rendered-master-short":                             "",
		"00-master":                                         "",
		"rendered--0123456789abcdef0123456789abcdef-suffix": "",
	} {
		if got := inventory.PoolOfConfig(name); got != want {
			t.Errorf("PoolOfConfig(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzRequestedNode(f *testing.F) {
	f.Add("")
	f.Add(base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n")))
	f.Fuzz(func(t *testing.T, text string) {
		o := evidence.Object{Content: map[string]any{"spec": map[string]any{"request": text}}}
		if name, ok := inventory.RequestedNode(o); ok && name == "" {
			t.Error("an empty name was accepted")
		}
	})
}

// TestGapsWithoutMachines: where Machines were not read, none of them is missing that
// has a Node.
func TestGapsWithoutMachines(t *testing.T) {
	set := func(name string, replicas int) string {
		return fmt.Sprintf("-- namespaces/openshift-machine-api/machine.openshift.io/machinesets/%s.yaml --\n"+
			"apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: %[1]s, namespace: openshift-machine-api}\n"+
			"spec: {replicas: %d, selector: {matchLabels: {set: %[1]s}}, template: {metadata: {labels: {machine.openshift.io/cluster-api-machine-role: worker}}}}\n", name, replicas)
	}
	const base = "lark-x7k2p-worker-0"
	link := func(node, machine string) string {
		return fmt.Sprintf("-- patch:cluster-scoped-resources/core/nodes/%s.yaml --\nmetadata: {annotations: {machine.openshift.io/machine: %s}}\n", node, machine)
	}
	for name, tt := range map[string]struct {
		changes string
		want    []string
	}{
		"all have Nodes":      {"", nil},
		"one has none":        {set(base, 3), []string{base + " 2 of 3"}},
		"two sets":            {set(base, 1) + set("a-1", 1), nil},
		"two sets, one short": {set(base, 1) + set("a-1", 2), []string{base + " 0 of 1"}},
		"Nodes name their own": {set(base, 1) + set("a-1", 2) + link("w0", "openshift-machine-api/a-1-x2x2x") + link("w1", "openshift-machine-api/a-1-y3y3y"),
			[]string{base + " 0 of 1"}},
		"one Node names none": {set(base, 2) + link("w0", "openshift-machine-api/"+base+"-x2x2x"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := inventory.Read(t.Context(), factstest.World(t, metal, tt.changes, evidence.Objects(evidence.Machines, openshift.MachineAPINamespace)))
			if err != nil {
				t.Fatal(err)
			}
			var gaps []string
			for _, g := range r.Gaps {
				if g.Of != "" {
					gaps = append(gaps, fmt.Sprintf("%s %d of %d", g.Of, g.Named, g.Wanted))
				}
				if g.Of != "" && g.Unread == nil {
					t.Errorf("%s: it is not said that Machines were not read", g.Of)
				}
			}
			if diff := cmp.Diff(tt.want, gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}
