package namedhost

import "github.com/rollcall-project/rollcall/internal/kernel/evidence"

// System is a system that OpenShift does not run on, as a journal shows it.
type System struct {
	Name   string `json:"name"`   // the distribution
	Kernel string `json:"kernel"` // its version
	Path   string `json:"path"`   // of the journal
	Line   int    `json:"line"`   // that shows it
}

// Other is a machine whose journal shows that it is no host of a cluster.
type Other struct {
	Name   string
	System System
	Loc    evidence.Locator
}

// Others returns the machines that run another system, of all that journals name.
func Others(list []evidence.Object) []Other {
	var others []Other
	for _, o := range list {
		n, err := Of(o)
		if err != nil || n.Other == nil || n.Kubelet != nil {
			continue
		}
		loc := o.Loc
		loc.Path, loc.Line = n.Other.Path, n.Other.Line
		others = append(others, Other{Name: n.Name, System: *n.Other, Loc: loc})
	}
	return others
}
