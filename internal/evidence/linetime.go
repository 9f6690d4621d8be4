package evidence

import (
	"regexp"
	"time"
)

var (
	isoTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)`)
	klogTime    = regexp.MustCompile(`(?:^|[\s:])[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)`)
	journalTime = regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d`)
)

// LineTime finds the time that a line of a log carries. klog and journald print
// no year: the year is chosen so that the line is not later than now plus one
// day. A line without a time gives false.
func LineTime(line string, now time.Time) (time.Time, bool) {
	head := line[:min(len(line), 120)]
	if m := isoTime.FindString(head); m != "" {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700"} {
			if t, err := time.Parse(layout, m); err == nil && Plausible(t) {
				return t.UTC(), true
			}
		}
	}
	if now.IsZero() {
		return time.Time{}, false
	}
	if m := klogTime.FindStringSubmatch(head); m != nil {
		return inYearOf("0102 15:04:05", m[1]+m[2]+" "+m[3], now)
	}
	if m := journalTime.FindString(head); m != "" {
		return inYearOf("Jan _2 15:04:05", m, now)
	}
	return time.Time{}, false
}

// inYearOf places a time without a year in the latest year that fits.
func inYearOf(layout, value string, now time.Time) (time.Time, bool) {
	t, err := time.Parse(layout, value)
	if err != nil {
		return time.Time{}, false
	}
	latest := now.Add(24 * time.Hour)
	const leap = 8 // years without a 29 February, at most
	for year := latest.Year(); year >= latest.Year()-leap; year-- {
		d := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if d.Month() == t.Month() && !d.After(latest) {
			return d, true
		}
	}
	return time.Time{}, false
}
