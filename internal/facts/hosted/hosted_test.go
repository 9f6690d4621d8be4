package hosted

import (
	"encoding/base64"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// object is an object of its YAML.
func object(t *testing.T, name, text string) evidence.Object {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return evidence.Object{Name: name, Content: content}
}

const (
	digestA = "[redacted 00112233aabbccdd, 36 bytes]"
	digestB = "[redacted 8899aabb00112233, 36 bytes]"
)

// TestMatch: tokens are compared by digest, and what was not read is never equal.
func TestMatch(t *testing.T) {
	if !sanitize.Redacted(digestA) || !sanitize.Redacted(digestB) {
		t.Fatal("these are no digests of the sanitiser")
	}
	secret := func(current, old string) evidence.Object {
		return object(t, "token-a", "data: {token: \""+current+"\", old_token: \""+old+"\"}")
	}
	tests := []struct {
		name, digest, want string
		token              evidence.Object
	}{
		{"the current one", digestA, "current", secret(digestA, "")},
		{"the one before", digestB, "old", secret(digestA, digestB)},
		{"another one", digestB, "other", secret(digestA, "")},
		{"user-data without one", "", "other", secret(digestA, "")},
		{"no Secret", digestA, "none", evidence.Object{}},
		{"a Secret of which only the metadata was read", digestA, "", object(t, "token-a", "metadata: {name: token-a}")},
		{"contents that the collector left out", digestA, "", secret("[redacted by the collector, 36 bytes]", "")},
		{"contents that are no digest", "plain", "", secret("plain", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f token
			f.match(tt.digest, tt.token, evidence.Locator{})
			if got, err := f.Matches.Get(); got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("matches %v, want %q", f.Matches, tt.want)
			}
		})
	}
}

// TestTokenNotes: an outdated token counts until its time; a time that cannot be read
// is over, as the ignition server takes it.
func TestTokenNotes(t *testing.T) {
	reason := base64.StdEncoding.EncodeToString([]byte("AsExpected"))
	for expires, ended := range map[string]bool{"": false, "2026-03-01T13:00:00Z": false, "2026-03-01T11:00:00Z": true, "soon": true} {
		text := "metadata: {annotations: {" + openshift.TokenGeneratedAnnotation + ": \"2026-03-01T10:00:00Z\", " + openshift.IgnitionReachedAnnotation + ": \"True\"}}\ndata: {reason: " + reason + "}\n"
		o := object(t, "token-a", text)
		if expires != "" {
			o.Content["metadata"].(map[string]any)["annotations"].(map[string]any)[openshift.TokenExpiresAnnotation] = expires
		}
		var f token
		f.token(noon, o)
		if !f.Expired.Equal(facts.Known(ended)) || !f.Fetched.Value() || f.Stage.Value() != "AsExpected" || !f.Generated.Value().Equal(noon.Add(-2*time.Hour)) {
			t.Errorf("expires %q: %+v", expires, f)
		}
	}
	var f token
	f.token(noon, object(t, "token-a", "metadata: {name: token-a}"))
	if _, err := f.Stage.Get(); err == nil {
		t.Error("the stage of a Secret that was not read is known")
	}
}

// TestEvents: what is refused now, each object once; old events say nothing.
func TestEvents(t *testing.T) {
	refused := func(last string) string {
		return "reason: FailedCreate\ninvolvedObject: {kind: ReplicaSet, name: multus-1}\nfirstTimestamp: \"2026-03-01T09:00:00Z\"\nlastTimestamp: " + last +
			"\nmessage: 'pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": privileged'\n"
	}
	mount := "reason: FailedMount\ninvolvedObject: {kind: Pod, name: ignition-server-1}\neventTime: \"2026-03-01T11:50:00.000000Z\"\n" +
		"message: 'MountVolume.SetUp failed for volume \"ca\" : secret \"ignition-server-ca-cert\" not found'\n"
	var f events
	for _, text := range []string{refused(`"2026-03-01T11:55:00Z"`), refused(`"2026-03-01T11:56:00Z"`), refused(`"2026-03-01T08:00:00Z"`), mount, "reason: FailedCreate\nlastTimestamp: \"2026-03-01T11:55:00Z\"\nmessage: quota\n", "{}"} {
		f.event(noon, object(t, "e", text))
	}
	if len(f.Refused.Value()) != 1 || f.Refused.Value()[0] != "ReplicaSet multus-1" || f.Refusal.Value() != `violates PodSecurity "restricted:latest": privileged` || !f.RefusedSince.Value().Equal(noon.Add(-3*time.Hour)) {
		t.Errorf("refused %+v", f)
	}
	if f.Secret.Value() != "ignition-server-ca-cert" || f.SecretPod.Value() != "ignition-server-1" || !f.SecretSince.Value().Equal(noon.Add(-10*time.Minute)) {
		t.Errorf("mount %+v", f)
	}
}

func TestDeployment(t *testing.T) {
	tests := []struct {
		name, text, want string
		since            time.Time
	}{
		{"ready", "spec: {replicas: 3}\nstatus: {availableReplicas: 1}", "ready", time.Time{}},
		{"down", "spec: {replicas: 1}\nstatus: {conditions: [{type: Available, status: \"False\", lastTransitionTime: \"2026-03-01T11:00:00Z\"}]}", "down", noon.Add(-time.Hour)},
		{"scaled to nothing", "metadata: {creationTimestamp: \"2026-03-01T10:00:00Z\"}\nspec: {replicas: 0}", "down", noon.Add(-2 * time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, since, item := deployment(object(t, "ignition-server", tt.text))
			if state != tt.want || !since.Equal(tt.since) || item.Excerpt == "" {
				t.Errorf("%s since %s, proof %v", state, since, item)
			}
		})
	}
}

func TestPodState(t *testing.T) {
	ready, since, _ := podState(object(t, "p", "status: {conditions: [{type: Ready, status: \"True\", lastTransitionTime: \"2026-03-01T11:00:00Z\"}]}"))
	if !ready || !since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("ready %t since %s", ready, since)
	}
	for text, want := range map[string]string{
		"status: {phase: Pending}": "not ready, phase Pending",
		"status: {initContainerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: denied}}}], containerStatuses: [{state: {waiting: {reason: PodInitializing}}}]}": "ImagePullBackOff: denied",
		"{status: {containerStatuses: [7, {state: {waiting: {reason: CrashLoopBackOff, message: m}}}]}}":                                                                         "CrashLoopBackOff: m",
	} {
		if ready, _, waiting := podState(object(t, "p", text)); ready || waiting != want {
			t.Errorf("%s: %q, want %q", text, waiting, want)
		}
	}
}

// TestPoolConditions: a payload's status that is empty is a failure; conditions that
// only say that nothing is wanted are no trouble.
func TestPoolConditions(t *testing.T) {
	condition := func(kind, status, reason string) evidence.Object {
		return object(t, "pool", "status: {conditions: [{type: "+kind+", status: \""+status+"\", reason: "+reason+", message: m}]}")
	}
	for status, want := range map[string]string{"True": "True", "": "failed", "False": "False"} {
		var f Pool
		if f.payload(condition("ValidGeneratedPayload", status, "X")); f.PayloadStatus.Value() != want {
			t.Errorf("payload %q is %q", status, f.PayloadStatus)
		}
	}
	for reason, wrong := range map[string]bool{"ValidationFailed": true, "AsExpected": false} {
		var f Pool
		if f.scaling(condition("AutoscalingEnabled", "False", reason)); (f.SettingsError.Value() != "") != wrong {
			t.Errorf("scaling %s: %q", reason, f.SettingsError)
		}
	}
	for reason, wrong := range map[string]bool{"Failed": true, "AsExpected": false} {
		var f Pool
		if f.members(condition("AllMachinesReady", "False", reason)); (f.Machines.Value() != "") != wrong {
			t.Errorf("machines %s: %q", reason, f.Machines)
		}
	}
	var f Pool
	f.payload(object(t, "pool", "{}"))
	f.fetched(condition("ReachedIgnitionEndpoint", "True", "X"))
	if f.PayloadStatus.Value() != "" || f.NotReached.Value() {
		t.Errorf("%+v", f)
	}
}

func TestHostOf(t *testing.T) {
	for endpoint, want := range map[string]string{"ignition.example.com": "ignition.example.com", "192.0.2.7:31080": "192.0.2.7", "[2001:db8::1]:443": "2001:db8::1", "": ""} {
		if got := hostOf(endpoint); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", endpoint, got, want)
		}
	}
}
