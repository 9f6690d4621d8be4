package archive

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The kinds of archive that have a layout of their own, as Description.Kind.
const (
	Insights    = "insights archive"
	LogBundle   = "installer log bundle"
	AgentGather = "agent-gather"
	SOSReport   = "sosreport"
	HyperShift  = "hypershift dump"
	Files       = "files" // of objects or lines, in no layout
)

// cannot says what a kind of archive never holds.
var cannot = map[string]string{
	Insights:    "an Insights archive has no BareMetalHosts, no Secrets, no leases and few pods, requests and logs",
	LogBundle:   "an installer log bundle has the API's objects only when the API answered, and only hosts that the bootstrap reached over SSH",
	AgentGather: "agent-gather has what one host of an agent install knows, and no objects of the API",
	SOSReport:   "a sosreport has what one host knows, and no objects of the API",
	Files:       "only the files that were named are read",
}

// supply is what would give what is missing, for this kind of archive.
func (s *Source) supply(n evidence.Need) evidence.Supply {
	if n.Resource.Name == "" && n.Text.Kind == evidence.Journal {
		switch s.kind {
		case LogBundle:
			return evidence.Supply{Kind: evidence.SupplyGatherBootstrap, Host: cmp.Or(n.Text.Host, "ADDRESS")}
		case AgentGather:
			return evidence.Supply{Kind: evidence.SupplyAgentGather, Host: n.Text.Host}
		case SOSReport:
			return evidence.Supply{Kind: evidence.SupplySOSReport, Host: n.Text.Host}
		}
	}
	return supply(n)
}

// lacks is the detail of what the archive shows no trace of.
func (s *Source) lacks() string {
	if why := cannot[s.kind]; why != "" {
		return why
	}
	return "nothing in the " + s.kind + " shows that it was looked for"
}

// of is a layout at its root; its files count only where something shows that
// this is the layout.
type of struct{ layout, root string }

// otherLayout finds out what a file of one of the other layouts is. Entries are
// kept in finish, once the layout is known to be there.
func otherLayout(e *entry, parts []string) bool {
	for i, p := range parts {
		rest := parts[i+1:]
		var layout string
		switch {
		case len(rest) == 0 && p == "journal.export":
			layout, e.class, e.export = AgentGather, text, true
			e.text = evidence.Text{Kind: evidence.Journal, Path: e.file.path}
		case insightsFile(e, p, rest):
			layout = Insights
		case bundleFile(e, p, rest):
			layout = LogBundle
		case p == "sos_commands" && sosJournal(e, rest), (p == "sos_commands" || p == "etc") && sosMachine(e, strings.Join(parts[i:], "/")):
			layout = SOSReport
		default:
			continue
		}
		e.of = of{layout, strings.Join(parts[:i], "/")}
		if e.root = e.of.root; e.root != "" {
			e.root += "/"
		}
		return true
	}
	return false
}

// layoutMark returns the layout that a file's name proves.
func layoutMark(p string) (of, bool) {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		rest := parts[i+1:]
		layout := ""
		switch {
		case part == "insights-operator" && len(rest) == 1 && rest[0] == "gathers.json",
			part == "config" && len(rest) == 1 && (rest[0] == "version.json" || rest[0] == "id"):
			layout = Insights
		case part == "bootstrap" && len(rest) > 1 && rest[0] == "journals",
			part == "control-plane" && len(rest) > 2 && rest[1] == "journals":
			layout = LogBundle
		case part == "sos_commands" && len(rest) > 1:
			layout = SOSReport
		case part == "journal.export" && len(rest) == 0:
			layout = AgentGather
		default:
			continue
		}
		return of{layout, strings.Join(parts[:i], "/")}, true
	}
	return of{}, false
}

// nested returns the first directory above a root that is a hosted cluster's part
// of a HyperShift dump (openshift/hypershift:cmd/cluster/core/dump.go).
func nested(root string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(root, "/"), "/")
	i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, "hostedcluster-") })
	if i < 0 {
		return "", false
	}
	return path.Join(parts[:i+1]...), true
}
