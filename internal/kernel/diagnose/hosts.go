package diagnose

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// block adds to every host that is not done what blocks it: the roots that explain a finding of
// the host, else the roots of its pool that stop it at its stage (stopped), else the unexplained
// findings at it, else what still settles at it or its pool (held).
func block(d *diagnosis.Diagnosis, young []cause, names func(host string) []string, stopped, held map[string][]fault.Key) {
	for i := range d.Hosts {
		h := &d.Hosts[i]
		if h.Done() {
			continue
		}
		at := atHost(h.Name, names)
		for _, r := range d.Roots {
			for i := range r.Cases {
				c := &r.Cases[i]
				if at(c.Key) || slices.ContainsFunc(c.Explains, at) {
					h.BlockedBy = append(h.BlockedBy, c.Key)
				}
			}
		}
		if len(h.BlockedBy) == 0 {
			h.BlockedBy = append(h.BlockedBy, stopped[h.Name]...)
		}
		if len(h.BlockedBy) > 0 {
			continue
		}
		for _, u := range d.Unexplained {
			if at(u.Key) {
				h.BlockedBy = append(h.BlockedBy, u.Key)
			}
		}
		unexplained := len(h.BlockedBy) > 0
		for _, c := range young {
			// An install that is under way, say, or what blocks it and is still normal.
			whole := early(*h) && (ofCluster(c.Key) || slices.ContainsFunc(c.effects, ofCluster))
			if whole || at(c.Key) || slices.ContainsFunc(c.effects, at) || slices.Contains(held[h.Name], c.Key) {
				h.BlockedBy = append(h.BlockedBy, c.Key)
				if h.State == diagnosis.StageFailed && !unexplained {
					markWaiting(h)
				}
			}
		}
	}
}

// markWaiting turns a failed stage into a waiting one: what stops the host there is still normal.
func markWaiting(h *diagnosis.HostState) {
	h.State = diagnosis.StageWaiting
	for i := range h.Stages {
		if s := &h.Stages[i]; s.Stage == h.Stage && s.State == diagnosis.StageFailed {
			s.State = diagnosis.StageWaiting
		}
	}
}

func ofCluster(k fault.Key) bool { return k.Subject.Kind == fault.Cluster }

// early: a host that waits, or that reported nothing before it could
// to the cluster, or whose daemon finds no render to compare its first config with.
// All are normal while the cluster itself is young; that a source lacks data about a
// host is not.
func early(h diagnosis.HostState) bool {
	return h.State == diagnosis.StageWaiting || h.State == diagnosis.StageFailed && h.Stage == fault.ConfigDone ||
		h.State == diagnosis.StageUnknown && (h.Stage == fault.IgnitionFetched || h.Stage == fault.FirstBoot)
}

// atHost reports whether a finding is about the host or one of its CSRs.
func atHost(name string, requests func(host string) []string) func(fault.Key) bool {
	mine := requests(name)
	return func(k fault.Key) bool {
		switch k.Subject.Kind {
		case fault.Host:
			return k.Subject.Name == name
		case fault.CSR:
			return slices.Contains(mine, k.Subject.Name)
		}
		return false
	}
}
