package onhost

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// clock is the fact host-clock.
type clock struct {
	Synchronised facts.Field[bool]   `cel:"synchronised"`
	OffsetMillis facts.Field[int64]  `cel:"offsetMillis"` // how far it is off, by chrony's reckoning, without sign
	Offset       facts.Field[string] `cel:"offset"`       // in words
	Sources      facts.Field[int64]  `cel:"sources"`      // servers that are configured
	Reachable    facts.Field[int64]  `cel:"reachable"`    // of them those that answered lately
	RTCKnown     facts.Field[bool]   `cel:"rtcKnown"`
	RTCOffMillis facts.Field[int64]  `cel:"rtcOffMillis"` // how far the hardware clock is from the system clock
	RTCOff       facts.Field[string] `cel:"rtcOff"`
}

var clockFact = facts.Define("host-clock", fault.Host, "what chrony says of the machine's clock, and how far its hardware clock is from it",
	needs(evidence.HostClocks), readClock)

func readClock(ctx context.Context, w *facts.World, s fault.Subject) (clock, error) {
	var f clock
	c, loc, err := readPart[onhost.Clock](ctx, w, evidence.HostClocks, s)
	if err != nil {
		return f, err
	}
	off := time.Duration(min(c.Offset, 1e9) * float64(time.Second))
	said := fmt.Sprintf("leap status %s, stratum %d, reference %q, the system clock is %s off", c.Leap, c.Stratum, c.Reference, span(off))
	tracking := shows(loc, "chronyc tracking", said, c.At)
	f.Synchronised.Set(c.Synchronised, tracking)
	f.OffsetMillis.Set(off.Milliseconds(), tracking)
	f.Offset.Set(span(off), tracking)
	f.sources(c, loc)
	f.hardware(c, loc)
	return f, nil
}

func (f *clock) sources(c onhost.Clock, loc evidence.Locator) {
	if c.SourcesError != "" {
		unread(evidence.HostClocks, "chronyc sources", c.SourcesError, &f.Sources, &f.Reachable)
		return
	}
	reachable := int64(0)
	for _, x := range c.Sources {
		if x.Reach > 0 {
			reachable++
		}
	}
	item := shows(loc, "chronyc sources", fmt.Sprintf("%d of %d servers answered one of the last eight questions", reachable, len(c.Sources)), c.At)
	f.Sources.Set(int64(len(c.Sources)), item)
	f.Reachable.Set(reachable, item)
}

func (f *clock) hardware(c onhost.Clock, loc evidence.Locator) {
	const path = "/sys/class/rtc/rtc0/since_epoch"
	if c.RTC.IsZero() {
		none := shows(loc, path, "no hardware clock was read", c.At)
		f.RTCKnown.Set(false, none)
		unread(evidence.HostClocks, path, "no hardware clock was read", &f.RTCOffMillis, &f.RTCOff)
		return
	}
	d := c.At.Sub(c.RTC).Abs()
	item := shows(loc, path, "hardware clock "+excerpt.Time(c.RTC)+", system clock "+excerpt.Time(c.At), c.At)
	f.RTCKnown.Set(true, item)
	f.RTCOffMillis.Set(d.Milliseconds(), item)
	f.RTCOff.Set(span(d), item)
}
