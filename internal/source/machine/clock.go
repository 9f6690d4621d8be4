package machine

import (
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// notSynchronised is chrony's leap status of a clock without a source
// (chrony: client.c process_cmd_tracking).
const notSynchronised = "Not synchronised"

func (s *Source) clock(ctx context.Context) (part, error) {
	if !s.live {
		return part{}, s.copied(evidence.HostClocks)
	}
	need := evidence.Objects(evidence.HostClocks, "")
	raw, err := output(ctx, s.opts.Runner, chronyc, "-c", "-n", "tracking")
	if err != nil {
		return part{}, unavailable(need, chronyc, err)
	}
	c, ok := parseTracking(raw)
	if !ok {
		return part{}, &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: "chronyc tracking printed what is not known"}
	}
	if raw, err := output(ctx, s.opts.Runner, chronyc, "-c", "-n", "sources"); err != nil {
		c.SourcesError = err.Error()
	} else {
		c.Sources = parseSources(raw)
	}
	c.At = s.opts.Now().UTC()
	if n, err := strconv.ParseInt(s.tree.text("/sys/class/rtc/rtc0/since_epoch"), 10, 64); err == nil && n > 0 {
		c.RTC = time.Unix(n, 0).UTC()
	}
	return part{c, "chronyc tracking"}, nil
}

// parseTracking reads `chronyc -c tracking`: reference ID, its name, stratum, time of
// reference, correction of the system clock, ..., leap status.
func parseTracking(raw []byte) (onhost.Clock, bool) {
	c := onhost.Clock{Sources: []onhost.TimeSource{}}
	rows := rows(raw)
	if len(rows) != 1 || len(rows[0]) < 14 {
		return c, false
	}
	f := rows[0]
	offset, err := strconv.ParseFloat(f[4], 64)
	if err != nil {
		return c, false
	}
	c.Reference, c.Leap, c.Offset = f[1], f[13], math.Abs(offset)
	c.Stratum, _ = strconv.Atoi(f[2])
	c.Synchronised = c.Leap != notSynchronised
	return c, true
}

// parseSources reads `chronyc -c sources`: mode, state, name, stratum, poll, reach in
// octal, ...
func parseSources(raw []byte) []onhost.TimeSource {
	list := []onhost.TimeSource{}
	for _, f := range rows(raw) {
		if len(f) < 6 {
			continue
		}
		reach, err := strconv.ParseInt(f[5], 8, 32)
		if err != nil {
			continue
		}
		list = append(list, onhost.TimeSource{Name: f[2], State: f[1], Reach: int(reach)})
	}
	return list
}

func rows(raw []byte) [][]string {
	r := csv.NewReader(strings.NewReader(string(raw)))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	list, err := r.ReadAll()
	if err != nil {
		return nil
	}
	return list
}
