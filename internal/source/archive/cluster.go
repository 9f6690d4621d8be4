package archive

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// oneCluster fails when what the archive holds is of different clusters, because
// their objects cannot be told apart afterwards. Each root, and of files in no
// layout each file, is asked for what a cluster has once (identities). What carries
// none of that goes with any.
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

// places returns the identities in the archive, by root or file.
func (s *Source) places(ctx context.Context) (map[string]identity, error) {
	places := map[string]identity{}
	for i, q := range identities {
		if q.name == "" {
			continue
		}
		for _, e := range s.objects[q.resource] {
			if !e.list && !e.mixed && !strings.HasPrefix(path.Base(e.file.path), q.name+".") {
				continue // the file of another object
			}
			c := listing{need: evidence.Objects(q.resource, ""), at: map[[2]string]int{}}
			if err := s.readEntry(ctx, e, &c); err != nil {
				return nil, err
			}
			for _, f := range c.found {
				v := evidence.String(f.object.Content, q.path...)
				if v == "" || f.object.Name != q.name {
					continue
				}
				where := placeOf(e)
				if places[where] == nil {
					places[where] = make(identity, len(identities))
				}
				places[where][i] = append(places[where][i], v)
			}
		}
	}
	return places, nil
}

// placeOf is where an entry was found, as it is named to people.
func placeOf(e entry) string {
	if e.free {
		return e.file.path
	}
	if e.root == "" {
		return "."
	}
	return strings.TrimSuffix(e.root, "/")
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
		wayOut := "name the directory of one of them"
		if s.kind == Files {
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
