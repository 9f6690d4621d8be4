package ssh

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Source is that of the hosts that were asked. What each collected is an archive, and a source of its own; this one
// knows who gave nothing: what only these can show is missing, which is not the same as that nothing is wrong with them.
type Source struct {
	names  []string
	silent []Result
}

var _ evidence.Source = (*Source)(nil)

// NewSource returns the source of results, after what they collected was read.
func NewSource(results []Result) *Source {
	s := &Source{}
	for _, r := range results {
		s.names = append(s.names, cmp.Or(r.Machine, r.Target.Label()))
		if r.Problem != nil {
			s.silent = append(s.silent, r)
		}
	}
	return s
}

// shownNames is how many hosts the name of the source has.
const shownNames = 4

// Describe implements evidence.Source. Each host that gave nothing is in the coverage.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	names := s.names
	if n := len(names) - shownNames; n > 0 {
		names = append(slices.Clone(names[:shownNames]), fmt.Sprintf("and %d more", n))
	}
	d := evidence.Description{Kind: "host", Name: strings.Join(names, ", ")}
	for _, r := range s.silent {
		d.Notes = append(d.Notes, evidence.Coverage{Need: evidence.RunOnHost + r.Target.Label(), State: evidence.Missing, Why: evidence.Unreachable,
			Reason: r.Problem.What, Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: r.Target.Label()}})
	}
	return d, nil
}

// List implements evidence.Source: the parts of the hosts that answered are in sources of their own. That others are
// missing is in the description: it takes no answer of another host away.
func (s *Source) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	return nil, notHere(evidence.Objects(r, namespace))
}

// Texts implements evidence.Source, as List does.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, notHere(evidence.Texts(q))
}

func notHere(n evidence.Need) *evidence.Unavailable {
	return &evidence.Unavailable{Need: n, Why: evidence.NotCollected, Detail: "the machine itself does not have it"}
}
