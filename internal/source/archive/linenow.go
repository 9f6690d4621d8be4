package archive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
)

// WithClock sets the time at which the archive is read. Journals print no year: where nothing
// in the archive has one, lines are of the latest year that is not ahead of this time.
func (s *Source) WithClock(now time.Time) { s.clock = now }

// clockNote notes that the year of now is a guess.
func (s *Source) clockNote() evidence.Coverage {
	return evidence.Coverage{Need: "year of " + s.base, State: evidence.Partial,
		Reason: "its lines have no year; the latest that fits the clock of this computer is taken", Supply: evidence.Supply{Kind: evidence.SupplyNow}}
}

// lineNow returns the newest time of lines of journals and of the installer. Lines with a
// year decide the year of those without; so do the line above a journal and the date in the name of the
// archive. With none of these, lines without a year are of the latest year that fits the clock (WithClock); without
// a clock they have no time.
func (s *Source) lineNow(ctx context.Context) (time.Time, error) {
	var newest, limit, year time.Time
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
		found, err := s.newestLine(ctx, e, limit, &left)
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		if err != nil {
			continue // reading it reports the error
		}
		last = append(last, found.last)
		newest, year = later(newest, found.newest), later(year, found.year)
	}
	from := newest
	if from.IsZero() && !limit.IsZero() {
		from = limit.Add(-clockSkew)
	}
	if from.IsZero() {
		from = year
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

// dated is what the lines of a text show of their time.
type dated struct {
	newest time.Time // with a year
	year   time.Time // a time of which the year of the others can be told
	last   string    // line
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// newestLine returns the newest time with a year in a text, and its last line.
func (s *Source) newestLine(ctx context.Context, e layout.Entry, limit time.Time, left *int64) (d dated, err error) {
	in, err := s.openForTime(ctx, e)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if e.Export {
		d.newest = journal.NewestEntry(io.LimitReader(in, *left), limit)
		return d, nil
	}
	lines := bufio.NewScanner(io.LimitReader(in, *left))
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		line := lines.Text()
		*left -= int64(len(line)) + 1
		if strings.TrimSpace(line) != "" {
			d.last = line
		}
		if t := journal.YearOf([]byte(line)); !t.IsZero() {
			d.year = later(d.year, t)
			if ends := journal.Ended([]byte(line)); !e.Free && (limit.IsZero() || !ends.After(limit)) {
				d.newest = later(d.newest, ends) // a collector ran journalctl then
			}
			continue
		}
		head := line[:min(len(line), 200)]
		if t, ok := journal.Stamp(head); ok {
			if t = journal.OwnTime(head, t); limit.IsZero() || !t.After(limit) {
				d.newest = later(d.newest, t)
			}
		}
	}
	return d, nil // a line that is too long ends the search, not the text
}

// openForTime opens a text; a journal in export format as it is, because its lines would
// have lost the year.
func (s *Source) openForTime(ctx context.Context, e layout.Entry) (io.ReadCloser, error) {
	if e.Export {
		return s.members.OpenText(ctx, e.File)
	}
	return layout.OpenLines(ctx, s.members, e, "")
}
