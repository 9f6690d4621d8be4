package message

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

var (
	// failedCheck is the last line of bootkube.sh's check of the API, after which it goes on
	// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootstrap-verify-api-server-urls.sh, check_url).
	failedCheck = []byte("is currently unreachable")
	unreachable = regexp.MustCompile(`is currently unreachable|Unable to reach API\w*'s|:6443[^ ]* was refused|:6443: connect: `)
	runsImage   = regexp.MustCompile(`\bcontainer (?:create|init|start) [0-9a-f]{12,64} \(image=\S+?@(sha256:[0-9a-f]{64})`)
	pullOf      = regexp.MustCompile(`@(sha256:[0-9a-f]{64})`)
	pullFails   = regexp.MustCompile(`(?i)\bpull|initializing source|pinging|reading manifest|parsing image|copying (?:blob|image)`)
)

// outlast notes a line that says how the API or an image is by then: a failed check of the API, which
// the end of its unit does not undo, and a container of an image, which therefore is on the host.
func (f *found) outlast(number int, line []byte, l logline.Line) {
	if bytes.Contains(line, failedCheck) {
		f.marks = append(f.marks, mark{line: number, host: originOf(l).host, unreached: true})
	}
	if bytes.Contains(line, []byte("(image=")) {
		if m := runsImage.FindSubmatch(line); m != nil {
			f.marks = append(f.marks, mark{line: number, host: originOf(l).host, image: string(m[1])})
		}
	}
}

// outlasts reports whether a line is about an API that a later check of the same unit, before it was
// done, does not reach either.
func (p *past) outlasts(l Line, done int) bool {
	check := max(p.unreached[l.host], p.unreached[""])
	return check >= l.Number && check < done && unreachable.MatchString(l.Text)
}

// imageRuns reports whether a line says that an image cannot be pulled of which a container was made
// later on the same host.
func (p *past) imageRuns(l Line) bool {
	if len(p.ran) == 0 || !pullFails.MatchString(l.Text) {
		return false
	}
	m := pullOf.FindStringSubmatch(l.Text)
	if m == nil {
		return false
	}
	for _, r := range p.ran {
		if r.image == m[1] && r.line > l.Number && sameHost(r.host, l.host) {
			return true
		}
	}
	return false
}

// pullTry begins a try of the machine-config-daemon to pull an image, and afterPull are lines that it writes only
// after a try that passed: it runs one command after the other, and gives up with an error.
const pullTry = "Running: podman pull"

var afterPull = set("Running: podman inspect", "Running: podman create", "Updating files")

// pulledLater reports whether a line says that a pull failed which the same program tried again later, and then got on.
func (c *collector) pulledLater(l Line) bool {
	if !pullFails.MatchString(l.Text) && !strings.Contains(l.Text, "podman failed: ") {
		return false
	}
	try, next := 0, 0
	for i, t := range c.by {
		text := c.x.rules[i].Text
		if text != pullTry && !afterPull[text] {
			continue
		}
		for _, line := range t.hosts {
			switch {
			case line.writer != l.writer || !sameHost(line.host, l.host):
			case text == pullTry:
				try = max(try, line.Number)
			default:
				next = max(next, line.Number)
			}
		}
	}
	return try > l.Number && next > try
}

// waitsOn reports whether a line is of openshift-install's wait for the API, of which others were
// refused: until the API server runs both are normal. Where the wait has failed they are not.
func (c *collector) waitsOn(l Line) bool {
	const wait, failed = "Still waiting for the Kubernetes API", "Failed waiting for Kubernetes API"
	if !strings.Contains(l.Text, wait) || !strings.Contains(l.Text, "i/o timeout") || strings.Contains(l.Text, "lookup ") {
		return false
	}
	refused := false
	for i := range c.by {
		switch r := &c.x.rules[i]; {
		case r.Text == failed:
			return false
		case r.Text == wait:
			refused = refused || r.Normal != ""
		}
	}
	return refused
}
