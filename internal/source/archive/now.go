package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// timeBearing are the resources whose objects are scanned for the newest time:
// something writes to them every few seconds in a cluster that runs.
var timeBearing = []evidence.Resource{
	evidence.Leases, evidence.Events, objectfile.EventsV1, evidence.Nodes, evidence.Pods,
	evidence.ClusterOperators, evidence.ClusterVersions, evidence.MachineConfigPools, evidence.CSRs, evidence.Machines,
	evidence.BareMetalHosts,
	evidence.HostedClusters.In(""), evidence.NodePools.In(""), evidence.HostedMachines.In(""),
}

// clockSkew is how far an object's time may be ahead of the collector's clock and still
// count.
const clockSkew = 24 * time.Hour

// Describe implements evidence.Source. Now is
//   - in Rollcall's own collection: the clock of the recorded run;
//   - otherwise the newest of: the ends in the collectors' `timestamp` files, and
//     the times at which something happened in leases, events, nodes, pods,
//     ClusterOperators, ClusterVersion, MachineConfigPools, CSRs, Machines and
//     BareMetalHosts. Times more than a day after the newest end do not count (a host's
//     clock may be wrong), nor times that may be in the future, such as a certificate's
//     notAfter.
//
// In an archive that was joined with others and has no identity (Join), it is zero.
//
// Files in no layout (loose.Kind) do not show when they were read: now is at least their
// newest time (evidence.Description.AtLeast). The time of the file itself is not taken: a
// copy has the time of the copying, and leases and certificates would look expired.
//
// Where none of these is there, it is the newest time of a line of a journal or of the
// installer's log (lineNow); where these are missing, too, now is at least the newest time in
// any object or log (anyTime). It is zero when the archive has no such time.
func (s *Source) Describe(ctx context.Context) (evidence.Description, error) {
	d := evidence.Description{Kind: s.kind, Name: s.name, File: true, Notes: s.notes, Whole: whole(s.kind)}
	if s.manifest != nil {
		d.Now, d.AtLeast, d.Vantage, d.Hosted, d.Origin = s.manifest.Now, s.manifest.AtLeast, s.manifest.Vantage, s.manifest.Hosted, s.manifest.Source
		d.Notes, d.Whole = slices.Concat(s.notes, ownNotes(s.manifest.Notes)), whole(cmp.Or(d.Origin, d.Kind))
		return d, nil
	}
	s.nowMu.Lock()
	defer s.nowMu.Unlock()
	if !s.nowKnown {
		now, err := s.newest(ctx)
		if err != nil {
			return evidence.Description{}, fmt.Errorf("find the newest time in %s: %w", s.name, err)
		}
		s.now, s.nowKnown = now, true
	}
	d.Cut = s.cut
	if s.kind == loose.Kind {
		d.Holds = slices.SortedFunc(maps.Keys(s.ix.Objects), func(a, b evidence.Resource) int { return strings.Compare(a.String(), b.String()) })
	}
	if s.now.IsZero() && !s.clock.IsZero() && s.hostless() {
		d.Now, d.ByClock = s.clock, true // that nothing of a host is in it needs no time
		return d, nil
	}
	if !s.unproven {
		if d.Now = s.now; s.clocked {
			d.Notes = append(slices.Clone(s.notes), s.clockNote())
		}
		switch d.AtLeast = s.least || s.kind == loose.Kind && len(s.stamps) == 0 && !d.Now.IsZero(); {
		case s.least:
			d.Notes = append(slices.Clone(d.Notes), evidence.Coverage{Need: "time of " + s.base, State: evidence.Partial,
				Reason: "nothing in it is written every few seconds, so it may have been collected long after its newest time, " + d.Now.Format(time.RFC3339),
				Supply: evidence.Supply{Kind: evidence.SupplyNow}})
		case d.AtLeast:
			d.Notes = append(slices.Clone(d.Notes), infile.ReadLater(s.base, d.Now, s.written))
		}
	}
	return d, nil
}

// hostless reports whether nothing in the archive is about a host, or can be judged by a time.
func (s *Source) hostless() bool {
	if len(s.ix.Texts) > 0 || len(s.nested) > 0 || s.joined {
		return false
	}
	judged := append([]evidence.Resource{evidence.Secrets, evidence.ConfigMaps, evidence.MachineSets, evidence.Agents,
		evidence.AgentClusterInstalls, evidence.HostedAgents.In("")}, timeBearing...)
	return !slices.ContainsFunc(judged, func(r evidence.Resource) bool { return len(s.ix.Objects[r]) > 0 })
}

func (s *Source) newest(ctx context.Context) (time.Time, error) {
	var newest, limit time.Time
	for _, t := range s.stamps {
		if t.After(newest) {
			newest = t
		}
	}
	if !newest.IsZero() {
		limit = newest.Add(clockSkew)
	}
	for _, r := range timeBearing {
		for _, e := range inOrder(s.ix.Objects[r]) {
			if err := ctx.Err(); err != nil {
				return time.Time{}, err
			}
			t := e.Newest
			if !e.Timed || !limit.IsZero() && t.After(limit) {
				var err error
				if t, err = s.newestIn(ctx, e.File, limit); err != nil {
					continue // List reports it as damaged when it is asked for
				}
			}
			if t.After(newest) {
				newest = t
			}
		}
	}
	if !newest.IsZero() {
		return newest.UTC(), nil
	}
	if newest, err := s.lineNow(ctx); err != nil || !newest.IsZero() {
		return newest, err
	}
	newest, err := s.anyTime(ctx)
	s.least = !newest.IsZero()
	return newest.UTC(), err
}

// anyTime is the newest time in any object, else in any log.
func (s *Source) anyTime(ctx context.Context) (newest time.Time, err error) {
	var all []layout.Entry
	for _, list := range s.ix.Objects {
		all = append(all, list...)
	}
	for _, e := range inOrder(all) {
		if err := ctx.Err(); err != nil {
			return newest, err
		}
		t := e.Newest
		if !e.Timed {
			if t, err = s.newestIn(ctx, e.File, time.Time{}); err != nil {
				continue // List reports it as damaged when it is asked for
			}
		}
		if t.After(newest) {
			newest = t
		}
	}
	if !newest.IsZero() {
		return newest, nil
	}
	left := int64(layout.MaxLines)
	for _, e := range inOrder(s.ix.Texts) {
		if e.File.Size == 0 || left <= 0 {
			continue
		}
		found, err := s.newestLine(ctx, e, time.Time{}, &left)
		if ctx.Err() != nil {
			return newest, ctx.Err()
		}
		if err == nil && evidence.Plausible(found.newest) {
			newest = later(newest, found.newest)
		}
	}
	return newest, nil
}

// newestIn returns the newest time in a file of objects that is not after limit.
func (s *Source) newestIn(ctx context.Context, f member.File, limit time.Time) (newest time.Time, err error) {
	in, err := s.members.Open(ctx, f)
	if err != nil {
		return newest, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	scan := objectfile.TimeScan{Limit: limit}
	_, err = io.Copy(&scan, io.LimitReader(in, maxObjectFile))
	if newest = scan.End(); err != nil {
		return time.Time{}, err
	}
	return newest, nil
}
