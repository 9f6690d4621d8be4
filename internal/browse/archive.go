package browse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// Archive is what was opened to be looked at. Its sources stay those of the caller.
type Archive struct {
	sources []evidence.Source
	clean   *sanitize.Sanitizer
	now     time.Time
	kind    string // "must-gather"
	name    string
}

// Open returns an archive of sources. now is its time, the newest in it where that is zero.
func Open(ctx context.Context, sources []evidence.Source, now time.Time) (*Archive, error) {
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	a := &Archive{sources: sources, clean: clean, now: now}
	d, err := reader.New(nil, clean, nil, reader.Limits{}, sources...).Describe(ctx)
	if err != nil {
		return nil, err
	}
	if a.kind, a.name = d.Kind, d.Name; a.now.IsZero() && !d.ByClock {
		a.now = d.Now
	}
	return a, nil
}

// chooser is a source that reads no more than what is asked for.
type chooser interface {
	Choose(ctx context.Context, r evidence.Resource, namespace string, choice objectfile.Choice) ([]evidence.Object, error)
}

// chosen is a source of which one object, or a few fields, are read.
type chosen struct {
	evidence.Source
	choice objectfile.Choice
}

// List implements evidence.Source.
func (c chosen) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if s, ok := c.Source.(chooser); ok {
		return s.Choose(ctx, r, namespace, c.choice)
	}
	return c.Source.List(ctx, r, namespace)
}

// list reads objects, sanitized. The Unavailable says why they are not all, nil where they are.
func (a *Archive) list(ctx context.Context, r evidence.Resource, namespace string, choice objectfile.Choice) (
	[]evidence.Object, *evidence.Unavailable, error,
) {
	sources := make([]evidence.Source, len(a.sources))
	for i, s := range a.sources {
		sources[i] = chosen{s, choice}
	}
	from := reader.New(nil, a.clean, nil, reader.Limits{}, sources...)
	list, err := from.List(ctx, r, namespace)
	if u, ok := evidence.AsUnavailable(err); ok {
		return nil, u, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if choice.Name != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(o evidence.Object) bool { return o.Name != choice.Name })
	}
	return list, from.Partial(ctx, r, namespace), nil
}

// resources are those of which there is something in the archive.
func (a *Archive) resources() []evidence.Resource {
	var list []evidence.Resource
	for _, s := range a.sources {
		if s, ok := s.(interface{ Resources() []evidence.Resource }); ok {
			list = append(list, s.Resources()...)
		}
	}
	return list
}

// UnknownKindError says that no kind has such a name.
type UnknownKindError struct{ Word, Archive, Hint string }

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("there is no kind %q: neither a kind that is known nor one of which there is something in the %s%s", e.Word, e.Archive, e.Hint)
}

// Find returns the kind that a word stands for: a kind that is known, a kind of which there is
// something in the archive, or one whose definition is in it.
func (a *Archive) Find(ctx context.Context, word string) (Kind, error) {
	there := a.resources()
	inArchive := func(r evidence.Resource) (evidence.Resource, bool) {
		i := slices.IndexFunc(there, func(have evidence.Resource) bool { return have.In("") == r })
		if i < 0 {
			return r, false
		}
		return there[i], true
	}
	var known []Kind
	for _, k := range Kinds() {
		if !k.named(word) {
			continue
		}
		var ok bool
		if k.Resource, ok = inArchive(k.Resource); ok {
			return k, nil
		}
		known = append(known, k)
	}
	if len(known) > 0 {
		return known[0], nil
	}
	for _, r := range there {
		if k := (Kind{Resource: r}); k.named(word) || k.named(plural(word)) {
			return a.defined(ctx, k)
		}
	}
	k, err := a.definedAs(ctx, word)
	if err != nil || k.Resource.Name != "" {
		k.Resource, _ = inArchive(k.Resource)
		return k, err
	}
	names := Names()
	for _, r := range there {
		names = append(names, r.Name)
	}
	return Kind{}, &UnknownKindError{Word: word, Archive: a.kind, Hint: suggest.DidYouMean(strings.ToLower(word), names)}
}

// plural is the plural of a word, as the names of kinds are made.
func plural(word string) string {
	word, group, _ := strings.Cut(strings.ToLower(word), ".")
	if r, ok := objectfile.ResourceOf("v1", word); ok {
		word = r.Name
	}
	return strings.TrimSuffix(word+"."+group, ".")
}

// Query is what is asked for.
type Query struct {
	Kind      Kind
	Name      string // "": all
	Namespace string // "": all
	Selector  string // of labels; "": any
	Whole     bool   // all fields, not only those of the table
	Wide      bool   // also the columns of -o wide

	FieldSelector string // such as spec.nodeName=w0; "": any
	SortBy        string // a JSONPath; "": as they lie, events by their time
	ShowLabels    bool   // also a column with the labels
	Columns       string // NAME:PATH,... instead of the kind's own; "": these
}

// Found is what an archive has of it.
type Found struct {
	Query   Query
	Objects []evidence.Object
	Why     *evidence.Unavailable // why these are not all; nil: they are

	columns []column
}

// Get reads the objects of a query.
func (a *Archive) Get(ctx context.Context, q Query) (Found, error) {
	which, err := q.choice()
	if err != nil {
		return Found{}, err
	}
	f := Found{Query: q}
	if f.columns, err = q.columns(); err != nil {
		return Found{}, err
	}
	choice := objectfile.Choice{Name: q.Name}
	if read := append(fieldsOf(f.columns), which.reads()...); !q.Whole && !slices.Contains(read, "") {
		choice.Fields = objectfile.FieldsOf(read...)
	}
	if q.Kind.Cluster {
		f.Query.Namespace = ""
	}
	f.Objects, f.Why, err = a.list(ctx, q.Kind.Resource, f.Query.Namespace, choice)
	if err != nil {
		return f, err
	}
	f.Objects = which.of(f.Objects)
	if q.Kind.Resource.In("") == evidence.Events && q.SortBy == "" {
		slices.SortStableFunc(f.Objects, func(x, y evidence.Object) int { return lastSeen(x.Content).Compare(lastSeen(y.Content)) })
	}
	return f, nil
}

// always are the fields that tell objects and their copies apart.
var always = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp",
}

// fieldsOf are the fields that columns read.
func fieldsOf(columns []column) []string {
	list := slices.Clone(always)
	for _, c := range columns {
		list = append(list, c.fields...)
	}
	return list
}

// ErrNotFound says that the archive proves that an object is not there.
var ErrNotFound = errors.New("not found")

// Missing says what of an answer is not there, nil where all is.
func (a *Archive) Missing(f Found) error {
	what := f.Query.Kind.Resource.In("").String()
	if f.Query.Name != "" {
		what += " " + f.Query.Name
	}
	if f.Query.Namespace != "" {
		what += " -n " + f.Query.Namespace
	}
	switch {
	case f.Why != nil && len(f.Objects) > 0:
		return &NotAllError{fmt.Sprintf("not all %s of the %s are here: %s", what, a.kind, reason(f.Why))}
	case f.Why != nil:
		return &NotAllError{fmt.Sprintf("%s: %s", what, reason(f.Why))}
	case len(f.Objects) == 0 && f.Query.Name != "":
		return fmt.Errorf("%s: %w: the %s has the list, and it is not in it", what, ErrNotFound, a.kind)
	}
	return nil
}

// reason is why something could not be read.
func reason(u *evidence.Unavailable) string {
	if u.Detail == "" {
		return string(u.Why)
	}
	return string(u.Why) + ": " + u.Detail
}

// NotAllError says that something was not collected, or could not be read: what is there is not known.
type NotAllError struct{ What string }

// Error implements error.
func (e *NotAllError) Error() string { return e.What }

// Needs are what will be asked for kinds: for who opens an archive that can be read only once. A word
// that is no known kind may be defined in the archive.
func Needs(words []string) []evidence.Need {
	var needs []evidence.Need
	for _, word := range words {
		known := false
		for _, k := range Kinds() {
			if k.named(word) {
				known = true
				needs = append(needs, evidence.Objects(k.Resource, ""))
			}
		}
		if !known {
			return nil // everything
		}
	}
	return needs
}
