package archive

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
)

// gap is a part of the archive, more than one file, of which nothing is known.
type gap struct {
	path, why string
	reach     reach
	place     mustgather.Place // of inPlace
}

// reach is how much a gap may hide.
type reach int

const (
	inPlace    reach = iota // what is at a place in the tree
	anyObjects              // objects of any kind: a file of objects
	anything
)

const (
	// maxGaps bounds the gaps that are kept; beyond, anything may be missing.
	maxGaps = 1000
	// maxLostName bounds what is kept of the name of a member that is lost.
	maxLostName = 80
)

func (b *builder) gap(g gap) {
	switch n := len(b.s.gaps); {
	case n < maxGaps:
		b.s.gaps = append(b.s.gaps, g)
	case n == maxGaps:
		b.s.gaps = append(b.s.gaps, gap{path: g.path, why: "and more that could not be read", reach: anything})
	}
}

// gapAt is a gap at a path: at its place in the tree, and anything where it has none.
func gapAt(p, why string) gap {
	g := gap{path: p, why: why, place: mustgather.PlaceOf(p)}
	if g.place.Dir == "" {
		g.reach = anything
	}
	return g
}

// Lose implements member.Index. It keeps the member in the index, so that a question for
// what its name says is there is not answered as if it were not.
func (b *builder) Lose(p string, why error) error {
	e, err := b.classify(p)
	if err != nil {
		return err
	}
	b.loseEntry(e, p, why)
	return nil
}

// LoseOutside implements member.Index. It keeps the spelling of the name, so that the member
// does not hide the file that the name would lead to.
func (b *builder) LoseOutside(name string) error {
	e, err := b.classify(path.Clean("/" + name)[1:])
	if err != nil {
		return err
	}
	e.File.Path = name[:min(len(name), maxLostName)]
	b.loseEntry(e, e.File.Path, errors.New("a name that leads out of the archive"))
	return nil
}

func (b *builder) loseEntry(e *layout.Entry, p string, why error) {
	b.s.ix.Damage(p, why)
	e.File.Lost = why.Error()
	if e.Class != layout.Other {
		b.keep(*e)
		return
	}
	if g := gapAt(p, e.File.Lost); g.reach == inPlace {
		b.gap(g)
	}
}

// LoseDir implements member.Index.
func (b *builder) LoseDir(p string, why error) {
	b.s.ix.Damage(p, why)
	b.gap(gapAt(p, why.Error()))
}

// LoseName implements member.Index. Little is kept of the name.
func (b *builder) LoseName(p string) {
	why := errors.New("the name is too long")
	short := strings.Clone(p[:min(len(p), maxLostName)]) + "..."
	b.s.ix.Damage(short, why)
	g := gapAt(p, why.Error())
	g.path, g.place = short, g.place.Top()
	b.gap(g)
}

// loseLoose notes a file whose content alone would show what it is.
func (b *builder) loseLoose(e layout.Entry, why error) {
	b.s.ix.Damage(e.File.Path, why)
	g := gap{path: e.File.Path, why: why.Error(), reach: anyObjects}
	if e.Class == layout.Loose {
		g.reach = anything
	}
	b.gap(g)
}

// dropOutsideLayout drops gaps next to the directories of a tree that are read: audit logs
// and the like are never asked for.
func (b *builder) dropOutsideLayout() {
	if len(b.proven) > 0 { // layouts with directories of other names
		return
	}
	roots := map[string]bool{}
	for _, list := range b.s.ix.Objects {
		for _, e := range list {
			roots[e.Root] = roots[e.Root] || !e.Free
		}
	}
	b.s.gaps = slices.DeleteFunc(b.s.gaps, func(g gap) bool {
		if g.reach != anything {
			return false
		}
		for root, ok := range roots {
			below, beneath := strings.CutPrefix(g.path, root)
			if dir, _, _ := strings.Cut(below, "/"); ok && beneath && !mustgather.Read(dir) {
				return true
			}
		}
		return false
	})
}

// hiding are the gaps that may hide what is needed.
func (s *Source) hiding(n evidence.Need) []gap {
	var list []gap
	for _, g := range s.gaps {
		if g.reach == anything || n.Resource.Name == "" && g.place.HidesTexts(n.Text) ||
			n.Resource.Name != "" && (g.reach == anyObjects || g.place.HidesObjects(n, s.ix.Objects[n.Resource])) {
			list = append(list, g)
		}
	}
	return list
}

// partGaps hands what is not known of nested trees to them.
func (b *builder) partGaps() {
	for _, n := range b.s.nested {
		for _, g := range b.s.gaps {
			if _, below := strings.CutPrefix(g.path, n.dir+"/"); below || g.reach == anything {
				n.gaps = append(n.gaps, g)
			}
		}
	}
	b.s.gaps = slices.DeleteFunc(b.s.gaps, func(g gap) bool {
		return slices.ContainsFunc(b.s.nested, func(n *Source) bool { return strings.HasPrefix(g.path, n.dir+"/") })
	})
}
