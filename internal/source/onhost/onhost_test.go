package onhost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestRoundTrip: every part survives being an object, and so a collection.
func TestRoundTrip(t *testing.T) {
	leaf := &Certificate{CommonName: "system:node:worker0", Issuer: "signer", NotBefore: at, NotAfter: at.Add(time.Hour), SHA256: "00"}
	roundTrip(t, evidence.HostIdentities, Identity{Hostname: "worker0", NameFrom: "kernel", At: at, Runtime: Kubeconfig{File: File{Path: "/var/lib/kubelet/kubeconfig", Error: "permission denied"}},
		Client: Pair{File: File{Path: "/p", Exists: true, Size: 1, Modified: at}, Leaf: leaf, KeyFits: true}, KubeletCA: []Certificate{*leaf}})
	roundTrip(t, evidence.HostConfigs, Config{Served: MachineConfig{File: File{Path: "/s", Exists: true}, Name: "rendered-worker-1"}, BootedProblem: "rpm-ostree did not answer", At: at})
	roundTrip(t, evidence.HostUnits, Units{Units: []Unit{{Name: "kubelet.service", Active: "failed", Exit: 255, Restarts: 3, Since: at}}, At: at})
	roundTrip(t, evidence.HostClocks, Clock{At: at, Offset: 0.25, Sources: []TimeSource{{Name: "ntp", State: "?", Reach: 0}}})
	roundTrip(t, evidence.HostResolutions, Resolutions{Servers: []string{"192.0.2.1"}, Names: []Resolution{{Name: "api-int.x", Class: NoSuchName}}, At: at})
	roundTrip(t, evidence.HostContainers, Containers{RuntimeError: "no socket", Manifests: []Manifest{{File: File{Path: "/m", Exists: true}, Pod: "etcd"}}, At: at})
	roundTrip(t, evidence.HostDisks, Disks{FileSystems: []FileSystem{{Path: "/var", Bytes: 1 << 40, Free: 1 << 39, Known: true}}, At: at})
}

func roundTrip[T any](t *testing.T, r evidence.Resource, part T) {
	t.Helper()
	o, err := Object(r, "worker0", "/etc", at, part)
	if err != nil {
		t.Fatal(err)
	}
	back, err := evidence.Decode[T](o)
	if err != nil {
		t.Fatalf("decode %s: %v", r, err)
	}
	if diff := cmp.Diff(part, back); diff != "" {
		t.Errorf("%s: %s", r, diff)
	}
	if o.Name != "worker0" || o.Loc.Source != "host:worker0" || evidence.String(o.Content, "kind") == "" || evidence.String(o.Content, "metadata", "name") != "worker0" {
		t.Errorf("%s is %+v", r, o)
	}
}

// TestKinds: every part that only a machine can tell has a kind of its own.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range evidence.OnHost() {
		if k := kinds[r]; k == "" || seen[k] {
			t.Errorf("%s has the kind %q", r, k)
		}
		seen[kinds[r]] = true
	}
	if len(seen) != len(kinds) {
		t.Errorf("%d kinds for %d resources", len(kinds), len(seen))
	}
	if _, err := Object(evidence.HostClocks, "worker0", "", at, func() {}); err == nil {
		t.Error("what has no JSON became an object")
	}
}
