package mcs

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// serverLog is what the machine config servers say of themselves and of
// requests that belong to no pool of the cluster.
type serverLog struct {
	UnknownRequests  facts.Field[int64]     `cel:"unknownRequests"` // requests for them
	UnknownSince     facts.Field[time.Time] `cel:"unknownSince"`
	ControllerConfig facts.Field[int64]     `cel:"controllerConfig"` // Ignition's last requests, of any pool, that failed for want of a ControllerConfig
	ControllerSince  facts.Field[time.Time] `cel:"controllerConfigSince"`
	Rejected         facts.Field[int64]     `cel:"rejected"`   // clients that ended the handshake because of our certificate
	CertBroken       facts.Field[bool]      `cel:"certBroken"` // the serving certificate cannot be loaded
	CacheSync        facts.Field[bool]      `cel:"cacheSync"`  // a server gave up waiting for the API and has not started since
	Exited           facts.Field[bool]      `cel:"exited"`     // a server exited with an error and has not started since
}

var serverLogFact = facts.Define("mcs-log", fault.Cluster, "what the machine config servers log about themselves and about unknown pools",
	[]evidence.Need{evidence.Texts(logs)}, readServerLog)

func readServerLog(ctx context.Context, w *facts.World, _ fault.Subject) (serverLog, error) {
	var s serverLog
	all, err := requests(ctx, w)
	if err != nil {
		return s, err
	}
	s.unknownPools(lastUnknown(all))
	s.withoutControllerConfig(all)
	lines, err := linesOf(ctx, w, logs, sigCacheSync, sigCert, sigExit, sigRejected, sigLaunch)
	if err != nil {
		return s, err
	}
	s.self(lines)
	facts.Complete(&s)
	return s, nil
}

func (s *serverLog) unknownPools(list []request) {
	var pools []string
	for _, q := range list {
		if !slices.Contains(pools, q.pool) {
			pools = append(pools, q.pool)
			for _, l := range []evidence.Line{q.failure, q.line} {
				facts.Prove(item(l), &s.UnknownRequests, &s.UnknownSince)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	s.UnknownRequests.Set(int64(len(list)))
	s.UnknownSince.Set(list[0].failure.Time)
}

// withoutControllerConfig counts the last row of requests that failed for want
// of a ControllerConfig. Any request that got further ends it.
func (s *serverLog) withoutControllerConfig(all []request) {
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
	s.ControllerConfig.Set(int64(len(row)), item(row[0].failure))
	s.ControllerSince.Set(row[0].failure.Time, item(row[0].failure))
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
func (s *serverLog) self(lines []hit) {
	var last []hit // of each text
	rejected := int64(0)
	for i, l := range lines {
		switch {
		case l.id == sigRejected:
			if rejected++; rejected == 1 {
				s.Rejected.Prove(item(l.Line))
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
	s.Rejected.Set(rejected)
	for _, l := range last {
		if field := map[string]*facts.Field[bool]{sigCacheSync: &s.CacheSync, sigCert: &s.CertBroken, sigExit: &s.Exited}[l.id]; field != nil {
			field.Set(true, item(l.Line))
		}
	}
}
