package diagnose

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// since sets when the condition began.
func (v *evaluation) since(out *diagnosis.Finding) error {
	if v.tested.fault.Since == "" {
		return nil
	}
	var err error
	out.Since, v.hidden, err = v.timeOf(v.tested.fault.Since)
	return err
}

// settles turns a condition that is still normal into an absent fault with a
// deadline. Where it is not known since when it holds, the age of its object or of the
// installation bounds it: it holds no longer than these exist. Where that is not known
// either, or what would make it a fault even now, it is unknown whether this is one.
func (v *evaluation) settles(out *diagnosis.Finding, w *facts.World) error {
	s := v.tested.fault.Settles
	if s == nil {
		return nil
	}
	var open fault.Result
	if s.Unless != "" {
		var err error
		if open, err = v.eval(s.Unless); err != nil || open.Known() && open.True() {
			return err
		}
	}
	since, hidden := out.Since, v.hidden
	if s.Since != "" {
		var err error
		if since, hidden, err = v.timeOf(s.Since); err != nil {
			return err
		}
	}
	if since.IsZero() {
		since = w.Installed
		if s.Earliest != "" {
			at, _, err := v.timeOf(s.Earliest)
			if err != nil {
				return err
			}
			if w.Now.Before(at.Add(s.Within.Duration)) {
				since, hidden = at, nil
			}
		}
	}
	until := since.Add(s.Within.Duration)
	switch {
	case len(hidden) > 0 && !since.IsZero() && !w.Now.Before(until):
		out.Outcome, out.Unsettled, out.Missing = fault.Unknown, true, v.missing(hidden)
		out.Reason = fmt.Sprintf("the condition holds, but since when was not read; for the first %s it is normal: %s", s.Within.Duration,
			v.bound.reason(hidden))
	case since.IsZero():
		out.Outcome, out.Unsettled = fault.Unknown, true
		out.Reason = fmt.Sprintf("the condition holds, but since when is not known; for the first %s it is normal", s.Within.Duration)
	case !w.Now.Before(until):
	case s.Unless != "" && !open.Known():
		out.Outcome, out.Unsettled, out.Missing = fault.Unknown, true, v.missing(open.Unknown)
		out.Reason = fmt.Sprintf("the condition holds; until %s it may be normal: %s", until.UTC().Format(time.RFC3339), v.bound.reason(open.Unknown))
	case s.Unless != "" && v.notWhole(s.Unless) != "":
		out.Outcome, out.Unsettled, out.Missing = fault.Unknown, true, v.missing([]string{v.notWhole(s.Unless)})
		out.Reason = fmt.Sprintf("the condition holds; until %s it may be normal: %s", until.UTC().Format(time.RFC3339), v.gapReason(v.notWhole(s.Unless)))
	case w.AtLeast && (w.ReadBy.IsZero() || !w.ReadBy.Before(until)):
		out.Outcome, out.Unsettled = fault.Unknown, true
		out.Reason = fmt.Sprintf("the condition holds; until %s it may be normal, and when this was read is not known: give the time with --now",
			until.UTC().Format(time.RFC3339))
	default:
		out.Outcome, out.Until = fault.Absent, until
		out.Reason = "normal until " + until.UTC().Format(time.RFC3339)
	}
	return nil
}

// notWhole returns the first variable of an expression whose fact did not read everything,
// "" where all did. A count of such a fact is at least what was found: that it is not above
// a bound does not say that nothing speaks against "normal". Whatever else is known is known
// by its own evidence (facts.Field).
func (v *evaluation) notWhole(expr string) string {
	p, err := v.engine.compiler.Compile(v.tested.fault, expr)
	if err != nil {
		return "" // eval has reported it
	}
	for i, name := range v.tested.given {
		if v.counts(name, p.Selects[name]) && v.bound.values[i].Gap() != nil {
			return name
		}
	}
	return ""
}

// counts reports whether one of the fields of a variable is a number or a list.
func (v *evaluation) counts(variable string, fields []string) bool {
	countable := []reflect.Kind{reflect.Int, reflect.Int32, reflect.Int64, reflect.Slice}
	return slices.ContainsFunc(v.engine.facts[v.tested.fault.Given[variable].Fact].Fields, func(f fault.FieldType) bool {
		return slices.Contains(fields, f.Name) && slices.Contains(countable, f.Type.Kind())
	})
}

func (v *evaluation) gapReason(variable string) string {
	i := slices.Index(v.tested.given, variable)
	return v.bound.given[variable].Fact + ": " + v.bound.values[i].Gap().Error()
}

// timeOf evaluates an expression that gives a time: zero where it gives none that can be one
// of a cluster. Where it gives none because something of the evidence is there and was not
// read, hidden names it: an age must not be taken from something else then.
func (v *evaluation) timeOf(expr string) (at time.Time, hidden []string, err error) {
	if expr == "" {
		return time.Time{}, nil, nil
	}
	r, err := v.eval(expr)
	switch {
	case err != nil:
		return time.Time{}, nil, err
	case r.Known() && evidence.Plausible(r.Time()) && r.Time().Unix() > 0:
		return r.Time(), nil, nil
	case r.Known():
		return time.Time{}, nil, nil
	}
	return time.Time{}, v.unreadNames(r.Unknown, evidence.Why.MayHideObjects), nil
}

// unreadNames returns those of the unknown names whose evidence is there and was not read: an object
// lacks some of its fields, or the reason is one of those that count.
func (v *evaluation) unreadNames(names []string, counts func(evidence.Why) bool) []string {
	var hidden []string
	for _, name := range names {
		if u, ok := evidence.AsUnavailable(v.bound.why(name)); ok && (u.Fields || counts(u.Why)) {
			hidden = append(hidden, name)
		}
	}
	return hidden
}
