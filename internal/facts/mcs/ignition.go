package mcs

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Ignition is what the host's console says of its last boot's Ignition.
type Ignition struct {
	Joined     bool   `cel:"joined"`     // a Node of this name exists
	URL        string `cel:"url"`        // the last one that was fetched
	Pool       string `cel:"pool"`       // in that URL, "" where it is none of a machine config server
	Hosted     bool   `cel:"hosted"`     // that URL is one of a hosted cluster's ignition server
	Attempts   int64  `cel:"attempts"`   // number of the last attempt
	Status     int64  `cel:"status"`     // HTTP status of the last answer, 0 when the last attempt got none
	ErrorClass string `cel:"errorClass"` // of the last attempt without an answer: dns, refused, timeout, no-route, no-network, tls-..., plain-http, closed, other
	Error      string `cel:"error"`      // as printed
	CA         string `cel:"ca"`         // name of the CA that the pointer brought
	SameName   bool   `cel:"sameName"`   // the untrusted certificate names a CA that the pointer has, with another key
	BadCA      bool   `cel:"badCA"`      // the pointer's CA cannot be read
	BadConfig  string `cel:"badConfig"`  // why a fetched config was refused, "" where it was not
	Looping    bool   `cel:"looping"`    // it retried up to the end of the console
	Finished   bool   `cel:"finished"`
	Terminal   bool   `cel:"terminal"` // it gave up: emergency shell
	Seconds    int64  `cel:"seconds"`  // from the first to the last attempt in this boot, by the kernel's clock
}

var ignitionFact = facts.DefinePlain("host-ignition", fault.Host, "what the host's console says of Ignition",
	[]evidence.Need{evidence.Texts(hosts.Consoles), evidence.Objects(evidence.Nodes, "")}, readIgnition)

func readIgnition(ctx context.Context, w *facts.World, s fault.Subject) (Ignition, facts.Proof, error) {
	var g Ignition
	var p facts.Proof
	node, joined, err := w.Get(ctx, evidence.Nodes, "", s.Name)
	if _, ok := evidence.AsUnavailable(err); ok {
		p.Miss("joined", err)
	} else if err != nil {
		return g, p, err
	}
	g.Joined = joined
	if joined {
		p.Add(node.Loc, "Node "+s.Name+" exists", node.Created(), "joined")
	}
	lines, err := consoleOf(ctx, w, s.Name)
	if _, ok := evidence.AsUnavailable(err); ok && joined {
		return g, p, facts.NotApplicable("%s has joined, and its console was not given", s.Name)
	}
	if err != nil {
		return g, p, err
	}
	g.follow(lines, &p)
	err = w.Unheard(ctx, &p, hosts.Consoles, hosts.Shows(s.Name), map[string]bool{
		"attempts": g.Attempts == 0, "status": g.Status == 0, "errorClass": g.ErrorClass == "", "sameName": !g.SameName, "badCA": !g.BadCA,
		"badConfig": g.BadConfig == "", "looping": !g.Looping, "finished": !g.Finished, "terminal": !g.Terminal,
	})
	return g, p, err
}

// consoleOf returns the lines of the last boot on the host's console. A console
// without any line of Ignition says nothing, as one that was not given.
func consoleOf(ctx context.Context, w *facts.World, name string) ([]hit, error) {
	var ids []string
	for _, s := range ignitionSignatures() {
		ids = append(ids, s.ID)
	}
	all, err := linesOf(ctx, w, hosts.Consoles, ids...)
	if err != nil {
		return nil, err
	}
	lines := slices.DeleteFunc(all, func(l hit) bool { return !hosts.SameName(l.Text.Host, name) })
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].id == sigKernel {
			lines = lines[i+1:]
			break
		}
	}
	if len(lines) == 0 {
		return nil, &evidence.Unavailable{Need: evidence.Texts(hosts.Consoles), Why: evidence.NotCollected,
			Detail: "no console of " + name + " that shows Ignition", Supply: "--console " + name + "=FILE"}
	}
	return lines, nil
}

// follow plays the lines. What is known at the end counts.
func (g *Ignition) follow(lines []hit, p *facts.Proof) {
	var attempt, outcome, end *hit
	first, last := -1.0, -1.0
	for i := range lines {
		l := &lines[i]
		switch l.id {
		case sigAttempt:
			attempt, outcome = l, nil
			g.begin(l)
			if at, ok := seconds(l.Line.Text); ok {
				if first < 0 || g.Attempts == 1 {
					first = at
				}
				last = at
			}
		case sigResult, sigGetError:
			outcome = l
			g.outcome(l)
		case sigCA:
			g.CA = l.Groups[1]
			p.Add(l.Line.Loc, excerpt(l.Line.Text), time.Time{}, "ca", "sameName")
		case sigCABroken, sigCABundle:
			g.BadCA = true
			p.Add(l.Line.Loc, excerpt(l.Line.Text), time.Time{}, "badCA")
		case sigVersionIn, sigInvalid, sigEmpty, sigMerge:
			g.BadConfig = excerpt(l.Line.Text)
			p.Add(l.Line.Loc, g.BadConfig, time.Time{}, "badConfig")
		case sigFailed, sigAcquire, sigFetchFail, sigEmergency:
			g.Terminal, end = true, l
		case sigFinished:
			g.Finished, end = true, l
		}
	}
	g.Looping = attempt != nil && !g.Finished && !g.Terminal && g.Status != 200
	if first >= 0 {
		g.Seconds = int64(last - first)
	}
	g.prove(attempt, outcome, end, p)
}

func (g *Ignition) begin(l *hit) {
	if g.URL != l.Groups[1] { // the pointer was fetched, now what it merges
		g.Status, g.ErrorClass, g.Error, g.SameName = 0, "", "", false
	}
	g.URL, g.Pool = l.Groups[1], ""
	if m := poolInURL.FindStringSubmatch(g.URL); m != nil {
		g.Pool = m[1]
	}
	g.Hosted = hostedURL.MatchString(g.URL)
	g.Attempts, _ = strconv.ParseInt(l.Groups[2], 10, 64)
	g.Finished, g.Terminal = false, false
}

func (g *Ignition) outcome(l *hit) {
	g.Status, g.ErrorClass, g.Error, g.SameName = 0, "", "", false
	if l.id == sigResult {
		g.Status = statuses[lower(l.Groups[1])]
		return
	}
	g.Error = excerpt(l.Groups[1])
	g.ErrorClass = errorClass(l.Groups[1])
	g.SameName = g.ErrorClass == "tls-untrusted" && sameKeyName.MatchString(l.Groups[1])
}

func (g *Ignition) prove(attempt, outcome, end *hit, p *facts.Proof) {
	if outcome != nil {
		p.Add(outcome.Line.Loc, excerpt(outcome.Line.Text), outcome.Line.Time, "status", "errorClass", "error", "sameName", "looping")
	}
	if attempt != nil {
		p.Add(attempt.Line.Loc, excerpt(attempt.Line.Text), attempt.Line.Time, "url", "pool", "hosted", "attempts", "looping", "seconds")
	}
	if end != nil {
		p.Add(end.Line.Loc, excerpt(end.Line.Text), end.Line.Time, "finished", "terminal")
	}
}
