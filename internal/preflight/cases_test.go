package preflight

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/preflight/netcheck"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// bases are the plans without mistakes: testdata/base.
var bases = []string{"agent", "ipi", "objects"}

// now is when plans are checked: they carry no time.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// testCase is a base with changes, and what one check finds in it: testdata/checks/ID.txtar, or
// ID.VARIANT.txtar.
type testCase struct {
	name, id string
	base     string
	outcome  fault.Outcome
	changes  []txtar.File
}

func cases(t *testing.T) []testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/checks/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no cases", err)
	}
	var list []testCase
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var header struct {
			Base    string        `json:"base"`
			Outcome fault.Outcome `json:"outcome"`
		}
		if err := yaml.UnmarshalStrict(a.Comment, &header); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		id, _, _ := strings.Cut(name, ".")
		list = append(list, testCase{name, id, header.Base, header.Outcome, a.Files})
	}
	return list
}

// files are those of the base with the changes: a whole file, "patch:NAME" with a merge patch,
// or "delete:NAME".
func (c testCase) files(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	parts, err := filepath.Glob("testdata/base/" + c.base + "*.txtar")
	if err != nil || len(parts) == 0 {
		t.Fatalf("%s: there is no base %q", c.name, c.base)
	}
	for _, part := range parts {
		a, err := txtar.ParseFile(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	for _, f := range c.changes {
		verb, name, ok := strings.Cut(f.Name, ":")
		if !ok {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
			continue
		}
		have, ok := files[name]
		if !ok {
			t.Fatalf("%s: the base has no %s to %s", c.name, name, verb)
		}
		if verb == "delete" {
			delete(files, name)
			continue
		}
		patched, err := patch(have.Data, f.Data)
		if err != nil {
			t.Fatalf("%s: %s: %v", c.name, f.Name, err)
		}
		files[name] = &fstest.MapFile{Data: patched}
	}
	return files
}

// patch applies a merge patch that is written as YAML.
func patch(have, change []byte) ([]byte, error) {
	doc, err := yaml.YAMLToJSON(have)
	if err != nil {
		return nil, err
	}
	diff, err := yaml.YAMLToJSON(change)
	if err != nil {
		return nil, err
	}
	merged, err := jsonpatch.MergePatch(doc, diff)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(merged)
}

// openPlan opens the plan in files: for the release in the file "release", with the answers of the
// network in network-answers.yaml and those of BMCs in bmc/*.yaml.
func openPlan(t *testing.T, files fs.FS) evidence.Source {
	t.Helper()
	s, err := plan.InstallDir(files, ".", "fixture", now)
	if err != nil {
		t.Fatal(err)
	}
	if release, err := fs.ReadFile(files, "release"); err == nil {
		s.Release(strings.TrimSpace(string(release)))
	}
	var source evidence.Source = s
	switch raw, err := fs.ReadFile(files, "network-answers.yaml"); {
	case err == nil:
		answers, err := netcheck.Read(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		source = netcheck.Over(s, answers, "fixture")
	case !errors.Is(err, fs.ErrNotExist):
		t.Fatal(err)
	}
	if answers := bmcAnswers(t, files); len(answers) > 0 {
		source = bmc.Replay(source, answers)
	}
	return source
}

func bmcAnswers(t *testing.T, files fs.FS) []evidence.Object {
	t.Helper()
	names, err := fs.Glob(files, "bmc/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var list []evidence.Object
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.YAMLToJSON(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o, err := bmc.ParseObject(text, strings.TrimSuffix(path.Base(name), ".yaml"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, o)
	}
	return list
}

func readerOf(t *testing.T, s evidence.Source) *reader.Reader {
	t.Helper()
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	return reader.New(nil, clean, nil, reader.Limits{}, s)
}

func world(t *testing.T, s evidence.Source) *facts.World {
	t.Helper()
	return facts.NewWorld(readerOf(t, s), now)
}

func run(t *testing.T, c check.Check, s evidence.Source) check.Result {
	t.Helper()
	r, err := c.Run(t.Context(), world(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// withheld is a source of which some needs cannot be read, or only in part.
type withheld struct {
	evidence.Source
	needs []evidence.Need
	why   evidence.Why
	part  bool // objects are there, and some lack fields
}

func (s withheld) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	if !slices.Contains(s.needs, need) {
		return s.Source.List(ctx, r, namespace)
	}
	gone := &evidence.Unavailable{Need: need, Why: s.why, Detail: "withheld by the test", Fields: s.part, Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	if !s.part {
		return nil, gone
	}
	list, err := s.Source.List(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	return list, gone
}

func byID(t *testing.T) map[string]check.Check {
	t.Helper()
	list := map[string]check.Check{}
	for _, c := range Checks() {
		if _, twice := list[c.ID]; twice {
			t.Errorf("%s: two checks have this id", c.ID)
		}
		list[c.ID] = c
	}
	return list
}

var load = sync.OnceValues(func() (*fault.Catalog, error) { return fault.Load(os.DirFS("../../catalog")) })

func pages(t *testing.T) *fault.Catalog {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listening notes what is read.
type listening struct {
	evidence.Source
	read map[string]bool
}

func (s listening) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	s.read[evidence.Objects(r, namespace).String()] = true
	return s.Source.List(ctx, r, namespace)
}
