package demo_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/fixture"
	runs "github.com/rollcall-project/rollcall/internal/tools/sample"
)

// mustGathers are small must-gathers, with faults that different parts show.
func mustGathers(t *testing.T) []sample {
	t.Helper()
	base, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	list := []sample{{name: "base", files: base}}
	overlays, err := fixture.Overlays(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	usual := []string{"pool-render-degraded", "mcs-not-running", "csr-client-pending", "etcd-member-unhealthy", "vip-duplicate"}
	for _, o := range overlays {
		if !runs.Full() && (o.Variant != "" || !slices.Contains(usual, o.Fault)) {
			continue
		}
		files, err := o.FS()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sample{name: o.Fault + "." + o.Variant, files: files})
	}
	return list
}

// partsOf returns prefixes of the files that a collector leaves out as a whole: of a namespace, a kind
// of objects without one, a MachineConfigPool.
func partsOf(files fstest.MapFS) []string {
	seen := map[string]bool{}
	for name := range files {
		root, below, _ := strings.Cut(name, "/namespaces/")
		if namespace, _, ok := strings.Cut(below, "/"); ok {
			seen[root+"/namespaces/"+namespace+"/"] = true
		}
		const scoped = "/cluster-scoped-resources/"
		root, below, _ = strings.Cut(name, scoped)
		if p := strings.Split(below, "/"); len(p) > 1 {
			seen[root+scoped+p[0]+"/"+strings.TrimSuffix(p[1], ".yaml")] = true
		}
		if strings.Contains(name, "/machineconfigpools/") {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// withoutPart returns the files of which the path does not begin with one of the parts.
func withoutPart(files fstest.MapFS, part string) fstest.MapFS {
	less := fstest.MapFS{}
	for name, f := range files {
		below, ok := strings.CutPrefix(name, part)
		if !ok || !strings.HasSuffix(part, "/") && below != "" && below != ".yaml" && below[0] != '/' {
			less[name] = f
		}
	}
	return less
}

// TestPartTakenAway: a must-gather from which a part is missing as a whole is never healthier than
// the whole one.
func TestPartTakenAway(t *testing.T) {
	d := newDoctor(t)
	step := 0
	for _, s := range mustGathers(t) {
		whole := d.said(t.Context(), s.open(s.files))
		t.Logf("%s: exit %d, %s", s.name, whole.exit, whole.verdict)
		for _, part := range partsOf(s.files) {
			if step++; step%count(1, 4, 8, 16) != 0 {
				continue
			}
			t.Run(s.name+" without "+part, func(t *testing.T) {
				t.Parallel()
				if got := d.said(t.Context(), s.open(withoutPart(s.files, part))); got.exit == 0 && whole.exit != 0 {
					t.Errorf("exit %d became 0: %s", whole.exit, got.verdict)
				}
			})
		}
	}
}

// TestPartIsNamed: what each cluster has is missed, and the answer begins with its name.
func TestPartIsNamed(t *testing.T) {
	d := newDoctor(t)
	base := mustGathers(t)[0]
	if got := d.said(t.Context(), base.open(base.files)); got.exit != 0 {
		t.Fatalf("the whole: %s", got.verdict)
	}
	for part, name := range map[string]string{
		"namespaces/openshift-etcd/":                    "namespace openshift-etcd",
		"namespaces/openshift-kube-apiserver/":          "namespace openshift-kube-apiserver",
		"namespaces/openshift-machine-config-operator/": "namespace openshift-machine-config-operator",
		"namespaces/openshift-machine-api/":             "machines",
		"cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigpools/master.yaml": "MachineConfigPool master",
		"cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigpools/worker.yaml": "MachineConfigPool worker",
		"cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigpools":             "machineconfigpools",
		"cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigs":                 "machineconfigs",
		"cluster-scoped-resources/config.openshift.io/clusteroperators":                             "clusteroperators",
		"cluster-scoped-resources/config.openshift.io/clusterversions":                              "clusterversions",
	} {
		t.Run(name, func(t *testing.T) {
			root, _, _ := strings.Cut(slices.Sorted(maps.Keys(base.files))[0], "/cluster-scoped-resources/")
			less := withoutPart(base.files, root+"/"+part)
			if len(less) == len(base.files) {
				t.Fatal("the base has no such part")
			}
			if got := d.said(t.Context(), base.open(less)); got.exit != 3 || !strings.Contains(got.verdict, name) {
				t.Errorf("exit %d, %s", got.exit, got.verdict)
			}
		})
	}
}
