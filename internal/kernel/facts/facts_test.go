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

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
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
	set, err := scan.Compile([]scan.Signature{{ID: "x", Literal: "xyz"}})
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

// TestField: a field is unknown until it is set, and what it misses is kept.
func TestField(t *testing.T) {
	var f size
	if _, err := f.N.Get(); err == nil || Missed(err) {
		t.Errorf("a field that nobody has set: %v", err)
	}
	u := &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.Forbidden, Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "nodes"}}
	if err := Miss(u, &f.N); err != nil {
		t.Fatal(err)
	}
	if _, err := f.N.Get(); !errors.Is(err, error(u)) || !Missed(err) {
		t.Errorf("a field that could not be read: %v", err)
	}
	defect := errors.New("a defect")
	if err := Miss(defect, &f.N); !errors.Is(err, defect) {
		t.Errorf("a defect is an outcome: %v", err)
	}
	Complete(&f)
	if _, err := f.N.Get(); err == nil {
		t.Error("what could not be read is completed")
	}
	f.N.Set(3, evidence.Item{Excerpt: "one"})
	f.N.Prove(evidence.Item{Excerpt: "two"})
	if n, err := f.N.Get(); n != 3 || err != nil || len(f.N.Proof()) != 2 {
		t.Errorf("%d, %v, %v", n, err, f.N.Proof())
	}
}

// TestDefineRefuses: a mistake in the definition of a fact is found when the program starts.
func TestDefineRefuses(t *testing.T) {
	type plain struct {
		N int64 `cel:"n"`
	}
	type unnamed struct{ N Field[int64] }
	type twice struct {
		N Field[int64] `cel:"n"`
		M Field[int64] `cel:"n"`
	}
	type hidden struct {
		n Field[int64] `cel:"n"`
	}
	refused := func(name string, define func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s is defined", name)
			}
		}()
		define()
	}
	refused("a field that is no Field", func() { Define("x", fault.Host, "", nil, reads[plain]) })
	refused("a field without a name", func() { Define("x", fault.Host, "", nil, reads[unnamed]) })
	refused("two fields of one name", func() { Define("x", fault.Host, "", nil, reads[twice]) })
	refused("a field that is not exported", func() { Define("x", fault.Host, "", nil, reads[hidden]) })
	_ = hidden{}.n
}

func reads[T any](context.Context, *World, fault.Subject) (T, error) {
	var zero T
	return zero, nil
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

// TestSilence: what a fact claims without evidence is unknown where a text that concerns
// it broke off; what has evidence stays.
func TestSilence(t *testing.T) {
	type spoken struct {
		Said   Field[bool] `cel:"said"`
		Silent Field[bool] `cel:"silent"`
	}
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "n"}
	of := func(host string) func(evidence.Text) bool {
		return func(t evidence.Text) bool { return t.Host == host }
	}
	for name, c := range map[string]struct {
		concerns func(evidence.Text) bool
		known    bool
	}{"all": {nil, false}, "the whole one": {of("a"), true}, "the one that broke off": {of("b"), false}} {
		f := Define("spoken", fault.Host, "", nil, func(ctx context.Context, w *World, _ fault.Subject) (spoken, error) {
			var s spoken
			if _, err := w.Matches(ctx, q, "x"); err != nil {
				return s, err
			}
			if c.concerns != nil {
				w.Concerns(c.concerns)
			}
			s.Said.Set(true, evidence.Item{Excerpt: "said"})
			Complete(&s)
			return s, nil
		})
		v := newTestWorld(t, logs{}).Compute(t.Context(), f, fault.Subject{Kind: fault.Host, Name: "a"})
		s, ok := As[spoken](v)
		if !ok || !s.Said.Equal(Known(true)) {
			t.Fatalf("%s: %+v, %v", name, s, v.Err)
		}
		if _, err := s.Silent.Get(); (err == nil) != c.known {
			t.Errorf("%s: silent is %v, want known %t", name, s.Silent, c.known)
		} else if !c.known && v.Supply() != (evidence.Supply{Kind: evidence.SupplyWholeText, Path: "cut.log"}) {
			t.Errorf("%s: supplied by %q", name, v.Supply())
		}
	}
}

// TestSilenceThroughMemo: what a shared computation could not read limits each fact that
// uses it, also where the error was passed over.
func TestSilenceThroughMemo(t *testing.T) {
	f := Define("nodes", fault.Cluster, "", nil, func(ctx context.Context, w *World, _ fault.Subject) (size, error) {
		n, err := Memo(ctx, w, "test.count", func(ctx context.Context, w *World) (int64, error) {
			list, _ := w.List(ctx, evidence.Nodes, "") // passed over on purpose
			return int64(len(list)), nil
		})
		return size{Known(n)}, err
	})
	v := newTestWorld(t, forbidden{}).Compute(t.Context(), f, fault.Subject{Kind: fault.Cluster})
	if s, _ := As[size](v); !strings.Contains(s.N.String(), "forbidden") {
		t.Errorf("no node where Nodes are forbidden: %v", s.N)
	}
}

// forbidden is a source that lists nothing.
type forbidden struct{ blank }

func (forbidden) List(_ context.Context, r evidence.Resource, _ string) ([]evidence.Object, error) {
	return nil, &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.Forbidden}
}
