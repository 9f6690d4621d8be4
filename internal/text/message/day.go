package message

import (
	"regexp"
	"strconv"
)

var (
	klogDay    = regexp.MustCompile(`(?:^|[\s"\]:])[EFWI](\d\d)(\d\d) \d\d:\d\d:\d\d\.\d+`)
	journalDay = regexp.MustCompile(`^([A-Z][a-z]{2}) +(\d{1,2}) \d\d:\d\d:\d\d `)
)

// dayOf is the day of the year that a line has, counted with months of 31 days; 0 where it has none.
func dayOf(text string) int {
	month, day := 0, ""
	if m := klogDay.FindStringSubmatch(text); m != nil {
		month, _ = strconv.Atoi(m[1])
		day = m[2]
	} else if m := journalDay.FindStringSubmatch(text); m != nil {
		month, day = monthOf(lowerASCII(m[1])), m[2]
	}
	n, err := strconv.Atoi(day)
	if err != nil || month < 1 || month > 12 || n < 1 || n > 31 {
		return 0
	}
	return month*31 + n
}

// longestRun is for how many days an installation or a repair goes on: what is older is of another year, or of a journal
// that was pasted for itself.
const longestRun = 60

// olderDay puts a cause behind a failure of a later day, where all lines of the cause are of a day before: somebody pasted
// what they looked at first below what fails now.
func (r *Report) olderDay() {
	newest := 0
	for _, m := range r.Symptoms {
		newest = max(newest, m.day())
	}
	for _, m := range r.Matches {
		if day := m.day(); day == 0 || day >= newest || newest-day > longestRun {
			return
		}
	}
	if len(r.Matches) == 0 || newest == 0 {
		return
	}
	for i := range r.Matches {
		r.Matches[i].former = true
	}
	var now, before []Match
	for _, m := range r.Symptoms {
		if day := m.day(); day != 0 && day < newest {
			before = append(before, m)
		} else {
			now = append(now, m)
		}
	}
	r.Symptoms, r.Matches, r.Result = append(append(now, r.Matches...), before...), []Match{}, Unknown
}

// day is the last day of a match, 0 where one of its lines has none.
func (m *Match) day() (day int) {
	for _, l := range m.Lines {
		n := dayOf(l.Text)
		if n == 0 {
			return 0
		}
		day = max(day, n)
	}
	return day
}
