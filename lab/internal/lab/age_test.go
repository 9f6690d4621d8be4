package lab

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestForgetEvents: what the API server would no longer have goes, and nothing else.
func TestForgetEvents(t *testing.T) {
	event := func(name string, age time.Duration) *corev1.Event {
		at := metav1.NewTime(time.Now().Add(-age))
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "a", CreationTimestamp: at}, LastTimestamp: at}
	}
	kube := fake.NewClientset(event("kept", 2*time.Hour), event("gone", 4*time.Hour))
	if err := forgetEvents(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	list, err := kube.CoreV1().Events("a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "kept" {
		t.Errorf("left are %v, %v", list.Items, err)
	}
}

// TestLastSeen: an event lives on from when it was last written, which each kind of
// recorder notes in another field.
func TestLastSeen(t *testing.T) {
	made := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	later := made.Add(time.Hour)
	for name, change := range map[string]func(*corev1.Event){
		"counted":    func(e *corev1.Event) { e.LastTimestamp = metav1.NewTime(later) },
		"events.k8s": func(e *corev1.Event) { e.EventTime = metav1.NewMicroTime(later) },
		"series": func(e *corev1.Event) {
			e.EventTime = metav1.NewMicroTime(made)
			e.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(later)}
		},
	} {
		e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
		if got := lastSeen(e); !got.Equal(made) {
			t.Errorf("an event that was made once was last seen at %s", got)
		}
		change(e)
		if got := lastSeen(e); !got.Equal(later) {
			t.Errorf("%s: last seen at %s, want %s", name, got, later)
		}
	}
}
