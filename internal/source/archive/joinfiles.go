package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
)

// assumed is the reason for files that nothing proves to be of one cluster.
const assumed = "no cluster ID, and nothing that contradicts the other files: read as one cluster with them"

// fileSet has the objects of files that were named one by one, to compare those that
// several files have, or refer to.
type fileSet struct{ known map[string]objectID }

// objectID tells an object from another one of the same name.
type objectID struct {
	source  *Source
	uid     string
	created time.Time
}

func newFileSet() *fileSet { return &fileSet{known: map[string]objectID{}} }

// only reports whether s and all archives before it are files in no layout.
func (f *fileSet) only(before []*Source, s *Source) bool {
	return s.kind == loose.Kind && !slices.ContainsFunc(before, func(o *Source) bool { return o.kind != loose.Kind })
}

// add adds the objects of a file. Two objects of one name in two files prove two clusters:
// their UIDs differ or, where one of the two has none, the times of their creation. Two
// versions of one object are of two moments of one cluster. In files that are proven to be
// of one cluster the object was deleted and re-created.
func (f *fileSet) add(ctx context.Context, s *Source, proven bool) error {
	if s.kind != loose.Kind {
		return nil
	}
	byName := func(a, b evidence.Resource) int { return strings.Compare(a.String(), b.String()) }
	for _, r := range slices.SortedFunc(maps.Keys(s.ix.Objects), byName) { // the same difference is named each time
		list, err := listed(ctx, s, r, "")
		if err != nil {
			return err
		}
		for _, o := range list {
			id := objectID{s, evidence.String(o.Content, "metadata", "uid"), o.Created()}
			if proven {
				f.known[keyOf(r, strings.Trim(o.Namespace+"/"+o.Name, "/"))] = id
				continue
			}
			if err := f.same(r, strings.Trim(o.Namespace+"/"+o.Name, "/"), id); err != nil {
				return err
			}
			if uid := versionOf(o); uid != "" {
				if err := f.same(evidence.ClusterVersions, "version", objectID{source: s, uid: uid}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// versionOf returns the UID of the ClusterVersion that owns an object: the
// ClusterOperators have it (openshift/cluster-version-operator:pkg/cvo/internal/operatorstatus.go,
// lib/resourceapply/cv.go).
func versionOf(o evidence.Object) string {
	owners, _ := evidence.Field(o.Content, "metadata", "ownerReferences").([]any)
	for _, raw := range owners {
		if m, ok := raw.(map[string]any); ok && evidence.String(m, "kind") == "ClusterVersion" && evidence.String(m, "name") == "version" {
			return evidence.String(m, "uid")
		}
	}
	return ""
}

func (f *fileSet) same(r evidence.Resource, name string, id objectID) error {
	key := keyOf(r, name)
	was, ok := f.known[key]
	if !ok {
		f.known[key] = id
		return nil
	}
	why := ""
	switch {
	case was.source == id.source:
	case was.uid != "" && id.uid != "" && was.uid != id.uid:
		why = fmt.Sprintf("the UID of %s %s is %s in the one and %s in the other", r.Name, name, was.uid, id.uid)
	case was.uid != "" && id.uid != "":
	case !was.created.IsZero() && !id.created.IsZero() && !was.created.Equal(id.created):
		why = fmt.Sprintf("%s %s was created at %s in the one and at %s in the other", r.Name, name,
			was.created.UTC().Format(time.RFC3339), id.created.UTC().Format(time.RFC3339))
	}
	if why != "" {
		return &SeveralClustersError{was.source.name, id.source.name, "they are of different clusters: " + why}
	}
	return nil
}

func keyOf(r evidence.Resource, name string) string { return r.String() + " " + name }
