package repair

import (
	"context"
	"slices"
)

// GuardName names a precondition: one of guards.
type GuardName string

// Guard is a typed precondition with its parameters.
type Guard struct {
	Guard   GuardName `json:"guard"`
	Subject string    `json:"subject,omitempty"`
	Count   int       `json:"count,omitempty"`
}

// guardKind is all there is to know about one precondition.
type guardKind struct {
	name GuardName
	// look returns what it saw, or a *Refused; a read that fails is a refusal as well.
	look func(ctx context.Context, e env, s Step, g Guard) (string, error)
	// rights are what it reads in addition to commonRights.
	rights []Access
}

func guardOf(name GuardName) (guardKind, bool) {
	list := guards()
	i := slices.IndexFunc(list, func(g guardKind) bool { return g.name == name })
	if i < 0 {
		return guardKind{}, false
	}
	return list[i], true
}

// look evaluates the guard, which the form of the plan has shown to exist.
func (g Guard) look(ctx context.Context, e env, s Step) (string, error) {
	kind, ok := guardOf(g.Guard)
	if !ok {
		return "", refuse("there is no guard %q", g.Guard)
	}
	return kind.look(ctx, e, s, g)
}

// covers reports whether a plan's guard is at least as strict as the mandatory one.
func (g Guard) covers(must Guard) bool {
	return g.Guard == must.Guard && g.Subject == must.Subject && g.Count >= must.Count
}

// guardRights are what a guard reads.
func guardRights(name GuardName) []Access {
	kind, _ := guardOf(name)
	return kind.rights
}
