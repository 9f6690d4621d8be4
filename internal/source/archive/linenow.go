package archive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
)

var isoStamp = regexp.MustCompile(`\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| [+-]\d{4})`)

// WithClock sets the time at which the archive is read. Journals print no year: where nothing
// in the archive has one, lines are of the latest year that is not ahead of this time.
func (s *Source) WithClock(now time.Time) { s.clock = now }

// clockNote notes that the year of now is a guess.
func (s *Source) clockNote() evidence.Coverage {
	return evidence.Coverage{Need: "year of " + s.base, State: evidence.Partial,
		Reason: "its lines have no year; the latest that fits the clock of this computer is taken", Supply: evidence.Supply{Kind: evidence.SupplyNow}}
}

// lineNow returns the newest time of lines of journals and of the installer. Lines with a
// year decide the year of those without; so does the date in the name of the archive. With neither, lines without a year are of the latest year
// that fits the clock (WithClock); without a clock they have no time.
func (s *Source) lineNow(ctx context.Context) (time.Time, error) {
	var newest, limit time.Time
	for _, e := range append([]layout.Entry{{Root: s.base}}, s.ix.Texts...) {
		if m := dirStamp.FindStringSubmatch(e.Root); m != nil {
			day, err := time.Parse(time.DateOnly, m[1]+"-"+m[2]+"-"+m[3])
			if end := day.Add(2 * clockSkew); err == nil && end.After(limit) {
				limit = end
			}
		}
	}
	var last []string
	left := int64(layout.MaxLines)
	for _, e := range s.ix.Texts {
		if e.Text.Kind != evidence.Journal && e.Text.Kind != evidence.Installer || e.File.Size == 0 || left <= 0 {
			continue
		}
		t, line, err := s.newestLine(ctx, e, limit, &left)
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		if err != nil {
			continue // reading it reports the error
		}
		if last = append(last, line); t.After(newest) {
			newest = t
		}
	}
	from := newest
	if from.IsZero() && !limit.IsZero() {
		from = limit.Add(-clockSkew)
	}
	if from.IsZero() {
		from, s.clocked = s.clock, !s.clock.IsZero()
	}
	for _, line := range last {
		if t, ok := evidence.LineTime(line, from); ok && t.After(newest) {
			newest = t
		}
	}
	return newest.UTC(), nil
}

// newestLine returns the newest time with a year in a text, and its last line.
func (s *Source) newestLine(ctx context.Context, e layout.Entry, limit time.Time, left *int64) (newest time.Time, last string, err error) {
	in, err := s.openForTime(ctx, e)
	if err != nil {
		return newest, "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if e.Export {
		return journal.NewestEntry(io.LimitReader(in, *left), limit), "", nil
	}
	lines := bufio.NewScanner(io.LimitReader(in, *left))
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		line := lines.Text()
		*left -= int64(len(line)) + 1
		if strings.TrimSpace(line) != "" {
			last = line
		}
		head := line[:min(len(line), 200)]
		if i := strings.Index(head, "20"); i < 0 {
			continue
		}
		m := strings.Replace(strings.Replace(isoStamp.FindString(head), "T", " ", 1), "Z", " +0000", 1)
		for _, form := range []string{"2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04:05 -0700"} {
			if t, err := time.Parse(form, m); err == nil {
				if t = ownTime(head, t); t.After(newest) && (limit.IsZero() || !t.After(limit)) {
					newest = t
				}
			}
		}
	}
	return newest, last, nil // a line that is too long ends the search, not the text
}

// openForTime opens a text; a journal in export format as it is, because its lines would
// have lost the year.
func (s *Source) openForTime(ctx context.Context, e layout.Entry) (io.ReadCloser, error) {
	if e.Export {
		return s.members.OpenText(ctx, e.File)
	}
	return layout.OpenLines(ctx, s.members, e, "")
}

var (
	// aheadWords are in lines whose time may be in the future.
	aheadWords = regexp.MustCompile(`(?i)expir|deadline|not ?after|until|valid`)
	// kubeletCert is of the kubelet's certificate, which is valid for a day at first and
	// for 30 days then (kubernetes/client-go:util/certificate/certificate_manager.go).
	kubeletCert = regexp.MustCompile(`(?i)certificate expiration is|rotation deadline is`)
)

// ownTime is when a line with a time t in its text was written. A journal's line without a
// year begins with its own time, and t gives it the year; zero where t is too far from it.
func ownTime(head string, t time.Time) time.Time {
	if _, _, ok := journal.Head([]byte(head)); !ok || strings.HasPrefix(head, "20") {
		return t
	}
	own, ok := evidence.LineTime(head[:min(len(head), len(time.Stamp))], t)
	near := 25 * time.Hour
	switch {
	case kubeletCert.MatchString(head):
		near = 31 * 24 * time.Hour
	case aheadWords.MatchString(head):
		return time.Time{}
	}
	if d := t.Sub(own); !ok || d > near || d < -near {
		return time.Time{}
	}
	return own
}
