package mcs

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// ServerLog is what the machine config servers say of themselves and of
// requests that belong to no pool of the cluster.
type ServerLog struct {
	UnknownPools     []string  `cel:"unknownPools"`     // pools that Ignition asked for and that do not exist, up to the end
	UnknownRequests  int64     `cel:"unknownRequests"`  // requests for them
	UnknownAddresses []string  `cel:"unknownAddresses"` // of the clients
	UnknownSince     time.Time `cel:"unknownSince"`
	ControllerConfig int64     `cel:"controllerConfig"` // Ignition's last requests, of any pool, that failed for want of a ControllerConfig
	ControllerSince  time.Time `cel:"controllerConfigSince"`
	Rejected         int64     `cel:"rejected"`   // clients that ended the handshake because of our certificate
	CertBroken       bool      `cel:"certBroken"` // the serving certificate cannot be loaded
	CacheSync        bool      `cel:"cacheSync"`  // a server gave up waiting for the API and has not started since
	Exited           bool      `cel:"exited"`     // a server ended with an error and has not started since
}

var serverLogFact = facts.DefinePlain("mcs-log", fault.Cluster, "what the machine config servers log about themselves and about unknown pools",
	[]evidence.Need{evidence.Texts(Logs)}, readServerLog)

func readServerLog(ctx context.Context, w *facts.World, _ fault.Subject) (ServerLog, facts.Proof, error) {
	var s ServerLog
	var p facts.Proof
	all, err := requests(ctx, w)
	if err != nil {
		return s, p, err
	}
	for _, q := range lastUnknown(all) {
		s.UnknownRequests++
		if !slices.Contains(s.UnknownPools, q.pool) {
			s.UnknownPools = append(s.UnknownPools, q.pool)
			p.Add(q.failure.Loc, excerpt(q.failure.Text), q.failure.Time, "unknownPools", "unknownRequests")
			p.Add(q.line.Loc, excerpt(q.line.Text), q.line.Time, "unknownPools", "unknownRequests")
		}
		if !slices.Contains(s.UnknownAddresses, q.address) {
			s.UnknownAddresses = append(s.UnknownAddresses, q.address)
		}
		if s.UnknownSince.IsZero() {
			s.UnknownSince = q.failure.Time
		}
	}
	s.withoutControllerConfig(all, &p)
	slices.Sort(s.UnknownPools)
	slices.Sort(s.UnknownAddresses)
	lines, err := linesOf(ctx, w, Logs, sigCacheSync, sigCert, sigExit, sigRejected, sigLaunch)
	if err != nil {
		return s, p, err
	}
	s.self(lines, &p)
	err = w.Unheard(ctx, &p, Logs, nil, map[string]bool{
		"unknownPools": len(s.UnknownPools) == 0, "unknownRequests": s.UnknownRequests == 0, "unknownAddresses": len(s.UnknownAddresses) == 0,
		"controllerConfig": s.ControllerConfig == 0, "rejected": s.Rejected == 0,
		"certBroken": !s.CertBroken, "cacheSync": !s.CacheSync, "exited": !s.Exited,
	})
	return s, p, err
}

// withoutControllerConfig counts the last row of requests that failed for want
// of a ControllerConfig. Any request that got further ends it.
func (s *ServerLog) withoutControllerConfig(all []request, p *facts.Proof) {
	var row []request
	for _, q := range all {
		switch {
		case !q.ignition() || q.class == poolUnknown || q.class == emptyName || q.class == configMissing: // these fail before
		case q.class == controllerConfig:
			row = append(row, q)
		default:
			row = nil
		}
	}
	if len(row) == 0 {
		return
	}
	s.ControllerConfig, s.ControllerSince = int64(len(row)), row[0].failure.Time
	p.Add(row[0].failure.Loc, excerpt(row[0].failure.Text), row[0].failure.Time, "controllerConfig")
}

// lastUnknown returns the requests for unknown pools after which the pool was
// not served: a pool may be made after its first host booted.
func lastUnknown(all []request) []request {
	rows := map[string][]request{}
	var order []string
	for _, q := range all {
		if !q.ignition() {
			continue
		}
		if q.class != poolUnknown {
			delete(rows, q.pool)
			continue
		}
		if rows[q.pool] == nil {
			order = append(order, q.pool)
		}
		rows[q.pool] = append(rows[q.pool], q)
	}
	var list []request
	for i, pool := range order {
		if !slices.Contains(order[:i], pool) {
			list = append(list, rows[pool]...)
		}
	}
	return list
}

// self reads what the servers say of their own state; a later start clears it.
func (s *ServerLog) self(lines []hit, p *facts.Proof) {
	var last []hit // of each text
	for i, l := range lines {
		switch {
		case l.id == sigRejected:
			if s.Rejected++; s.Rejected == 1 {
				p.Add(l.Line.Loc, excerpt(l.Line.Text), l.Line.Time, "rejected")
			}
			continue
		case l.Text.Previous:
			continue
		}
		if n := len(last); n > 0 && i > 0 && last[n-1].Text.Path == l.Text.Path {
			last[n-1] = l
			continue
		}
		last = append(last, l)
	}
	for _, l := range last {
		field, set := "", (*bool)(nil)
		switch l.id {
		case sigCacheSync:
			field, set = "cacheSync", &s.CacheSync
		case sigCert:
			field, set = "certBroken", &s.CertBroken
		case sigExit:
			field, set = "exited", &s.Exited
		default:
			continue
		}
		*set = true
		p.Add(l.Line.Loc, excerpt(l.Line.Text), l.Line.Time, field)
	}
}
