package hosted

import (
	"encoding/base64"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
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
			var f Token
			var p facts.Proof
			f.match(tt.digest, tt.token, evidence.Locator{}, &p)
			if f.Matches != tt.want || (p.Unknown["matches"] != "") != (tt.want == "") {
				t.Errorf("matches %q, unknown %q; want %q", f.Matches, p.Unknown["matches"], tt.want)
			}
		})
	}
}

// TestTokenNotes: an outdated token counts until its time; a time that cannot be read
// is over, as the ignition server takes it.
func TestTokenNotes(t *testing.T) {
	reason := base64.StdEncoding.EncodeToString([]byte("AsExpected"))
	for expires, ended := range map[string]bool{"": false, "2026-03-01T13:00:00Z": false, "2026-03-01T11:00:00Z": true, "soon": true} {
		text := "metadata: {annotations: {" + noteGenerated + ": \"2026-03-01T10:00:00Z\", " + noteReached + ": \"True\"}}\ndata: {reason: " + reason + "}\n"
		o := object(t, "token-a", text)
		if expires != "" {
			o.Content["metadata"].(map[string]any)["annotations"].(map[string]any)[noteExpires] = expires
		}
		var f Token
		var p facts.Proof
		f.token(noon, o, &p)
		if f.Expired != ended || !f.Fetched || f.Stage != "AsExpected" || !f.Generated.Equal(noon.Add(-2*time.Hour)) || len(p.Unknown) > 0 {
			t.Errorf("expires %q: %+v, unknown %v", expires, f, p.Unknown)
		}
	}
	var f Token
	var p facts.Proof
	f.token(noon, object(t, "token-a", "metadata: {name: token-a}"), &p)
	if p.Unknown["stage"] == "" || p.Next["stage"] == "" {
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
	var f Events
	var p facts.Proof
	for _, text := range []string{refused(`"2026-03-01T11:55:00Z"`), refused(`"2026-03-01T11:56:00Z"`), refused(`"2026-03-01T08:00:00Z"`), mount, "reason: FailedCreate\nlastTimestamp: \"2026-03-01T11:55:00Z\"\nmessage: quota\n", "{}"} {
		f.event(noon, object(t, "e", text), &p)
	}
	if len(f.Refused) != 1 || f.Refused[0] != "ReplicaSet multus-1" || f.Refusal != `violates PodSecurity "restricted:latest": privileged` || !f.RefusedSince.Equal(noon.Add(-3*time.Hour)) {
		t.Errorf("refused %+v", f)
	}
	if f.Secret != "ignition-server-ca-cert" || f.SecretPod != "ignition-server-1" || !f.SecretSince.Equal(noon.Add(-10*time.Minute)) {
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
			var p facts.Proof
			state, since := deployment(object(t, "ignition-server", tt.text), &p, "ignition")
			if state != tt.want || !since.Equal(tt.since) || (len(p.Items) > 0) != (tt.want == "down") {
				t.Errorf("%s since %s, proof %v", state, since, p.Items)
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
	var p facts.Proof
	for status, want := range map[string]string{"True": "True", "": "failed", "False": "False"} {
		var f Pool
		if f.payload(condition("ValidGeneratedPayload", status, "X"), &p); f.PayloadStatus != want {
			t.Errorf("payload %q is %q", status, f.PayloadStatus)
		}
	}
	for reason, wrong := range map[string]bool{"ValidationFailed": true, "AsExpected": false} {
		var f Pool
		if f.scaling(condition("AutoscalingEnabled", "False", reason), &p); (f.SettingsError != "") != wrong {
			t.Errorf("scaling %s: %q", reason, f.SettingsError)
		}
	}
	for reason, wrong := range map[string]bool{"Failed": true, "AsExpected": false} {
		var f Pool
		if f.members(condition("AllMachinesReady", "False", reason), &p); (f.Machines != "") != wrong {
			t.Errorf("machines %s: %q", reason, f.Machines)
		}
	}
	var f Pool
	f.payload(object(t, "pool", "{}"), &p)
	f.fetched(condition("ReachedIgnitionEndpoint", "True", "X"), &p)
	if f.PayloadStatus != "" || f.NotReached {
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
