package installer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// waits are the runs that waited for the API, since one saw it.
type waits struct {
	api             string
	all, ended      int // ended: by their time limit or their user
	timedOut        int
	last            line // "Waiting up to", of the newest one
	answers         map[string]*answer
	began, newestAt time.Time
}

// answer is one kind of answer that runs got while they waited.
type answer struct {
	kind  answerKind
	times int64
	last  line
}

// answerKind tells what an answer to GET /version says of who gave it.
type answerKind struct {
	name, means string
	text        *regexp.Regexp
}

// answerKinds are tried in their order; the last one fits any. What a client reports for 404 without a Status
// is "could not find the requested resource" (kubernetes/apimachinery:pkg/api/errors/errors.go NewGenericServerResponse).
var answerKinds = []answerKind{
	{"404", "a server answers there and accepts TLS, and it does not have /version: it is no API server that is ready, or another server",
		regexp.MustCompile(`could not find the requested resource`)},
	{"503", "an API server answers, and it is not ready", regexp.MustCompile(`currently unable to handle the request`)},
	{"a certificate error", "the certificate of what answers is not that of this installation: it is an older cluster, another server, or a proxy",
		regexp.MustCompile(`x509: `)},
	{"no such name", "the name did not resolve", regexp.MustCompile(`no such host|server misbehaving`)},
	{"refused", "the address exists and nothing listens at the port", regexp.MustCompile(`connection refused`)},
	{"no route", "no host has the address", regexp.MustCompile(`no route to host`)},
	{"EOF", "something takes the connection and closes it, as a load balancer does that has no running backend",
		regexp.MustCompile(`\bEOF\b|connection reset`)},
	{"a timeout", "no answer comes: a firewall, a route, or an address that no host has", regexp.MustCompile(`(?i)timeout|deadline exceeded|Client\.Timeout`)},
	{"another error", "", regexp.MustCompile(``)},
}

// stillAPI is what a wait for the API logs of the answer (openshift/installer:cmd/openshift-install/command/waitfor.go, before 4.16 create.go).
var stillAPI = regexp.MustCompile(`^Still waiting for the Kubernetes API: (.*)`)

// waitsForAPI goes through the runs and keeps those since the API was last seen.
func waitsForAPI(runs [][]line) waits {
	w := waits{answers: map[string]*answer{}}
	for _, run := range runs {
		i := slices.IndexFunc(run, func(l line) bool { return l.id == sigWait && address.MatchString(l.Line.Text) && readStep(l) == "api" })
		if i < 0 {
			if apiSeen(run, time.Time{}) { // as an agent's wait does, which is for the whole installation
				w = waits{answers: map[string]*answer{}, api: w.api}
			}
			continue
		}
		if api := address.FindStringSubmatch(run[i].Line.Text)[1]; api != w.api {
			w = waits{answers: map[string]*answer{}, api: api}
		}
		w.add(run[i:])
		if apiSeen(run, time.Time{}) {
			w = waits{answers: map[string]*answer{}, api: w.api}
		}
	}
	return w
}

func readStep(l line) string {
	in := install{}
	in.wait(l)
	return in.step
}

func (w *waits) add(run []line) {
	w.all++
	w.last = run[0]
	w.began, w.newestAt = run[0].Line.Time, run[len(run)-1].Line.Time
	for _, l := range run {
		text := message(l)
		switch l.id {
		case sigStopped:
			w.ended++
		case sigFatal, sigFailed:
			if gaveUpAt(text) == "kubernetes api" || waitedOut.MatchString(text) {
				w.ended++
				w.timedOut++
			}
		case sigStill:
			if m := stillAPI.FindStringSubmatch(text); m != nil {
				w.answer(m[1], l)
			}
		}
	}
}

// waitedOut is how a wait for the API ended before 4.6 (openshift/installer:cmd/openshift-install/create.go waitForBootstrapComplete).
var waitedOut = regexp.MustCompile(`^waiting for Kubernetes API: `)

func (w *waits) answer(text string, l line) {
	for _, k := range answerKinds {
		if !k.text.MatchString(text) {
			continue
		}
		if w.answers[k.name] == nil {
			w.answers[k.name] = &answer{kind: k}
		}
		w.answers[k.name].times++
		w.answers[k.name].last = l
		return
	}
}

// apiWithin is how long a wait for the API can be normal: openshift-install waits so long, in its first releases 30
// minutes (openshift/installer:cmd/openshift-install/create.go waitForBootstrapComplete, apiTimeout).
const apiWithin = 20 * time.Minute

// noteWaits says what answered while runs waited for the API, where one of them has given up or has waited
// for so long that it will.
func noteWaits(said *diagnosis.Installer, runs [][]line) {
	w := waitsForAPI(runs)
	if w.all == 0 || said.Ended == "complete" || w.ended == 0 && w.newestAt.Sub(w.began) < apiWithin {
		return
	}
	if said.Step == "api" {
		said.Blocked, said.API = "api", w.api
	}
	words := "1 run waited"
	if w.all > 1 {
		words = fmt.Sprintf("%d runs waited", w.all)
	}
	words += " for the API at " + w.api + ", and none saw it ready"
	if w.timedOut > 0 {
		words += fmt.Sprintf("; %d reached their time limit", w.timedOut)
	}
	note(said, words, w.last)
	var list []*answer
	for _, a := range w.answers {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *answer) int {
		return cmp.Or(b.last.Line.Time.Compare(a.last.Line.Time), strings.Compare(a.kind.name, b.kind.name))
	})
	for i, a := range list {
		got := a.kind.name + ", logged " + times(a.times)
		if i == 0 {
			got = "the last answer was " + got
		}
		if a.kind.means != "" {
			got += ": " + a.kind.means
		}
		note(said, got, a.last)
	}
}
