package archive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence"
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

// leaveNested leaves out the trees of hosted clusters beside that of their
// management cluster: the same names mean other objects in them. A tree of a
// hosted cluster alone is read.
func (b *builder) leaveNested() {
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
		return
	}
	drop := func(e entry) bool {
		dir, ok := nested(e.root)
		if ok {
			left[dir]++
		}
		return ok
	}
	for r, list := range s.objects {
		if list = slices.DeleteFunc(list, drop); len(list) == 0 {
			delete(s.objects, r)
			continue
		}
		s.objects[r] = list
	}
	s.texts = slices.DeleteFunc(s.texts, drop)
	b.small = slices.DeleteFunc(b.small, drop)
	for _, dir := range slices.Sorted(maps.Keys(left)) {
		name := strings.TrimPrefix(dir[strings.LastIndexByte(dir, '/')+1:], "hostedcluster-")
		s.notes = append(s.notes, evidence.Coverage{
			Need: "hosted cluster " + name, State: evidence.Missing, Supply: "--from on " + dir + " of the unpacked dump",
			Reason: fmt.Sprintf("not asked: %d files of it are there in %s and were not read; this is the answer for the management cluster", left[dir], dir),
		})
	}
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
			slices.SortFunc(names[ns], func(x, y string) int { return cmp.Compare(len(y), len(x)) })
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
