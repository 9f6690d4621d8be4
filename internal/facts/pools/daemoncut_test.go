package pools

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// oneLog is a source with the log of one daemon, which may break off.
type oneLog struct {
	text string
	end  error
}

func (oneLog) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Name: "test", Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, nil
}

func (oneLog) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r != evidence.Pods {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected}
	}
	return []evidence.Object{{Resource: r, Namespace: openshift.MachineConfigNamespace, Name: "mcd", Content: map[string]any{"spec": map[string]any{"nodeName": "m0"}}}}, nil
}

func (l oneLog) Texts(context.Context, evidence.TextQuery) ([]evidence.Text, error) {
	return []evidence.Text{{Kind: evidence.ContainerLog, Namespace: openshift.MachineConfigNamespace, Pod: "mcd", Container: "machine-config-daemon", Host: "m0",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(l.text), iotest.ErrReader(l.end))), nil
		}}}, nil
}

// TestDaemonLogCut: a log whose newest lines are missing does not say that all is well.
func TestDaemonLogCut(t *testing.T) {
	const line = "I0301 11:00:00.000001 2101 daemon.go:1] Validated on-disk state\n"
	for name, end := range map[string]error{"whole": io.EOF, "cut": errors.New("broken off")} {
		set, err := fixture.Signatures()
		if err != nil {
			t.Fatal(err)
		}
		clean, err := sanitize.New()
		if err != nil {
			t.Fatal(err)
		}
		r := reader.New(set, clean, nil, reader.Limits{}, oneLog{line, end})
		v := facts.NewWorld(r, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)).Compute(t.Context(), daemonFact, fault.Subject{Kind: fault.Host, Name: "m0"})
		if _, unknown := evidence.AsUnavailable(v.Err); unknown != (name == "cut") {
			t.Errorf("%s: %v", name, v.Err)
		}
	}
}
