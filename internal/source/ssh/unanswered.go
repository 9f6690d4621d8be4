package ssh

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Unanswered is the source of the hosts that were asked and gave nothing: what only they can show is missing, which is
// not the same as that nothing is wrong with them.
type Unanswered struct{ results []Result }

var _ evidence.Source = (*Unanswered)(nil)

// NewUnanswered returns the source of results with a problem; nil where each host answered.
func NewUnanswered(results []Result) *Unanswered {
	u := &Unanswered{}
	for _, r := range results {
		if r.Problem != nil {
			u.results = append(u.results, r)
		}
	}
	if len(u.results) == 0 {
		return nil
	}
	return u
}

// Describe implements evidence.Source. Each host is in the coverage.
func (u *Unanswered) Describe(context.Context) (evidence.Description, error) {
	d := evidence.Description{Kind: "hosts", Name: "over ssh"}
	for _, r := range u.results {
		d.Notes = append(d.Notes, evidence.Coverage{Need: "rollcall-host on " + r.Target.Label(), State: evidence.Missing, Why: evidence.Unreachable,
			Reason: r.Problem.What, Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: r.Target.Label()}})
	}
	return d, nil
}

// List implements evidence.Source.
func (u *Unanswered) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	if !evidence.IsOnHost(r.String()) {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "a host does not have it"}
	}
	return nil, u.unavailable(need)
}

// Texts implements evidence.Source.
func (u *Unanswered) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if q.Kind == evidence.Journal {
		return nil, u.unavailable(evidence.Texts(q))
	}
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "a host does not have it"}
}

func (u *Unanswered) unavailable(n evidence.Need) *evidence.Unavailable {
	var each []string
	for i, r := range u.results {
		if i == 3 {
			each = append(each, fmt.Sprintf("and %d more", len(u.results)-i))
			break
		}
		each = append(each, r.Target.Label()+": "+r.Problem.What)
	}
	return &evidence.Unavailable{Need: n, Why: evidence.Unreachable, Detail: "over ssh; " + strings.Join(each, "; "),
		Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: u.results[0].Target.Label()}}
}
