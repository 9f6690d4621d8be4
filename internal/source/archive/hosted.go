package archive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/sortby"
)

// dropUnproved drops entries of other layouts whose layout nothing proves.
func (b *builder) dropUnproved() {
	gone := func(e entry) bool { return e.of.layout != "" && !b.found[e.of] }
	for r, list := range b.s.objects {
		if list = slices.DeleteFunc(list, gone); len(list) == 0 {
			delete(b.s.objects, r)
			continue
		}
		b.s.objects[r] = list
	}
	b.s.texts = slices.DeleteFunc(b.s.texts, gone)
	for _, e := range b.small {
		if gone(e) && looseFile(e.file.path) {
			b.open = append(b.open, entry{class: loose, file: e.file})
		}
	}
	b.small = slices.DeleteFunc(b.small, gone)
	for i, e := range b.open {
		if gone(e) {
			b.open[i] = entry{class: loose, file: e.file}
		}
	}
	used := map[of]bool{}
	for _, list := range append(slices.Collect(maps.Values(b.s.objects)), b.s.texts, b.open) {
		for _, e := range list {
			used[e.of] = true
		}
	}
	maps.DeleteFunc(b.found, func(l of, _ bool) bool { return !used[l] })
}

// isLoose reports whether all that was found lies in no layout.
func (b *builder) isLoose() bool {
	for _, list := range append(slices.Collect(maps.Values(b.s.objects)), b.s.texts) {
		for _, e := range list {
			if e.of.layout != "" || !e.free {
				return false
			}
		}
	}
	return b.s.manifest == nil && (len(b.s.objects) > 0 || len(b.s.texts) > 0)
}

// roots returns the directories of what was found.
func (b *builder) roots() []string {
	roots := map[string]bool{}
	for _, list := range append(slices.Collect(maps.Values(b.s.objects)), b.s.texts) {
		for _, e := range list {
			roots[e.root] = true
		}
	}
	return slices.Sorted(maps.Keys(roots))
}

// splitNested parts the trees of hosted clusters from that of their management
// cluster in addition to them: the same names mean other objects in them. A tree of a
// hosted cluster alone is an archive like any other.
func (b *builder) splitNested() {
	s := b.s
	left := map[string]int{}
	for _, root := range b.roots() {
		if dir, ok := nested(root); ok {
			left[dir] = 0
		} else {
			b.dump = true
		}
	}
	if b.dump = b.dump && len(left) > 0; !b.dump {
		b.dump = b.flatDump()
		return
	}
	for dir := range left {
		s.nested = append(s.nested, &Source{
			name: s.name + ": " + dir, base: s.base, kind: Inspect, store: s.store, dir: dir, cut: s.cut, inner: s.inner,
			objects: map[evidence.Resource][]entry{},
		})
	}
	sortby.Func(s.nested, func(x, y *Source) int { return strings.Compare(x.dir, y.dir) })
	for r, list := range s.objects {
		s.objects[r] = b.part(list, left, func(to *Source, e entry) { to.objects[r] = append(to.objects[r], e) })
		if len(s.objects[r]) == 0 {
			delete(s.objects, r)
		}
	}
	s.texts = b.part(s.texts, left, func(to *Source, e entry) { to.texts = append(to.texts, e) })
	b.small = b.part(b.small, nil, func(to *Source, e entry) { to.small = append(to.small, e) })
	for _, n := range s.nested {
		s.notes = append(s.notes, evidence.Coverage{
			Need: NestedNeed(n.hostedName()), State: evidence.Missing, Supply: evidence.Supply{Kind: evidence.SupplyHosted, Name: n.hostedName()},
			Reason: fmt.Sprintf("not asked: %d files of it are there in %s and were not read; this is the answer for the management cluster", left[n.dir], n.dir),
		})
	}
}

// part hands the entries of nested trees to them and returns the others.
func (b *builder) part(list []entry, count map[string]int, add func(*Source, entry)) []entry {
	return slices.DeleteFunc(list, func(e entry) bool {
		dir, ok := nested(e.root)
		if !ok {
			return false
		}
		i := slices.IndexFunc(b.s.nested, func(n *Source) bool { return n.dir == dir })
		if i < 0 {
			return false
		}
		if add(b.s.nested[i], e); count != nil {
			count[dir]++
		}
		return true
	})
}

// flatDump reports whether it is a dump without the tree of the hosted cluster: only
// `hypershift dump` writes flat logs, and only in addition to a HostedControlPlane.
func (b *builder) flatDump() bool {
	flat := slices.ContainsFunc(b.s.texts, func(e entry) bool { return e.flat != "" })
	return flat && len(b.s.objects[hostedControlPlanes]) > 0
}

// finishNested reads what the trees of hosted clusters say of themselves.
func (b *builder) finishNested(ctx context.Context) error {
	for _, n := range b.s.nested {
		nb := &builder{s: n, small: n.small}
		n.roots = nb.roots()
		if err := nb.readSmall(ctx); err != nil {
			return err
		}
		if err := n.oneCluster(ctx); err != nil {
			return err
		}
	}
	return nil
}

// NestedNeed is the need under which the coverage names a hosted cluster's tree.
func NestedNeed(name string) string { return "hosted cluster " + name }

// hostedName is the name in the directory of a hosted cluster's tree.
func (s *Source) hostedName() string {
	return strings.TrimPrefix(s.dir[strings.LastIndexByte(s.dir, '/')+1:], "hostedcluster-")
}

// Dump reports whether the archive is a dump of a HyperShift management cluster.
func (s *Source) Dump() bool { return s.kind == HyperShift }

// Recorded returns the hosted cluster of a collection that was made of two clusters.
func (s *Source) Recorded() *evidence.Hosted {
	if s.manifest == nil {
		return nil
	}
	return s.manifest.Hosted
}

// Nested returns the tree of a hosted cluster inside the archive of its management
// cluster; a dump names it by the HostedCluster's name alone.
func (s *Source) Nested(name string) (*Source, bool) {
	i := slices.IndexFunc(s.nested, func(n *Source) bool { return n.hostedName() == name })
	if i < 0 {
		return nil, false
	}
	return s.nested[i], true
}

// hostedControlPlanes exist once in each control plane's namespace.
var hostedControlPlanes = evidence.Resource{Group: "hypershift.openshift.io", Name: "hostedcontrolplanes"}

// dumped are the kinds that `hypershift dump cluster` asks for in the namespace of
// every control plane, in one request with the HostedControlPlane
// (openshift/hypershift:cmd/cluster/core/dump.go coreResources, DumpCluster; the same
// in 4.12 to HEAD). It writes a file for each object and none for a kind without any.
var dumped = []evidence.Resource{
	evidence.HostedMachines.In(""), {Group: "cluster.x-k8s.io", Name: "machinesets"}, {Group: "cluster.x-k8s.io", Name: "machinedeployments"},
	evidence.AgentMachines.In(""), evidence.KubevirtMachines.In(""),
	evidence.Pods, evidence.Events, evidence.ConfigMaps, evidence.HostedServices.In(""), evidence.Deployments, evidence.ReplicaSets,
}

// lookedFor reports whether the collector proves to have asked for a kind of which
// there is no file.
func (s *Source) lookedFor(n evidence.Need) bool {
	return s.kind == HyperShift && n.Namespace != "" && slices.Contains(dumped, n.Resource) &&
		slices.ContainsFunc(s.objects[hostedControlPlanes], func(e entry) bool { return e.namespace == n.Namespace })
}

// nameFlat tells the pod from the container in the names of flat logs, by the
// names of the pods themselves. A log of no pod that is there stays without a
// container, and only a question for all of a namespace finds it.
func (b *builder) nameFlat(ctx context.Context) error {
	names := map[string][]string{} // namespace -> pods, longest first
	for i := range b.s.texts {
		e := &b.s.texts[i]
		if e.flat == "" {
			continue
		}
		ns := e.text.Namespace
		if _, ok := names[ns]; !ok {
			list, err := b.s.List(ctx, evidence.Pods, ns)
			if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
				return err
			}
			names[ns] = []string{}
			for _, o := range list {
				names[ns] = append(names[ns], o.Name)
			}
			sortby.Func(names[ns], func(x, y string) int { return cmp.Compare(len(y), len(x)) })
		}
		for _, pod := range names[ns] {
			if container, ok := strings.CutPrefix(e.flat, pod+"-"); ok {
				e.text.Pod, e.text.Container = pod, container
				break
			}
		}
		if e.text.Pod == "" {
			b.damage(e.file.path, fmt.Errorf("no pod of %s has such a name", ns))
		}
	}
	return nil
}
