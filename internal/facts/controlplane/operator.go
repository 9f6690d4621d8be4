package controlplane

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Operator is the fact operator: one ClusterOperator, its unions taken apart.
type Operator struct {
	Reported         bool      `cel:"reported"` // it has conditions
	Available        bool      `cel:"available"`
	AvailableSince   time.Time `cel:"availableSince"` // of the present status
	Degraded         bool      `cel:"degraded"`
	DegradedSince    time.Time `cel:"degradedSince"`
	Progressing      bool      `cel:"progressing"`
	ProgressingSince time.Time `cel:"progressingSince"`
	Since            time.Time `cel:"since"`       // since when it is degraded or not available, the earlier
	Controllers      []string  `cel:"controllers"` // the prefixes of the lines that say why
	Lines            []string  `cel:"lines"`
	First            string    `cel:"first"`            // the first of the lines, or that it says nothing
	HeldUp           bool      `cel:"heldUp"`           // the version operator names it among those that it waits for
	APIServersNeeded int       `cel:"apiServersNeeded"` // "need at least 3 kube-apiservers, got 2"; 0: it does not say so
	APIServers       int       `cel:"apiServers"`
	APIServersSince  time.Time `cel:"apiServersSince"`
	Pools            []string  `cel:"pools"` // pools that its lines name
}

// OperatorFact is the fact operator.
func OperatorFact() facts.Fact {
	return facts.DefinePlain("operator", fault.Operator, "what a ClusterOperator says, line by line",
		[]evidence.Need{evidence.Objects(evidence.ClusterOperators, ""), evidence.Objects(evidence.ClusterVersions, "")}, readOperator)
}

var (
	needServers = regexp.MustCompile(`(?i)need at least (\d+) kube-apiservers, got (\d+)`)
	poolNamed   = regexp.MustCompile(`(?i)(?:MachineConfigPool |pool )["']?([a-z0-9.-]+)`)
)

func readOperator(ctx context.Context, w *facts.World, s fault.Subject) (Operator, facts.Proof, error) {
	var op Operator
	var p facts.Proof
	o, ok, err := w.Get(ctx, evidence.ClusterOperators, "", s.Name)
	if err != nil {
		return op, p, err
	}
	if !ok {
		return op, p, facts.NotApplicable("there is no ClusterOperator %s", s.Name)
	}
	if err := op.waitedFor(ctx, w, s.Name, &p); err != nil {
		return op, p, err
	}
	list := conditions.Of(o)
	op.Reported = len(list) > 0
	for _, c := range list {
		is := c.Status == "True"
		switch c.Type {
		case "Available":
			op.Available, op.AvailableSince = is, c.Since
			op.why(c, !is, &p, "available", "availableSince")
		case "Degraded":
			op.Degraded, op.DegradedSince = is, c.Since
			op.why(c, is, &p, "degraded", "degradedSince")
		case "Progressing":
			op.Progressing, op.ProgressingSince = is, c.Since
			p.Add(c.Loc, "Progressing="+c.Status+": "+c.Message, c.Since, "progressing", "progressingSince")
		}
	}
	return op, p, nil
}

// waitedFor asks whether the version operator names the operator.
func (op *Operator) waitedFor(ctx context.Context, w *facts.World, name string, p *facts.Proof) error {
	cv, err := clusterVersion(ctx, w)
	if err != nil {
		return miss(p, err, "heldUp")
	}
	for _, c := range conditions.Named(conditions.Of(cv), "Progressing", "Failing") {
		if slices.Contains(waitsFor(c.Message), name) {
			op.HeldUp = true
			p.Add(c.Loc, c.Type+"="+c.Status+": "+c.Message, c.Since, "heldUp")
		}
	}
	return nil
}

// why takes the lines of a union that speaks against the operator.
func (op *Operator) why(c conditions.Condition, bad bool, p *facts.Proof, fields ...string) {
	if !bad {
		p.Add(c.Loc, c.Type+"="+c.Status, c.Since, fields...)
		return
	}
	if op.Since.IsZero() || c.Since.Before(op.Since) {
		op.Since = c.Since
	}
	if op.First == "" {
		op.First = c.Type + "=" + c.Status
	}
	for _, part := range conditions.Split([]conditions.Condition{c}) {
		if len(op.Lines) == 0 {
			op.First = brief(part)
		}
		op.Lines = append(op.Lines, part.Message)
		op.Controllers = append(op.Controllers, strings.TrimSuffix(part.Type, c.Type))
		shows := fields
		if m := needServers.FindStringSubmatch(part.Message); m != nil {
			op.APIServersNeeded, _ = strconv.Atoi(m[1])
			op.APIServers, _ = strconv.Atoi(m[2])
			op.APIServersSince = c.Since
			shows = append([]string{"apiServersNeeded", "apiServers"}, fields...)
		}
		for _, m := range poolNamed.FindAllStringSubmatch(part.Message, -1) {
			op.Pools = append(op.Pools, m[1])
		}
		p.Add(c.Loc, c.Type+"="+c.Status+" "+part.Message, c.Since, append(shows, "lines", "first", "controllers", "pools", "since")...)
	}
}
