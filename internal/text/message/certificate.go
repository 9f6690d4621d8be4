package message

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// certificate is the end or the beginning of a validity, as openssl, curl and the annotations
// of OpenShift's Secrets have it.
type certificate struct {
	line    int
	text    string
	time    time.Time
	ends    bool   // notAfter, else notBefore
	command string // that printed it
	host    string // on which, "" where that is not shown
	subject string // the common name
}

// clock is a time that the text shows: what date or timedatectl print, or the time of a line of
// a log.
type clock struct {
	time   time.Time
	host   string
	zone   bool // its time zone is only an abbreviation
	noYear bool
	logged bool // it is of a log: what was pasted beside it may be newer, and not older
}

// The bounds of what one text is read for, and how far a zone may be from UTC.
const (
	maxDates  = 64
	zoneWidth = 14 * time.Hour
	nearLines = 15 // between the subject and the dates of one certificate
)

var (
	validity = regexp.MustCompile(`(?i)\b(not ?after|not ?before|expire date|start date) ?[=:] ?([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}) GMT`)
	// annotations of service-ca and of library-go's certificate rotation (openshift/library-go:pkg/operator/certrotation/annotations.go)
	annotated  = regexp.MustCompile(`auth\.openshift\.io/certificate-not-(after|before)"?[:=] ?"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`)
	commonName = regexp.MustCompile(`(?i)^\**\s*(?:\d+ s:|subject ?[=:]).*?\bCN ?= ?"?([^,/"]+)`)
	dateLine   = regexp.MustCompile(`^(?:[A-Z][a-z]{2} |\d{4}-\d\d-\d\d|Universal time: )`)
	server     = regexp.MustCompile(`-connect\s+"?\[?([\w.:-]+?)\]?:(\d+)|https://([\w.-]+?)(?::(\d+))?(?:/|\s|$)`)
	atHost     = regexp.MustCompile(`^\[?[\w.-]+@([\w.-]+?)[ :]|\bssh\s+(?:-\S+\s+)*(?:[\w.-]+@)([\w.-]+)|\bdebug\s+(?:-\S+\s+)*nodes?/([\w.-]+)`)
)

// dateLayouts are what date prints in the locales of servers, and with -I and --rfc-3339.
var dateLayouts = []string{"Mon Jan _2 15:04:05 MST 2006", "Mon Jan _2 03:04:05 PM MST 2006", "Mon _2 Jan 15:04:05 MST 2006", "Mon _2 Jan 2006 03:04:05 PM MST",
	"Mon _2 Jan 2006 15:04:05 MST", "Mon, _2 Jan 2006 15:04:05 -0700", time.RFC3339, "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05 MST"}

// hostOf is the host that a prompt or a command names: "[core@m0 ~]$", "ssh core@m0", "oc debug
// node/m0". Empty where neither does.
func hostOf(line []byte) string {
	found := atHost.FindAllSubmatch(line, -1)
	if len(found) == 0 {
		return ""
	}
	last := found[len(found)-1]
	return string(slices.Concat(last[1], last[2], last[3]))
}

// outputs are files that commands wrote: which command each is of.
type outputs map[string]string

var redirected = regexp.MustCompile(`(?:[^2&>-]>>?|\|\s*(?:sudo )?tee(?:\s+-a)?\s)\s*([\w./-]+)`)

// command is a command that was typed. One that reads what an openssl before it wrote to a file has
// that openssl in front.
func (o *outputs) command(typed []byte) []byte {
	for word := range strings.FieldsSeq(string(typed)) {
		if before := (*o)[word]; before != "" {
			return []byte(before + "; " + string(typed))
		}
	}
	if m := redirected.FindSubmatch(typed); m != nil && bytes.Contains(typed, []byte("openssl")) && len(*o) < maxDates {
		if *o == nil {
			*o = outputs{}
		}
		(*o)[string(m[1])] = string(typed)
	}
	return typed
}

// times reads what a line shows of time.
func (f *found) times(number int, line []byte, l logline.Line, small bool, command []byte, host string) {
	if l.Form != logline.Log || len(l.Message) == 0 { // or nothing but a time
		f.dates(number, line, command, host)
	} else if small {
		f.logTime(line, string(l.Host))
	}
}

// dates looks for dates of certificates in a line, for whom they are, and for what date or
// timedatectl print.
func (f *found) dates(number int, line, command []byte, host string) {
	text := string(bytes.TrimSpace(line[:min(len(line), 240)]))
	for _, m := range validity.FindAllStringSubmatch(text, maxDates) {
		if t, err := time.Parse("Jan _2 15:04:05 2006", m[2]); err == nil {
			key := strings.ToLower(m[1])
			f.addDate(certificate{number, text, t, strings.HasSuffix(key, "after") || key == "expire date", string(command), host, ""})
		}
	}
	for _, m := range annotated.FindAllStringSubmatch(text, maxDates) {
		if t, err := time.Parse(time.RFC3339, m[2]); err == nil {
			f.addDate(certificate{number, text, t, m[1] == "after", string(command), host, ""})
		}
	}
	if m := commonName.FindStringSubmatch(text); m != nil {
		f.addSubject(number, strings.TrimSpace(m[1]))
	}
	f.clock(text, host)
}

// clock notes the time that date or timedatectl print.
func (f *found) clock(text, host string) {
	if t, zone, ok := localDate(text); ok {
		f.clocks = append(f.clocks, clock{time: t, host: host, zone: zone})
		return
	}
	if !dateLine.MatchString(text) {
		return
	}
	text = strings.TrimPrefix(text, "Universal time: ")
	for _, layout := range append(dateLayouts, "Mon 2006-01-02 15:04:05 UTC") {
		if t, err := time.Parse(layout, text); err == nil {
			zone, _ := t.Zone()
			f.clocks = append(f.clocks, clock{time: t, host: host, zone: strings.Contains(layout, "MST") && zone != "UTC" && zone != "GMT"})
			return
		}
	}
}

func (f *found) addDate(c certificate) {
	if len(f.certificates) >= maxDates {
		return
	}
	if f.subject.Text != "" && c.line-f.subject.Number <= nearLines {
		c.subject = f.subject.Text
	}
	f.certificates = append(f.certificates, c)
}

// addSubject gives the dates above it their subject, else those below it.
func (f *found) addSubject(number int, name string) {
	used := false
	for i := range f.certificates {
		if c := &f.certificates[i]; c.subject == "" && number-c.line <= nearLines {
			c.subject, used = name, true
		}
	}
	if f.subject = (Line{Number: number, Text: name}); used {
		f.subject = Line{}
	}
}

// logTime keeps the newest time of a log's lines.
func (f *found) logTime(line []byte, host string) {
	text := string(line[:min(len(line), 120)])
	t, ok := evidence.LineTime(text, time.Time{})
	noYear := !ok
	if noYear {
		if t, ok = evidence.LineTime(text, time.Now()); !ok {
			return
		}
	}
	for i := range f.clocks {
		if c := &f.clocks[i]; c.logged && c.noYear == noYear && c.host == host {
			if t.After(c.time) {
				c.time = t
			}
			return
		}
	}
	if len(f.clocks) < maxDates {
		f.clocks = append(f.clocks, clock{time: t, host: host, noYear: noYear, logged: true})
	}
}

// at is the time of a clock, as it is compared with a date of a certificate. False where it
// decides nothing. A log without years is taken to be of the year in which the certificate ends.
func (k clock) at(c certificate) (time.Time, bool) {
	t := k.time
	if k.noYear {
		t = time.Date(c.time.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		if t.After(time.Now()) {
			return t, false
		}
	}
	distance := t.Sub(c.time).Abs()
	return t, (!k.logged || c.ends) && (!k.zone || distance > zoneWidth) && distance > 0
}

// outOfDate puts certificates into the report that are not valid at the time that the text
// shows. Without such a time nothing follows from their dates.
func (c *collector) outOfDate(failures, faults map[string]*Match) {
	for _, x := range c.certificates {
		k, ok := c.clockFor(x)
		if !ok {
			continue
		}
		now, ok := k.at(x)
		if !ok || x.ends != now.After(x.time) {
			continue
		}
		l := Line{Number: x.line, Text: short(c.clean(x.text))}
		l.host = x.host
		t := &ruleMatches{count: 1, first: []Line{l}, last: l}
		if id := x.fault(); id != "" {
			c.match(faults, id, fault.ShowsLikely, t)
			continue
		}
		when := days(now.Sub(x.time))
		words := fmt.Sprintf("%s is not valid yet: it begins %s after the time that the text shows", c.clean(x.name()), when)
		next := "a clock is wrong, that of the host or of who signed the certificate: date -u; chronyc tracking, on both"
		if x.ends {
			words = fmt.Sprintf("%s expired %s before the time that the text shows", c.clean(x.name()), when)
			next = "the clock first: date -u; chronyc tracking. It is right: see which program uses the certificate and what renews it, " +
				"for the kubelet oc get csr"
		}
		if k.noYear {
			words += fmt.Sprintf(", if the log is of %d", x.time.Year())
		}
		if x.host != "" {
			next = "on " + x.host + ": " + next
		}
		c.match(failures, words, fault.ShowsPossible, t)
		failures[words].state = true
		c.next[words] = next
	}
}

// clockFor is the clock that a certificate is compared with: one of its host before others, and
// what a command printed before the time of a log.
func (c *collector) clockFor(x certificate) (best clock, ok bool) {
	rank := func(k clock) int {
		switch {
		case k.logged && k.noYear:
			return 1
		case k.logged:
			return 2
		case k.host == x.host:
			return 4
		}
		return 3
	}
	for _, k := range c.clocks {
		if !ok || rank(k) >= rank(best) {
			best, ok = k, true
		}
	}
	return best, ok
}

// fault is what a certificate is about that is not valid, "" where its command does not say that.
func (c certificate) fault() string {
	s := server.FindStringSubmatch(c.command)
	port := ""
	if s != nil {
		port = s[2] + s[4]
	}
	switch isMCS := port == "22623" || strings.Contains(c.command, openshift.MCSCertificate); {
	case c.ends && strings.Contains(c.command, "kubelet-client"):
		return "kubelet-client-cert-expired"
	case c.ends && port == "6443":
		return "api-certificate-expired"
	case c.ends && isMCS:
		return "mcs-certificate-expired"
	case isMCS:
		return "mcs-certificate-not-yet-valid"
	}
	return ""
}

// name says which certificate it is, by what the text gives.
func (c certificate) name() string {
	words := "a certificate"
	if c.subject != "" {
		words = "the certificate of " + c.subject
	}
	if s := server.FindStringSubmatch(c.command); s != nil {
		return words + " at " + s[1] + s[3]
	}
	for word := range strings.FieldsSeq(c.command) {
		if word = strings.Trim(word, `"'`); isCertificateFile(word) {
			words += " (" + path.Base(word) + ")"
			break
		}
	}
	if c.host != "" {
		words += " on " + c.host
	}
	return words
}

// isCertificateFile reports whether a word of a command is the file of a certificate, or of what
// openssl printed about one.
func isCertificateFile(word string) bool {
	return slices.Contains([]string{".pem", ".crt", ".cert", ".cer", ".txt"}, path.Ext(word))
}

// days is a length of time, as long ones are said.
func days(d time.Duration) string {
	if d = d.Abs(); d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	} else if d >= 2*time.Hour {
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
