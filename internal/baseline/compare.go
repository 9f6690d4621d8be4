package baseline

import (
	"slices"
	"strings"
	"time"
)

// The kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	changed = "changed"
)

// Change is one value that is not what it was, or an object that is new or gone: it has no
// Name then, and the Values that it has or had.
type Change struct {
	Area    Area    `json:"area"`
	Subject string  `json:"subject"`
	Name    string  `json:"name,omitempty"`
	Kind    string  `json:"kind"`
	Was     string  `json:"was,omitempty"`
	Is      string  `json:"is,omitempty"`
	Values  []Value `json:"values,omitempty"`
}

// Value is a field of an object that is new or gone.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Comparison is what has changed between two times.
type Comparison struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Since      time.Time `json:"since"`
	Now        time.Time `json:"now"`
	Cluster    string    `json:"cluster,omitempty"`
	// Identity says whether both are of one cluster. Of two clusters nothing is compared; where
	// it is unknown, the changes may be differences of two clusters.
	Identity    SameCluster `json:"identity"`
	Verdict     string      `json:"verdict"` // of the diagnosis when the baseline was saved
	Compared    int         `json:"compared"`
	Changes     []Change    `json:"changes"`
	NotCompared []Gap       `json:"notCompared"`
}

// Certain reports whether the changes are changes of one cluster.
func (c Comparison) Certain() bool { return c.Identity.Same == SameYes }

// side is one of the two that are compared.
type side struct {
	Baseline

	values    map[Entry]string
	subjects  map[[2]string]bool // area and subject
	inspected map[string]bool    // hosts of which an inspection was read
	ends      map[Entry]string   // where the last value of an object stands that was read
}

func sideOf(b Baseline) side {
	s := side{b, map[Entry]string{}, map[[2]string]bool{}, map[string]bool{}, map[Entry]string{}}
	for _, e := range b.Entries {
		s.values[e.key()] = e.Value
		s.subjects[[2]string{string(e.Area), e.Subject}] = true
		s.inspected[e.Subject] = s.inspected[e.Subject] || e.ofInspection()
		s.ends[e.object()] = max(s.ends[e.object()], e.place())
	}
	return s
}

// ofInspection reports whether a value is what an inspection found, and no field of the host.
func (e Entry) ofInspection() bool {
	return e.Area == Hardware && !strings.HasPrefix(e.Name, "spec.") && !strings.HasPrefix(e.Name, "status.")
}

// has reports whether anything of the object of a value was read.
func (s side) has(e Entry) bool { return s.subjects[[2]string{string(e.Area), e.Subject}] }

// Why a value that the other side has is not known to be missing on this one.
const (
	inBaseline = "not in the baseline: "
	readNow    = "not read now: "

	notRead = "not read"
	maybe   = "no file of it is there; the archive has a file for each object and no list of them, so one may be lost"

	// An inspection is in BareMetalHost.status.hardware or in HardwareData, which have it at
	// different times: a host is inspected again, or only one of the two is collected.
	uninspected = "no inspection of it is there, neither in its BareMetalHost nor in its HardwareData"

	// The last of an object is not known to be gone: nothing is there that stands behind it.
	cutOff = "no later value of the object is there, so its file may be cut off"
)

// lacks says why it is not known whether this side lacks a value that the other has, "" where
// it is known.
func (s side) lacks(e Entry) string {
	if slices.ContainsFunc(s.Missing, func(g Gap) bool { return g.Area == e.Area }) {
		return notRead
	}
	if slices.Contains(s.Unlisted, e.Area) && !s.has(e) {
		return maybe
	}
	if e.ofInspection() && s.has(e) && !s.inspected[e.Subject] {
		return uninspected
	}
	if s.has(e) && e.Area != Certificates && s.ends[e.object()] <= e.place() {
		return cutOff
	}
	return ""
}

// comparing is the state of one Compare.
type comparing struct {
	*Comparison

	was, is side
	open    []open
	whole   map[[3]string]int // where in Changes an object is that is new or gone
}

// Compare compares a baseline with what the cluster is like now. A value that both have is
// compared. That one of them lacks a value is a change only where it was read whole.
func Compare(was, is Baseline) Comparison {
	c := Comparison{APIVersion: apiVersion, Kind: "BaselineComparison", Since: was.Taken, Now: is.Taken, Cluster: was.Cluster, Verdict: was.Verdict,
		Identity: sameCluster(was, is), Changes: []Change{}, NotCompared: []Gap{}}
	if c.Identity.Same == SameNo {
		return c
	}
	x := comparing{&c, sideOf(was), sideOf(is), nil, map[[3]string]int{}}
	for _, e := range is.Entries {
		value, had := x.was.values[e.key()]
		switch {
		case !had:
			x.added(e)
			continue
		case value != e.Value:
			c.Changes = append(c.Changes, Change{Area: e.Area, Subject: e.Subject, Name: e.Name, Kind: changed, Was: value, Is: e.Value})
		}
		c.Compared++
	}
	for _, e := range was.Entries {
		if _, has := x.is.values[e.key()]; !has {
			x.removed(e)
		}
	}
	x.gaps()
	slices.SortFunc(c.Changes, func(a, b Change) int {
		return compare(Entry{a.Area, a.Subject, a.Name, ""}, Entry{b.Area, b.Subject, b.Name, ""})
	})
	return c
}

// added is a value that the baseline does not have. An object that is younger than the
// baseline cannot be in it.
func (x *comparing) added(e Entry) {
	young := !x.was.has(e) && x.is.created[e.Subject].After(x.was.Taken)
	if why := x.was.lacks(e); why != "" && !young {
		x.miss(e, inBaseline, why)
		return
	}
	x.oneSided(e, Added, x.was)
}

func (x *comparing) removed(e Entry) {
	if why := x.is.lacks(e); why != "" {
		x.miss(e, readNow, why)
		return
	}
	x.oneSided(e, Removed, x.is)
}

// oneSided adds a value that one side has, to those of its object where the other lacks all.
func (x *comparing) oneSided(e Entry, kind string, lacking side) {
	x.Compared++
	if lacking.has(e) {
		c := Change{Area: e.Area, Subject: e.Subject, Name: e.Name, Kind: kind, Is: e.Value}
		if kind == Removed {
			c.Was, c.Is = c.Is, ""
		}
		x.Changes = append(x.Changes, c)
		return
	}
	key := [3]string{string(e.Area), e.Subject, kind}
	i, known := x.whole[key]
	if !known {
		i = len(x.Changes)
		x.whole[key] = i
		x.Changes = append(x.Changes, Change{Area: e.Area, Subject: e.Subject, Kind: kind})
	}
	x.Changes[i].Values = append(x.Changes[i].Values, Value{e.Name, e.Value})
}

// miss notes an object of which a value is not compared.
func (x *comparing) miss(e Entry, side, why string) {
	i := slices.IndexFunc(x.open, func(g open) bool { return g.area == e.Area && g.side == side && g.why == why })
	if i < 0 {
		i = len(x.open)
		x.open = append(x.open, open{area: e.Area, side: side, why: why})
	}
	if list := x.open[i].subjects; len(list) == 0 || list[len(list)-1] != e.Subject { // entries are sorted
		x.open[i].subjects = append(list, e.Subject)
	}
}

// open are objects of an area that are not compared for one reason.
type open struct {
	area     Area
	side     string
	why      string
	subjects []string
}

// gaps lists what was not read and what is not compared because of it. Of an area of which
// nothing was read the objects are not listed: it is all of them.
func (x *comparing) gaps() {
	add := func(g Gap, reason string, sides ...string) {
		for i, o := range x.open {
			if o.area == g.Area && o.why == notRead && slices.Contains(sides, o.side) {
				g.Subjects = append(g.Subjects, o.subjects...)
				x.open[i].subjects = nil // of two reasons for one area the first has them
			}
		}
		g.Reason = reason + g.Reason
		x.NotCompared = append(x.NotCompared, g)
	}
	x.dropWhole()
	for _, g := range x.was.Missing {
		if g.Reason == noEnds && x.is.lost(g) {
			continue // these releases have none
		}
		if x.is.lost(g) {
			add(g, "neither in the baseline nor now: ", inBaseline, readNow)
			continue
		}
		add(g, inBaseline, inBaseline)
	}
	for _, g := range x.is.Missing {
		if !x.was.lost(g) {
			add(g, readNow, readNow)
		}
	}
	for _, o := range x.open {
		if o.why != notRead {
			x.NotCompared = append(x.NotCompared, Gap{o.area, o.subjects, o.side + o.why})
		}
	}
}

// dropWhole drops the names of objects of areas of which one side has nothing.
func (x *comparing) dropWhole() {
	for i, o := range x.open {
		s := x.was
		if o.side == readNow {
			s = x.is
		}
		if o.why == notRead && !s.some(o.area) {
			x.open[i].subjects = nil
		}
	}
}

func (s side) lost(g Gap) bool {
	return slices.ContainsFunc(s.Missing, func(o Gap) bool { return o.Area == g.Area && o.Reason == g.Reason })
}

// some reports whether anything of an area was read.
func (s side) some(area Area) bool {
	return slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Area == area })
}
