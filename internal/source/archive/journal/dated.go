package journal

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// stamps are times with a year in the text of a line. All but the first show no time but that of their line:
//   - the kernel's "setting system clock to 2021-05-07T22:48:49 UTC" (torvalds/linux:drivers/rtc/class.c rtc_hctosys)
//   - cloud-init's "running 'init' at Sat, 08 May 2021 23:39:00 +0000" (canonical/cloud-init:cloudinit/cmd/main.py welcome_format)
var stamps = []struct {
	text    *regexp.Regexp
	layouts []string
}{
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| [+-]\d{4})`),
		[]string{"2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04:05 -0700"}},
	{regexp.MustCompile(`setting system clock to (20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d) (?:UTC )?\(`), []string{time.DateTime}},
	{regexp.MustCompile(`Cloud-init v\. .* at ([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4})`), []string{time.RFC1123Z}},
}

// Stamp returns the first time with a year in a line.
func Stamp(line string) (t time.Time, ok bool) {
	if !strings.Contains(line, "20") {
		return t, false
	}
	for _, s := range stamps {
		m := s.text.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text := m[len(m)-1]
		if text[0] == '2' {
			text = strings.Replace(strings.Replace(text, "T", " ", 1), "Z", " +0000", 1)
		}
		for _, layout := range s.layouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t, true
			}
		}
	}
	return t, false
}

// span is the line above what journalctl prints. Its zone is a name, as that of the lines below it: they are
// compared as they are written (systemd/systemd:src/journal/journalctl.c main; to 248 "Logs begin", then "Journal begins").
var span = regexp.MustCompile(`^-- (?:Logs begin|Journal begins) at [A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) [A-Z0-9+-]+` +
	`(?:, ends? at [A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) [A-Z0-9+-]+)?\. --`)

// YearOf returns a time by which the year of the lines of a journal can be told, where the line is the one above
// it: its end; of a journal that was followed, which has no end yet, the latest before its first day returns. Zero
// for any other line.
func YearOf(line []byte) time.Time {
	if len(line) < 3 || line[0] != '-' || line[1] != '-' {
		return time.Time{}
	}
	m := span.FindSubmatch(line)
	if m == nil {
		return time.Time{}
	}
	if ends, err := time.Parse(time.DateTime, string(m[2])); err == nil {
		return ends
	}
	begins, err := time.Parse(time.DateTime, string(m[1]))
	if err != nil {
		return time.Time{}
	}
	const almostYear = 363 * 24 * time.Hour
	return begins.Add(almostYear)
}

// Ended is the newest time of a journal in the line above what journalctl prints: it was read then or later. Zero for
// any other line, and where the line does not have it in UTC.
func Ended(line []byte) time.Time {
	if !bytes.HasSuffix(line, []byte(" UTC. --")) {
		return time.Time{}
	}
	m := span.FindSubmatch(line)
	if m == nil {
		return time.Time{}
	}
	ends, err := time.Parse(time.DateTime, string(m[2]))
	if err != nil {
		return time.Time{}
	}
	return ends
}

var (
	// aheadWords are in lines whose time may be in the future.
	aheadWords = regexp.MustCompile(`(?i)expir|deadline|not ?after|until|valid|rotat`)
	// kubeletCert is of the kubelet's certificate, which is valid for a day at first and
	// for 30 days then (kubernetes/client-go:util/certificate/certificate_manager.go).
	kubeletCert = regexp.MustCompile(`(?i)certificate expiration is|rotation deadline is`)
)

// OwnTime is when a line with a time t in its text was written. A journal's line without a
// year begins with its own time, and t gives it the year; zero where t is too far from it.
func OwnTime(head string, t time.Time) time.Time {
	if _, _, ok := Head([]byte(head)); !ok || strings.HasPrefix(head, "20") {
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
