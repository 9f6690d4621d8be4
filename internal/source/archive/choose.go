package archive

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// Choose is List for who shows objects: of the one of that name, with at least the fields that are
// asked for. It opens no file of another object, and decodes little else.
func (s *Source) Choose(ctx context.Context, r evidence.Resource, namespace string, choice objectfile.Choice) ([]evidence.Object, error) {
	if s.manifest != nil || r == evidence.NamedHosts {
		list, err := s.listRecorded(ctx, r, namespace)
		if choice.Name != "" {
			list = slices.DeleteFunc(slices.Clone(list), func(o evidence.Object) bool { return o.Name != choice.Name })
		}
		return list, err
	}
	c := s.newListing(evidence.Objects(r, namespace))
	if c.choice = choice; len(choice.Fields) > 0 {
		c.choice.Known = c.known
	}
	list, err := s.answer(ctx, c)
	if len(list) > 0 || c.skipped == 0 {
		return list, err
	}
	others := c.skipped
	c = s.newListing(evidence.Objects(r, namespace)) // perhaps in a file of another name
	c.choice, c.every = choice, true
	list, err = s.answer(ctx, c)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotCollected && len(list) == 0 {
		one := *u
		one.Detail = fmt.Sprintf("it is not among the %d of its kind that are there; the archive has no list that shows whether it existed", others)
		return nil, &one
	}
	return list, err
}

// listRecorded is List; of a collection whose run asked for some namespaces only it has these together.
func (s *Source) listRecorded(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	var spaces []string
	if s.manifest != nil && namespace == "" {
		for _, o := range s.manifest.Objects {
			if o.Resource == r.String() {
				spaces = append(spaces, o.Namespace)
			}
		}
	}
	if len(spaces) == 0 || slices.Contains(spaces, "") {
		return s.List(ctx, r, namespace)
	}
	var all []evidence.Object
	why := []string{"the run that was recorded asked for the namespaces " + strings.Join(spaces, ", ") + " only"}
	for _, ns := range spaces {
		list, err := s.List(ctx, r, ns)
		if u, ok := evidence.AsUnavailable(err); ok {
			why, err = append(why, u.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	need := evidence.Objects(r, "")
	return all, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: few(why), Supply: generalSupply(need)}
}

// known reports whether an object of which the metadata is given was read already, in this version. A
// must-gather has each pod in a List and in a file of its own.
func (c *listing) known(head map[string]any) bool {
	i, ok := c.at[[2]string{evidence.String(head, "metadata", "namespace"), evidence.String(head, "metadata", "name")}]
	if !ok {
		return false
	}
	same := func(field string) bool {
		have := evidence.String(c.found[i].object.Content, "metadata", field)
		return have != "" && have == evidence.String(head, "metadata", field)
	}
	return same("uid") && same("resourceVersion")
}

// skips reports whether a file is one of another object than that which is asked for.
func (c *listing) skips(e *layout.Entry) bool {
	if c.choice.Name == "" || c.every || e.List || e.Mixed || e.Free || e.Make != nil {
		return false
	}
	stem, ok := layout.ObjectFile(path.Base(e.File.Path))
	return ok && stem != c.choice.Name
}

// Resources are those of which there is something in the archive, sorted: what the API serves, not
// what Rollcall asks for itself.
func (s *Source) Resources() []evidence.Resource {
	var list []evidence.Resource
	for r := range s.ix.Objects {
		list = append(list, r)
	}
	if s.manifest != nil {
		list = nil
		for _, o := range s.manifest.Objects {
			name, cluster, _ := strings.Cut(o.Resource, "@")
			name, group, _ := strings.Cut(name, ".")
			list = append(list, evidence.Resource{Group: group, Name: name, Cluster: cluster})
		}
	}
	list = slices.DeleteFunc(list, func(r evidence.Resource) bool { return r.Group == evidence.ProbeGroup || r.Name == "" })
	slices.SortFunc(list, func(a, b evidence.Resource) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cluster, b.Cluster))
	})
	return slices.Compact(list)
}
