package mcs

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Ignition is what the host's console says of its last boot's Ignition.
type Ignition struct {
	Joined   facts.Field[bool]   `cel:"joined"`   // a Node of this name exists
	URL      facts.Field[string] `cel:"url"`      // the last one that was fetched
	Pool     facts.Field[string] `cel:"pool"`     // in that URL, "" where it is not of a machine config server
	Hosted   facts.Field[bool]   `cel:"hosted"`   // that URL is one of a hosted cluster's ignition server
	Attempts facts.Field[int64]  `cel:"attempts"` // number of the last attempt
	Status   facts.Field[int64]  `cel:"status"`   // HTTP status of the last answer, 0 when the last attempt got none
	// of the last attempt without an answer: dns, refused, timeout, no-route, no-network,
	// tls-..., plain-http, http-to-tls, closed, other
	ErrorClass facts.Field[string] `cel:"errorClass"`
	Error      facts.Field[string] `cel:"error"`     // as printed
	CA         facts.Field[string] `cel:"ca"`        // name of the CA that the pointer brought
	SameName   facts.Field[bool]   `cel:"sameName"`  // the untrusted certificate names a CA that the pointer has, with another key
	BadCA      facts.Field[bool]   `cel:"badCA"`     // the pointer's CA cannot be read
	BadConfig  facts.Field[string] `cel:"badConfig"` // why a fetched config was refused, "" where it was not
	Looping    facts.Field[bool]   `cel:"looping"`   // it retried up to the end of the console
	Finished   facts.Field[bool]   `cel:"finished"`
	Terminal   facts.Field[bool]   `cel:"terminal"` // it gave up: emergency shell
	Seconds    facts.Field[int64]  `cel:"seconds"`  // from the first to the last attempt in this boot, by the kernel's clock
	Stage      facts.Field[string] `cel:"stage"`    // the stage after the fetch that failed: kargs, disks, mount, files; "" where none did
	StageError facts.Field[string] `cel:"stageError"`
}

var ignitionFact = facts.Define("host-ignition", fault.Host, "what the host's console says of Ignition",
	inventory.Needs(), readIgnition)

func readIgnition(ctx context.Context, w *facts.World, s fault.Subject) (Ignition, error) {
	w.Concerns(inventory.Shows(s.Name))
	node, joined, nodeErr := inventory.Joined(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(nodeErr); nodeErr != nil && !ok {
		return Ignition{}, nodeErr
	}
	lines, err := consoleOf(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(err); ok && joined {
		return Ignition{}, facts.NotApplicable("%s has joined, and its console was not given", s.Name)
	}
	if err == nil {
		err = inventory.CutOff(ctx, w, inventory.Consoles, s.Name) // the last line decides
	}
	if err != nil {
		return Ignition{}, err
	}
	g := follow(lines).fields()
	switch {
	case nodeErr != nil:
		g.Joined.Miss(nodeErr)
	case joined:
		g.Joined.Set(true, evidence.Item{Locator: node.Loc, Excerpt: "Node " + node.Name + " exists", Time: node.Created()})
	default:
		g.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "there is no Node "+s.Name))
	}
	return g, nil
}

// consoleOf returns the lines of the last boot on the host's console. A console
// without any line of Ignition says nothing, as one that was not given.
func consoleOf(ctx context.Context, w *facts.World, name string) ([]hit, error) {
	all, err := linesOf(ctx, w, inventory.Consoles, ignitionMessages...)
	if err != nil {
		return nil, err
	}
	lines := slices.DeleteFunc(all, func(l hit) bool { return !inventory.SameName(l.Text.Host, name) })
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].id == sigKernel {
			lines = lines[i+1:]
			break
		}
	}
	if len(lines) == 0 {
		return nil, inventory.NoConsole(ctx, w, name, "no console of "+name+" that shows Ignition")
	}
	return lines, nil
}

// console is an Ignition while its lines are followed.
type console struct {
	url, pool, errorClass, err, ca, badConfig       string
	stage, stageError, failed                       string // the stage after the fetch that runs, and the one that failed
	attempts, status                                int64
	hosted, sameName, finished, terminal            bool
	first, last                                     float64 // attempts, by the kernel's clock; negative if there is none
	attempt, outcome, end, authority, badCA, config *hit    // the lines that show it
}

// follow plays the lines. What is known at the end counts.
func follow(lines []hit) *console {
	g := &console{first: -1, last: -1}
	for i := range lines {
		l := &lines[i]
		switch l.id {
		case sigAttempt:
			g.begin(l)
		case sigResult, sigGetError:
			g.answer(l)
		case sigCA:
			g.ca, g.authority = l.Groups[1], l
		case sigCABroken, sigCABundle:
			g.badCA = l
		case sigVersionIn, sigInvalid, sigEmpty, sigMerge:
			g.badConfig, g.config = excerpt.Of(l.Line.Text), l
		case sigFailed, sigAcquire, sigFetchFail, sigEmergency:
			g.giveUp(l)
		case sigFinished:
			g.finished, g.stage, g.end = true, "", l
		case sigKargs, sigDisks, sigMount, sigFiles:
			if g.stage, g.finished = laterStages[l.id], true; l.Groups[1] != "" && bad.MatchString(l.Groups[1]) {
				g.stageError = excerpt.Of(l.Groups[1])
			}
		}
	}
	return g
}

// bad is in the lines of a stage that say what failed
// (coreos/ignition:internal/log/log.go LogOp).
var bad = regexp.MustCompile(`(?i)\[failed\]|fail|error|timeout|timed out`)

// giveUp notes that Ignition ends with an error. A stage that runs after the fetch fails
// with a config that was fetched.
func (g *console) giveUp(l *hit) {
	if g.terminal = true; g.failed == "" || l.id == sigFailed {
		g.end = l
	}
	if g.failed = g.stage; g.stage == "" {
		return
	}
	if _, why, ok := strings.Cut(l.Line.Text, "Ignition failed: "); ok {
		g.stageError = excerpt.Of(why)
	}
}

// begin notes an attempt. What the one before ended with counts until this one ends.
func (g *console) begin(l *hit) {
	if g.url != l.Groups[1] { // the pointer was fetched, now what it merges
		g.status, g.errorClass, g.err, g.sameName, g.outcome = 0, "", "", false, nil
	}
	g.setURL(l.Groups[1])
	g.attempts, _ = strconv.ParseInt(l.Groups[2], 10, 64)
	g.finished, g.terminal, g.attempt, g.stage, g.failed, g.stageError = false, false, l, "", "", ""
	if at, ok := seconds(l.Line.Text); ok {
		if g.first < 0 || g.attempts == 1 {
			g.first = at
		}
		g.last = at
	}
}

// setURL sets the URL that is fetched.
func (g *console) setURL(url string) {
	g.url, g.pool = url, ""
	if m := poolInURL.FindStringSubmatch(url); m != nil {
		g.pool = m[1]
	}
	g.hosted = hostedURL.MatchString(url)
}

func (g *console) answer(l *hit) {
	g.status, g.errorClass, g.err, g.sameName, g.outcome = 0, "", "", false, l
	if l.id == sigResult {
		g.status = statuses[lower(l.Groups[1])]
		if g.status == 400 && httpToTLS.MatchString(g.url) {
			g.status, g.errorClass, g.err = 0, "http-to-tls", "HTTP 400 for a request without TLS"
		}
		return
	}
	g.err = excerpt.Of(l.Groups[1])
	g.errorClass = errorClass(l.Groups[1])
	g.sameName = g.errorClass == "tls-untrusted" && sameKeyName.MatchString(l.Groups[1])
	if m := urlInError.FindStringSubmatch(l.Groups[1]); m != nil && g.attempt == nil { // the console begins after its attempt
		g.setURL(m[1])
	}
}

// fields returns what the lines show.
func (g *console) fields() Ignition {
	var f Ignition
	prove := func(l *hit, fields ...facts.Setter) {
		if l != nil {
			facts.Prove(item(l.Line), fields...)
		}
	}
	prove(g.outcome, &f.Status, &f.ErrorClass, &f.Error, &f.SameName, &f.Looping)
	if g.attempt == nil {
		prove(g.outcome, &f.URL, &f.Pool, &f.Hosted)
	}
	prove(g.attempt, &f.URL, &f.Pool, &f.Hosted, &f.Attempts, &f.Seconds, &f.Looping)
	prove(g.authority, &f.CA, &f.SameName)
	prove(g.badCA, &f.BadCA)
	prove(g.config, &f.BadConfig)
	prove(g.end, &f.Finished, &f.Terminal, &f.Looping)
	if g.failed != "" {
		prove(g.end, &f.Stage, &f.StageError)
		f.StageError.Set(g.stageError)
	} else {
		f.StageError.Set("")
	}
	f.Stage.Set(g.failed)
	f.URL.Set(g.url)
	f.Pool.Set(g.pool)
	f.Hosted.Set(g.hosted)
	f.Attempts.Set(g.attempts)
	f.Status.Set(g.status)
	f.ErrorClass.Set(g.errorClass)
	f.Error.Set(g.err)
	f.CA.Set(g.ca)
	f.SameName.Set(g.sameName)
	f.BadCA.Set(g.badCA != nil)
	f.BadConfig.Set(g.badConfig)
	f.Looping.Set((g.attempt != nil || g.outcome != nil) && !g.finished && !g.terminal && g.status != 200)
	f.Finished.Set(g.finished)
	f.Terminal.Set(g.terminal)
	if g.first >= 0 {
		f.Seconds.Set(int64(g.last - g.first))
	}
	facts.Complete(&f)
	return f
}
