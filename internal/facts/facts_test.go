package facts

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

type size struct {
	N Field[int64] `cel:"n"`
}

// blank is a source in which everything was looked at and nothing is there.
type blank struct{}

func (blank) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "blank", Name: "blank"}, nil
}
func (blank) List(context.Context, evidence.Resource, string) ([]evidence.Object, error) {
	return nil, nil
}
func (blank) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected}
}

func newTestWorld(t *testing.T, source evidence.Source) *World {
	t.Helper()
	set, err := scan.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	return NewWorld(reader.New(set, clean, nil, reader.Limits{}, source), time.Unix(0, 0))
}

// TestNeedsOfMemos: what a shared computation read belongs to every fact that uses
// it, also to those that find it computed already.
func TestNeedsOfMemos(t *testing.T) {
	ctx, w := context.Background(), newTestWorld(t, blank{})
	runs := 0
	nodes := func(ctx context.Context, w *World) (int, error) {
		return Memo(ctx, w, "test.nodes", func(ctx context.Context, w *World) (int, error) {
			runs++
			list, err := w.List(ctx, evidence.Nodes, "")
			return len(list), err
		})
	}
	fact := func(name string) Fact {
		return Define(name, fault.Host, name, nil, func(ctx context.Context, w *World, _ fault.Subject) (size, error) {
			n, err := nodes(ctx, w)
			return size{Known(int64(n))}, err
		})
	}
	for _, name := range []string{"first", "second"} {
		for _, host := range []string{"a", "b"} {
			v := w.Compute(ctx, fact(name), fault.Subject{Kind: fault.Host, Name: host})
			if v.Err != nil || !slices.Equal(v.Needs(), []string{"nodes"}) {
				t.Errorf("%s of %s: needs %v, error %v; want [nodes]", name, host, v.Needs(), v.Err)
			}
		}
	}
	if runs != 1 {
		t.Errorf("the shared computation ran %d times, want once", runs)
	}
}

// TestComputeOnce: a fact about the cluster is the same one for every subject.
func TestComputeOnce(t *testing.T) {
	ctx, w := context.Background(), newTestWorld(t, blank{})
	runs := 0
	f := Define("whole", fault.Cluster, "whole", nil, func(context.Context, *World, fault.Subject) (size, error) {
		runs++
		return size{}, NotApplicable("no %s here", "thing")
	})
	for _, host := range []string{"a", "b"} {
		if v := w.Compute(ctx, f, fault.Subject{Kind: fault.Host, Name: host}); !errors.Is(v.Err, ErrNotApplicable) {
			t.Errorf("error %v, want not applicable", v.Err)
		}
	}
	if runs != 1 {
		t.Errorf("computed %d times, want once", runs)
	}
}

// TestMiss keeps why a field is unknown and what would supply it.
func TestMiss(t *testing.T) {
	var p Proof
	p.Miss("n", &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.Forbidden, Supply: "a role"})
	if p.Unknown["n"] != "nodes: forbidden" || p.Next["n"] != "a role" {
		t.Errorf("unknown %v, next %v", p.Unknown, p.Next)
	}
}

// logs is a source with two container logs, of which the second breaks off.
type logs struct{ blank }

func (logs) Texts(context.Context, evidence.TextQuery) ([]evidence.Text, error) {
	open := func(in io.Reader) func(context.Context) (io.ReadCloser, error) {
		return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(in), nil }
	}
	return []evidence.Text{
		{Kind: evidence.ContainerLog, Path: "whole.log", Host: "a", Open: open(strings.NewReader("said\n"))},
		{Kind: evidence.ContainerLog, Path: "cut.log", Host: "b", Open: open(iotest.ErrReader(errors.New("broken off")))},
	}, nil
}

// TestUnheard: what no line has set is unknown where a text that concerns it broke off.
func TestUnheard(t *testing.T) {
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "n"}
	w := newTestWorld(t, logs{})
	of := func(host string) func(evidence.Text) bool {
		return func(t evidence.Text) bool { return t.Host == host }
	}
	for name, c := range map[string]struct {
		concerns func(evidence.Text) bool
		unknown  bool
	}{"all": {nil, true}, "the whole one": {of("a"), false}, "the one that broke off": {of("b"), true}} {
		var p Proof
		if err := w.Unheard(t.Context(), &p, q, c.concerns, map[string]bool{"silent": true, "said": false}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.Unknown["silent"], "broken off") && p.Next["silent"] == "the whole of cut.log"; got != c.unknown || p.Unknown["said"] != "" {
			t.Errorf("%s: unknown are %v, next %v", name, p.Unknown, p.Next)
		}
	}
	var p Proof // a query of which nothing was collected is Matches' to tell
	if err := newTestWorld(t, blank{}).Unheard(t.Context(), &p, q, nil, map[string]bool{"silent": true}); err != nil || len(p.Unknown) > 0 {
		t.Errorf("not collected: %v, %v", p.Unknown, err)
	}
}
