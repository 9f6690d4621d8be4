package onhost

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Clock is the fact host-clock.
type Clock struct {
	Synchronised bool   `cel:"synchronised"`
	Reference    string `cel:"reference"`    // whom it follows
	OffsetMillis int64  `cel:"offsetMillis"` // how far it is off, by chrony's reckoning, without sign
	Offset       string `cel:"offset"`       // in words
	Sources      int64  `cel:"sources"`      // servers that are configured
	Reachable    int64  `cel:"reachable"`    // of them those that answered lately
	RTCKnown     bool   `cel:"rtcKnown"`
	RTCOffMillis int64  `cel:"rtcOffMillis"` // how far the hardware clock is from the system clock
	RTCOff       string `cel:"rtcOff"`
}

var clockFact = facts.DefinePlain("host-clock", fault.Host, "what chrony says of the machine's clock, and how far its hardware clock is from it",
	needs(evidence.HostClocks), readClock)

func readClock(ctx context.Context, w *facts.World, s fault.Subject) (Clock, facts.Proof, error) {
	var f Clock
	var p facts.Proof
	c, loc, err := look[onhost.Clock](ctx, w, evidence.HostClocks, s)
	if err != nil {
		return f, p, err
	}
	off := time.Duration(min(c.Offset, 1e9) * float64(time.Second))
	f.Synchronised, f.Reference, f.OffsetMillis, f.Offset = c.Synchronised, c.Reference, off.Milliseconds(), span(off)
	p.Add(at(loc, "chronyc tracking"), fmt.Sprintf("leap status %s, stratum %d, reference %q, the system clock is %s off", c.Leap, c.Stratum, c.Reference, f.Offset), c.At,
		"synchronised", "reference", "offsetMillis", "offset")
	f.Sources = int64(len(c.Sources))
	for _, x := range c.Sources {
		if x.Reach > 0 {
			f.Reachable++
		}
	}
	if c.SourcesError != "" {
		unread(&p, evidence.HostClocks, "chronyc sources", c.SourcesError, "sources", "reachable")
	} else {
		p.Add(at(loc, "chronyc sources"), fmt.Sprintf("%d of %d servers answered one of the last eight questions", f.Reachable, f.Sources), c.At, "sources", "reachable")
	}
	if !c.RTC.IsZero() {
		d := c.At.Sub(c.RTC).Abs()
		f.RTCKnown, f.RTCOffMillis, f.RTCOff = true, d.Milliseconds(), span(d)
		p.Add(at(loc, "/sys/class/rtc/rtc0/since_epoch"), "hardware clock "+stamp(c.RTC)+", system clock "+stamp(c.At), c.At, "rtcKnown", "rtcOffMillis", "rtcOff")
	}
	return f, p, nil
}
