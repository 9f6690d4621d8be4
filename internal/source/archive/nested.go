package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/hypershift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
)

// NestedNeed is the need under which the coverage names a hosted cluster's tree.
func NestedNeed(name string) string { return "hosted cluster " + name }

// Nested returns the tree of a hosted cluster inside the archive of its management
// cluster; a dump names it by the HostedCluster's name alone.
func (s *Source) Nested(name string) (*Source, bool) {
	i := slices.IndexFunc(s.nested, func(n *Source) bool { return hypershift.ClusterOf(n.dir) == name })
	if i < 0 {
		return nil, false
	}
	return s.nested[i], true
}

// nested returns the directory above a root that has the tree of another cluster.
func nested(root string) (string, bool) {
	for _, l := range layouts {
		if l.Nested != nil {
			if dir, ok := l.Nested(root); ok {
				return dir, true
			}
		}
	}
	return "", false
}

// splitNested separates the trees of hosted clusters from that of their management cluster:
// the same names mean other objects in them. A tree of a hosted cluster alone is an archive
// like any other.
func (b *builder) splitNested() {
	s := b.s
	files := map[string]int{} // by directory of a nested tree
	outside := false
	for _, root := range b.roots() {
		if dir, ok := nested(root); ok {
			files[dir] = 0
		} else {
			outside = true
		}
	}
	if b.dump = outside && len(files) > 0; !b.dump {
		b.dump = hypershift.IsDump(&s.ix)
		return
	}
	for dir := range files {
		s.nested = append(s.nested, &Source{
			name: s.name + ": " + dir, base: s.base, kind: mustgather.Inspect, members: s.members, dir: dir, cut: s.cut, ix: newIndex(),
		})
	}
	slices.SortFunc(s.nested, func(x, y *Source) int { return strings.Compare(x.dir, y.dir) })
	for r, list := range s.ix.Objects {
		s.ix.Objects[r] = b.split(list, files, func(to *layout.Index, e layout.Entry) { to.Objects[r] = append(to.Objects[r], e) })
		if len(s.ix.Objects[r]) == 0 {
			delete(s.ix.Objects, r)
		}
	}
	s.ix.Texts = b.split(s.ix.Texts, files, func(to *layout.Index, e layout.Entry) { to.Texts = append(to.Texts, e) })
	s.ix.Details = b.split(s.ix.Details, nil, func(to *layout.Index, e layout.Entry) { to.Details = append(to.Details, e) })
	for _, n := range s.nested {
		name := hypershift.ClusterOf(n.dir)
		s.notes = append(s.notes, evidence.Coverage{
			Need: NestedNeed(name), State: evidence.Missing, Supply: evidence.Supply{Kind: evidence.SupplyHosted, Name: name},
			Reason: fmt.Sprintf("not asked: %d files of it are there in %s and were not read; this is the answer for the "+
				"management cluster", files[n.dir], n.dir),
		})
	}
}

// split hands the entries of nested trees to them and returns the others. It counts them
// by directory, unless count is nil.
func (b *builder) split(list []layout.Entry, count map[string]int, add func(*layout.Index, layout.Entry)) []layout.Entry {
	return slices.DeleteFunc(list, func(e layout.Entry) bool {
		dir, ok := nested(e.Root)
		if !ok {
			return false
		}
		i := slices.IndexFunc(b.s.nested, func(n *Source) bool { return n.dir == dir })
		if i < 0 {
			return false
		}
		if add(&b.s.nested[i].ix, e); count != nil {
			count[dir]++
		}
		return true
	})
}

// finishNested reads what the trees of hosted clusters say of themselves.
func (b *builder) finishNested(ctx context.Context) error {
	for _, n := range b.s.nested {
		if err := (&builder{s: n}).readSmall(ctx); err != nil {
			return err
		}
		if err := n.oneCluster(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nameLogs finds the pods and containers of logs whose names do not show them, by the names
// of the pods in the archive.
func (b *builder) nameLogs(ctx context.Context) error {
	pods := map[string][]string{} // by namespace, longest first
	for i := range b.s.ix.Texts {
		e := &b.s.ix.Texts[i]
		if e.PodAndContainer == "" {
			continue
		}
		ns := e.Text.Namespace
		if _, ok := pods[ns]; !ok {
			list, err := b.s.List(ctx, evidence.Pods, ns)
			if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
				return err
			}
			pods[ns] = []string{}
			for _, o := range list {
				pods[ns] = append(pods[ns], o.Name)
			}
			slices.SortFunc(pods[ns], func(x, y string) int { return cmp.Compare(len(y), len(x)) })
		}
		named := slices.ContainsFunc(layouts, func(l layout.Layout) bool { return l.NameLog != nil && l.NameLog(e, pods[ns]) })
		if !named {
			b.s.ix.Damage(e.File.Path, errors.New("no pod of "+ns+" has such a name"))
		}
	}
	return nil
}
