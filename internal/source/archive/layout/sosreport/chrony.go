package sosreport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// clock reads what chronyc printed.
func (r report) clock(ctx context.Context, f member.File) (any, error) {
	raw, err := r.Read(ctx, f, layout.MaxSmall)
	if err != nil {
		return nil, err
	}
	c, err := parseTracking(string(raw))
	if err != nil {
		return nil, err
	}
	sources := r.first(sourcesPaths)
	if sources.Path == "" {
		c.SourcesError = "the sosreport has no list of chrony's sources"
		return c, nil
	}
	raw, err = r.Read(ctx, sources, layout.MaxSmall)
	if err == nil {
		c.Sources, err = parseSources(string(raw))
	}
	if err != nil {
		c.SourcesError = err.Error()
	}
	return c, nil
}

// parseTracking reads `chronyc tracking` (chrony: client.c process_cmd_tracking).
func parseTracking(text string) (onhost.Clock, error) {
	c := onhost.Clock{Sources: []onhost.TimeSource{}}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "Reference ID":
			if _, name, ok := strings.Cut(value, "("); ok {
				c.Reference = strings.TrimSuffix(name, ")")
			}
		case "Stratum":
			c.Stratum, _ = strconv.Atoi(value)
		case "System time":
			seconds, _, _ := strings.Cut(value, " ")
			offset, err := strconv.ParseFloat(seconds, 64)
			if err != nil {
				return c, fmt.Errorf("%.80q is not a time", value)
			}
			c.Offset = math.Abs(offset)
		case "Leap status":
			c.Leap = value
		}
	}
	if c.Leap == "" {
		return c, fmt.Errorf("chronyc printed %.80q", strings.TrimSpace(text))
	}
	c.Synchronised = c.Leap != "Not synchronised"
	return c, nil
}

// parseSources reads `chronyc sources`: a table of one server a line, which begins with
// its mode and state; the fifth column has in octal which of the last eight polls were
// answered (chrony: client.c process_cmd_sources).
func parseSources(text string) ([]onhost.TimeSource, error) {
	list, table := []onhost.TimeSource{}, false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "MS Name/IP"), strings.Contains(line, "Number of sources"):
			table = true
		case len(f) < 5 || len(f[0]) != 2 || !strings.Contains("^=#", f[0][:1]):
		default:
			reach, err := strconv.ParseInt(f[4], 8, 32)
			if err != nil {
				return nil, fmt.Errorf("%.80q is not a line of chronyc", strings.TrimSpace(line))
			}
			list = append(list, onhost.TimeSource{Name: f[1], State: f[0][1:], Reach: int(reach)})
		}
	}
	if !table {
		return nil, errors.New("chronyc printed no table of sources")
	}
	return list, nil
}
