package reader

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

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// source is a Source with chosen answers; it counts how often it is asked.
type source struct {
	name  string
	now   time.Time
	lists map[evidence.Need]answer
	texts map[string]func() (io.ReadCloser, error)

	mu    sync.Mutex
	asked map[string]int
}

type answer struct {
	objects []evidence.Object
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

func (s *source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "test", Name: s.name, Now: s.now}, nil
}

func (s *source) List(_ context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	n := evidence.Objects(r, ns)
	s.count(n.String())
	a, ok := s.lists[n]
	if !ok {
		return nil, &evidence.Unavailable{Need: n, Why: evidence.NotCollected, Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	}
	return a.objects, a.err
}

func (s *source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	s.count(q.String())
	var out []evidence.Text
	for path, open := range s.texts {
		out = append(out, evidence.Text{Kind: q.Kind, Path: path, Open: func(context.Context) (io.ReadCloser, error) {
			s.count(path)
			return open()
		}})
	}
	if out == nil {
		return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.Forbidden, Detail: "password: hunter2"}
	}
	return out, nil
}

func content(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func named(r evidence.Resource, name string, readAt int64) evidence.Object {
	o := evidence.Object{Resource: r, Name: name, Content: map[string]any{"mark": fmt.Sprint(name, readAt)}}
	if readAt > 0 {
		o.ReadAt = time.Unix(readAt, 0)
	}
	return o
}

func reader(t *testing.T, limits Limits, sources ...evidence.Source) *Reader {
	t.Helper()
	set, err := scan.Compile([]scan.Signature{{ID: "bad", Literal: "bad"}, {ID: "worse", Literal: "worse"}})
	if err != nil {
		t.Fatal(err)
	}
	return New(set, newSanitizerOf(t), nil, limits, sources...)
}

func marks(list []evidence.Object) []string {
	var out []string
	for _, o := range list {
		out = append(out, evidence.String(o.Content, "mark"))
	}
	return out
}

func TestReaderMergesSources(t *testing.T) {
	nodes := evidence.Objects(evidence.Nodes, "")
	one := &source{now: time.Unix(10, 0), lists: map[evidence.Need]answer{nodes: {objects: []evidence.Object{named(evidence.Nodes, "a", 5), named(evidence.Nodes, "b", 9)}}}}
	two := &source{now: time.Unix(20, 0), lists: map[evidence.Need]answer{nodes: {objects: []evidence.Object{named(evidence.Nodes, "a", 7), named(evidence.Nodes, "b", 7), named(evidence.Nodes, "c", 0)}}}}
	none := &source{}
	r := reader(t, Limits{}, one, two, none)
	list, err := r.List(t.Context(), evidence.Nodes, "")
	if diff := cmp.Diff([]string{"a7", "b9", "c0"}, marks(list)); diff != "" || err != nil {
		t.Errorf("List: %v (-want +got):\n%s", err, diff)
	}
	for range 3 {
		if o, ok, err := r.Get(t.Context(), evidence.Nodes, "", "c"); !ok || err != nil || o.Name != "c" {
			t.Errorf("Get(c) = %v, %v, %v", o, ok, err)
		}
		if _, ok, err := r.Get(t.Context(), evidence.Nodes, "", "d"); ok || err != nil {
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

// TestNameHasNoSecret: a context or an archive may be called by an address with a password.
func TestNameHasNoSecret(t *testing.T) {
	d, err := reader(t, Limits{}, &source{name: "https://cx:kestrel77Context@host/x"}).Describe(t.Context())
	if err != nil || strings.Contains(d.Name, "kestrel77") || !strings.Contains(d.Name, "host/x") {
		t.Errorf("%q, %v", d.Name, err)
	}
}

func TestReaderCoverage(t *testing.T) {
	damaged := &evidence.Unavailable{Need: evidence.Objects(evidence.Pods, ""), Why: evidence.Damaged, Detail: "pods.yaml is cut off", Supply: evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods"}}
	s := &source{lists: map[evidence.Need]answer{
		evidence.Objects(evidence.Nodes, ""):    {objects: []evidence.Object{named(evidence.Nodes, "a", 0)}},
		evidence.Objects(evidence.CSRs, ""):     {},
		evidence.Objects(evidence.Pods, ""):     {objects: []evidence.Object{named(evidence.Pods, "p", 0)}, err: damaged},
		evidence.Objects(evidence.Events, "x"):  {err: &evidence.Unavailable{Need: evidence.Objects(evidence.Events, "x"), Why: evidence.Forbidden, Detail: "token=abcdefgh1234"}},
		evidence.Objects(evidence.Machines, ""): {err: errors.New("a defect")},
	}}
	r := reader(t, Limits{}, s)
	ctx := t.Context()
	if list, err := r.List(ctx, evidence.Pods, ""); err != nil || len(list) != 1 {
		t.Errorf("a damaged list gives %v, %v, want what is whole", list, err)
	}
	if _, ok, err := r.Get(ctx, evidence.Pods, "", "q"); ok || !errors.Is(err, error(mustUnavailable(t, err))) || mustUnavailable(t, err).Why != evidence.Damaged {
		t.Errorf("Get of an object that may be in the damaged part: %v, %v", ok, err)
	}
	if _, err := r.List(ctx, evidence.Events, "x"); mustUnavailable(t, err).Why != evidence.Forbidden || strings.Contains(err.Error(), "abcdefgh1234") {
		t.Errorf("List(events): %v, want forbidden, without the token", err)
	}
	if _, err := r.List(ctx, evidence.Machines, ""); err == nil || !strings.Contains(err.Error(), "a defect") {
		t.Errorf("List(machines): %v", err)
	}
	if _, _, err := r.Get(ctx, evidence.Secrets, "x", "y"); mustUnavailable(t, err).Why != evidence.NotCollected {
		t.Errorf("Get(secret): %v", err)
	}
	r.List(ctx, evidence.Nodes, "")
	r.List(ctx, evidence.CSRs, "")
	want := []evidence.Coverage{
		{Need: "certificatesigningrequests.certificates.k8s.io", State: evidence.Empty},
		{Need: "events -n x", State: evidence.Missing, Reason: r.Coverage()[1].Reason, Why: evidence.Forbidden},
		{Need: "nodes", State: evidence.Read, Count: 1},
		{Need: "pods", State: evidence.Partial, Count: 1, Reason: "damaged: pods.yaml is cut off", Supply: evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods"}, Why: evidence.Damaged, Damaged: true},
		{Need: "secrets -n x", State: evidence.Missing, Reason: "not collected", Supply: evidence.Supply{Kind: evidence.SupplyMustGather}, Why: evidence.NotCollected},
	}
	if diff := cmp.Diff(want, r.Coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// TestOneSourceIsDamaged: what one source could not read is not made up for by another
// that has nothing, or something else.
func TestOneSourceIsDamaged(t *testing.T) {
	hosts, q := evidence.Objects(evidence.BareMetalHosts, ""), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}
	has := answer{objects: []evidence.Object{named(evidence.BareMetalHosts, "a", 0)}}
	lacks := func(why evidence.Why) answer { return answer{err: &evidence.Unavailable{Need: hosts, Why: why}} }
	for name, tt := range map[string]struct {
		one, two answer
		want     evidence.State
	}{
		"damaged and empty":           {lacks(evidence.Damaged), answer{}, evidence.Missing},
		"damaged and there":           {lacks(evidence.Damaged), has, evidence.Partial},
		"forbidden and there":         {lacks(evidence.Forbidden), has, evidence.Partial},
		"unreachable and empty":       {lacks(evidence.Unreachable), answer{}, evidence.Missing},
		"not collected and empty":     {lacks(evidence.NotCollected), answer{}, evidence.Empty},
		"not served and there":        {lacks(evidence.NotServed), has, evidence.Read},
		"not asked and empty":         {lacks(evidence.NotAsked), answer{}, evidence.Empty},
		"not asked and damaged":       {lacks(evidence.NotAsked), lacks(evidence.Damaged), evidence.Missing},
		"in part and not collected":   {answer{has.objects, lacks(evidence.NotCollected).err}, lacks(evidence.NotServed), evidence.Partial},
		"not collected, damaged part": {lacks(evidence.NotCollected), answer{has.objects, lacks(evidence.Damaged).err}, evidence.Partial},
		"damaged both":                {lacks(evidence.Damaged), lacks(evidence.Damaged), evidence.Missing},
		"not collected, not served":   {lacks(evidence.NotCollected), lacks(evidence.NotServed), evidence.Missing},
		"in part, and what it hides":  {answer{has.objects, lacks(evidence.NotCollected).err}, lacks(evidence.Damaged), evidence.Partial},
	} {
		for _, order := range [][]answer{{tt.one, tt.two}, {tt.two, tt.one}} {
			var sources []evidence.Source
			for _, a := range order {
				sources = append(sources, &source{lists: map[evidence.Need]answer{hosts: a}})
			}
			r := reader(t, Limits{}, sources...)
			list, err := r.List(t.Context(), evidence.BareMetalHosts, "")
			_, ok, getErr := r.Get(t.Context(), evidence.BareMetalHosts, "", "z")
			c := r.Coverage()[0]
			if c.State != tt.want || (err != nil) != (tt.want == evidence.Missing) || ok || (getErr != nil) != (tt.want == evidence.Missing || tt.want == evidence.Partial) {
				t.Errorf("%s: %+v, %d objects, %v, %v", name, c, len(list), err, getErr)
			}
			if damaged := strings.Contains(name, "damaged") || strings.Contains(name, "hides"); damaged != strings.Contains(c.Reason, "damaged") {
				t.Errorf("%s: the reason is %s", name, c.Reason)
			}
		}
	}
	good := &source{texts: map[string]func() (io.ReadCloser, error){"a": content("bad\n")}}
	for _, sources := range [][]evidence.Source{{good, &source{}}, {&source{}, good}} { // the other one is forbidden
		r := reader(t, Limits{}, sources...)
		got, err := r.Matches(t.Context(), q, "bad")
		unread, _ := unreadOf(t, r, q)
		if c := r.Coverage()[0]; err != nil || len(got) != 1 || len(unread) != 1 || c.State != evidence.Partial || c.Count != 1 || strings.Contains(c.Reason, "hunter2") {
			t.Errorf("%v, %v, unread %v, %+v", lines(got), err, unread, c)
		}
	}
}

func mustUnavailable(t *testing.T, err error) *evidence.Unavailable {
	t.Helper()
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		t.Fatalf("the error is %v, want an Unavailable", err)
	}
	return u
}

func lines(ms []evidence.Match) []string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%d %s", m.Line.Loc.Line, m.Line.Text))
	}
	return out
}

// TestUserSupplied: of hosts that sources name on their own nothing is missing where none
// does. One that a source has and cannot read is missing.
func TestUserSupplied(t *testing.T) {
	need := evidence.Objects(evidence.NamedHosts, "")
	for _, tt := range []struct {
		why  evidence.Why
		some bool
		want []evidence.State
	}{
		{evidence.NotAsked, false, nil},
		{evidence.NotCollected, true, []evidence.State{evidence.Read}},
		{evidence.Damaged, false, []evidence.State{evidence.Missing}},
		{evidence.Damaged, true, []evidence.State{evidence.Partial}},
	} {
		lacks := answer{err: &evidence.Unavailable{Need: need, Why: tt.why}}
		sources := []evidence.Source{&source{lists: map[evidence.Need]answer{need: lacks}}}
		if tt.some {
			has := answer{objects: []evidence.Object{named(evidence.NamedHosts, "w0", 0)}}
			sources = append(sources, &source{lists: map[evidence.Need]answer{need: has}})
		}
		r := reader(t, Limits{}, sources...)
		if _, err := r.List(t.Context(), evidence.NamedHosts, ""); (err != nil) != slices.Contains(tt.want, evidence.Missing) {
			t.Errorf("%s, some: %v: List = %v", tt.why, tt.some, err)
		}
		var got []evidence.State
		for _, c := range r.Coverage() {
			got = append(got, c.State)
			if c.Damaged != (tt.why == evidence.Damaged) {
				t.Errorf("%s, some: %v: %+v", tt.why, tt.some, c)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, some: %v (-want +got):\n%s", tt.why, tt.some, diff)
		}
	}
}

func TestMatches(t *testing.T) {
	q := evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}
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
	if c := r.Coverage(); len(c) != 1 || c[0].State != evidence.Read || c[0].Count != 1 {
		t.Errorf("Coverage = %v, want one text", c)
	}
	if s.asked["a"] != 1 {
		t.Errorf("the text was read %d times for all signatures, want once", s.asked["a"])
	}
}

func TestMatchesOfBrokenTexts(t *testing.T) {
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "n"}
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
	if c.State != evidence.Partial || c.Count != 1 || !strings.Contains(c.Reason, "c: open c: forbidden") ||
		!strings.Contains(c.Reason, "b: read b line 2: reset") || strings.Contains(c.Reason, "hunter2") {
		t.Errorf("coverage is %+v", c)
	}
	if cut := cutOf(t, r, q); cut != "b c" {
		t.Errorf("cut are %q, want those that broke off or did not open", cut)
	}
	r = reader(t, Limits{}, &source{texts: map[string]func() (io.ReadCloser, error){"c": closed}})
	if _, err := r.Matches(t.Context(), q, "bad"); mustUnavailable(t, err).Why != evidence.Damaged || cutOf(t, r, q) != "c" {
		t.Errorf("no text could be read: %v", err)
	}
	r = reader(t, Limits{}, &source{})
	if _, err := r.Matches(t.Context(), q, "bad"); mustUnavailable(t, err).Why != evidence.Forbidden || strings.Contains(err.Error(), "hunter2") || cutOf(t, r, q) != q.String() {
		t.Errorf("the texts are forbidden: %v", err)
	}
}

// unreadOf returns which pods' current logs were not read to their end, and why.
func unreadOf(t *testing.T, r *Reader, q evidence.TextQuery) (map[[2]string]string, error) {
	t.Helper()
	if _, err := r.Matches(t.Context(), q, ""); err != nil {
		return nil, err
	}
	gaps, err := r.Gaps(t.Context(), q)
	unread := map[[2]string]string{}
	for _, g := range gaps {
		if !g.Text.Previous {
			unread[[2]string{g.Text.Namespace, g.Text.Pod}] = g.Why
		}
	}
	return unread, err
}

// cutOf returns the paths of what was not read to its end, in their order.
func cutOf(t *testing.T, r *Reader, q evidence.TextQuery) string {
	t.Helper()
	gaps, err := r.Gaps(t.Context(), q)
	if err != nil {
		t.Error(err)
	}
	var paths []string
	for _, c := range gaps {
		if c.NotAsked {
			continue
		}
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
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "n"}
	never := func(context.Context, *Reader) func(evidence.Text) bool {
		return func(evidence.Text) bool { return false }
	}
	urgent := func(context.Context, *Reader) func(evidence.Text) bool {
		return func(t evidence.Text) bool { return t.Path != "a" }
	}
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
		if left := 3 - c.read; (left > 0) != strings.Contains(cover.Reason, fmt.Sprintf("%d were not read", left)) || cover.Count != c.read || (cover.State == evidence.Partial) != (left > 0) {
			t.Errorf("%s: coverage is %+v", name, cover)
		}
		unread, err := unreadOf(t, r, q)
		if err != nil || (len(unread) > 0) != (c.read < 3) {
			t.Errorf("%s: unread %v, %v", name, unread, err)
		}
		if cut := cutOf(t, r, q); cut != "" {
			t.Errorf("%s: %s was left out on purpose and counts as cut", name, cut)
		}
	}
}

func TestMatchesAreBounded(t *testing.T) {
	q := evidence.TextQuery{Kind: evidence.Console}
	long := "bad " + strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		text   string
		limits Limits
		want   []string
		state  evidence.State
	}{
		"a long line keeps its head":        {long + "\nbad next\n", Limits{LineBytes: 16}, []string{"1 " + long[:16], "2 bad next"}, evidence.Read},
		"a long last line without an end":   {long, Limits{LineBytes: 16}, []string{"1 " + long[:16]}, evidence.Read},
		"a line as long as the buffer":      {"bad 567890123456", Limits{LineBytes: 16}, []string{"1 bad 567890123456"}, evidence.Read},
		"a text that is too long":           {"bad\nbad\nbad\n", Limits{TextBytes: 8}, []string{"1 bad", "2 bad"}, evidence.Partial},
		"a text that is just short enough":  {"bad\nbad\n", Limits{TextBytes: 8}, []string{"1 bad", "2 bad"}, evidence.Read},
		"matches thin out in their middle":  {strings.Repeat("bad\n", 10), Limits{Matches: 8}, []string{"1 bad", "2 bad", "3 bad", "4 bad", "8 bad", "9 bad", "10 bad"}, evidence.Read},
		"a small limit of matches is a few": {strings.Repeat("bad\n", 5), Limits{Matches: 1}, []string{"5 bad"}, evidence.Read},
	} {
		// A second text that is whole keeps the matches of a broken one available.
		r := reader(t, c.limits, &source{texts: map[string]func() (io.ReadCloser, error){"a": content(c.text), "b": content("fine\n")}})
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
	got, err := r.Matches(t.Context(), evidence.TextQuery{Kind: evidence.Console}, "bad")
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
	if _, err := r.Matches(ctx, evidence.TextQuery{Kind: evidence.Console}, "bad"); !errors.Is(err, context.Canceled) {
		t.Errorf("Matches: %v, want context.Canceled", err)
	}
}

func TestNeedNames(t *testing.T) {
	got := map[string]bool{}
	for _, n := range []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.Pods, "a"), evidence.Objects(evidence.Machines, ""), evidence.Texts(evidence.TextQuery{Kind: evidence.Console}),
		evidence.Texts(evidence.TextQuery{Kind: evidence.Console, Host: "h"}), evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: "crio"}), evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: "crio", Host: "h"}), evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "a", Container: "c"})} {
		got[n.String()] = true
	}
	want := map[string]bool{"nodes": true, "pods -n a": true, "machines.machine.openshift.io": true, "console": true, "console h": true, "journal crio": true, "journal crio h": true, "log a/c": true}
	if !maps.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func newSanitizerOf(t testing.TB) *sanitize.Sanitizer {
	t.Helper()
	s, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
