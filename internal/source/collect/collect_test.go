package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

var clock = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fake is a source with chosen answers.
type fake struct {
	objects map[evidence.Need][]evidence.Object
	missing map[string]*evidence.Unavailable
	texts   []fakeText
}

type fakeText struct {
	evidence.Text
	content string
	open    error
	read    error
}

func (f *fake) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "live", Name: "ctx", Vantage: "here", Now: clock,
		Notes: []evidence.Coverage{{Need: "cluster of x.log", State: evidence.Partial, Reason: "nothing in it says of which cluster it is", Supply: evidence.Supply{Kind: evidence.SupplyArchive, Path: "x"}}}}, nil
}

func (f *fake) List(_ context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	n := evidence.Objects(r, ns)
	if u := f.missing[n.String()]; u != nil {
		return f.objects[n], u
	}
	if _, ok := f.objects[n]; !ok {
		return nil, &evidence.Unavailable{Need: n, Why: evidence.NotServed}
	}
	return f.objects[n], nil
}

func (f *fake) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if u := f.missing[q.String()]; u != nil {
		return nil, u
	}
	var out []evidence.Text
	for _, t := range f.texts {
		if t.Kind != q.Kind || q.Namespace != "" && t.Namespace != q.Namespace || q.Container != "" && t.Container != q.Container ||
			q.Unit != "" && t.Unit != q.Unit || q.Host != "" && t.Host != q.Host {
			continue
		}
		text := t.Text
		text.Open = func(context.Context) (io.ReadCloser, error) {
			if t.open != nil {
				return nil, t.open
			}
			in := io.Reader(strings.NewReader(t.content))
			if t.read != nil {
				in = io.MultiReader(in, iotest.ErrReader(t.read))
			}
			return io.NopCloser(in), nil
		}
		out = append(out, text)
	}
	return out, nil
}

func object(r evidence.Resource, ns, name string, content map[string]any) evidence.Object {
	meta := map[string]any{"name": name}
	if ns != "" {
		meta["namespace"] = ns
	}
	content["metadata"] = meta
	content["kind"] = "K"
	return evidence.Object{
		Resource: r, Namespace: ns, Name: name, Content: content,
		Loc:    evidence.Locator{Source: "live", Path: r.Name + "/" + name},
		ReadAt: clock.Add(-time.Duration(len(name)) * time.Second),
	}
}

// outcome is everything that a run sees through its Reader.
type outcome struct {
	Now      time.Time
	Objects  map[string][]evidence.Object
	Matches  map[string][]evidence.Match
	Errors   map[string]string
	Coverage []evidence.Coverage
}

var questions = struct {
	objects []evidence.Need
	texts   []evidence.TextQuery
}{
	[]evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.Pods, ""),
		evidence.Objects(evidence.Pods, "ns1"), evidence.Objects(evidence.Secrets, "ns1"), evidence.Objects(evidence.ConfigMaps, "ns1"),
		evidence.Objects(evidence.CSRs, ""), evidence.Objects(evidence.MCSProbes, ""), evidence.Objects(evidence.BareMetalHosts, ""),
	},
	[]evidence.TextQuery{
		{Kind: evidence.ContainerLog, Namespace: "ns1"}, {Kind: evidence.ContainerLog, Namespace: "ns1", Container: "c1"},
		{Kind: evidence.Journal, Unit: "kubelet"}, {Kind: evidence.Journal, Unit: "crio", Host: "h1"},
		{Kind: evidence.Console}, {Kind: evidence.Console, Host: "h2"},
	},
}

// run asks every question.
func run(t *testing.T, rec reader.Recorder, sources ...evidence.Source) outcome {
	t.Helper()
	signatures, err := scan.Compile([]scan.Signature{
		{ID: "failed", Literal: "failed"}, {ID: "status", Literal: "status", Pattern: regexp.MustCompile(`status (\d+)`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	r := reader.New(signatures, clean, rec, reader.Limits{}, sources...)
	d, err := r.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := outcome{Now: d.Now, Objects: map[string][]evidence.Object{}, Matches: map[string][]evidence.Match{}, Errors: map[string]string{}}
	for _, n := range questions.objects {
		out.Objects[n.String()], err = r.List(t.Context(), n.Resource, n.Namespace)
		note(out.Errors, n.String()+n.Namespace, err)
	}
	for _, q := range questions.texts {
		for _, id := range []string{"failed", "status"} {
			key := fmt.Sprintf("%+v %s", q, id)
			out.Matches[key], err = r.Matches(t.Context(), q, id)
			note(out.Errors, key, err)
		}
	}
	out.Coverage = r.Coverage()
	return out
}

func note(errs map[string]string, key string, err error) {
	if err == nil {
		return
	}
	errs[key] = err.Error()
	if u, ok := evidence.AsUnavailable(err); ok {
		errs[key] = fmt.Sprintf("%s|%s|%s|%s", u.Need, u.Why, u.Detail, u.Supply)
	}
}

// record runs over a source and keeps a collection.
func record(t *testing.T, path string, s evidence.Source) outcome {
	t.Helper()
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Create(path, clock, d)
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, rec, s)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

func replay(t *testing.T, path string) outcome {
	t.Helper()
	s, err := archive.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := s.Describe(t.Context())
	if err != nil || d.Kind != archive.Collection {
		t.Errorf("Describe = %+v, %v, want a collection", d, err)
	}
	return run(t, nil, s)
}

// TestReplay holds that a replayed run sees what the recorded run saw, for many
// clusters in many states of damage.
func TestReplay(t *testing.T) {
	for seed := range uint64(30) {
		source := randomSource(rand.New(rand.NewPCG(seed, 1)))
		for _, name := range []string{"dir", "packed.tar.gz"} {
			path := filepath.Join(t.TempDir(), name)
			want := record(t, path, source)
			if diff := cmp.Diff(want, replay(t, path)); diff != "" {
				t.Fatalf("seed %d, %s: the replay differs (-recorded +replayed):\n%s", seed, name, diff)
			}
		}
	}
}

func randomSource(r *rand.Rand) *fake {
	f := &fake{objects: map[evidence.Need][]evidence.Object{}, missing: map[string]*evidence.Unavailable{}}
	reasons := []evidence.Why{evidence.Forbidden, evidence.NotServed, evidence.Unreachable, evidence.NotCollected}
	for _, n := range questions.objects {
		u := &evidence.Unavailable{Need: n, Why: reasons[r.IntN(len(reasons))], Detail: "because: of \"it\"", Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: n.Resource.Name}}
		outcome := r.IntN(5)
		if outcome == 0 {
			f.missing[n.String()] = u
			continue
		}
		list := []evidence.Object{}
		for i := range r.IntN(4) {
			list = append(list, object(n.Resource, n.Namespace, fmt.Sprintf("name:%d", i), map[string]any{"spec": randomValue(r, 3)}))
		}
		if outcome == 1 && len(list) > 0 {
			u.Why = evidence.Damaged
			f.missing[n.String()] = u
		}
		f.objects[n] = list
	}
	for i := range r.IntN(8) {
		f.texts = append(f.texts, randomText(r, i))
	}
	slices.SortFunc(f.texts, func(a, b fakeText) int { return strings.Compare(a.Path, b.Path) })
	if r.IntN(4) == 0 {
		q := questions.texts[0]
		f.missing[q.String()] = &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.Forbidden, Detail: "pods/log", Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "get", Resource: "pods/log", Namespace: "ns1"}}
	}
	return f
}

func randomText(r *rand.Rand, i int) fakeText {
	kinds := []evidence.Text{
		{Kind: evidence.ContainerLog, Namespace: "ns1", Pod: "p1", Container: "c1", Path: "pods/p1/c1"},
		{Kind: evidence.ContainerLog, Namespace: "ns1", Pod: "p1", Container: "c2", Previous: true, Path: "pods/p1/c2"},
		{Kind: evidence.Journal, Unit: "kubelet", Path: "journal/kubelet"},
		{Kind: evidence.Journal, Unit: "crio", Host: "h1", Path: "journal/h1/crio"},
		{Kind: evidence.Console, Host: "h2", Path: "console"},
	}
	t := fakeText{Text: kinds[r.IntN(len(kinds))]}
	t.Path += fmt.Sprint("/", i)
	for line := range r.IntN(20) {
		t.content += []string{"", "I0304 05:06:07.000001 1 x.go:1] it failed\n", "status 500 again\r\n", "2026-03-04T05:00:00Z password: hunter22 failed\n",
			"\x1b[1mfailed\x1b[0m \xff\n", "nothing\n"}[r.IntN(6)]
		if line == 10 {
			t.content += "-----BEGIN RSA PRIVATE KEY-----\nMIIfailed\n-----END RSA PRIVATE KEY-----\nfailed at the end"
		}
	}
	switch r.IntN(5) {
	case 0:
		t.open = errors.New("open: token=abcdefgh is refused")
	case 1:
		t.read = errors.New("the stream broke")
	}
	return t
}

func randomValue(r *rand.Rand, depth int) any {
	switch k := r.IntN(10); {
	case k < 3 && depth > 0:
		m := map[string]any{}
		for i := range r.IntN(4) {
			m[[]string{"on", "1", "a.b/c", "y: z", "~"}[(i+r.IntN(5))%5]] = randomValue(r, depth-1)
		}
		return m
	case k == 3 && depth > 0:
		l := []any{}
		for range r.IntN(4) {
			l = append(l, randomValue(r, depth-1))
		}
		return l
	case k == 4:
		return r.Int64() - r.Int64()
	case k == 5:
		return r.Float64()*1e6 + 0.5
	case k == 6:
		return r.IntN(2) == 0
	case k == 7:
		return nil
	}
	return []string{"", "yes", "0x1F", "1e3", "2021-09-14T10:17:20Z", "- not\n- a list\n", " lead", "trail ", "a\tb\x00c\x7f", "é\u2028\ufeff",
		"null", "~", "012", "|", "it's: \"quoted\" # no comment", "line\n\n  deeper\n", "=", "<<", "1_000", "12:30:45"}[r.IntN(20)]
}

// TestTwoReadsOfOneObject keeps both when an object changed between two needs.
func TestTwoReadsOfOneObject(t *testing.T) {
	f := &fake{missing: map[string]*evidence.Unavailable{}, objects: map[evidence.Need][]evidence.Object{
		evidence.Objects(evidence.Pods, ""):    {object(evidence.Pods, "ns1", "p", map[string]any{"status": "first"})},
		evidence.Objects(evidence.Pods, "ns1"): {object(evidence.Pods, "ns1", "p", map[string]any{"status": "second"})},
	}}
	path := filepath.Join(t.TempDir(), "c")
	want := record(t, path, f)
	if diff := cmp.Diff(want, replay(t, path)); diff != "" {
		t.Errorf("the replay differs (-recorded +replayed):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(path, "reads/2/namespaces/ns1/pods/p/p.yaml")); err != nil {
		t.Error(err)
	}
}

// TestSameReadsSameBytes holds that a collection depends on nothing but the reads.
func TestSameReadsSameBytes(t *testing.T) {
	var packed [][]byte
	for range 2 {
		path := filepath.Join(t.TempDir(), "c.tgz")
		f := randomSource(rand.New(rand.NewPCG(7, 7)))
		for i := range f.texts { // salted digests differ between runs, on purpose
			f.texts[i].content = strings.ReplaceAll(f.texts[i].content, "password: hunter22", "")
			f.texts[i].open = nil
		}
		record(t, path, f)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, raw)
	}
	if !slices.Equal(packed[0], packed[1]) {
		t.Error("two collections of the same reads differ")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain", "packed.tgz"} {
		path := filepath.Join(dir, name)
		record(t, path, randomSource(rand.New(rand.NewPCG(3, 3))))
		if _, err := Create(path, clock, evidence.Description{}); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("Create over %s: %v", name, err)
		}
	}
	discarded, err := Create(filepath.Join(dir, "no.tar.gz"), clock, evidence.Description{})
	if err != nil {
		t.Fatal(err)
	}
	if err := discarded.Discard(); err != nil {
		t.Fatal(err)
	}
	var top []string
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if filepath.Dir(p) == dir {
			top = append(top, d.Name())
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		return err
	})
	if err != nil || !slices.Equal(top, []string{"packed.tgz", "plain"}) {
		t.Errorf("the directory holds %v, %v: something was left behind", top, err)
	}
}

// TestNamesStayInside plants names that would lead out of the collection.
func TestNamesStayInside(t *testing.T) {
	f := &fake{objects: map[evidence.Need][]evidence.Object{}, missing: map[string]*evidence.Unavailable{}}
	nodes := evidence.Objects(evidence.Nodes, "")
	for _, name := range []string{"../../../evil", "/etc/evil", "..", ".part-1", "a/b", strings.Repeat("x", 300), ""} {
		f.objects[nodes] = append(f.objects[nodes], object(evidence.Nodes, "", name, map[string]any{}))
		f.texts = append(f.texts, fakeText{Text: evidence.Text{Kind: evidence.Console, Host: name, Path: name}, content: "failed " + name})
	}
	outer := t.TempDir()
	want := record(t, filepath.Join(outer, "c"), f)
	if diff := cmp.Diff(want, replay(t, filepath.Join(outer, "c"))); diff != "" {
		t.Errorf("the replay differs (-recorded +replayed):\n%s", diff)
	}
	if entries, err := os.ReadDir(outer); err != nil || len(entries) != 1 {
		t.Errorf("beside the collection: %v, %v", entries, err)
	}
}
