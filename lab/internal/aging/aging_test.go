package aging

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestObjectJSON(t *testing.T) {
	in := `{"metadata":{"creationTimestamp":"2026-03-04T05:00:00Z","generation":12345678901234567,
		"annotations":{"auth.openshift.io/certificate-not-after":"2026-03-01T00:00:00Z","note":"since 2026-03-04T05:00:00Z"}},
		"status":{"conditions":[{"lastTransitionTime":"2026-03-04T05:01:02.123456Z"},
		{"lastHeartbeatTime":"2026-03-04T05:05:00Z"},{"lastHeartbeatTime":"2026-03-04T04:00:00Z"}],
		"until":"2027-01-01T00:00:00Z","notBefore":"2026-03-04T05:00:00Z"}}`
	want := `{"metadata":{"creationTimestamp":"2026-03-04T04:00:00Z","generation":12345678901234567,
		"annotations":{"auth.openshift.io/certificate-not-after":"2026-03-01T00:00:00Z","note":"since 2026-03-04T05:00:00Z"}},
		"status":{"conditions":[{"lastTransitionTime":"2026-03-04T04:01:02.123456Z"},
		{"lastHeartbeatTime":"2026-03-04T05:05:00Z"},{"lastHeartbeatTime":"2026-03-04T03:00:00Z"}],
		"until":"2027-01-01T00:00:00Z","notBefore":"2026-03-04T05:00:00Z"}}`
	got, err := Shift{By: time.Hour, Now: now}.Object([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := canonical(t, got), canonical(t, []byte(want)); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func stored(t *testing.T, obj runtime.Object, kind schema.GroupVersionKind) []byte {
	t.Helper()
	obj.GetObjectKind().SetGroupVersionKind(kind)
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestObjectProtobuf: a Secret keeps its content, a live Lease its renewal, a
// dead one does not.
func TestObjectProtobuf(t *testing.T) {
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	shift := Shift{By: time.Hour, Now: now}
	got, err := shift.Object(stored(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s", CreationTimestamp: metav1.NewTime(now)}, Data: map[string][]byte{"k": {0, 1, 255}},
	}, corev1.SchemeGroupVersion.WithKind("Secret")))
	if err != nil {
		t.Fatal(err)
	}
	obj, _, err := codec.Decode(got, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := obj.(*corev1.Secret); !bytes.Equal(s.Data["k"], []byte{0, 1, 255}) || !s.CreationTimestamp.Time.Equal(now.Add(-time.Hour)) {
		t.Errorf("secret %v", s)
	}
	for _, c := range []struct {
		age, want time.Duration
	}{{10 * time.Second, 10 * time.Second}, {10 * time.Minute, 70 * time.Minute}} {
		renewed, seconds := metav1.NewMicroTime(now.Add(-c.age)), int32(40)
		got, err := shift.Object(stored(t, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed, LeaseDurationSeconds: &seconds},
		}, coordinationv1.SchemeGroupVersion.WithKind("Lease")))
		if err != nil {
			t.Fatal(err)
		}
		obj, _, err := codec.Decode(got, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if at := obj.(*coordinationv1.Lease).Spec.RenewTime; !at.Time.Equal(now.Add(-c.want)) {
			t.Errorf("a lease renewed %s ago says %s", c.age, at)
		}
	}
}

func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	in := "I0304 05:00:00.000001       1 a.go:1] x\n  goes on\nMar 04 05:00:00.000002 host unit[1]: y\n2026-03-04T05:00:00.000003Z z\nInfo\n"
	want := "I0303 23:00:00.000001       1 a.go:1] x\n  goes on\nMar 03 23:00:00.000002 host unit[1]: y\n2026-03-03T23:00:00.000003Z z\nInfo\n"
	if err := os.WriteFile(path, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Shift{By: 6 * time.Hour, Now: now}).LogFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
