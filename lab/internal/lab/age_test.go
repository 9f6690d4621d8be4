package lab

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
