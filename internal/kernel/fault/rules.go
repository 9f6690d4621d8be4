package fault

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// named holds that a file has the name of its entry.
func named(id, p string) (wrong mistakes) {
	if want := id + ".yaml"; id != "" && path.Base(p) != want {
		wrong.add(Where{"id"}, "rename the file, or write id: "+strings.TrimSuffix(path.Base(p), ".yaml"), "the file of %q must be named %s", id, want)
	}
	return wrong
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkID holds that an id can be typed and searched for.
func (m *mistakes) checkID(at Where, id string) {
	switch {
	case id == "":
		m.add(at, "write the name of the file without .yaml", "is missing")
	case !kebab.MatchString(id):
		m.add(at, "write lower-case words with dashes, as pool-config-empty", "%q is not kebab case", id)
	}
}

func (f *Fault) check() (wrong mistakes) {
	wrong.checkID(Where{"id"}, f.ID)
	wrong.need(f.Title, "title", "write one sentence that names the thing and the value")
	if strings.ContainsAny(strings.ReplaceAll(f.General, "{"+string(f.For)+"}", ""), "{}<>") {
		wrong.add(Where{"general"}, "", "it is the title where no value is known: write it without braces but those of the subject")
	}
	wrong.need(f.Layer, "layer", "write a word for people, as network")
	wrong.need(f.Means, "means", "write what happens, why, and what a person should know")
	if f.TextOnly() && len(f.Given)+len(f.Support)+len(f.Since)+len(f.Refute)+len(f.Next) > 0 {
		wrong.add(Where{"when"}, "write the expression that is true when the fault is present",
			"is missing; without when there is no given, since, refute, support and next")
	}
	for i, a := range f.Aliases {
		wrong.checkID(Where{"aliases", i}, a)
	}
	if slices.Contains([]Kind{"node", "machine", "baremetalhost"}, Kind(strings.ToLower(string(f.For)))) {
		wrong.add(Where{"for"}, "write host: that is a machine with its Node, Machine and BareMetalHost", "%q is not one of %s", f.For, join(Kinds()))
	} else {
		oneOf(&wrong, Where{"for"}, f.For, Kinds())
	}
	if f.Runs != "" {
		oneOf(&wrong, Where{"controlPlane"}, f.Runs, []ControlPlane{OwnControlPlane, HostedControlPlane, AnyControlPlane, AloneControlPlane})
	}
	oneOf(&wrong, Where{"severity"}, f.Severity, []Severity{Info, Warning, Error})
	if f.Blocks != "" {
		oneOf(&wrong, Where{"blocks"}, f.Blocks, Stages())
	}
	if f.ExplainedUpTo != "" {
		oneOf(&wrong, Where{"explainedUpTo"}, f.ExplainedUpTo, Stages())
		if f.For != Host {
			wrong.add(Where{"explainedUpTo"}, "leave it out", "it is for faults about a host")
		}
	}
	if f.NoRemedy != "" && (len(f.Remedies) > 0 || f.Severity == Error) {
		wrong.add(Where{"noRemedy"}, "leave it out, or write a remedy", "it is for a warning or info without remedies")
	}
	if f.Settles != nil && f.Settles.Within.Duration <= 0 {
		wrong.add(Where{"settles", "within"}, "write how long the condition is normal, as 30m", "is missing")
	}
	wrong.checkVersions(f.Versions)
	for i, e := range f.Explains {
		oneOf(&wrong, Where{"explains", i, "on"}, e.On, Relations())
		oneOf(&wrong, Where{"explains", i, "strength"}, e.Strength, []Strength{Certain, LikelyEdge, PossibleEdge})
	}
	if len(f.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: a fault names its source")
	}
	return wrong
}

// checkVersions holds that a range of releases can be read: what cannot would exclude nothing.
func (m *mistakes) checkVersions(text string) {
	if _, err := semver.NewConstraint(text); text != "" && err != nil {
		m.add(Where{"versions"}, `write a range, as ">=4.14" or ">=4.14 <4.18"`, "%q is not a range of versions (%v)", text, err)
	}
}

func (r *RefusedRemedy) check() (wrong mistakes) {
	wrong.checkID(Where{"id"}, r.ID)
	for _, f := range []struct{ key, value string }{{"title", r.Title}, {"happens", r.Happens}, {"when", r.When}, {"instead", r.Instead}} {
		wrong.need(f.value, f.key, "a refused remedy has title, advice, happens, when, instead and refs")
	}
	if len(r.Advice) == 0 {
		wrong.add(Where{"advice"}, "write the phrases in which people give it", "is missing")
	}
	if len(r.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: a refused remedy names its source")
	}
	for i, p := range r.Commands {
		if len(p.Has) == 0 {
			wrong.add(Where{"commands", i, "has"}, "write the expressions that the command matches", "is missing")
		}
		for _, list := range []struct {
			key   string
			exprs []string
		}{{"has", p.Has}, {"not", p.Not}} {
			for j, expr := range list.exprs {
				wrong.checkRegexp(Where{"commands", i, list.key, j}, expr)
			}
		}
	}
	return wrong
}

func (m *mistakes) checkRegexp(at Where, expr string) {
	if _, err := regexp.Compile(expr); err != nil {
		m.add(at, "write an RE2 expression; a backslash goes before a literal ( ) [ ] . * + ?", "%v", err)
	}
}

// checkLinks reports edges, remedies and refused remedies that lead nowhere.
func (c *Catalog) checkLinks() (list Problems) {
	remedies := slices.Sorted(maps.Keys(c.remedies))
	var faults, refused []string
	for _, f := range c.Faults {
		faults = append(faults, f.ID)
	}
	for _, r := range c.Refused {
		refused = append(refused, r.ID)
	}
	for _, f := range c.Faults {
		var wrong mistakes
		for i, e := range f.Explains {
			if _, ok := c.byID[e.Fault]; !ok {
				wrong.add(Where{"explains", i, "fault"}, meant(e.Fault, faults), "the fault %q is not in the catalog", e.Fault)
			}
		}
		for i, id := range f.ExplainedLike {
			if like, ok := c.byID[id]; !ok || like.For != f.For || like == f {
				wrong.add(Where{"explainedLike", i}, meant(id, faults), "%q is not another fault about a %s", id, f.For)
			}
		}
		for i, id := range f.Remedies {
			if !c.hasRemedy(id) {
				wrong.add(Where{"remedies", i}, meant(id, remedies), "the remedy %q is not in the catalog", id)
			}
		}
		for i, id := range f.Refused {
			if !slices.Contains(refused, id) {
				wrong.add(Where{"refused", i}, meant(id, refused), "the refused remedy %q is not in the catalog", id)
			}
		}
		list = append(list, c.withoutFollowing(f, wrong)...)
	}
	return list
}

// withoutFollowing returns the problems of an entry without those of a value that could not
// be decoded.
func (c *Catalog) withoutFollowing(entry any, list mistakes) Problems {
	if f := c.files[entry]; f != nil {
		list = slices.DeleteFunc(list, f.follows)
	}
	return c.problems(entry, list)
}
