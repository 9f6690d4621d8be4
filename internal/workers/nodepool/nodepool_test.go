package nodepool

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestRead: what a condition means on platform None. Messages are the controller's.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, condition string
		outlook         Outlook
		means           string
	}{
		{"settings", "{type: UpdateManagementEnabled, status: 'False', reason: ValidationFailed, message: this is unsupported}", Refused, "delete the NodePool and declare it again"},
		{"release", "{type: ValidReleaseImage, status: 'False', reason: ValidationFailed, message: 'Failed to get release image: unauthorized'}", Refused, "pull secret"},
		{"endpoint", "{type: IgnitionEndpointAvailable, status: 'False', reason: IgnitionEndpointMissing, message: 'Ignition endpoint not available, waiting'}", Waiting, "not published"},
		{"arch of 4.16", "{type: ValidArchPlatform, status: 'False', reason: InvalidArchPlatform, message: \"CPU arch amd64 is not supported for platform: None, use 'amd64' instead\"}", Normal, "false alarm of 4.16"},
		{"arm64 of 4.15", "{type: ValidArchPlatform, status: 'False', reason: InvalidArchPlatform, message: \"CPU arch arm64 is not supported for platform: None, use 'amd64' instead\"}", Normal, "on other platforms only"},
		{"arch of the payload", "{type: ValidArchPlatform, status: 'False', reason: InvalidArchPlatform, message: 'NodePool CPU arch, amd64, is not supported by the HostedCluster payload type, ARM64'}", Refused, "has not this architecture"},
		{"paused", "{type: ReconciliationActive, status: 'False', reason: ReconciliationPaused, message: Reconciliation paused until field removed}", Refused, "pausedUntil"},
		{"skew", "{type: SupportedVersionSkew, status: 'False', reason: UnsupportedSkew, message: x}", Normal, "stops nothing"},
		{"core configs up to 4.17", "{type: ValidMachineConfig, status: 'False', reason: ValidationFailed, message: Core ignition config has not been created yet}", Waiting, "core configs"},
		{"core configs from 4.18", "{type: ValidMachineConfig, status: 'False', reason: ValidationFailed, message: 'expected 3 core ignition configs, found 0'}", Waiting, "core configs"},
		{"config", "{type: ValidMachineConfig, status: 'False', reason: ValidationFailed, message: unsupported config type}", Refused, "not accepted"},
		{"no token yet", "{type: ValidGeneratedPayload, status: 'False', reason: NotFound, message: secrets not found}", Waiting, "not made yet"},
		{"no payload yet", "{type: ValidGeneratedPayload, status: Unknown, message: Unable to get status data from token secret}", Waiting, "has not built"},
		{"payload failed", "{type: ValidGeneratedPayload, status: '', reason: InvalidConfig, message: 'error getting ignition payload: x'}", Waiting, "could not build"},
		{"payload", "{type: ValidGeneratedPayload, status: 'True', reason: AsExpected}", Good, ""},
		{"no machine yet", "{type: ReachedIgnitionEndpoint, status: 'False', reason: ignitionNotReached}", Normal, "no machine has fetched"},
		{"no Machines", "{type: AllMachinesReady, status: 'False', reason: NotFound, message: No Machines are created}", Normal, "makes no Machines"},
		{"one that is not known here", "{type: SomethingNew, status: 'False', reason: X, message: y}", Waiting, ""},
	} {
		pool := read(t, "status: {conditions: ["+c.condition+"]}")
		list := Read(pool)
		if len(list) != 1 || list[0].Outlook != c.outlook || !strings.Contains(list[0].Means, c.means) {
			t.Errorf("%s: %+v", c.name, list)
		}
		if StateOf(pool).Built != (c.name == "payload") {
			t.Errorf("%s: built", c.name)
		}
	}
	if list := Read(read(t, "status: {conditions: [{type: UpdatingVersion, status: 'True'}, {type: AutoscalingEnabled, status: 'False'}]}")); len(list) != 0 {
		t.Errorf("conditions that mean nothing here: %+v", list)
	}
	if s := StateOf(map[string]any{}); !s.Untouched() {
		t.Errorf("a NodePool without status: %+v", s)
	}
}

const whole = `
apiVersion: hypershift.openshift.io/v1beta1
kind: NodePool
metadata:
  name: w
  namespace: clusters
  uid: u
  resourceVersion: "7"
  generation: 2
  creationTimestamp: "2026-03-01T08:00:00Z"
  finalizers: [hypershift.openshift.io/finalizer]
  ownerReferences: [{kind: HostedCluster, name: guest}]
  labels: {team: a}
  annotations: {hypershift.openshift.io/nodePoolCurrentConfig: a, hypershift.openshift.io/nodePoolCurrentConfigVersion: b, note: c}
  managedFields:
  - {manager: hypershift, operation: Update, time: "2026-03-01T08:02:00Z", fieldsV1: {"f:spec": {"f:platform": {}}}}
  - {manager: hypershift, operation: Update, subresource: status, time: "2026-03-01T08:00:01Z", fieldsV1: {"f:spec": {"f:clusterName": {}}}}
  - {manager: kubectl-create, operation: Update, time: "2026-03-01T08:00:00Z", fieldsV1: {"f:spec": {"f:clusterName": {}, "f:replicas": {}}}}
spec: {clusterName: guest, replicas: 2, platform: {type: None}, release: {image: r}}
status: {version: 4.20.1}
`

func TestDescribe(t *testing.T) {
	pool := read(t, whole)
	if got, want := Describe(pool), "of hosted cluster guest, platform None, 2 replicas, release r, created 2026-03-01T08:00:00Z by kubectl-create"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Describe(map[string]any{}); got != "of hosted cluster not named, platform not named, no replicas, release not named" {
		t.Error(got)
	}
	if got := KeptBy(pool, "rollcall"); got != "" {
		t.Errorf("kept by %q", got)
	}
	b := Backup(pool)
	raw, err := yaml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	const want = "apiVersion: hypershift.openshift.io/v1beta1\nkind: NodePool\nmetadata:\n  annotations:\n    note: c\n  labels:\n    team: a\n  name: w\n  namespace: clusters\n" +
		"spec:\n  clusterName: guest\n  platform:\n    type: None\n  release:\n    image: r\n  replicas: 2\n"
	if string(raw) != want {
		t.Errorf("the copy:\n%s", raw)
	}
	if pool["metadata"].(map[string]any)["annotations"].(map[string]any)["hypershift.openshift.io/nodePoolCurrentConfig"] != "a" {
		t.Error("the copy has changed the object")
	}
}

// TestKeptBy: who applies replicas, and marks of tools that write an object again.
func TestKeptBy(t *testing.T) {
	for text, want := range map[string]string{
		`{managedFields: [{manager: argo, operation: Apply, fieldsV1: {"f:spec": {"f:replicas": {}}}}]}`:     "field manager argo, which applies spec.replicas",
		`{managedFields: [{manager: argo, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {}}}}]}`:   "",
		`{managedFields: [{manager: rollcall, operation: Apply, fieldsV1: {"f:spec": {"f:replicas": {}}}}]}`: "",
		`{labels: {helm.toolkit.fluxcd.io/name: x}}`:                                                         "label helm.toolkit.fluxcd.io/name",
		`{annotations: {argocd.argoproj.io/tracking-id: x}}`:                                                 "annotation argocd.argoproj.io/tracking-id",
		`{labels: {app: x}}`: "",
	} {
		if got := KeptBy(read(t, "metadata: "+text), "rollcall"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestManifest(t *testing.T) {
	w := Want{Namespace: "clusters", Cluster: "guest", Name: "w", Release: "r:1", Replicas: 2, UpgradeType: Replace, Arch: "amd64"}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	sent, err := w.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	stored := read(t, "spec: {arch: amd64, clusterName: guest, management: {autoRepair: false, upgradeType: Replace, replace: {strategy: RollingUpdate}}, platform: {type: None}, "+
		"release: {image: 'r:1'}, replicas: 2}")
	if got := Differences(sent["spec"], stored["spec"]); len(got) > 0 {
		t.Errorf("what the server adds counts as a difference: %q", got)
	}
	if got := Flat(stored["spec"]); !slices.Contains(got, "management.replace.strategy: RollingUpdate") || !slices.Contains(got, "replicas: 2") {
		t.Errorf("%q", got)
	}
	stored["spec"].(map[string]any)["replicas"] = 3
	delete(stored["spec"].(map[string]any), "arch")
	if got, want := Differences(sent["spec"], stored["spec"]), []string{"arch: amd64 is not stored", "replicas: 3 instead of 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, change := range []func(*Want){
		func(w *Want) { w.Name = "" }, func(w *Want) { w.Name = "A" }, func(w *Want) { w.Name = strings.Repeat("a", 64) }, func(w *Want) { w.Release = "a b" },
		func(w *Want) { w.Replicas = -1 }, func(w *Want) { w.UpgradeType = "replace" }, func(w *Want) { w.Arch = "x86_64" },
	} {
		wrong := w
		if change(&wrong); wrong.Check() == nil {
			t.Errorf("accepted: %+v", wrong)
		}
	}
	w.Release = ""
	if _, err := w.Manifest(); err == nil {
		t.Error("a manifest without a release")
	}
}
