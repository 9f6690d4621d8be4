package archive

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// notCollected says why nothing of a need is in the archive; nil where the collector proves
// to have looked and found nothing.
func (s *Source) notCollected(n evidence.Need) *evidence.Unavailable {
	if u, ok := evidence.OnRequest(n.Resource); ok {
		u.Need, u.Detail = n, "an archive was read, and "+u.Detail
		return &u
	}
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n)
	}
	u := &evidence.Unavailable{Need: n, Why: evidence.NotCollected, Detail: s.lacks(), Supply: s.supply(n)}
	if len(s.ix.Damaged) > 0 {
		u.Detail += "; could not be read: " + few(s.ix.Damaged)
	}
	if n.Resource == evidence.BootstrapServices {
		u = evidence.NotOnBootstrap(n)
	}
	if l := layoutOf(s.kind); l.Absent != nil {
		return l.Absent(&s.ix, n, u)
	}
	return u
}

// lacks is the detail of what the archive shows no trace of.
func (s *Source) lacks() string {
	if why := layoutOf(s.kind).Lacks; why != "" {
		return why
	}
	return "nothing in the " + s.kind + " shows that it was looked for"
}

// supply is what would supply what is missing, for this kind of archive.
func (s *Source) supply(n evidence.Need) evidence.Supply {
	if l := layoutOf(s.kind); l.Journal != nil && n.Resource.Name == "" && n.Text.Kind == evidence.Journal {
		return l.Journal(n.Text.Host)
	}
	return generalSupply(n)
}

// generalSupply is what would supply what is missing, for any kind of archive.
func generalSupply(n evidence.Need) evidence.Supply {
	switch r := n.Resource; {
	case r.Name == "":
		return textSupply(n.Text)
	case r.Group == evidence.ProbeGroup:
		return evidence.Supply{Kind: evidence.SupplyProbeLive}
	default:
		return evidence.Supply{Kind: evidence.SupplyInspect, Namespace: n.Namespace, Resource: r.String()}
	}
}

func textSupply(q evidence.TextQuery) evidence.Supply {
	switch {
	case q.Kind == evidence.ContainerLog && q.Namespace != "":
		return evidence.Supply{Kind: evidence.SupplyInspect, Namespace: q.Namespace}
	case q.Kind == evidence.Journal:
		return evidence.Supply{Kind: evidence.SupplyNodeLogs, Host: q.Host, Unit: q.Unit}
	case q.Kind == evidence.Console:
		return evidence.Supply{Kind: evidence.SupplyConsole, Host: q.Host}
	}
	return evidence.Supply{Kind: evidence.SupplyMustGather}
}
