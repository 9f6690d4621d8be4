package repair

import (
	"context"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// deaf is an evaluator that does not listen to its context.
type deaf struct {
	asked func()
	until chan struct{}
}

func (d deaf) Evaluate(context.Context, fault.Key) (diagnosis.Finding, error) {
	d.asked()
	<-d.until
	return diagnosis.Finding{}, nil
}

func (d deaf) Diagnose(context.Context) (*diagnosis.Diagnosis, error) {
	d.asked()
	<-d.until
	return nil, nil
}

// TestInterruptedWhileItEvaluates: an interrupt ends an apply, whatever an
// evaluation is at.
func TestInterruptedWhileItEvaluates(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	r.exec.Eval = deaf{cancel, never}
	_, err := r.exec.Apply(ctx, p) // would not come back
	if err == nil || !strings.Contains(err.Error(), "interrupted at step 1-adopt-spec-config") {
		t.Errorf("Apply: %v", err)
	}
	for _, w := range r.writes {
		if !strings.Contains(w, "configmaps/") {
			t.Errorf("written: %s", w)
		}
	}
}
