package hardware

import (
	"fmt"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// distance says how far two clocks are apart, in the two largest units that matter: 4m30s,
// 2h5m, 3 days 4h, 2 years 115 days.
func distance(d time.Duration) string {
	unit := func(n time.Duration, one string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %ss", n, one)
	}
	rest := func(left string, zero bool) string {
		if zero {
			return ""
		}
		return " " + left
	}
	switch {
	case d < time.Hour:
		return short(d.Round(time.Second))
	case d < day:
		return short(d.Round(time.Minute))
	case d < 30*day:
		d = d.Round(time.Hour)
		return unit(d/day, "day") + rest(short(d%day), d%day == 0)
	case d < year:
		return unit(d.Round(day)/day, "day")
	}
	d = d.Round(day)
	return unit(d/year, "year") + rest(unit(d%year/day, "day"), d%year < day)
}

// short is a time without units that are zero.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
