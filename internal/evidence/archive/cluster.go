package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

// oneCluster fails when the roots are of different clusters. Each root is asked
// for ClusterVersion's clusterID and Infrastructure's name, which are unique to a
// cluster (openshift/api:config/v1 ClusterVersionSpec.ClusterID,
// InfrastructureStatus.InfrastructureName). Roots that carry neither go with any.
func (s *Source) oneCluster(ctx context.Context) error {
	if len(s.roots) < 2 {
		return nil
	}
	for _, q := range []struct {
		resource evidence.Resource
		name     string
		path     []string
	}{
		{evidence.ClusterVersions, "version", []string{"spec", "clusterID"}},
		{evidence.Infrastructures, "cluster", []string{"status", "infrastructureName"}},
	} {
		ids := map[string]string{} // identity -> root
		for _, e := range s.objects[q.resource] {
			c := listing{need: evidence.Objects(q.resource, ""), at: map[[2]string]int{}}
			if err := s.readEntry(ctx, e, &c); err != nil {
				return err
			}
			for _, f := range c.found {
				if id := evidence.String(f.object.Content, q.path...); id != "" && f.object.Name == q.name && ids[id] == "" {
					ids[id] = fmt.Sprintf("%q in %s", id, cmpDot(e.root))
				}
			}
		}
		if len(ids) > 1 {
			var all []string
			for _, where := range ids {
				all = append(all, where)
			}
			slices.Sort(all)
			return fmt.Errorf("read archive %s: it holds several clusters: %s; name the directory of one of them", s.name, strings.Join(all, ", "))
		}
	}
	return nil
}

func cmpDot(root string) string {
	if root == "" {
		return "."
	}
	return strings.TrimSuffix(root, "/")
}
