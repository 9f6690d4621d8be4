package archive

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// Option says how an archive is opened.
type Option func(*options)

type options struct {
	wanted *wanted         // nil: everything
	skim   *reader.Skimmer // nil: texts are kept whole

	objects, texts int64 // bytes that may be kept of them, compressed
}

func optionsOf(list []Option) options {
	o := options{objects: objectBudget, texts: textBudget}
	for _, set := range list {
		set(&o)
	}
	return o
}

// For names what will be asked for. All else can be asked for as well; of a packed
// tar it is then read again from the beginning, where that what is named was kept
// by the first pass. A diagnosis reads few of the logs and objects of an archive.
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

// Lean makes List return of each object what a function leaves of it: newKeep makes one for
// each list, as lean.NewDecoder().Object. It is for those who do not write down what they
// read, and called before anything is listed. The program for the machine itself has no use
// for it, and does not link it.
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

// wanted is what is worth to be kept of a packed tar.
type wanted struct {
	objects map[evidence.Resource][]string // namespaces; "" is all
	texts   []evidence.TextQuery
}

func (w *wanted) object(r evidence.Resource, namespace string) {
	r.Cluster = "" // the tree of the other cluster has the same names
	w.objects[r] = append(w.objects[r], namespace)
	if r == evidence.Events {
		w.objects[eventsV1] = append(w.objects[eventsV1], namespace)
	}
}

// entry reports whether a member is to be kept. Members of other layouts are: what
// some of them hold is known only once all have been seen.
func (w *wanted) entry(e entry) bool {
	switch {
	case w == nil || e.of.layout != "" || e.flat != "":
		return true
	case e.class == object:
		list, ok := w.objects[e.resource]
		return ok && (e.namespace == "" || slices.Contains(list, "") || slices.Contains(list, e.namespace))
	case e.class == text:
		return slices.ContainsFunc(w.texts, func(q evidence.TextQuery) bool { return selects(q, e.text) })
	}
	return true
}
