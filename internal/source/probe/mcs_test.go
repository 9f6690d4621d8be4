package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

func TestMCSAnswerRoundTrip(t *testing.T) {
	want := MCSAnswer{
		Target: "node/control0", Host: "fd00::5", Address: "[fd00::5]:22623", Port: openshift.MCSPort, Pool: "master",
		Vantage: "bastion", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Millis: 12, Stage: StageAnswered,
		Status: 500, Chain: []string{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"}, Server: "envoy",
	}
	o, err := want.Object()
	if err != nil {
		t.Fatal(err)
	}
	got, err := evidence.Decode[MCSAnswer](o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("after a round trip (-want +got):\n%s", d)
	}
	if o.Name != "node-control0-fd00--5-master" || evidence.String(o.Content, "metadata", "name") != o.Name {
		t.Errorf("name = %q", o.Name)
	}
	if o.Loc.Path != "HEAD https://[fd00::5]:22623/config/master" {
		t.Errorf("path = %q", o.Loc.Path)
	}
	if got.Node() != "control0" || (MCSAnswer{Target: TargetAPIInt}).Node() != "" {
		t.Errorf("node = %q", got.Node())
	}
}

// TestMCSAnswerSurvivesSanitising: certificates stay, and nothing else of an
// answer looks like a secret.
func TestMCSAnswerSurvivesSanitising(t *testing.T) {
	want := MCSAnswer{Target: TargetVIP, Host: "10.0.0.1", Port: openshift.MCSPort, Pool: "worker", Vantage: "bastion",
		Error: "remote error: tls: internal error", ErrorClass: ErrTLS,
		Chain: []string{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"}}
	o, err := want.Object()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	s.Object(o.Resource.Group, o.Resource.Name, o.Content)
	got, err := evidence.Decode[MCSAnswer](o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sanitising changed the answer (-want +got):\n%s", d)
	}
}
