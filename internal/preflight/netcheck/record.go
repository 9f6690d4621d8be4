package netcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// The file that another machine writes, and that is read here.
const (
	fileKind = "NetworkAnswers"
	maxFile  = 8 << 20
	// maxAnswers bounds what a file may hold: a plan of 500 hosts has some 1,100.
	maxAnswers = 4096
)

// file is what answers look like in a file.
type file struct {
	APIVersion string                     `json:"apiVersion"`
	Kind       string                     `json:"kind"`
	Answers    map[string]probe.NetAnswer `json:"answers"`
}

// Write writes answers so that Read reads them.
func Write(w io.Writer, answers []evidence.Object) error {
	f := file{APIVersion: evidence.ProbeGroup + "/v1alpha1", Kind: fileKind, Answers: map[string]probe.NetAnswer{}}
	for _, o := range answers {
		a, err := evidence.Decode[probe.NetAnswer](o)
		if err != nil {
			return fmt.Errorf("write answer %s: %w", o.Name, err)
		}
		f.Answers[o.Name] = a
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}

// Read reads what Write wrote on another machine. The file is foreign: it is bounded, and
// answers have no names but those that follow from their questions.
func Read(in io.Reader) ([]evidence.Object, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("it has more than %d MiB", maxFile>>20)
	}
	if raw, err = yamlin.ToJSON(raw, maxFile); err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	var f file
	if err := yaml.UnmarshalStrict(raw, &f); err != nil {
		return nil, fmt.Errorf("it is not what rollcall-host preflight writes: %w", err)
	}
	switch {
	case f.Kind != fileKind:
		return nil, fmt.Errorf("its kind is %q and not %s", f.Kind, fileKind)
	case len(f.Answers) > maxAnswers:
		return nil, fmt.Errorf("it has more than %d answers", maxAnswers)
	}
	var answers []probe.NetAnswer
	for _, a := range f.Answers {
		answers = append(answers, a)
	}
	return objects(answers)
}

// Machines keeps apart machines that have one name, such as hosts of the live ISO, which are all
// localhost: each list of answers is of another machine.
type Machines struct{ taken map[string]bool }

// Named returns the answers of one list with names of machines that no list before has.
func (m *Machines) Named(list []evidence.Object) ([]evidence.Object, error) {
	if m.taken == nil {
		m.taken = map[string]bool{}
	}
	names := map[string]string{}
	var all []probe.NetAnswer
	for _, o := range list {
		a, err := evidence.Decode[probe.NetAnswer](o)
		if err != nil {
			return nil, fmt.Errorf("read answer %s: %w", o.Name, err)
		}
		if names[a.Vantage] == "" {
			names[a.Vantage] = m.free(a.Vantage)
		}
		a.Vantage = names[a.Vantage]
		all = append(all, a)
	}
	for _, name := range names {
		m.taken[name] = true
	}
	return objects(all)
}

func (m *Machines) free(name string) string {
	for n := 2; m.taken[name]; n++ {
		if other := fmt.Sprintf("%s (%d)", name, n); !m.taken[other] {
			return other
		}
	}
	return name
}

// Over returns a source that has answers besides what another one has.
func Over(s evidence.Source, answers []evidence.Object, vantage string) evidence.Source {
	return over{s, answers, vantage}
}

type over struct {
	evidence.Source
	answers []evidence.Object
	vantage string
}

// Describe implements evidence.Source.
func (o over) Describe(ctx context.Context) (evidence.Description, error) {
	d, err := o.Source.Describe(ctx)
	d.Vantage = o.vantage
	return d, err
}

// List implements evidence.Source.
func (o over) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r == evidence.NetProbes {
		return o.answers, nil
	}
	return o.Source.List(ctx, r, namespace)
}
