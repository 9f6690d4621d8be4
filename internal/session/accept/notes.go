package accept

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Note is what is to be said about an entry in addition to the answer.
type Note struct {
	Warning bool
	Text    string
}

// Notes says of a whole diagnosis that was made with the list which entries expired, which
// count for longer than a year, and which accept nothing.
func (l *List) Notes(d *diagnosis.Diagnosis) []Note {
	var list []Note
	elsewhere := 0
	for i := range l.entries {
		e := &l.entries[i]
		switch {
		case e.expired(d.Now):
			list = append(list, Note{true, fmt.Sprintf("%s expired %s ago, with the end of %s: it no "+
				"longer counts", e, fault.Span(d.Now.Sub(e.end())), e.Until.Format(time.DateOnly))})
			continue
		case e.Until.After(d.Now.AddDate(1, 0, 0)):
			list = append(list, Note{true, fmt.Sprintf("%s counts until %s, which is more than a year ahead", e, e.Until.Format(time.DateOnly))})
		}
		switch {
		case e.of(d.Cluster.ID):
			if why := e.unused(d); why != "" {
				list = append(list, Note{false, fmt.Sprintf("%s accepts nothing here: %s", e, why)})
			}
		case d.Cluster.ID == "":
			list = append(list, Note{false, fmt.Sprintf("%s accepts nothing here: it is for cluster %s, and which cluster this is could "+
				"not be read", e, e.Cluster)})
		default:
			elsewhere++
		}
	}
	if elsewhere > 0 {
		list = append(list, Note{false, fmt.Sprintf("entries for other clusters than %s, which do not count here: %d", d.Cluster.ID, elsewhere)})
	}
	return list
}

// unnamed is the subject of a fault whose subjects could not be listed
// (fault.Unnamed).
const unnamed = "?"

// unused says why an entry accepts no finding, "" where it does.
func (e *entry) unused(d *diagnosis.Diagnosis) string {
	checked, unknown, waiting := false, false, false
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Fault != e.Fault {
			continue
		}
		checked = true
		if !e.Subject.matches(f.Subject) && !slices.ContainsFunc(f.Others, e.Subject.matches) && f.Subject.Name != unnamed {
			continue
		}
		switch {
		case f.Outcome == fault.Present:
			return ""
		case f.Outcome == fault.Unknown:
			unknown = true
		case f.Waiting():
			waiting = true
		}
	}
	switch {
	case !checked:
		return "this fault was not checked"
	case unknown:
		return "whether this fault is present is unknown"
	case waiting:
		return "this fault is not present yet, what is there is normal so far"
	}
	return "no such fault is present"
}
