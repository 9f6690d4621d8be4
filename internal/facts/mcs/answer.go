package mcs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Answer is how the machine config servers answered a probe for a pool. Servers
// are asked one by one on their node's address and, as a host would, through
// api-int and the VIPs (front).
type Answer struct {
	Asked        int64     `cel:"asked"`        // servers that were asked one by one
	OK           int64     `cel:"ok"`           // of them, 200
	ServerErrors int64     `cel:"serverErrors"` // of them, 5xx
	Refused      int64     `cel:"refused"`      // of them, no listener
	Unreachable  int64     `cel:"unreachable"`  // of them, no other answer
	Failing      []string  `cel:"failing"`      // nodes of those that did not answer 200
	FrontAsked   int64     `cel:"frontAsked"`   // questions to api-int and VIPs
	FrontOK      int64     `cel:"frontOK"`
	FrontRefused int64     `cel:"frontRefused"`
	At           time.Time `cel:"at"` // of the last answer
}

var answerFact = facts.DefinePlain("mcs-answer", fault.Pool, "how each machine config server answers a HEAD for the pool's config",
	[]evidence.Need{evidence.Objects(evidence.MCSProbes, "")}, readAnswer)

func readAnswer(ctx context.Context, w *facts.World, s fault.Subject) (Answer, facts.Proof, error) {
	var a Answer
	var p facts.Proof
	list, err := w.List(ctx, evidence.MCSProbes, "")
	if err != nil {
		return a, p, err
	}
	seen := 0
	for _, o := range list {
		answer, err := evidence.Decode[probe.MCSAnswer](o)
		if err != nil {
			return a, p, err
		}
		if answer.Pool != s.Name {
			continue
		}
		seen++
		a.add(answer, o.Loc, &p)
	}
	slices.Sort(a.Failing)
	if seen == 0 {
		return a, p, &evidence.Unavailable{Need: evidence.Objects(evidence.MCSProbes, ""), Why: evidence.NotAsked,
			Detail: "no server was asked for pool " + s.Name, Supply: "rollcall diagnose with access to port 22623 of the masters"}
	}
	return a, p, nil
}

func (a *Answer) add(answer probe.MCSAnswer, loc evidence.Locator, p *facts.Proof) {
	if answer.At.After(a.At) {
		a.At = answer.At
	}
	fields := []string{"asked"}
	count := func(n *int64, field string) { *n++; fields = append(fields, field) }
	node := answer.Node()
	if node == "" {
		count(&a.FrontAsked, "frontAsked")
		switch {
		case answer.Status == 200:
			count(&a.FrontOK, "frontOK")
		case answer.ErrorClass == probe.ErrRefused:
			count(&a.FrontRefused, "frontRefused")
		}
	} else {
		a.Asked++
		switch {
		case answer.Status == 200:
			count(&a.OK, "ok")
		case answer.Status >= 500:
			count(&a.ServerErrors, "serverErrors")
		case answer.ErrorClass == probe.ErrRefused:
			count(&a.Refused, "refused")
		case answer.Status == 0:
			count(&a.Unreachable, "unreachable")
		}
		if answer.Status != 200 {
			a.Failing = append(a.Failing, node)
			fields = append(fields, "failing")
		}
	}
	p.Items = append(p.Items, evidence.Item{Locator: loc, Excerpt: sentence(answer), From: answer.Vantage, Time: answer.At, Fields: fields})
}

func sentence(a probe.MCSAnswer) string {
	if a.Status != 0 {
		return fmt.Sprintf("%s: HTTP %d", a.Question(), a.Status)
	}
	return fmt.Sprintf("%s: %s %s", a.Question(), a.ErrorClass, excerpt(a.Error))
}
