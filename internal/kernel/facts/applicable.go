package facts

import (
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// ErrNotApplicable says that the fact does not apply to the subject.
var ErrNotApplicable = errors.New("not applicable")

// notApplicable is an ErrNotApplicable with its reason and what shows it.
type notApplicable struct {
	why   string
	proof []evidence.Item
}

func (n *notApplicable) Error() string        { return ErrNotApplicable.Error() + ": " + n.why }
func (n *notApplicable) Is(target error) bool { return target == ErrNotApplicable }

// NotApplicable returns an ErrNotApplicable with its reason. It is a claim from silence:
// nothing that was read gives the fact a meaning. World.Compute makes the fact unknown
// where something that the computation read was not read whole.
func NotApplicable(format string, args ...any) error {
	return &notApplicable{why: fmt.Sprintf(format, args...)}
}

// Excluded returns an ErrNotApplicable that something shows: a platform that has no such
// thing. It holds whatever else was not read.
func Excluded(shown evidence.Item, format string, args ...any) error {
	return &notApplicable{why: fmt.Sprintf(format, args...), proof: []evidence.Item{shown}}
}

// asUnknown returns an error of a computation as it may be said: that a fact does not apply is
// unknown where nothing shows it and not all was read.
func asUnknown(err, gap error) error {
	n, ok := errors.AsType[*notApplicable](err)
	if ok && len(n.proof) == 0 && gap != nil {
		return gap
	}
	return err
}

// WhyNot returns why a fact does not apply to its subject, and what shows it; ok is false
// where it has one.
func (v Value) WhyNot() (why string, shown []evidence.Item, ok bool) {
	n, ok := errors.AsType[*notApplicable](v.Err)
	if !ok {
		return "", nil, false
	}
	return n.why, n.proof, true
}
