package archive

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// Option says how an archive is opened.
type Option func(*options)

type options struct {
	wanted *wanted         // nil: everything
	skim   *reader.Skimmer // nil: texts are kept whole
	budget member.Budget
}

func optionsOf(list []Option) options {
	o := options{budget: member.DefaultBudget}
	for _, set := range list {
		set(&o)
	}
	return o
}

// For says what will be asked for: the first pass over a packed tar keeps that and no more.
// All else can be asked for as well, and is read again from the beginning of the tar. A
// diagnosis reads few of the logs and objects of an archive. Where no text will be asked for, the
// directories that hold nothing but logs are passed over, and no log is found.
func For(needs []evidence.Need) Option {
	w := &wanted{objects: map[evidence.Resource][]string{}}
	for _, n := range needs {
		if n.Resource.Cluster+n.Text.Cluster != "" { // its real namespace is not known yet
			n.Namespace, n.Text.Namespace, n.Text.Cluster = "", "", ""
		}
		if n.Resource.Name == "" {
			w.texts = append(w.texts, n.Text)
			continue
		}
		w.object(n.Resource, n.Namespace)
	}
	for _, i := range identities {
		w.object(i.resource, "")
	}
	return func(o *options) { o.wanted = w }
}

// Skim makes the pass over a packed tar keep only the lines of logs that a Reader
// with the skimmer's signatures will look at. It is not for a Reader that records:
// it would read every log again from the beginning of the archive.
func Skim(k *reader.Skimmer) Option {
	return func(o *options) { o.skim = k }
}

// Lean makes List return of each object what a function leaves of it: newKeep makes one for
// each list, as lean.NewDecoder().Object. It is for callers that do not record what they
// read, and is called before anything is listed.
func (s *Source) Lean(newKeep func() Keep) {
	s.newKeep = newKeep
	for _, tree := range s.nested {
		tree.Lean(newKeep)
	}
}

// Keep returns what is kept of an object of a resource.
type Keep func(evidence.Resource, map[string]any) map[string]any

// of is what is kept of an object; a nil Keep keeps everything.
func (k Keep) of(r evidence.Resource, content map[string]any) map[string]any {
	if k == nil {
		return content
	}
	return k(r, content)
}

func (s *Source) keep() Keep {
	if s.newKeep == nil {
		return nil
	}
	return s.newKeep()
}

// wanted is what is worth keeping of a packed tar.
type wanted struct {
	objects map[evidence.Resource][]string // namespaces; "" is all
	texts   []evidence.TextQuery
}

// skipDir says which directories are not looked into; nil: none.
func (w *wanted) skipDir() func(string) bool {
	if w == nil || len(w.texts) > 0 {
		return nil
	}
	return mustgather.LogsOnly
}

func (w *wanted) object(r evidence.Resource, namespace string) {
	r.Cluster = "" // the tree of the other cluster has the same names
	w.objects[r] = append(w.objects[r], namespace)
	if r == evidence.Events {
		w.objects[objectfile.EventsV1] = append(w.objects[objectfile.EventsV1], namespace)
	}
}

// entry reports whether a member is to be kept. Members of layouts that have to be proven
// are: what some of them hold is known only once all have been seen.
func (w *wanted) entry(e layout.Entry) bool {
	switch {
	case w == nil || e.Of.Kind != "" || e.PodAndContainer != "":
		return true
	case e.Class == layout.Object:
		list, ok := w.objects[e.Resource]
		return ok && (e.Namespace == "" || slices.Contains(list, "") || slices.Contains(list, e.Namespace))
	case e.Class == layout.Text:
		return slices.ContainsFunc(w.texts, func(q evidence.TextQuery) bool { return selects(q, e.Text) })
	}
	return true
}
