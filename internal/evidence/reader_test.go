package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/evidence/scan"
)

// source is a Source with chosen answers; it counts how often it is asked.
type source struct {
	now   time.Time
	lists map[Need]answer
	texts map[string]func() (io.ReadCloser, error)

	mu    sync.Mutex
	asked map[string]int
}

type answer struct {
	objects []Object
	err     error
}

func (s *source) count(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[key]++
}

func (s *source) Describe(context.Context) (Description, error) {
	return Description{Kind: "test", Now: s.now}, nil
}

func (s *source) List(_ context.Context, r Resource, ns string) ([]Object, error) {
	n := Objects(r, ns)
	s.count(n.String())
	a, ok := s.lists[n]
	if !ok {
		return nil, &Unavailable{Need: n, Why: NotCollected, Supply: "ask"}
	}
	return a.objects, a.err
}

func (s *source) Texts(_ context.Context, q TextQuery) ([]Text, error) {
	s.count(q.String())
	var out []Text
	for path, open := range s.texts {
		out = append(out, Text{Kind: q.Kind, Path: path, Open: func(context.Context) (io.ReadCloser, error) {
			s.count(path)
			return open()
		}})
	}
	if out == nil {
		return nil, &Unavailable{Need: Texts(q), Why: Forbidden, Detail: "password: hunter2"}
	}
	return out, nil
}

func content(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func named(r Resource, name string, readAt int64) Object {
	o := Object{Resource: r, Name: name, Content: map[string]any{"mark": fmt.Sprint(name, readAt)}}
	if readAt > 0 {
		o.ReadAt = time.Unix(readAt, 0)
	}
	return o
}

func reader(t *testing.T, limits Limits, sources ...Source) *Reader {
	t.Helper()
	set, err := scan.Compile([]scan.Signature{{ID: "bad", Literal: "bad"}, {ID: "worse", Literal: "worse"}})
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(set, sanitizer(t, "salt"), nil, limits, sources...)
}

func marks(list []Object) []string {
	var out []string
	for _, o := range list {
		out = append(out, String(o.Content, "mark"))
	}
	return out
}

func TestReaderMergesSources(t *testing.T) {
	nodes := Objects(Nodes, "")
	one := &source{now: time.Unix(10, 0), lists: map[Need]answer{nodes: {objects: []Object{named(Nodes, "a", 5), named(Nodes, "b", 9)}}}}
	two := &source{now: time.Unix(20, 0), lists: map[Need]answer{nodes: {objects: []Object{named(Nodes, "a", 7), named(Nodes, "b", 7), named(Nodes, "c", 0)}}}}
	none := &source{}
	r := reader(t, Limits{}, one, two, none)
	list, err := r.List(t.Context(), Nodes, "")
	if diff := cmp.Diff([]string{"a7", "b9", "c0"}, marks(list)); diff != "" || err != nil {
		t.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
	for range 3 {
		if o, ok, err := r.Get(t.Context(), Nodes, "", "c"); !ok || err != nil || o.Name != "c" {
			t.Errorf("Get(c) = %v, %v, %v", o, ok, err)
		}
		if _, ok, err := r.Get(t.Context(), Nodes, "", "d"); ok || err != nil {
			t.Errorf("Get(d) = %v, %v, want looked and not there", ok, err)
		}
	}
	if one.asked["nodes"] != 1 || none.asked["nodes"] != 1 {
		t.Errorf("the sources were asked %v and %v times, want once", one.asked, none.asked)
	}
	if d, err := r.Describe(t.Context()); err != nil || !d.Now.Equal(time.Unix(20, 0)) {
		t.Errorf("now is %v, %v, want the newest of all sources", d.Now, err)
	}
}

func TestReaderCoverage(t *testing.T) {
	damaged := &Unavailable{Need: Objects(Pods, ""), Why: Damaged, Detail: "pods.yaml is cut off", Supply: "again"}
	s := &source{lists: map[Need]answer{
		Objects(Nodes, ""):    {objects: []Object{named(Nodes, "a", 0)}},
		Objects(CSRs, ""):     {},
		Objects(Pods, ""):     {objects: []Object{named(Pods, "p", 0)}, err: damaged},
		Objects(Events, "x"):  {err: &Unavailable{Need: Objects(Events, "x"), Why: Forbidden, Detail: "token=abcdefgh1234"}},
		Objects(Machines, ""): {err: errors.New("a defect")},
	}}
	r := reader(t, Limits{}, s)
	ctx := t.Context()
	if list, err := r.List(ctx, Pods, ""); err != nil || len(list) != 1 {
		t.Errorf("a damaged list gives %v, %v, want what is whole", list, err)
	}
	if _, ok, err := r.Get(ctx, Pods, "", "q"); ok || !errors.Is(err, error(mustUnavailable(t, err))) || mustUnavailable(t, err).Why != Damaged {
		t.Errorf("Get of an object that may be in the damaged part: %v, %v", ok, err)
	}
	if _, err := r.List(ctx, Events, "x"); mustUnavailable(t, err).Why != Forbidden || strings.Contains(err.Error(), "abcdefgh1234") {
		t.Errorf("List(events): %v, want forbidden, without the token", err)
	}
	if _, err := r.List(ctx, Machines, ""); err == nil || !strings.Contains(err.Error(), "a defect") {
		t.Errorf("List(machines): %v", err)
	}
	if _, _, err := r.Get(ctx, Secrets, "x", "y"); mustUnavailable(t, err).Why != NotCollected {
		t.Errorf("Get(secret): %v", err)
	}
	r.List(ctx, Nodes, "")
	r.List(ctx, CSRs, "")
	want := []Coverage{
		{Need: "certificatesigningrequests.certificates.k8s.io", State: Empty},
		{Need: "events -n x", State: Missing, Reason: r.Coverage()[1].Reason},
		{Need: "nodes", State: Read, Count: 1},
		{Need: "pods", State: Partial, Count: 1, Reason: "damaged: pods.yaml is cut off", Supply: "again"},
		{Need: "secrets -n x", State: Missing, Reason: "not collected", Supply: "ask"},
	}
	if diff := cmp.Diff(want, r.Coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// TestOneSourceIsDamaged: what one source could not read is not made up for by another
// that has nothing, or something else.
func TestOneSourceIsDamaged(t *testing.T) {
	hosts, q := Objects(BareMetalHosts, ""), TextQuery{Kind: Journal, Unit: "kubelet"}
	has := answer{objects: []Object{named(BareMetalHosts, "a", 0)}}
	lacks := func(why Why) answer { return answer{err: &Unavailable{Need: hosts, Why: why}} }
	for name, tt := range map[string]struct {
		one, two answer
		want     State
	}{
		"damaged and empty":           {lacks(Damaged), answer{}, Missing},
		"damaged and there":           {lacks(Damaged), has, Partial},
		"forbidden and there":         {lacks(Forbidden), has, Partial},
		"unreachable and empty":       {lacks(Unreachable), answer{}, Missing},
		"not collected and empty":     {lacks(NotCollected), answer{}, Empty},
		"not served and there":        {lacks(NotServed), has, Read},
		"not asked and empty":         {lacks(NotAsked), answer{}, Empty},
		"not asked and damaged":       {lacks(NotAsked), lacks(Damaged), Missing},
		"in part and not collected":   {answer{has.objects, lacks(NotCollected).err}, lacks(NotServed), Partial},
		"not collected, damaged part": {lacks(NotCollected), answer{has.objects, lacks(Damaged).err}, Partial},
		"damaged both":                {lacks(Damaged), lacks(Damaged), Missing},
		"not collected, not served":   {lacks(NotCollected), lacks(NotServed), Missing},
		"in part, and what it hides":  {answer{has.objects, lacks(NotCollected).err}, lacks(Damaged), Partial},
	} {
		for _, order := range [][]answer{{tt.one, tt.two}, {tt.two, tt.one}} {
			var sources []Source
			for _, a := range order {
				sources = append(sources, &source{lists: map[Need]answer{hosts: a}})
			}
			r := reader(t, Limits{}, sources...)
			list, err := r.List(t.Context(), BareMetalHosts, "")
			_, ok, getErr := r.Get(t.Context(), BareMetalHosts, "", "z")
			c := r.Coverage()[0]
			if c.State != tt.want || (err != nil) != (tt.want == Missing) || ok || (getErr != nil) != (tt.want == Missing || tt.want == Partial) {
				t.Errorf("%s: %+v, %d objects, %v, %v", name, c, len(list), err, getErr)
			}
			if damaged := strings.Contains(name, "damaged") || strings.Contains(name, "hides"); damaged != strings.Contains(c.Reason, "damaged") {
				t.Errorf("%s: the reason is %s", name, c.Reason)
			}
		}
	}
	good := &source{texts: map[string]func() (io.ReadCloser, error){"a": content("bad\n")}}
	for _, sources := range [][]Source{{good, &source{}}, {&source{}, good}} { // the other one is forbidden
		r := reader(t, Limits{}, sources...)
		got, err := r.Matches(t.Context(), q, "bad")
		unread, _ := r.Unread(t.Context(), q)
		if c := r.Coverage()[0]; err != nil || len(got) != 1 || len(unread) != 1 || c.State != Partial || c.Count != 1 || strings.Contains(c.Reason, "hunter2") {
			t.Errorf("%v, %v, unread %v, %+v", lines(got), err, unread, c)
		}
	}
}

func mustUnavailable(t *testing.T, err error) *Unavailable {
	t.Helper()
	u, ok := AsUnavailable(err)
	if !ok {
		t.Fatalf("the error is %v, want an Unavailable", err)
	}
	return u
}

func lines(ms []Match) []string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%d %s", m.Line.Loc.Line, m.Line.Text))
	}
	return out
}

func TestMatches(t *testing.T) {
	q := TextQuery{Kind: Journal, Unit: "kubelet"}
	s := &source{now: time.Date(2026, 1, 2, 11, 0, 0, 0, time.UTC), texts: map[string]func() (io.ReadCloser, error){
		"a": content("good\nI0102 10:00:00.000000 1 x] BAD\r\nworse and bad\nno end bad")}}
	r := reader(t, Limits{Parallel: 2}, s)
	got, err := r.Matches(t.Context(), q, "bad")
	if diff := cmp.Diff([]string{"2 I0102 10:00:00.000000 1 x] BAD", "3 worse and bad", "4 no end bad"}, lines(got)); diff != "" || err != nil {
		t.Errorf("Matches: %v (-want +got):\n%s", err, diff)
	}
	if want := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC); !got[0].Line.Time.Equal(want) || !got[1].Line.Time.IsZero() {
		t.Errorf("times are %v and %v", got[0].Line.Time, got[1].Line.Time)
	}
	if got, err := r.Matches(t.Context(), q, "worse"); err != nil || len(got) != 1 {
		t.Errorf("Matches(worse) = %v, %v", got, err)
	}
	if n, err := r.Texts(t.Context(), q); n != 1 || err != nil {
		t.Errorf("Texts = %d, %v", n, err)
	}
	if s.asked["a"] != 1 {
		t.Errorf("the text was read %d times for all signatures, want once", s.asked["a"])
	}
}

func TestMatchesOfBrokenTexts(t *testing.T) {
	q := TextQuery{Kind: ContainerLog, Namespace: "n"}
	broken := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("bad before\n"), iotest.ErrReader(errors.New("reset, password=hunter2")))), nil
	}
	closed := func() (io.ReadCloser, error) { return nil, errors.New("forbidden") }
	s := &source{texts: map[string]func() (io.ReadCloser, error){"b": broken, "w": content("bad whole\n"), "c": closed}}
	r := reader(t, Limits{}, s)
	got, err := r.Matches(t.Context(), q, "bad")
	if err != nil || len(got) != 2 {
		t.Errorf("Matches = %v, %v, want the lines before the break too", lines(got), err)
	}
	c := r.Coverage()[0]
	if c.State != Partial || c.Count != 1 || !strings.Contains(c.Reason, "c: open c: forbidden") ||
		!strings.Contains(c.Reason, "b: read b line 2: reset") || strings.Contains(c.Reason, "hunter2") {
		t.Errorf("coverage is %+v", c)
	}
	if cut := cutOf(t, r, q); cut != "b c" {
		t.Errorf("cut are %q, want those that broke off or did not open", cut)
	}
	r = reader(t, Limits{}, &source{texts: map[string]func() (io.ReadCloser, error){"c": closed}})
	if _, err := r.Matches(t.Context(), q, "bad"); mustUnavailable(t, err).Why != Damaged || cutOf(t, r, q) != "c" {
		t.Errorf("no text could be read: %v", err)
	}
	r = reader(t, Limits{}, &source{})
	if _, err := r.Matches(t.Context(), q, "bad"); mustUnavailable(t, err).Why != Forbidden || strings.Contains(err.Error(), "hunter2") || cutOf(t, r, q) != q.String() {
		t.Errorf("the texts are forbidden: %v", err)
	}
}

// cutOf returns the paths of what was not read to its end, in their order.
func cutOf(t *testing.T, r *Reader, q TextQuery) string {
	t.Helper()
	cut, err := r.Cut(t.Context(), q)
	if err != nil {
		t.Error(err)
	}
	var paths []string
	for _, c := range cut {
		if paths = append(paths, c.Text.Path); c.Why == "" || strings.Contains(c.Why, "hunter2") {
			t.Errorf("%s is cut because %q", c.Text.Path, c.Why)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

// TestReadFew: of many texts the urgent ones are read, and the others are known as
// unread, not as silent.
func TestReadFew(t *testing.T) {
	q := TextQuery{Kind: ContainerLog, Namespace: "n"}
	never := func(context.Context, *Reader) func(Text) bool { return func(Text) bool { return false } }
	urgent := func(context.Context, *Reader) func(Text) bool { return func(t Text) bool { return t.Path != "a" } }
	for name, c := range map[string]struct {
		few    int
		choose Urgency
		read   int
	}{
		"no more than are read anyway": {3, never, 3}, "none is urgent": {2, never, 0},
		"some are": {2, urgent, 2}, "more are than are read": {1, urgent, 1},
	} {
		s := &source{texts: map[string]func() (io.ReadCloser, error){"a": content("bad a\n"), "b": content("bad b\n"), "c": content("bad c\n")}}
		r := reader(t, Limits{}, s)
		r.ReadFew(c.few, c.choose)
		got, err := r.Matches(t.Context(), q, "bad")
		if err != nil || len(got) != c.read || s.asked["a"]+s.asked["b"]+s.asked["c"] != c.read {
			t.Errorf("%s: %v, %v, %v", name, lines(got), s.asked, err)
		}
		cover := r.Coverage()[0]
		if left := 3 - c.read; (left > 0) != strings.Contains(cover.Reason, fmt.Sprintf("%d were not asked for", left)) || cover.Count != c.read || (cover.State == Partial) != (left > 0) {
			t.Errorf("%s: coverage is %+v", name, cover)
		}
		unread, err := r.Unread(t.Context(), q)
		if err != nil || (len(unread) > 0) != (c.read < 3) {
			t.Errorf("%s: unread %v, %v", name, unread, err)
		}
		if cut := cutOf(t, r, q); cut != "" {
			t.Errorf("%s: %s was left out on purpose and counts as cut", name, cut)
		}
	}
}

func TestMatchesAreBounded(t *testing.T) {
	q := TextQuery{Kind: Console}
	long := "bad " + strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		text   string
		limits Limits
		want   []string
		state  State
	}{
		"a long line keeps its head":        {long + "\nbad next\n", Limits{LineBytes: 16}, []string{"1 " + long[:16], "2 bad next"}, Read},
		"a long last line without an end":   {long, Limits{LineBytes: 16}, []string{"1 " + long[:16]}, Read},
		"a line as long as the buffer":      {"bad 567890123456", Limits{LineBytes: 16}, []string{"1 bad 567890123456"}, Read},
		"a text that is too long":           {"bad\nbad\nbad\n", Limits{TextBytes: 8}, []string{"1 bad", "2 bad"}, Partial},
		"a text that is just short enough":  {"bad\nbad\n", Limits{TextBytes: 8}, []string{"1 bad", "2 bad"}, Read},
		"matches thin out in their middle":  {strings.Repeat("bad\n", 10), Limits{Matches: 8}, []string{"1 bad", "2 bad", "3 bad", "4 bad", "8 bad", "9 bad", "10 bad"}, Read},
		"a small limit of matches is a few": {strings.Repeat("bad\n", 5), Limits{Matches: 1}, []string{"5 bad"}, Read},
	} {
		// A second text that is whole keeps the matches of a broken one available.
		r := reader(t, c.limits, &source{texts: map[string]func() (io.ReadCloser, error){"a": content(c.text), "b": content("")}})
		got, err := r.Matches(t.Context(), q, "bad")
		if diff := cmp.Diff(c.want, lines(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if state := r.Coverage()[0].State; state != c.state {
			t.Errorf("%s: coverage is %s, want %s", name, state, c.state)
		}
	}
}

// TestNoLineLeaks holds that a line inside a private key is no match and that a
// match carries no secret.
func TestNoLineLeaks(t *testing.T) {
	r := reader(t, Limits{}, &source{texts: map[string]func() (io.ReadCloser, error){
		"a": content("-----BEGIN PRIVATE KEY-----\nbadbadbad\n-----END PRIVATE KEY-----\nbad password: hunter2\n")}})
	got, err := r.Matches(t.Context(), TextQuery{Kind: Console}, "bad")
	if err != nil || len(got) != 1 || got[0].Line.Loc.Line != 4 || strings.Contains(got[0].Line.Text, "hunter2") {
		t.Errorf("Matches = %q, %v", lines(got), err)
	}
}

func TestCancelledReadIsNoEvidence(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := reader(t, Limits{}, &source{texts: map[string]func() (io.ReadCloser, error){"a": func() (io.ReadCloser, error) {
		cancel()
		return content("bad\nbad\n")()
	}}})
	if _, err := r.Matches(ctx, TextQuery{Kind: Console}, "bad"); !errors.Is(err, context.Canceled) {
		t.Errorf("Matches: %v, want context.Canceled", err)
	}
}

func TestNeedNames(t *testing.T) {
	got := map[string]bool{}
	for _, n := range []Need{Objects(Nodes, ""), Objects(Pods, "a"), Objects(Machines, ""), Texts(TextQuery{Kind: Console}),
		Texts(TextQuery{Kind: Console, Host: "h"}), Texts(TextQuery{Kind: Journal, Unit: "crio"}), Texts(TextQuery{Kind: Journal, Unit: "crio", Host: "h"}), Texts(TextQuery{Kind: ContainerLog, Namespace: "a", Container: "c"})} {
		got[n.String()] = true
	}
	want := map[string]bool{"nodes": true, "pods -n a": true, "machines.machine.openshift.io": true, "console": true, "console h": true, "journal crio": true, "journal crio h": true, "log a/c": true}
	if !maps.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}
