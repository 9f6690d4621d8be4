package mcs

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Answer is how the machine config servers answered a probe for a pool. Servers
// are asked one by one on their node's address and, as a host would, through
// api-int and the VIPs (front).
type Answer struct {
	Asked        facts.Field[int64]     `cel:"asked"`        // servers that were asked one by one
	OK           facts.Field[int64]     `cel:"ok"`           // of them, 200
	ServerErrors facts.Field[int64]     `cel:"serverErrors"` // of them, 5xx
	Refused      facts.Field[int64]     `cel:"refused"`      // of them, no listener
	Unreachable  facts.Field[int64]     `cel:"unreachable"`  // of them, no other answer
	FrontAsked   facts.Field[int64]     `cel:"frontAsked"`   // questions to api-int and VIPs
	FrontOK      facts.Field[int64]     `cel:"frontOK"`
	FrontRefused facts.Field[int64]     `cel:"frontRefused"`
	At           facts.Field[time.Time] `cel:"at"` // of the last answer
}

var answerFact = facts.Define("mcs-answer", fault.Pool, "how each machine config server answers a HEAD for the pool's config",
	[]evidence.Need{evidence.Objects(evidence.MCSProbes, "")}, readAnswer)

func readAnswer(ctx context.Context, w *facts.World, s fault.Subject) (Answer, error) {
	list, err := w.List(ctx, evidence.MCSProbes, "")
	if err != nil {
		return Answer{}, err
	}
	var a answers
	for _, o := range list {
		answer, err := evidence.Decode[probe.MCSAnswer](o)
		if err != nil {
			return Answer{}, err
		}
		if answer.Pool == s.Name {
			a.add(answer, evidence.Item{Locator: o.Loc, Excerpt: sentence(answer), From: answer.Vantage, Time: answer.At})
		}
	}
	if len(a.all) == 0 {
		return Answer{}, &evidence.Unavailable{Need: evidence.Objects(evidence.MCSProbes, ""), Why: evidence.NotAsked,
			Detail: "no server was asked for pool " + s.Name, Supply: evidence.Supply{Kind: evidence.SupplyProbeLive}}
	}
	return a.fields(), nil
}

// answers sorts the answers by what they are.
type answers struct {
	all, asked, ok, serverErrors, refused, unreachable []evidence.Item
	frontAsked, frontOK, frontRefused                  []evidence.Item
	at                                                 time.Time
}

func (a *answers) add(answer probe.MCSAnswer, item evidence.Item) {
	note := func(list *[]evidence.Item) { *list = append(*list, item) }
	if answer.At.After(a.at) {
		a.at = answer.At
	}
	note(&a.all)
	if answer.Node() == "" {
		note(&a.frontAsked)
		switch {
		case answer.Status == 200:
			note(&a.frontOK)
		case answer.ErrorClass == probe.ErrRefused:
			note(&a.frontRefused)
		}
		return
	}
	note(&a.asked)
	switch {
	case answer.Status == 200:
		note(&a.ok)
		return
	case answer.Status >= 500:
		note(&a.serverErrors)
	case answer.ErrorClass == probe.ErrRefused:
		note(&a.refused)
	case answer.Status == 0:
		note(&a.unreachable)
	}
}

// fields counts the answers. All of them together prove a count of none.
func (a *answers) fields() Answer {
	var f Answer
	for _, x := range []struct {
		field *facts.Field[int64]
		items []evidence.Item
	}{
		{&f.OK, a.ok}, {&f.ServerErrors, a.serverErrors}, {&f.Refused, a.refused}, {&f.Unreachable, a.unreachable},
		{&f.FrontAsked, a.frontAsked}, {&f.FrontOK, a.frontOK}, {&f.FrontRefused, a.frontRefused},
	} {
		x.field.Set(int64(len(x.items)), x.items...)
	}
	f.Asked.Set(int64(len(a.asked)), a.all...)
	f.At.Set(a.at)
	return f
}

func sentence(a probe.MCSAnswer) string {
	if a.Status != 0 {
		return fmt.Sprintf("%s: HTTP %d", a.Question(), a.Status)
	}
	return fmt.Sprintf("%s: %s %s", a.Question(), a.ErrorClass, excerpt.Of(a.Error))
}
