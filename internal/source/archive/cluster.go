package archive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/sosreport"
)

// oneCluster fails when the archive has objects of different clusters, because they cannot
// be told apart afterwards. It compares what a cluster has once (identities) between the
// roots, and between files in no layout. What has no identity goes with any.
func (s *Source) oneCluster(ctx context.Context) error {
	places, err := s.places(ctx)
	if err != nil {
		return err
	}
	var proved identity
	for _, where := range slices.Sorted(maps.Keys(places)) {
		id := places[where]
		if _, different := apart(proved, id); different {
			return s.severalClusters(places)
		}
		proved = proved.with(id)
	}
	return nil
}

// OfCluster returns the kind of an archive that is of a whole cluster, "" where it is of one machine, of single files or
// of a part that nothing shows to be more.
func (s *Source) OfCluster(ctx context.Context) (kind string, err error) {
	if s.kind == loose.Kind || s.kind == sosreport.Kind {
		return "", nil
	}
	if _, machine, err := s.machineOf(ctx); machine || err != nil {
		return "", err
	}
	if s.kind == mustgather.Inspect || s.kind == mustgather.Tree {
		if len(s.ix.Objects[evidence.ClusterVersions])+len(s.ix.Objects[evidence.Nodes]) == 0 {
			return "", nil
		}
	}
	return s.kind, nil
}

// places returns the identities in the archive, by root or file.
func (s *Source) places(ctx context.Context) (map[string]identity, error) {
	places := map[string]identity{}
	for i, q := range identities {
		if q.name == "" {
			continue
		}
		files := s.ix.Objects[q.resource]
		for k := range files {
			e := &files[k]
			if !e.List && !e.Mixed && !strings.HasPrefix(path.Base(e.File.Path), q.name+".") {
				continue // the file of another object
			}
			c := s.newListing(evidence.Objects(q.resource, ""))
			if err := s.readEntry(ctx, e, c); err != nil {
				return nil, err
			}
			for _, f := range c.found {
				v := evidence.String(f.object.Content, q.path...)
				if v == "" || f.object.Name != q.name {
					continue
				}
				where := placeOf(*e)
				if places[where] == nil {
					places[where] = make(identity, len(identities))
				}
				places[where][i] = append(places[where][i], v)
			}
		}
	}
	return places, nil
}

// placeOf is where an entry was found, as users write it.
func placeOf(e layout.Entry) string {
	if e.Free {
		return e.File.Path
	}
	return cmp.Or(strings.TrimSuffix(e.Root, "/"), ".")
}

// severalClusters says which clusters there are, by the strongest identity that
// tells them apart.
func (s *Source) severalClusters(places map[string]identity) error {
	for i, q := range identities {
		first := map[string]string{} // value -> where
		for _, where := range slices.Sorted(maps.Keys(places)) {
			for _, v := range places[where][i] {
				if first[v] == "" {
					first[v] = fmt.Sprintf("%q in %s", v, where)
				}
			}
		}
		if len(first) < 2 {
			continue
		}
		wayOut := "name the directory of one of them; a line for each: rollcall fleet --archives " + shellcommand.Quote(s.name)
		if s.kind == loose.Kind {
			wayOut = "name the files of one of them, each with --from"
		}
		return fmt.Errorf("read archive %s: it holds several clusters: the %s is %s; %s",
			s.name, q.what, fewOf(slices.Sorted(maps.Values(first))), wayOut)
	}
	return nil
}

// fewOf joins a list of places, without flooding the screen.
func fewOf(list []string) string {
	const most = 4
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
}
