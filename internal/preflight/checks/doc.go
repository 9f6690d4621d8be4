// Package checks judges what somebody wants to install before anything is switched on:
// install-config.yaml and agent-config.yaml, what the installer refuses in them, and what it
// accepts and what then stops hosts from joining.
//
// Invariants:
//   - Each problem names its file, line and column, and what to write there.
//   - What a file does not say is taken as the installer takes it: as its default, or as not
//     there. What depends on a file or a release that was not given is unknown.
//   - Values are compared as what they are: an address in another spelling is the same one.
package checks

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
)

// All lists the checks of this package.
func All() []check.Check {
	return slices.Concat(fileChecks, nameChecks, accessChecks, proxyChecks, networkChecks, vipChecks, hostChecks, addressChecks, agentChecks,
		provisioningChecks, manifestChecks,
		netNamesChecks, netPortsChecks, netAddressesChecks, netTimeChecks, netRegistriesChecks, netPathsChecks)
}

var needs = []evidence.Need{evidence.Objects(evidence.Plans, "")}

// The kinds of plans (internal/preflight/plan).
const (
	installKind = "InstallConfig"
	agentKind   = "AgentConfig"

	manifestsKind = "Manifests"

	clusterManifestKind = "ClusterManifest"
)

// plans are the documents that were given.
type plans struct {
	install, agent node // the zero node where the file was not given
	release        string
	manifests      []node          // files with extra manifests
	objects        map[string]node // files of cluster-manifests, by their names there
}

// agentBased reports whether hosts boot the ISO of an agent-based installation.
func (p plans) agentBased() bool { return p.agent.there() }

// read returns the plans. Without any it is an *evidence.Unavailable.
func read(ctx context.Context, w *facts.World) (plans, error) {
	return facts.Memo(ctx, w, "plan.read", func(ctx context.Context, w *facts.World) (plans, error) {
		var p plans
		list, err := w.List(ctx, evidence.Plans, "")
		if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
			return p, check.NotApplicable("no plan was given") // its BMCs were named in another way
		}
		if err != nil {
			return p, err
		}
		for _, o := range list {
			d := &document{object: o}
			d.at, _ = o.Content["at"].(map[string]any)
			d.from, _ = o.Content["from"].(map[string]any)
			n := node{doc: d, v: o.Content["config"]}
			switch o.Content["type"] {
			case installKind:
				p.install = n
			case agentKind:
				p.agent = n
			case manifestsKind:
				p.manifests = append(p.manifests, n)
				continue
			case clusterManifestKind:
				if p.objects == nil {
					p.objects = map[string]node{}
				}
				p.objects[evidence.String(o.Content, "file")] = n
				continue
			}
			p.release = evidence.String(o.Content, "release")
		}
		if !p.install.there() && !p.agent.there() && len(p.manifests) == 0 {
			return p, missing("no plan was given", "install-config.yaml")
		}
		return p, nil
	})
}

// installConfig is read where there has to be an install-config.
func installConfig(ctx context.Context, w *facts.World) (plans, error) {
	p, err := read(ctx, w)
	if err == nil && !p.install.there() {
		err = missing("no install-config.yaml was given", "install-config.yaml")
	}
	return p, err
}

func missing(detail, file string) *evidence.Unavailable {
	return &evidence.Unavailable{Need: needs[0], Why: evidence.NotCollected, Detail: detail, Supply: evidence.Supply{Kind: evidence.SupplyPlan, Path: file}}
}

// document is one file.
type document struct {
	object evidence.Object
	at     map[string]any // path -> plan.Place
	// from is set where the document is not a file, but made of the objects of
	// cluster-manifests: path -> {file, field}.
	from map[string]any
}

// node is a value of a document, or that there is none.
type node struct {
	doc  *document
	path string
	v    any
}

func (n node) there() bool { return n.doc != nil && n.v != nil }

// get follows fields. As the installer's decoder (encoding/json) it prefers a field that is
// written exactly so, and takes one in other letters: apiVips.
func (n node) get(keys ...string) node {
	for _, key := range keys {
		m, _ := n.v.(map[string]any)
		v, ok := m[key]
		if !ok {
			for _, name := range sorted(m) {
				if strings.EqualFold(name, key) {
					key, v = name, m[name]
					break
				}
			}
		}
		path := key
		if n.path != "" {
			path = n.path + "." + key
		}
		n = node{n.doc, path, v}
	}
	return n
}

// first is the first of several fields that is written.
func (n node) first(keys ...string) node {
	for _, key := range keys {
		if child := n.get(key); child.there() {
			return child
		}
	}
	return n.get(keys[0])
}

// items are the elements of a list.
func (n node) items() []node {
	list, _ := n.v.([]any)
	out := make([]node, 0, len(list))
	for i, v := range list {
		out = append(out, node{n.doc, n.path + "[" + strconv.Itoa(i) + "]", v})
	}
	return out
}

// text is a word as it is written, "" where there is none.
func (n node) text() string {
	switch v := n.v.(type) {
	case string:
		return strings.TrimSpace(v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// number is a whole number. A quoted one is none: the installer refuses it.
func (n node) number() (int64, bool) {
	switch v := n.v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	return 0, false
}

// userBreaks reports whether the value is a URL that its user and password make unreadable.
// They are not kept (internal/preflight/plan).
func (n node) userBreaks() bool {
	if n.doc == nil {
		return false
	}
	form, _ := n.doc.object.Content["form"].(map[string]any)
	list, _ := form["users"].([]any)
	return slices.Contains(list, any(n.path))
}

func (n node) yes() bool { v, _ := n.v.(bool); return v }

func (n node) addr() (netip.Addr, bool) {
	a, err := netip.ParseAddr(n.text())
	return a.Unmap(), err == nil
}

func (n node) prefix() (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(n.text())
	return p, err == nil
}

// base is the object's document behind a node, also of one that is not there.
func (d *document) locator(path string) evidence.Locator {
	loc := d.object.Loc
	loc.Field = path
	least := ""
	if d.from != nil {
		loc, least = d.origin(path)
	}
	for p := path; len(p) >= len(least); { // what is not written stands where its parent does
		if line, column, ok := plan.LineColumn(d.at[p]); ok {
			loc.Line, loc.Column = line, column
			return loc
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			return loc
		}
		p = p[:i]
	}
	return loc
}

// origin is the file and the field that a value of a document was made of, and the path here
// below which its lines are those of the file.
func (d *document) origin(path string) (loc evidence.Locator, least string) {
	loc = d.object.Loc
	for p := path; p != ""; p = p[:max(strings.LastIndexAny(p, ".["), 0)] {
		if from, ok := d.from[p].(map[string]any); ok {
			file := evidence.String(from, "file")
			return evidence.Locator{Source: file, Path: file, Field: evidence.String(from, "field") + path[len(p):]}, p
		}
	}
	return loc, path
}

// says is a piece of evidence: what is wrong with the value, and what to write.
func (n node) says(format string, args ...any) evidence.Item {
	return evidence.Item{Locator: n.doc.locator(n.path), Excerpt: fmt.Sprintf(format, args...)}
}

// problems are what one check finds.
type problems = check.Problems

// add adds a value with its problem.
func add(to *problems, n node, name, format string, args ...any) {
	to.Add(name, n.says(format, args...))
}

func timeOf(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}
