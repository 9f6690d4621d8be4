package baseline

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// cluster lists objects by the name of their resource; what it does not have was not served.
type cluster map[string][]evidence.Object

func (c cluster) List(_ context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	list, ok := c[r.Name]
	switch {
	case !ok:
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, ns), Why: evidence.NotServed}
	case list == nil:
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, ns), Why: evidence.Forbidden}
	}
	return list, nil
}

func (c cluster) Some(ctx context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	return c.List(ctx, r, ns)
}

// Unlisted: an archive that has a file for each object names them all alone.
func (c cluster) Unlisted(_ context.Context, n evidence.Need) bool {
	return len(c[n.Resource.Name]) > 0 && c[n.Resource.Name][0].Alone
}

func object(name string, content map[string]any) evidence.Object {
	return evidence.Object{Name: name, Content: content}
}

func status(conditions ...string) map[string]any {
	var list []any
	for _, c := range conditions {
		kind, value, _ := strings.Cut(c, "=")
		list = append(list, map[string]any{"type": kind, "status": value, "lastTransitionTime": time.Now().String()})
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

func version(id string) evidence.Object {
	content := status("Available=True")
	content["spec"] = map[string]any{"clusterID": id}
	return object("version", content)
}

func good() cluster {
	pool := status("Updated=True")
	pool["spec"] = map[string]any{"configuration": map[string]any{"name": "rendered-master-1"}}
	return cluster{
		"clusterversions":    {version("id-1")},
		"clusteroperators":   {object("etcd", status("Available=True", "Progressing=True"))},
		"nodes":              {object("m0", status("Ready=True"))},
		"machineconfigpools": {object("master", pool)},
		"machineconfigs":     {object("rendered-master-1", nil), object("99-master-ssh", map[string]any{"metadata": map[string]any{"generation": int64(1)}})},
		"controllerconfigs": {object("machine-config-controller", map[string]any{"status": map[string]any{"observedGeneration": int64(1), "controllerCertificates": []any{
			map[string]any{"bundleFile": "KubeAPIServerServingCAData", "subject": "CN=kube-apiserver-lb-signer", "notBefore": "2026-01-01T00:00:00Z", "notAfter": "2036-01-01T00:00:00Z"}}}})},
		"baremetalhosts": {object("m0", map[string]any{"status": map[string]any{"hardware": map[string]any{
			"nics": []any{map[string]any{"mac": "52:54:00:00:00:01", "name": "eno1", "model": "x"}}, "storage": []any{map[string]any{"serialNumber": "S1", "model": "d", "sizeBytes": int64(100)}},
			"systemVendor": map[string]any{"serialNumber": "M0"}}}})},
	}
}

func take(t *testing.T, c cluster) Baseline {
	t.Helper()
	b, err := Take(t.Context(), c, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "prod", "healthy")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCompare: what changes in a cluster is what is shown, and nothing else.
func TestCompare(t *testing.T) {
	was := take(t, good())
	if c := Compare(was, take(t, good())); len(c.Changes)+len(c.NotCompared) != 0 || c.Compared != len(was.Entries) {
		t.Errorf("nothing has changed: %+v", c)
	}
	for name, x := range map[string]struct {
		change func(cluster)
		want   string // subject name kind was is
	}{
		"an operator":    {func(c cluster) { c["clusteroperators"][0] = object("etcd", status("Available=False")) }, "co/etcd|condition Available|changed|True|False"},
		"a node is gone": {func(c cluster) { c["nodes"] = []evidence.Object{} }, "node/m0||removed||"},
		"a config": {func(c cluster) {
			c["machineconfigpools"][0].Content["spec"] = map[string]any{"configuration": map[string]any{"name": "rendered-master-2"}}
		}, "mcp/master|spec.configuration.name|changed|rendered-master-1|rendered-master-2"},
		"a new MachineConfig": {func(c cluster) {
			c["machineconfigs"] = append(c["machineconfigs"], object("99-new", map[string]any{"metadata": map[string]any{"generation": int64(1)}}))
		}, "mc/99-new||added||"},
		"a disk": {func(c cluster) { c["baremetalhosts"] = []evidence.Object{object("m0", hardware("S2"))} }, "bmh/m0|disk S1|removed|d, 100 bytes|"},
	} {
		now := good()
		x.change(now)
		c := Compare(was, take(t, now))
		found := false
		for _, g := range c.Changes {
			found = found || strings.Join([]string{g.Subject, g.Name, g.Kind, g.Was, g.Is}, "|") == x.want
		}
		if !found || len(c.Changes) > 3 {
			t.Errorf("%s: %+v", name, c.Changes)
		}
	}
}

// TestCutObject: what stands last in an object is not known to be gone.
func TestCutObject(t *testing.T) {
	whole := take(t, good())
	whole.Entries = append(whole.Entries, Entry{Nodes, "node/m0", "kubeletVersion", "v1.21"}, Entry{Nodes, "node/m0", "systemUUID", "1"})
	for name, known := range map[string]bool{"kubeletVersion": true, "systemUUID": false} {
		part := whole
		part.Entries = slices.DeleteFunc(slices.Clone(whole.Entries), func(e Entry) bool { return e.Name == name })
		for what, c := range map[string]Comparison{"now": Compare(whole, part), "in the baseline": Compare(part, whole)} {
			if len(c.Changes) == 1 != known || len(c.NotCompared) == 1 == known {
				t.Errorf("%s not there %s: %+v, not compared %+v", name, what, c.Changes, c.NotCompared)
			}
		}
	}
}

// TestNoEnds: a release that lists no ends of certificates is not compared with another in vain.
func TestNoEnds(t *testing.T) {
	none := good()
	none["controllerconfigs"] = []evidence.Object{object("machine-config-controller", map[string]any{"status": map[string]any{"observedGeneration": int64(1)}})}
	b := take(t, none)
	if c := Compare(b, b); len(b.Missing) != 1 || b.Missing[0].Reason != noEnds || len(c.NotCompared) != 0 {
		t.Errorf("missing %+v, not compared %+v", b.Missing, c.NotCompared)
	}
	if c := Compare(b, take(t, good())); len(c.Changes) != 0 || len(c.NotCompared) != 1 {
		t.Errorf("%+v, not compared %+v", c.Changes, c.NotCompared)
	}
}

// TestOneVIP: the VIPs of releases with one address are those of releases with a list of them.
func TestOneVIP(t *testing.T) {
	vip := func(name string, value any) Baseline {
		c := good()
		c["infrastructures"] = []evidence.Object{object("cluster", map[string]any{"status": map[string]any{"platformStatus": map[string]any{
			"type": "BareMetal", "baremetal": map[string]any{name: value}}}})}
		return take(t, c)
	}
	one := vip("apiServerInternalIP", "10.0.0.5")
	if c := Compare(one, vip("apiServerInternalIPs", []any{"10.0.0.5"})); len(c.Changes) != 0 {
		t.Errorf("the same VIP: %+v", c.Changes)
	}
	if c := Compare(one, vip("apiServerInternalIP", "10.0.0.6")); len(c.Changes) != 1 {
		t.Errorf("another VIP: %+v", c.Changes)
	}
}

func hardware(serial string) map[string]any {
	return map[string]any{"status": map[string]any{"hardware": map[string]any{
		"nics": []any{map[string]any{"mac": "52:54:00:00:00:01", "name": "eno1", "model": "x"}}, "storage": []any{map[string]any{"serialNumber": serial, "model": "d", "sizeBytes": int64(100)}}, "systemVendor": map[string]any{"serialNumber": "M0"}}}}
}

// TestInspection: what an inspection found is compared wherever it is, in the BareMetalHost or
// in HardwareData. Where neither has it, no disk and no card is gone.
func TestInspection(t *testing.T) {
	at := func(host, data map[string]any) cluster {
		c := good()
		content := map[string]any{"spec": map[string]any{"bootMode": "UEFI"}}
		if host != nil {
			content["status"] = host["status"]
		}
		c["baremetalhosts"] = []evidence.Object{object("m0", content)}
		if data != nil {
			c["hardwaredata"] = []evidence.Object{object("m0", map[string]any{"spec": data["status"]})}
		}
		return c
	}
	same, other := hardware("S1"), hardware("S2")
	for name, x := range map[string]struct {
		was, is cluster
		changes int
		gaps    int
	}{
		"moved":                  {at(same, nil), at(nil, same), 0, 0},
		"moved back":             {at(nil, same), at(same, nil), 0, 0},
		"in both":                {at(same, same), at(nil, same), 0, 0},
		"moved, another disk":    {at(same, nil), at(nil, other), 2, 0},
		"not there now":          {at(same, nil), at(nil, nil), 0, 1},
		"not there then":         {at(nil, nil), at(nil, same), 0, 1},
		"HardwareData forbidden": {at(nil, same), func() cluster { c := at(nil, nil); c["hardwaredata"] = nil; return c }(), 0, 1},
	} {
		if c := Compare(take(t, x.was), take(t, x.is)); len(c.Changes) != x.changes || len(c.NotCompared) != x.gaps {
			t.Errorf("%s: %+v, not compared %+v", name, c.Changes, c.NotCompared)
		}
	}
}

// TestNotRead: what one side lacks is not compared, and is no change.
func TestNotRead(t *testing.T) {
	blind := good()
	blind["nodes"] = nil
	for name, c := range map[string]Comparison{"now": Compare(take(t, good()), take(t, blind)), "then": Compare(take(t, blind), take(t, good()))} {
		if len(c.Changes) != 0 || len(c.NotCompared) != 1 || c.NotCompared[0].Area != Nodes {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := Compare(take(t, blind), take(t, blind)); len(c.NotCompared) != 1 || !strings.HasPrefix(c.NotCompared[0].Reason, "neither") {
		t.Errorf("%+v", c)
	}
	other := good()
	other["clusterversions"] = []evidence.Object{version("id-2")}
	if c := Compare(take(t, good()), take(t, other)); c.Identity.Same != SameNo || len(c.Changes) != 0 {
		t.Errorf("another cluster: %+v", c)
	}
}

func TestFile(t *testing.T) {
	var file bytes.Buffer
	if err := take(t, good()).Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	b, err := Read(strings.NewReader(text))
	if err != nil || len(b.Entries) == 0 {
		t.Fatal(err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(text, "rendered-master-1", "rendered-master-2", 1))); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("changed by hand: %v", err)
	}
	for _, bad := range []string{"", "{}", `{"kind":"Baseline","apiVersion":"v2"}`, "[]"} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if err := b.Write(broken{}); err == nil {
		t.Error("a full disk is no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// FuzzRead: a foreign file is a baseline or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"Baseline","apiVersion":"rollcall.dev/v1alpha1","entries":[{"area":"nodes"}],"digest":"sha256:0"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if b, err := Read(bytes.NewReader(raw)); err == nil {
			_ = Compare(b, b)
		}
	})
}
