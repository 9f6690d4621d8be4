package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// premise is a kind of object that must be read whole before a cluster is called healthy: an
// object that is missing may be a host, or block one.
type premise struct {
	resource evidence.Resource
	// always: each cluster has such objects. Of the other kinds an archive may hold none
	// because there are none: the collectors write one file for each object.
	always bool
	// gathered: each must-gather has them, and what others have put together may lack the
	// kind. Nodes and operators were read then, which say what becomes of them.
	gathered bool
	// companion is a kind that the collectors keep together with this one: where it is there
	// and this one is not, this one was lost.
	companion evidence.Resource
	needed    func(diagnosis.ClusterInfo) bool // nil: of each cluster
}

// tree is the kind of a source that has the layout of a must-gather and that something
// else wrote.
const tree = "tree"

var premises = []premise{
	{resource: evidence.Nodes, always: true},
	{resource: evidence.ClusterOperators, always: true},
	{resource: evidence.ClusterVersions, gathered: true, needed: ownControlPlane},
	{resource: evidence.MachineConfigPools, gathered: true, needed: ownControlPlane},
	{resource: evidence.Infrastructures, companion: evidence.NetworkConfigs, needed: ownControlPlane}, // the platform decides what is checked
	{resource: evidence.CSRs},
	{resource: evidence.Machines, needed: ownControlPlane},
	{resource: evidence.MachineSets, needed: ownControlPlane},
	{resource: evidence.BareMetalHosts, needed: ownControlPlane},
	{resource: evidence.NodePools, needed: hasHosted},
	{resource: evidence.HostedMachines, needed: hasHosted},
}

// ownControlPlane: the workers of a hosted cluster have their machines and configs in the
// management cluster.
func ownControlPlane(c diagnosis.ClusterInfo) bool {
	return c.Topology != "External" && c.Hosted == "" && c.Product == nil
}

// hasHosted: the management cluster is read, too.
func hasHosted(c diagnosis.ClusterInfo) bool { return c.Hosted != "" }

// unread returns why a premise does not hold, "" where it does. A kind that the API does
// not serve has no objects. A collector that picks single objects, or that leaves no trace
// of an empty list, says nothing against a kind that a cluster may have none of.
func (p premise) unread(c evidence.Coverage, d *diagnosis.Diagnosis) string {
	always := p.always || p.gathered && d.Source.Kind != tree
	switch {
	case c.State != evidence.Missing && c.State != evidence.Partial, c.Why == evidence.NotServed:
		return ""
	case p.always && noNode(c, d): // no operator runs before the first Node either
		return ""
	case c.Why == evidence.NotCollected && p.companion.Name != "" && slices.ContainsFunc(d.Coverage, func(o evidence.Coverage) bool {
		return o.Need == p.companion.String() && o.State == evidence.Read
	}):
		return c.Reason
	case c.Why == evidence.NotCollected && !always:
		return ""
	case c.Why == evidence.NotCollected && c.State == evidence.Partial && p.resource != evidence.Nodes:
		return ""
	}
	return c.Reason
}

// premiseOpen are premises of "healthy" that were not read whole for one reason.
type premiseOpen struct {
	says string
	why  evidence.Why
}

// premisesOpen lists the premises of "healthy" that were not read whole, with the reason.
func premisesOpen(d *diagnosis.Diagnosis) []premiseOpen {
	var reasons []string // in the order of the coverage
	kinds, whys, some := map[string][]string{}, map[string]evidence.Why{}, map[string]bool{}
	for _, c := range d.Coverage {
		p := premiseOf(c)
		if p == nil || p.needed != nil && !p.needed(d.Cluster) {
			continue
		}
		why := p.unread(c, d)
		if why == "" {
			continue
		}
		if kinds[why] == nil {
			reasons = append(reasons, why)
			whys[why] = c.Why
		}
		some[why] = some[why] || c.State != evidence.Missing
		if !slices.Contains(kinds[why], p.resource.Name) {
			kinds[why] = append(kinds[why], p.resource.Name)
		}
	}
	open := make([]premiseOpen, 0, len(reasons))
	for _, why := range reasons {
		says := "%s were not read: %s"
		if some[why] {
			says = "not all " + strings.Replace(says, "were not", "were", 1)
		}
		open = append(open, premiseOpen{fmt.Sprintf(says, strings.Join(kinds[why], ", "), why), whys[why]})
	}
	return open
}

func premiseOf(c evidence.Coverage) *premise {
	i := slices.IndexFunc(premises, func(p premise) bool {
		need := p.resource.String()
		return c.Need == need || strings.HasPrefix(c.Need, need+" -n ")
	})
	if i < 0 {
		return nil
	}
	return &premises[i]
}

// Unread says what every answer about a whole cluster rests on and was not read: kinds
// of objects, and what is there and damaged. Empty where all of it was.
func Unread(d *diagnosis.Diagnosis) []string {
	list := damaged(d)
	for _, p := range premisesOpen(d) {
		list = append(list, p.says)
	}
	return append(list, lostOpen(d)...)
}
