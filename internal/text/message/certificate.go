package message

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// certificate is the end or the beginning of a validity, as `openssl x509 -dates` prints it.
type certificate struct {
	line    int
	text    string
	time    time.Time
	ends    bool   // notAfter, else notBefore
	command string // that printed it
}

// maxDates bounds how many dates of certificates one text is read for.
const maxDates = 64

// dates looks for dates of certificates in a line, and for what `date` or timedatectl print.
func (f *found) dates(number int, line, command []byte) {
	text := string(bytes.TrimSpace(line[:min(len(line), 120)]))
	for _, key := range []struct {
		prefix string
		ends   bool
	}{{"notAfter=", true}, {"notBefore=", false}, {"Not After : ", true}, {"Not Before: ", false}} {
		if value, ok := strings.CutPrefix(text, key.prefix); ok && len(f.certificates) < maxDates {
			if t, err := time.Parse("Jan _2 15:04:05 2006 MST", value); err == nil {
				f.certificates = append(f.certificates, certificate{number, text, t, key.ends, string(command)})
			}
		}
	}
	for _, layout := range []string{"Mon Jan _2 15:04:05 UTC 2006", "Mon Jan _2 03:04:05 PM UTC 2006", "Mon _2 Jan 15:04:05 UTC 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			f.clock = t
		}
	}
	if value, ok := strings.CutPrefix(text, "Universal time: "); ok {
		if t, err := time.Parse("Mon 2006-01-02 15:04:05 UTC", value); err == nil {
			f.clock = t
		}
	}
}

// outOfDate puts certificates into the report that are not valid at the time that the text
// shows. Without such a time nothing follows from their dates.
func (c *collector) outOfDate(failures, faults map[string]*Match) {
	if c.clock.IsZero() {
		return
	}
	for _, x := range c.certificates {
		if x.ends != c.clock.After(x.time) || x.time.Equal(c.clock) {
			continue
		}
		l := Line{Number: x.line, Text: short(c.clean(x.text))}
		t := &ruleMatches{count: 1, first: []Line{l}, last: l}
		if x.ends && strings.Contains(x.command, "kubelet-client") {
			c.match(faults, "kubelet-client-cert-expired", fault.ShowsLikely, t)
			continue
		}
		words := "a certificate is not valid yet at the time that the text shows"
		if x.ends {
			words = fmt.Sprintf("a certificate expired %s before the time that the text shows", c.clock.Sub(x.time).Round(time.Minute))
		}
		c.match(failures, words, fault.ShowsPossible, t)
		c.next[words] = "find which program uses it, and whether the clock of the host is right: chronyc tracking"
	}
}
