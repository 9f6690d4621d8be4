package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// A plan on file is bound to its digest, byte by byte: what `fix plan` saved is known
// by the digests that it keeps in the state directory, any other content only by a
// digest that a person names. The file must also contain exactly what is read from it, so that
// nothing that a reader sees is ignored.

// maxPlan bounds a plan on file; the bound is far above any real one.
const maxPlan = 4 << 20

// Encode renders the plan as it is saved.
func (p *Plan) Encode() ([]byte, error) {
	raw, err := yaml.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan %s: %w", p.ID, err)
	}
	return raw, nil
}

// EncodeAs renders the plan as it is saved in a file of that name: JSON where it ends
// with .json, else YAML.
func (p *Plan) EncodeAs(path string) ([]byte, error) {
	if filepath.Ext(path) != ".json" {
		return p.Encode()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("encode plan %s: %w", p.ID, err)
	}
	return b.Bytes(), nil
}

// Digest identifies the plan's content: a journal belongs to one digest.
func (p *Plan) Digest() (string, error) {
	raw, err := p.Encode()
	if err != nil {
		return "", err
	}
	return digestBytes(raw), nil
}

// FileDigest identifies the file that the plan was loaded from, as sha256sum does. Of
// a plan that was not loaded it is the digest of the content.
func (p *Plan) FileDigest() (string, error) {
	if p.file != "" {
		return p.file, nil
	}
	return p.Digest()
}

// Is refuses a plan whose file is not the one that was reviewed.
func (p *Plan) Is(digest string) error {
	have, err := p.FileDigest()
	if err != nil {
		return err
	}
	if have != digest {
		return refuse("the plan has the digest %s, not the %.80q that was asked for: it is not the content that was reviewed", have, digest).
			instead("review this one, or get the one that was reviewed")
	}
	return nil
}

// plansMade keeps what `fix plan` saved on this machine, by digest.
func plansMade(stateDir string) *Store { return &Store{stateDir, "plans-made"} }

// Issue keeps the plan as it is saved in a file of that name, so that Apply knows
// the file again.
func (p *Plan) Issue(stateDir, path string) (digest string, err error) {
	raw, err := p.EncodeAs(path)
	if err != nil {
		return "", err
	}
	return plansMade(stateDir).Put(raw)
}

// reviewed refuses a plan that a person has perhaps never seen as it is: one that was
// not saved by `fix plan` on this machine, and whose digest was not named.
func (r *run) reviewed() error {
	if r.Reviewed != "" {
		return r.plan.Is(r.Reviewed)
	}
	have, err := r.plan.FileDigest()
	if err != nil {
		return err
	}
	_, err = plansMade(r.StateDir).Get(have)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("the plan is not as `rollcall fix plan` saved it on this machine: it was changed, or made elsewhere%s", r.changedSince()).
			instead("read it whole; if it is what you want, name its digest: --digest %s", have)
	}
	return err
}

// changedSince describes what differs from the plan of that name that was made here.
func (r *run) changedSince() string {
	var made *Plan
	_, err := plansMade(r.StateDir).find(func(raw []byte) bool {
		p, err := parsePlan(raw)
		if err == nil && p.ID == r.plan.ID {
			made = p
		}
		return made != nil
	})
	if err != nil || made == nil {
		return ""
	}
	was, err := made.tree()
	if err != nil {
		return ""
	}
	is, err := r.plan.tree()
	if err != nil {
		return ""
	}
	diff := differences("", was, is)
	if len(diff) == 0 {
		return " (only comments, order or blanks differ)"
	}
	if n := len(diff); n > 3 {
		diff = append(diff[:3], fmt.Sprintf("and %d more", n-3))
	}
	return " (it differs in " + strings.Join(diff, ", ") + ")"
}

// Load reads a plan from a file, strictly: a field that is not known is an error.
func Load(path string) (*Plan, error) {
	f, err := infile.Regular(path)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	p, err := LoadFrom(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read plan %s: %w", path, err)
	}
	return p, nil
}

// LoadFrom reads a plan as Load does.
func LoadFrom(in io.Reader) (*Plan, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxPlan+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxPlan {
		return nil, fmt.Errorf("more than %d bytes", maxPlan)
	}
	return decodePlan(raw)
}

// decodePlan parses a plan and checks it whole.
func decodePlan(raw []byte) (*Plan, error) {
	p, err := parsePlan(raw)
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("check plan: %w", err)
	}
	p.file = digestBytes(raw)
	return p, nil
}

// parsePlan parses a plan and refuses a file that contains anything else, or more, than
// what is read from it.
func parsePlan(raw []byte) (*Plan, error) {
	if err := plainDocument(raw); err != nil {
		return nil, fmt.Errorf("parse plan: %w", err)
	}
	text, err := yaml.YAMLToJSONStrict(raw) // a key that is there twice is an error
	if err != nil {
		return nil, fmt.Errorf("parse plan: %w", err)
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("this is not a plan; write one with `rollcall fix plan --to FILE` (%w)", err)
	}
	have, err := tree(text)
	if err != nil {
		return nil, fmt.Errorf("parse plan: %w", err)
	}
	want, err := p.tree()
	if err != nil {
		return nil, err
	}
	if diff := differences("", want, have); len(diff) > 0 {
		return nil, fmt.Errorf("parse plan: not written as plans are: %s", strings.Join(diff[:min(3, len(diff))], ", "))
	}
	return &p, nil
}

// plainDocument refuses what a reader of the file may understand differently than a
// parser does: a second document, aliases, anchors, tags of its own.
func plainDocument(raw []byte) error {
	d := yamlnode.NewDecoder(bytes.NewReader(raw))
	var first, second yamlnode.Node
	if err := d.Decode(&first); err != nil {
		return err
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one document in the file")
	}
	return plainNode(&first)
}

func plainNode(n *yamlnode.Node) error {
	if n.Kind == yamlnode.AliasNode || n.Anchor != "" || n.Style&yamlnode.TaggedStyle != 0 {
		return fmt.Errorf("line %d: no anchors, aliases and tags in a plan", n.Line)
	}
	for _, c := range n.Content {
		if err := plainNode(c); err != nil {
			return err
		}
	}
	return nil
}

// tree is a plan's content without the form of its file.
func (p *Plan) tree() (any, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan %s: %w", p.ID, err)
	}
	return tree(text)
}

// tree parses JSON without types.
func tree(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	return v, d.Decode(&v)
}

// differences names where two contents differ, by path.
func differences(path string, a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return mapDifferences(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			var out []string
			for i := range x {
				out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
			}
			return out
		}
	default:
		if a == b {
			return nil
		}
	}
	return []string{path}
}

func mapDifferences(path string, a, b map[string]any) []string {
	keys := make([]string, 0, len(a))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var out []string
	for _, k := range keys {
		at := strings.TrimPrefix(path+"."+k, ".")
		x, inA := a[k]
		y, inB := b[k]
		if inA != inB {
			out = append(out, at)
			continue
		}
		out = append(out, differences(at, x, y)...)
	}
	return out
}

// Save writes the plan to a new file; an existing one is not overwritten.
func (p *Plan) Save(path string) error {
	raw, err := p.EncodeAs(path)
	if err != nil {
		return err
	}
	err = newfile.Bytes(path, 0o644, raw)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("save plan: %s is there already", path)
	}
	if err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	return nil
}
