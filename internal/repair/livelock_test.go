package repair

import (
	"context"
	"errors"
	"testing"
)

// mortal ends the process at its first write that is not a dry run, the copy of
// the journal included: before the server gets it, or before we get the answer.
type mortal struct {
	API
	after bool
}

func (m mortal) die(dryRun bool, do func() error) error {
	if dryRun {
		return do()
	}
	if m.after {
		_ = do()
	}
	panic(killed{})
}

func (m mortal) Patch(ctx context.Context, r Ref, sub string, patch []byte, dryRun bool) (o Object, err error) {
	err = m.die(dryRun, func() error { o, err = m.API.Patch(ctx, r, sub, patch, dryRun); return err })
	return o, err
}

func (m mortal) Create(ctx context.Context, r Ref, content Object, dryRun bool) (o Object, err error) {
	err = m.die(dryRun, func() error { o, err = m.API.Create(ctx, r, content, dryRun); return err })
	return o, err
}

// TestKilledAtEveryWrite: a process that never survives its first write still
// brings the plan to its end, and does nothing twice.
func TestKilledAtEveryWrite(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	api := r.exec.API
	run := func(n int) (err error) {
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(killed); !ok {
					panic(v)
				}
				err = errKilled
			}
		}()
		m := mortal{api, n%2 == 1}
		r.exec.API, r.exec.Mirror = m, ConfigMapMirror{m}
		if n == 0 {
			return failure(r.exec.Apply(t.Context(), p))
		}
		return failure(r.exec.Resume(t.Context(), p.ID))
	}
	for n := range 100 {
		err := run(n)
		if err == nil { // the copy of the last record was the last write
			break
		}
		if !errors.Is(err, errKilled) || n == 99 {
			t.Fatalf("process %d: %v", n, err)
		}
	}
	r.repaired(t)
	if c := countOf(r.writes, "patch machineconfigpools/master status"); c != 1 {
		t.Errorf("the pool was written %d times", c)
	}
}

var errKilled = errors.New("killed")
