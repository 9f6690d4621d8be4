package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// mutants returns copies of a content with one change each, by what was changed:
// every scalar, every key and every element of a list.
func mutants(v any) map[string]any {
	out := map[string]any{}
	mutate("", v, func(what string, w any) { out[what] = w })
	return out
}

func mutate(path string, v any, emit func(what string, w any)) {
	switch x := v.(type) {
	case map[string]any:
		mutateMap(path, x, emit)
	case []any:
		for i := range x {
			mutate(fmt.Sprintf("%s[%d]", path, i), x[i], func(what string, w any) {
				c := slices.Clone(x)
				c[i] = w
				emit(what, c)
			})
			emit(fmt.Sprintf("%s[%d] removed", path, i), slices.Delete(slices.Clone(x), i, i+1))
			emit(fmt.Sprintf("%s[%d] twice", path, i), slices.Insert(slices.Clone(x), i, x[i]))
		}
		if len(x) > 1 {
			c := slices.Clone(x)
			c[0], c[1] = c[1], c[0]
			emit(path+" reordered", c)
		}
	case string:
		emit(path+" longer", x+"x")
		emit(path+" empty", "")
		emit(path+" null", nil)
	case json.Number:
		emit(path+" more", json.Number(x.String()+"1"))
		emit(path+" zero", json.Number("0"))
		emit(path+" as text", x.String())
	case bool:
		emit(path+" flipped", !x)
	}
}

func mutateMap(path string, x map[string]any, emit func(what string, w any)) {
	with := func(change func(map[string]any)) map[string]any {
		c := maps.Clone(x)
		change(c)
		return c
	}
	emit(path+" with a key more", with(func(c map[string]any) { c["rollcall"] = "x" }))
	for k := range x {
		at := path + "." + k
		mutate(at, x[k], func(what string, w any) { emit(what, with(func(c map[string]any) { c[k] = w })) })
		emit(at+" removed", with(func(c map[string]any) { delete(c, k) }))
		if strings.ToUpper(k) == k {
			continue
		}
		emit(at+" in capitals", with(func(c map[string]any) { delete(c, k); c[strings.ToUpper(k)] = x[k] }))
		emit(at+" also in capitals", with(func(c map[string]any) { c[strings.ToUpper(k)] = x[k] }))
	}
}

// TestEveryLeaf: a plan file of which anything was changed is refused before anything
// is written or begun.
func TestEveryLeaf(t *testing.T) {
	for _, ext := range []string{".yaml", ".json"} {
		t.Run(ext, func(t *testing.T) {
			r := newRig(t, desync(t))
			p := r.plan(t)
			p.Before.Others, p.Notes, p.Open = p.Before.For[:1], []string{"a note"}, nil
			p.Before.Others[0].Fault = "node-not-ready"
			p.Before.For = append(p.Before.For[:0:0], rootFault, emptyFault, renderFault)
			if _, err := p.Issue(r.dir, ext); err != nil {
				t.Fatal(err)
			}
			raw, err := p.EncodeAs(ext)
			ok(t, err)
			if _, err := decodePlan(raw); err != nil {
				t.Fatalf("the plan itself: %v", err)
			}
			whole, err := p.tree()
			ok(t, err)
			count, byDigest := 0, 0
			all := mutants(whole)
			for i, what := range slices.Sorted(maps.Keys(all)) {
				if (ext == ".json" || !sample.Whole()) && i%5 > 0 { // JSON: the same parser, after another form
					continue
				}
				m := all[what]
				text, err := json.MarshalIndent(m, "", "  ")
				if ext == ".yaml" {
					text, err = yaml.Marshal(m)
				}
				ok(t, err)
				count++
				if r.refusesFile(t, what, text) {
					byDigest++
				}
			}
			t.Logf("%d changes, %d of them refused by the digest alone", count, byDigest)
			if count < 300 || byDigest == 0 {
				t.Errorf("only %d changes were tried", count)
			}
			if h, err := Histories(r.dir); err != nil || slices.ContainsFunc(h, func(h History) bool { return len(h.Records) > 0 }) {
				t.Errorf("begun: %v, %v", h, err)
			}
		})
	}
}

// refusesFile applies a file and fails where that is not refused or writes anything. It
// reports whether the file was good but for its digest.
func (r *rig) refusesFile(t *testing.T, what string, text []byte) (byDigest bool) {
	t.Helper()
	p, err := decodePlan(text)
	if err == nil {
		byDigest = true
		_, err = r.exec.Apply(t.Context(), p)
	}
	if err == nil || len(r.writes) > 0 {
		t.Fatalf("%s: %v, written %v", what, err, r.writes)
	}
	return byDigest
}

// TestOtherForm: what a reader may take for something else than the parser does is
// refused although its digest is named, and any other byte where it is not.
func TestOtherForm(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	raw, err := p.Encode()
	ok(t, err)
	asJSON, err := p.EncodeAs("p.json")
	ok(t, err)
	text := string(raw)
	for name, tt := range map[string]struct{ text, want string }{
		"key twice":            {text + "title: something else\n", "already"},
		"nested key twice":     {strings.Replace(text, "  id: the-cluster\n", "  id: another\n  id: the-cluster\n", 1), "already"},
		"key twice in JSON":    {strings.Replace(string(asJSON), `"kind": "RepairPlan",`, `"kind": "RepairPlan", "kind": "RepairPlan",`, 1), "already"},
		"other case":           {text + "Title: look around\n", "not written as plans are: Title"},
		"unknown field":        {text + "approved: true\n", "unknown field"},
		"second document":      {text + "---\nsteps: []\n", "more than one document"},
		"alias":                {strings.Replace(text, "kind: RepairPlan", "kind: &k RepairPlan", 1), "no anchors"},
		"tag":                  {strings.Replace(text, "kind: RepairPlan", "kind: !!str RepairPlan", 1), "no anchors, aliases and tags"},
		"empty list":           {text + "open: []\n", "not written as plans are: open"},
		"another API version":  {strings.Replace(text, "v1alpha1", "v1", 1), "want rollcall.dev/v1alpha1"},
		"another kind":         {strings.Replace(text, "kind: RepairPlan", "kind: Plan", 1), "want rollcall.dev/v1alpha1 RepairPlan"},
		"deadline in its form": {strings.Replace(text, "deadline: 2m0s", "deadline: 120s", 1), "not written as plans are: steps[0].deadline"},
	} {
		if tt.text == text || tt.text == string(asJSON) {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := decodePlan([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	for name, text := range map[string]string{
		"a comment": "# only read this\n" + text, "a blank line": text + "\n", "as JSON, made elsewhere": string(asJSON),
	} {
		q, err := decodePlan([]byte(text))
		ok(t, err)
		_, err = r.exec.Apply(t.Context(), q)
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "only comments, order or blanks differ") || len(r.writes) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	q, err := decodePlan(append([]byte("# read by two\n"), raw...))
	ok(t, err)
	r.reviewed(t, q)
	if o, err := r.exec.Apply(t.Context(), q); err != nil || o.State != Repaired {
		t.Errorf("a file whose digest was named: %v, %v", o, err)
	}
}

// TestResumeByFile: resume and undo of a file are of the plan that was begun.
func TestResumeByFile(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	r.frozen = true
	_, _ = r.exec.Apply(t.Context(), p)
	r.exec.Reviewed = digestBytes([]byte("another file"))
	if _, err := r.exec.Undo(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), "is not the plan") {
		t.Errorf("Undo of another file: %v", err)
	}
	r.exec.Reviewed, _ = p.Digest()
	if o, err := r.exec.Undo(t.Context(), p.ID); err != nil || o.State != Undone {
		t.Errorf("Undo: %v, %v", o, err)
	}
}

// TestSaveJSON: a plan saved as JSON is the same plan.
func TestSaveJSON(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	path := filepath.Join(t.TempDir(), "p.json")
	ok(t, p.Save(path))
	digest, err := p.Issue(r.dir, path)
	ok(t, err)
	raw, err := os.ReadFile(path)
	ok(t, err)
	if digest != digestBytes(raw) || !bytes.HasPrefix(raw, []byte("{")) {
		t.Errorf("digest %s of %.40s", digest, raw)
	}
	q, err := Load(path)
	ok(t, err)
	if o, err := r.exec.Apply(t.Context(), q); err != nil || o.State != Repaired {
		t.Errorf("Apply: %v, %v", o, err)
	}
}
