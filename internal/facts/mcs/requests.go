package mcs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Requests is what hosts asked the machine config servers for in the name of a
// pool. The counts are of requests with Ignition's Accept header that failed in a
// row up to the end of the logs; a success of the pool ends the row.
type Requests struct {
	Total             int64     `cel:"total"`    // of Ignition, in all logs
	Failures          int64     `cel:"failures"` // of the last row
	EmptyName         int64     `cel:"emptyName"`
	ConfigMissing     int64     `cel:"configMissing"`
	MissingName       string    `cel:"missingName"` // the config that the last one of these named
	ControllerConfig  int64     `cel:"controllerConfig"`
	Unservable        int64     `cel:"unservable"`
	VersionRefused    int64     `cel:"versionRefused"`
	BootstrapRefusals int64     `cel:"bootstrapRefusals"`
	BareFailures      int64     `cel:"bareFailures"` // of clients that did not say that they are Ignition, in all logs
	Addresses         []string  `cel:"addresses"`    // of the clients of the last row
	Since             time.Time `cel:"since"`        // first failure of the row
	Last              time.Time `cel:"last"`         // last failure of the row
}

var requestsFact = facts.DefinePlain("mcs-requests", fault.Pool, "what hosts asked the machine config servers for, and how it ended",
	[]evidence.Need{evidence.Texts(Logs)}, readRequests)

func readRequests(ctx context.Context, w *facts.World, s fault.Subject) (Requests, facts.Proof, error) {
	return PoolRequests(ctx, w, s.Name)
}

// PoolRequests reads what was asked in the name of a pool.
func PoolRequests(ctx context.Context, w *facts.World, pool string) (Requests, facts.Proof, error) {
	var r Requests
	var p facts.Proof
	all, err := requests(ctx, w)
	if err != nil {
		return r, p, err
	}
	var row []request
	for _, q := range all {
		switch {
		case q.pool != pool:
		case !q.ignition():
			if q.class != served {
				r.BareFailures++
			}
		case q.class == served:
			r.Total++
			row = nil
		default:
			r.Total++
			row = append(row, q)
		}
	}
	r.count(row)
	for _, f := range proofsOf(row) {
		p.Add(f.failure.Loc, excerpt(f.failure.Text), f.failure.Time, "failures", fieldOf(f.class))
		p.Add(f.line.Loc, excerpt(f.line.Text), f.line.Time, "failures", fieldOf(f.class))
	}
	if len(row) > 0 {
		last := row[len(row)-1]
		p.Add(last.failure.Loc, fmt.Sprintf("%d requests in a row failed, the last one: %s", len(row), excerpt(last.failure.Text)), last.failure.Time, "failures")
	}
	err = w.Unheard(ctx, &p, Logs, nil, map[string]bool{
		"total": r.Total == 0, "failures": r.Failures == 0, "emptyName": r.EmptyName == 0, "configMissing": r.ConfigMissing == 0,
		"controllerConfig": r.ControllerConfig == 0, "unservable": r.Unservable == 0, "versionRefused": r.VersionRefused == 0,
		"bootstrapRefusals": r.BootstrapRefusals == 0, "bareFailures": r.BareFailures == 0,
	})
	return r, p, err
}

func (r *Requests) count(row []request) {
	r.Failures = int64(len(row))
	for _, q := range row {
		if n := map[class]*int64{
			emptyName: &r.EmptyName, configMissing: &r.ConfigMissing, controllerConfig: &r.ControllerConfig, unservable: &r.Unservable,
			versionRefused: &r.VersionRefused, bootstrapRefusal: &r.BootstrapRefusals,
		}[q.class]; n != nil {
			*n++
		}
		if q.config != "" && q.class == configMissing {
			r.MissingName = q.config
		}
		if !slices.Contains(r.Addresses, q.address) {
			r.Addresses = append(r.Addresses, q.address)
		}
		if t := q.failure.Time; !t.IsZero() {
			if r.Since.IsZero() {
				r.Since = t
			}
			r.Last = t
		}
	}
	slices.Sort(r.Addresses)
}

// proofsOf returns the first request of the row for each way to fail.
func proofsOf(row []request) []request {
	var list []request
	for _, q := range row {
		if !slices.ContainsFunc(list, func(have request) bool { return have.class == q.class }) {
			list = append(list, q)
		}
	}
	return list
}

func fieldOf(c class) string {
	return map[class]string{
		emptyName: "emptyName", configMissing: "configMissing", controllerConfig: "controllerConfig", unservable: "unservable",
		versionRefused: "versionRefused", bootstrapRefusal: "bootstrapRefusals",
	}[c]
}

// excerpt cuts a line to what fits a report.
func excerpt(text string) string {
	text = strings.TrimSpace(text)
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
