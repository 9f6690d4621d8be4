package archive

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
)

func at(t testing.TB, value string) time.Time {
	t.Helper()
	if value == "" {
		return time.Time{}
	}
	v, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNow(t *testing.T) {
	const node = "cluster-scoped-resources/core/nodes/n.yaml"
	stamps := in("timestamp", "2026-01-02 11:00:00.1 +0100 CET m=+0.1\n2026-01-02 11:10:00 +0100 CET m=+600")
	lease := func(v string) string {
		return in("namespaces/kube-node-lease/coordination.k8s.io/leases/n.yaml", "kind: Lease\nmetadata: {name: n}\nspec:\n  renewTime: \""+v+"\"\n")
	}
	heartbeat := in(node, "kind: Node\nmetadata:\n  name: n\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\nstatus:\n  conditions:\n  - lastHeartbeatTime: "+
		"\"2026-01-02T10:05:00Z\"\n    lastTransitionTime: null\n")
	for name, c := range map[string]struct{ text, want string }{
		"the stamp's end is newest":            {stamps + heartbeat, "2026-01-02T10:10:00Z"},
		"a lease is newer than the stamp":      {stamps + heartbeat + lease("2026-01-02T10:10:30.123456Z"), "2026-01-02T10:10:30.123456Z"},
		"a lease of a host whose clock is off": {stamps + heartbeat + lease("2026-01-04T10:10:30.123456Z"), "2026-01-02T10:10:00Z"},
		"no stamp":                             {heartbeat + lease("2026-01-02T10:06:00.000001Z"), "2026-01-02T10:06:00.000001Z"},
		"JSON": {in(node, `{"kind":"Node","metadata":{"name":"n","creationTimestamp":"2026-01-01T00:00:00Z"}}`),
			"2026-01-01T00:00:00Z"},
		"another zone": {heartbeat + in("namespaces/a/core/events.yaml",
			"kind: EventList\nitems:\n- metadata: {name: e}\n  eventTime: 2026-01-02T13:00:00.5+02:00\n  lastTimestamp: null\n"), "2026-01-02T11:00:00.5Z"},
		"times that lie ahead": {heartbeat + in(podList, "kind: PodList\nitems:\n- metadata:\n    name: p\n    deletionTimestamp: \"2026-05-01T00:00:00Z\"\n"+
			"    annotations:\n      auth.openshift.io/certificate-not-after: \"2036-01-01T00:00:00Z\"\n"), "2026-01-02T10:05:00Z"},
		"only objects that are rarely written": {in("namespaces/a/apps/deployments/d.yaml",
			"kind: Deployment\nmetadata:\n  name: d\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\nstatus:\n  conditions:\n  - {type: Available, status: \"True\", lastUpdateTime: \"2026-01-02T08:00:00Z\"}\n"),
			"2026-01-02T08:00:00Z"},
		"only the log of a pod": {in("namespaces/a/pods/p/c/c/logs/current.log", "2026-01-02T09:00:00.1Z begins\n2026-01-02T09:30:00Z ends\n"), "2026-01-02T09:30:00Z"},
		"no time":               {in(node, "kind: Node\nmetadata: {name: n}\n"), ""},
		"a broken time":         {in(node, "kind: Node\nmetadata:\n  name: n\n  creationTimestamp: \"2026-13-41T99:00:00Z\"\n"), ""},
		"a broken file":         {stamps + in(podList, "\x00\x01lastTransitionTime"), "2026-01-02T10:10:00Z"},
	} {
		d, err := open(t, c.text).Describe(t.Context())
		if err != nil || !d.Now.Equal(at(t, c.want)) {
			t.Errorf("%s: now is %v, %v, want %s", name, d.Now, err, c.want)
		}
	}
}

func TestKind(t *testing.T) {
	node := "cluster-scoped-resources/core/nodes/n.yaml"
	object := "kind: Node\nmetadata: {name: n}\n"
	for name, c := range map[string]struct{ text, want string }{
		"by version":     {in("a/version", "openshift/must-gather\n4.0") + in("a/"+node, object), mustgather.MustGather},
		"by host logs":   {in("host_service_logs/masters/kubelet_service.log", "x") + in(node, object), mustgather.MustGather},
		"by stamp":       {in("timestamp", "2026-01-02 11:00:00.1 +0100 CET m=+0.1") + in(node, object), mustgather.Inspect},
		"by name":        {in("inspect.local.123/"+node, object), mustgather.Inspect},
		"nothing says":   {in(node, object), mustgather.Tree},
		"foreign header": {in("version", "1.2.3") + in(node, object), mustgather.Tree},
	} {
		if d, err := open(t, c.text).Describe(t.Context()); err != nil || d.Kind != c.want {
			t.Errorf("%s: %q, %v, want %q", name, d.Kind, err, c.want)
		}
	}
}

// TestOwnTime: a time that lies ahead, such as that of a certificate's end, is not the
// time of its line.
func TestOwnTime(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"podman's own": {"May 12 04:54:38 b podman[1]: 2025-05-12 04:54:38.93 +0000 UTC m=+0.02 container create\n", "2025-05-12T04:54:38Z"},
		"an expiry": {"May 10 01:48:31 w1 kubenswrapper[1]: I0510 01:48:31.1 1 certificate_manager.go:356] \"Certificate expiration is 2025-05-11 " +
			"01:40:40 +0000 UTC\"\n", "2025-05-10T01:48:31Z"},
		"30 days": {"May 10 01:48:31 w1 kubenswrapper[1]: Certificate expiration is 2025-06-09 01:40:40 +0000 UTC, rotation deadline is 2025-06-01 " +
			"00:00:00 +0000 UTC\n", "2025-05-10T01:48:31Z"},
		"of something else": {"May 10 01:48:31 w1 x[1]: valid until 2026-05-10 01:40:40 +0000 UTC\n", "0001-01-01T00:00:00Z"},
		"far from its line": {"May 10 01:48:31 w1 x[1]: image of 2024-11-01 00:00:00 +0000 UTC\n", "0001-01-01T00:00:00Z"},
		"in ISO": {"2025-05-10T01:48:31.123456+0000 w1 kubenswrapper[1]: Certificate expiration is 2025-05-11 01:40:40 +0000 UTC\n",
			"2025-05-10T01:48:31Z"},
	} {
		d, err := open(t, "-- kubelet.log --\n"+c.lines).Describe(t.Context())
		if got := d.Now.Truncate(time.Second).Format(time.RFC3339); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}
