package archive

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// JoinHosts decides for collections that rollcall-host made on hosts just now whether they are of the cluster of the
// others: of archives, or of a cluster that is asked. A host that is not, or that has no answer of rollcall-host, is
// among the refused, with the reason; one address that is wrong does not hold the others up. Where there is neither an
// archive nor a cluster, the host that most of the others agree with stands for it.
func JoinHosts(ctx context.Context, cluster evidence.Source, archives, hosts []*Source) (refused map[*Source]string, err error) {
	refused = map[*Source]string{}
	var known membership
	for _, s := range archives {
		of, err := clusterOf(ctx, s)
		if err != nil {
			return nil, err
		}
		own, _, err := s.machineOf(ctx)
		if err != nil {
			return nil, err
		}
		known = known.with(of).with(membership{cas: own.cas, servers: own.servers})
	}
	if cluster != nil {
		of, err := clusterOf(ctx, cluster)
		if err != nil {
			return nil, err
		}
		known = known.with(of)
	}
	seen := map[*Source]membership{}
	for _, s := range hosts {
		of, is, err := s.machineOf(ctx)
		if err != nil {
			return nil, err
		}
		if !is {
			refused[s] = "it has no answer of rollcall-host"
			continue
		}
		seen[s] = of
	}
	alone := len(known.cas)+len(known.servers)+len(known.ids) == 0
	if alone {
		known = mostCommon(hosts, seen)
	}
	for _, s := range hosts {
		of, is := seen[s]
		if !is {
			continue
		}
		s.joined = len(archives)+len(hosts) > 1 || cluster != nil
		proof, why := known.of(of)
		switch {
		case why != "":
			refused[s] = why
		case !alone && proof == "":
			s.note(unprovenReason(false))
		case !alone:
			s.noteProof(proof)
		}
	}
	return refused, nil
}

// mostCommon is what the host shows with which most of the others share a CA, the first of equals.
func mostCommon(hosts []*Source, seen map[*Source]membership) membership {
	var best membership
	most := 0
	for _, s := range hosts {
		n := 0
		for _, other := range seen {
			if slices.ContainsFunc(seen[s].cas, func(ca string) bool { return slices.Contains(other.cas, ca) }) {
				n++
			}
		}
		if n > most {
			best, most = membership{cas: seen[s].cas, servers: seen[s].servers}, n
		}
	}
	return best
}

// Machine is the name under which the machine of a collection of rollcall-host is in the answer; "" where it has none.
func (s *Source) Machine(ctx context.Context) (string, error) {
	list, err := listed(ctx, s, evidence.HostIdentities, "")
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].Name, nil
}
