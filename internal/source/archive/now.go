package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// timeBearing are the resources whose objects are scanned for the newest time:
// something writes to them every few seconds in a cluster that runs.
var timeBearing = []evidence.Resource{
	evidence.Leases, evidence.Events, eventsV1, evidence.Nodes, evidence.Pods,
	evidence.ClusterOperators, evidence.ClusterVersions, evidence.MachineConfigPools, evidence.CSRs, evidence.Machines,
	evidence.BareMetalHosts,
	evidence.HostedClusters.In(""), evidence.NodePools.In(""), evidence.HostedMachines.In(""),
}

// pastTimes are the fields that hold a time at which something happened. Times
// that may lie ahead are left out: notAfter, expirationTimestamp,
// deletionTimestamp (it includes the grace period).
var pastTimes = map[string]bool{
	"renewTime": true, "acquireTime": true, "lastTimestamp": true, "firstTimestamp": true, "eventTime": true,
	"lastObservedTime": true, "deprecatedLastTimestamp": true, "deprecatedFirstTimestamp": true,
	"lastTransitionTime": true, "lastHeartbeatTime": true, "lastProbeTime": true, "lastUpdateTime": true,
	"creationTimestamp": true, "startTime": true, "completionTime": true,
}

// clockSkew is how far behind the collector's clock an object's time may lie
// ahead of it and still be believed.
const clockSkew = 24 * time.Hour

// Describe implements evidence.Source. Now is
//   - in Rollcall's own collection: the clock of the recorded run;
//   - otherwise the newest of: the ends in the collectors' `timestamp` files, and
//     the times at which something happened in leases, events, nodes, pods,
//     ClusterOperators, ClusterVersion, MachineConfigPools, CSRs, Machines and
//     BareMetalHosts. Times more than a day after the newest end are not believed
//     (a host's clock may be the fault), and times that may lie ahead, such as a
//     certificate's notAfter, do not count.
//
// In an archive that was joined with others and does not say of which cluster it is
// (Join), it is zero.
//
// Files that somebody copied together (kind Files) do not say when they were read: now is
// at least their newest time (evidence.Description.AtLeast). The time of the file itself is
// not taken: a copy has the time of the copying, and leases and certificates would look
// expired.
//
// Where none of these is there, it is the newest time that a line of a journal or
// of the installer's log carries (lineNow). It is zero when the archive carries
// no such time.
func (s *Source) Describe(ctx context.Context) (evidence.Description, error) {
	d := evidence.Description{Kind: s.kind, Name: s.name, Notes: s.notes}
	if s.manifest != nil {
		d.Now, d.AtLeast, d.Vantage, d.Hosted = s.manifest.Now, s.manifest.AtLeast, s.manifest.Vantage, s.manifest.Hosted
		d.Notes = slices.Concat(s.notes, ownNotes(s.manifest.Notes))
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
	if !s.guest {
		if d.Now = s.now; s.clocked {
			d.Notes = append(slices.Clone(s.notes), s.clockNote())
		}
		if d.AtLeast = s.kind == Files && len(s.stamps) == 0 && !d.Now.IsZero(); d.AtLeast {
			d.Notes = append(slices.Clone(d.Notes), evidence.ReadLater(s.base, d.Now, s.written))
		}
	}
	return d, nil
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
		for _, e := range s.inOrder(s.objects[r]) {
			if err := ctx.Err(); err != nil {
				return time.Time{}, err
			}
			t := e.newest
			if !e.timed || !limit.IsZero() && t.After(limit) {
				var err error
				if t, err = s.newestIn(ctx, e.file, limit); err != nil {
					continue // List reports it as damaged when it is asked for
				}
			}
			if t.After(newest) {
				newest = t
			}
		}
	}
	if newest.IsZero() {
		return s.lineNow(ctx)
	}
	return newest.UTC(), nil
}

// newestIn returns the newest time in a file of objects that is not after limit.
func (s *Source) newestIn(ctx context.Context, f file, limit time.Time) (newest time.Time, err error) {
	in, err := s.open(ctx, f)
	if err != nil {
		return newest, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	scan := timeScan{limit: limit}
	_, err = io.Copy(&scan, io.LimitReader(in, maxObjectFile))
	if newest = scan.end(); err != nil {
		return time.Time{}, err
	}
	return newest, nil
}

// timeScan finds the newest time in the text of objects that is not after limit,
// as it comes; a zero limit is none. It scans for the fields of pastTimes, YAML or
// JSON.
type timeScan struct {
	limit  time.Time
	newest time.Time
	best   string
	window *[timeWindow]byte
	n      int // bytes in it
}

const (
	timeWindow  = 64 << 10
	timeOverlap = 128 // longer than a field with its time
)

// timeWindows are buffers of timeScan.
var timeWindows = sync.Pool{New: func() any { return new([timeWindow]byte) }}

// Write implements io.Writer; it never fails.
func (s *timeScan) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		k := copy(s.space(), rest)
		s.grow(k)
		rest = rest[k:]
	}
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom.
func (s *timeScan) ReadFrom(r io.Reader) (total int64, err error) {
	for {
		k, err := r.Read(s.space())
		s.grow(k)
		total += int64(k)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// space returns where the next bytes go.
func (s *timeScan) space() []byte {
	if s.window == nil {
		s.window = timeWindows.Get().(*[timeWindow]byte)
	}
	return s.window[s.n:]
}

// grow notes that so many bytes came.
func (s *timeScan) grow(k int) {
	if s.n += k; s.n == timeWindow {
		s.scan(s.window[:])
		s.n = copy(s.window[:], s.window[timeWindow-timeOverlap:])
	}
}

// end returns the newest time of what came.
func (s *timeScan) end() time.Time {
	if s.window != nil {
		s.scan(s.window[:s.n])
		timeWindows.Put(s.window)
		s.window, s.n = nil, 0
	}
	return s.newest
}

// newestTime is timeScan over a text that is there as a whole.
func newestTime(raw []byte, limit time.Time) time.Time {
	s := timeScan{limit: limit}
	s.scan(raw)
	return s.newest
}

func (s *timeScan) scan(raw []byte) {
	mark := []byte("Time")
	for at := 0; ; {
		i := bytes.Index(raw[at:], mark)
		if i < 0 {
			return
		}
		at += i
		begin := at
		for begin > 0 && letter(raw[begin-1]) {
			begin--
		}
		end := at + len(mark)
		for end < len(raw) && letter(raw[end]) {
			end++
		}
		at = end
		if !pastTimes[string(raw[begin:end])] {
			continue
		}
		value := timeAt(raw[end:])
		if value == "" || strings.HasSuffix(value, "Z") && value[:min(19, len(value))] < s.best {
			continue // times in UTC sort as text
		}
		t, err := time.Parse(time.RFC3339Nano, value)
		if err != nil || !s.limit.IsZero() && t.After(s.limit) || !t.After(s.newest) {
			continue
		}
		s.newest = t
		s.best = t.UTC().Format("2006-01-02T15:04:05")
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// timeAt returns what stands behind a key where it looks like a time.
func timeAt(raw []byte) string {
	const longest = 40
	raw = bytes.TrimLeft(raw[:min(len(raw), longest+6)], "\"': ")
	n := 0
	for n < len(raw) && (raw[n] >= '0' && raw[n] <= '9' || strings.IndexByte("T:.Z+-", raw[n]) >= 0) {
		n++
	}
	if n < len("2006-01-02T15:04:05Z") || raw[10] != 'T' {
		return ""
	}
	return string(raw[:n])
}

// stampTimes reads a collector's `timestamp` file: Go times with a monotonic
// clock, one or more pairs of start and end
// (openshift/oc:pkg/cli/admin/inspect, must-gather: time.Now().String()).
func stampTimes(raw []byte) []time.Time {
	var times []time.Time
	for line := range bytes.Lines(raw) {
		f := strings.Fields(string(line))
		if len(f) < 3 || len(times) >= maxStamps {
			continue
		}
		t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(f[:3], " "))
		if err == nil {
			times = append(times, t.UTC())
		}
	}
	return times
}

// maxStamps bounds the lines of a timestamp file; inspect appends a pair a run.
const maxStamps = 10000
