package fault

import (
	"maps"
	"slices"
)

// Reported is what a command says behind its last "error:": it decides what failed, and what can be behind it. Of a list
// the first one that fits counts.
type Reported struct {
	// Match is an expression, any case, for the words behind "error:".
	Match   string `json:"match"`
	Failure string `json:"failure"` // what has failed, in words
	Next    string `json:"next"`    // the command that decides
	// Causes are the faults that can be behind it, the likeliest first; none: Rollcall knows no fault for it.
	Causes []string `json:"causes,omitempty"`
	// Reason says that these words are the reason: nothing else has to be found.
	Reason bool   `json:"reason,omitempty"`
	Ref    string `json:"ref"` // repository and path of what prints it
}

// checkReported reports what is wrong with the lists of a file.
func (m *Messages) checkReported(wrong *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(m.Reported)) {
		for i, r := range m.Reported[name] {
			at := Where{"reported", name, i}
			under := func(key string) Where { return append(slices.Clone(at), key) }
			for _, field := range []struct{ key, value, hint string }{
				{"match", r.Match, "write an expression for the words behind error:"},
				{"failure", r.Failure, "write what has failed, in words"},
				{"next", r.Next, "write the reading command that decides"},
				{"ref", r.Ref, "write OWNER/NAME PATH of what prints it"},
			} {
				if field.value == "" {
					wrong.add(under(field.key), field.hint, "is missing")
				}
			}
			wrong.checkRegexp(under("match"), r.Match)
		}
	}
}

// shareReported reports messages that name a list which is not there, and lists of one name.
func (c *Catalog) shareReported() (list Problems) {
	c.reported = map[string][]Reported{}
	for _, file := range c.Messages {
		var wrong mistakes
		for _, name := range slices.Sorted(maps.Keys(file.Reported)) {
			if c.reported[name] != nil {
				wrong.add(Where{"reported", name}, "choose another name", "another list has this name")
			}
			c.reported[name] = file.Reported[name]
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	names := slices.Sorted(maps.Keys(c.reported))
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.ID)
	}
	for _, file := range c.Messages {
		var wrong mistakes
		for i, m := range file.Messages {
			if m.ReportedBy != "" && c.reported[m.ReportedBy] == nil {
				wrong.add(Where{"messages", i, "reportedBy"}, meant(m.ReportedBy, names), "no list of reported errors is called %q", m.ReportedBy)
			}
		}
		for name, entries := range file.Reported {
			for i, r := range entries {
				for j, id := range r.Causes {
					if _, ok := c.byID[id]; !ok {
						wrong.add(Where{"reported", name, i, "causes", j}, meant(id, faults), "the fault %q is not in the catalog", id)
					}
				}
			}
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	return list
}

// ReportedBy returns a list of reported errors by its name.
func (c *Catalog) ReportedBy(name string) []Reported { return c.reported[name] }
