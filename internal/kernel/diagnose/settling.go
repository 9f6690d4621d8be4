package diagnose

import "slices"

// causedComponents tells of each component whether something outside explains it for
// certain. What is still normal explains what follows from it, and no fault that speaks
// for itself: see outlasts. A cause that is still normal and that a present fault explains
// counts as that fault.
func (g *graph) causedComponents(next [][]int, components [][]int) []bool {
	of := make([]int, len(next))
	for n, c := range components {
		for _, i := range c {
			of[i] = n
		}
	}
	behind := g.behindPresent(next, components)
	caused := make([]bool, len(components))
	for from, tos := range next {
		for _, to := range tos {
			if of[from] == of[to] || !behind[from] && slices.ContainsFunc(components[of[to]], g.outlasts) {
				continue
			}
			caused[of[to]] = true
		}
	}
	return caused
}

// behindPresent tells of each finding whether it is present, or is in a ring with or
// explained for certain by one that is.
func (g *graph) behindPresent(next [][]int, components [][]int) []bool {
	behind := make([]bool, len(next))
	var queue []int
	for _, c := range components {
		if slices.ContainsFunc(c, g.present) {
			queue = append(queue, c...)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		if queue = queue[1:]; !behind[at] {
			behind[at] = true
			queue = append(queue, next[at]...)
		}
	}
	return behind
}

// outlasts reports whether a finding stays a fault whatever else is still normal: it is
// present, stands alone, and either the time in which it is normal itself is over, or its
// mechanism was seen.
func (g *graph) outlasts(i int) bool {
	f := g.fault(i)
	return g.present(i) && f.StandsAlone && (f.Settles != nil || g.findings[i].Support > 0)
}
