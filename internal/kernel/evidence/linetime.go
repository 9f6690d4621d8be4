package evidence

import (
	"strings"
	"time"
)

// LineTime finds the time that a line of a log carries. klog and journald print
// no year: the year is chosen so that the line is not later than now plus one
// day. A line without a time gives false.
func LineTime(line string, now time.Time) (time.Time, bool) {
	head := line[:min(len(line), 120)]
	if m := isoTime(head); m != "" {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700"} {
			if t, err := time.Parse(layout, m); err == nil && Plausible(t) {
				return t.UTC(), true
			}
		}
	}
	if now.IsZero() {
		return time.Time{}, false
	}
	if m := klogTime(head); m != "" {
		return inYearOf("0102 15:04:05", m, now)
	}
	if m := journalTime(head); m != "" {
		return inYearOf("Jan _2 15:04:05", m, now)
	}
	return time.Time{}, false
}

// inYearOf returns a time without a year in the latest year that fits.
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

// The times are found by hand: an archive has a million lines with one, on which an
// expression takes longer than on all else.

// isoTime returns the first time with a date and a zone, as RFC 3339 has it, the colon of
// the zone left out or not.
func isoTime(v string) string {
	const date, whole = "0000-00-00", "0000-00-00T00:00:00"
	for at := 0; ; at++ {
		i := strings.IndexByte(v[at:], 'T')
		if i < 0 {
			return ""
		}
		at += i
		from := at - len(date)
		if from < 0 || !shaped(v[from:], whole) {
			continue
		}
		end := from + len(whole)
		if end < len(v) && v[end] == '.' {
			end = digitsEnd(v, end+1)
		}
		switch rest := v[end:]; {
		case v[end-1] == '.':
		case strings.HasPrefix(rest, "Z"):
			return v[from : end+1]
		case rest != "" && (rest[0] == '+' || rest[0] == '-'):
			for _, zone := range []string{"00:00", "0000"} {
				if shaped(rest[1:], zone) {
					return v[from : end+1+len(zone)]
				}
			}
		}
	}
}

// klogTime returns the first month, day and time that follow one of klog's letters.
func klogTime(v string) string {
	for i := range len(v) {
		switch v[i] {
		case 'I', 'W', 'E', 'F':
			const shape = "0000 00:00:00.0"
			if i > 0 && strings.IndexByte("\t\n\f\r :", v[i-1]) < 0 || !shaped(v[i+1:], shape) {
				continue
			}
			return v[i+1 : digitsEnd(v, i+1+len(shape))]
		}
	}
	return ""
}

// journalTime returns the month, day and time with which journald begins a line.
func journalTime(v string) string {
	const shape = "Aaa _0 00:00:00"
	if !shaped(v, shape) {
		return ""
	}
	return v[:len(shape)]
}

// shaped reports whether a text begins with a shape: 0 is a digit, A and a are letters, _ is a
// digit or a blank, any other character is itself.
func shaped(v, shape string) bool {
	if len(v) < len(shape) {
		return false
	}
	for i := range len(shape) {
		ok := false
		switch c := v[i]; shape[i] {
		case '0':
			ok = digit(c)
		case '_':
			ok = c == ' ' || digit(c)
		case 'A':
			ok = c >= 'A' && c <= 'Z'
		case 'a':
			ok = c >= 'a' && c <= 'z'
		default:
			ok = c == shape[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

// digitsEnd returns where the digits end that begin at i.
func digitsEnd(v string, i int) int {
	for i < len(v) && digit(v[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
