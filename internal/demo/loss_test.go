package demo_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/hosts/stages"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/collect"
)

// doctor makes whole diagnoses, as `rollcall diagnose --from` does.
type doctor struct {
	faults   *fault.Catalog
	set      *scan.Set
	compiler *fault.Compiler // what one diagnosis compiled serves all
}

func newDoctor(t *testing.T) doctor {
	t.Helper()
	faults, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := fault.NewCompiler(facts.Types(all.All()))
	if err != nil {
		t.Fatal(err)
	}
	return doctor{faults, set, compiler}
}

// diagnose answers sources, and records what it read where a recorder is given.
func (d doctor) diagnose(ctx context.Context, record reader.Recorder, sources ...evidence.Source) (*diagnosis.Diagnosis, error) {
	clean, err := sanitize.New()
	if err != nil {
		return nil, err
	}
	return diagnose.Run(ctx, diagnose.Options{
		Catalog: d.faults, Compiler: d.compiler, Facts: all.All(), Relater: relation.Relater{}, Cluster: cluster.Describer{}, Roll: stages.Caller{},
		Reader: reader.New(d.set, clean, record, reader.Limits{}, sources...),
		Clock:  func() time.Time { return time.Time{} }, Log: slog.New(slog.DiscardHandler),
	})
}

// answer is what a diagnosis says, as far as lost evidence may not make it better.
type answer struct {
	exit     int // as `rollcall diagnose` ends: 0 healthy, 2 broken, 3 undecided, 1 refused
	verdict  string
	proven   map[string]bool          // roots
	findings map[string]fault.Outcome // by fault and subject
	damaged  []string                 // what the coverage calls damaged
}

// said is the answer to archives. An archive that is refused has one, too.
func (d doctor) said(ctx context.Context, archives ...func() (*archive.Source, error)) answer {
	var sources []evidence.Source
	for _, open := range archives {
		s, err := open()
		if err != nil {
			return answer{exit: 1, verdict: err.Error()}
		}
		defer s.Close()
		sources = append(sources, s)
	}
	got, err := d.diagnose(ctx, nil, sources...)
	if err != nil {
		return answer{exit: 1, verdict: err.Error()}
	}
	a := answer{verdict: string(got.Verdict.Class) + ": " + got.Verdict.Reason, proven: map[string]bool{}, findings: map[string]fault.Outcome{}}
	switch {
	case diagnose.Worst(got) >= fault.Error.Rank():
		a.exit = 2
	case diagnose.Undecided(got):
		a.exit = 3
	}
	for _, r := range got.Roots {
		for _, c := range r.Cases {
			if c.Confidence == diagnosis.Proven {
				a.proven[r.Fault+" "+c.Subject.String()] = true
			}
		}
	}
	for _, f := range got.Findings {
		a.findings[f.Fault+" "+f.Subject.String()] = f.Outcome
	}
	for _, c := range got.Coverage {
		if strings.Contains(c.Reason, string(evidence.Damaged)) || c.State == evidence.Partial {
			a.damaged = append(a.damaged, c.Need+": "+c.Reason)
		}
	}
	return a
}

// better says in what an answer with less evidence is better or surer than the one with
// all of it, "" where it is not.
func (a answer) better(whole answer) string {
	if a.exit == 1 {
		return ""
	}
	if a.exit == 0 && whole.exit != 0 {
		return fmt.Sprintf("exit %d became 0: %s", whole.exit, a.verdict)
	}
	for _, r := range slices.Sorted(maps.Keys(a.proven)) {
		if !whole.proven[r] {
			return "proven, and was not: " + r
		}
	}
	for _, f := range slices.Sorted(maps.Keys(whole.findings)) {
		was, is := whole.findings[f], a.findings[f]
		if is == fault.Absent && (was == fault.Present || was == fault.Unknown) {
			return fmt.Sprintf("%s was %s and is absent", f, was)
		}
	}
	return ""
}

// sample is one archive that is damaged in many ways.
type sample struct {
	name       string
	files      fstest.MapFS
	collection bool
}

func (s sample) open(files fs.FS) func() (*archive.Source, error) {
	return func() (*archive.Source, error) { return archive.FS(files, s.name) }
}

// samples are the demos, small must-gathers with a fault or none, and collections of both.
func samples(t *testing.T, d doctor) []sample {
	t.Helper()
	var list []sample
	set, err := demo.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range set.Demos {
		raw, err := set.Archive(one)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sample{one.Name, unpacked(t, raw), true})
	}
	overlays, err := fixture.Overlays(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vip-duplicate", "csr-client-pending", "mcs-certificate-expired"} {
		i := slices.IndexFunc(overlays, func(o fixture.Overlay) bool { return o.Fault == name && o.Variant == "" })
		if i < 0 {
			t.Fatalf("there is no overlay of %s", name)
		}
		files, err := overlays[i].FS()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sample{name, files, false}, sample{name + " collected", collected(t, d, name, files), true})
	}
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		t.Fatal(err)
	}
	return append(list, sample{"base", files, false}, sample{"base collected", collected(t, d, "base", files), true})
}

// collected is what `rollcall collect` keeps of an archive.
func collected(t *testing.T, d doctor, name string, files fs.FS) fstest.MapFS {
	t.Helper()
	s, err := archive.FS(files, name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	about, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.tar.gz")
	record, err := collect.Create(path, about.Now, about)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.diagnose(t.Context(), record, s); err != nil {
		t.Fatal(err)
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked(t, raw)
}

// unpacked is a gzipped tar as a file system.
func unpacked(t *testing.T, raw []byte) fstest.MapFS {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = &fstest.MapFile{Data: content, Mode: 0o600}
	}
}

// byName are the names of a tree as a tar of it has them: of a collection the header first.
func byName(files fstest.MapFS) []string {
	names := slices.Sorted(maps.Keys(files))
	slices.SortStableFunc(names, func(a, b string) int {
		head := func(n string) int {
			if n == collection.SealName || n == collection.ManifestName {
				return 0
			}
			return 1
		}
		return cmp.Compare(head(a), head(b))
	})
	return names
}

// TestFileTakenAway: an archive without one of its files is never answered better than
// the whole one, and that a file of a collection is gone is always noticed.
func TestFileTakenAway(t *testing.T) {
	d := newDoctor(t)
	step := 0
	for _, s := range samples(t, d) {
		whole := d.said(t.Context(), s.open(s.files))
		for _, name := range byName(s.files) {
			if step++; step%count(1, 40, 80, 160) != 0 {
				continue
			}
			t.Run(s.name+" without "+name, func(t *testing.T) {
				t.Parallel()
				less := maps.Clone(s.files)
				delete(less, name)
				got := d.said(t.Context(), s.open(less))
				if got.exit == 0 && whole.exit != 0 {
					t.Errorf("exit %d became 0: %s\nmissing: %q", whole.exit, got.verdict, got.damaged)
				}
				if why := got.better(whole); why != "" {
					t.Errorf("%s\nmissing: %q", why, got.damaged)
				}
				if !s.collection {
					return // of a must-gather a file may never have been there
				}
				if got.exit != 1 && len(got.damaged) == 0 {
					t.Error("it is not noticed")
				}
				if got.exit == 0 {
					t.Errorf("%s, over %q", got.verdict, got.damaged)
				}
			})
		}
	}
}
