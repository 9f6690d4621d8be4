package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Operator is the fact operator: one ClusterOperator, its unions taken apart.
type Operator struct {
	Reported         facts.Field[bool]      `cel:"reported"` // it has conditions
	Available        facts.Field[bool]      `cel:"available"`
	AvailableSince   facts.Field[time.Time] `cel:"availableSince"` // of the present status
	Degraded         facts.Field[bool]      `cel:"degraded"`
	DegradedSince    facts.Field[time.Time] `cel:"degradedSince"`
	Progressing      facts.Field[bool]      `cel:"progressing"`
	ProgressingSince facts.Field[time.Time] `cel:"progressingSince"`
	Since            facts.Field[time.Time] `cel:"since"`       // since when it is degraded or not available, the earlier
	Stays            facts.Field[bool]      `cel:"stays"`       // one of its lines shows what cannot pass by itself
	Refused          facts.Field[string]    `cel:"refused"`     // of that line: the object that the API refuses, and why; "" where none does
	Controllers      facts.Field[[]string]  `cel:"controllers"` // the prefixes of the lines that say why
	Lines            facts.Field[[]string]  `cel:"lines"`
	First            facts.Field[string]    `cel:"first"`            // the first of the lines, or that it says nothing
	HeldUp           facts.Field[bool]      `cel:"heldUp"`           // the version operator names it among those that it waits for
	APIServersNeeded facts.Field[int]       `cel:"apiServersNeeded"` // "need at least 3 kube-apiservers, got 2"; 0: it does not say so
	APIServers       facts.Field[int]       `cel:"apiServers"`
	APIServersSince  facts.Field[time.Time] `cel:"apiServersSince"`
	Pools            facts.Field[[]string]  `cel:"pools"` // pools that its lines name
}

// longRefusal is how many characters of a refusal a title has.
const longRefusal = 240

// OperatorFact is the fact operator.
func OperatorFact() facts.Fact {
	return facts.Define("operator", fault.Operator, "what a ClusterOperator says, line by line",
		[]evidence.Need{evidence.Objects(evidence.ClusterOperators, ""), evidence.Objects(evidence.ClusterVersions, "")}, readOperator)
}

var (
	needServers = regexp.MustCompile(`(?i)need at least (\d+) kube-apiservers, got (\d+)`)
	poolNamed   = regexp.MustCompile(`(?i)(?:MachineConfigPool |pool )["']?([a-z0-9.-]+)`)
)

func readOperator(ctx context.Context, w *facts.World, s fault.Subject) (Operator, error) {
	var op Operator
	o, ok, err := w.Get(ctx, evidence.ClusterOperators, "", s.Name)
	if err != nil {
		return op, err
	}
	if !ok {
		return op, facts.NotApplicable("there is no ClusterOperator %s", s.Name)
	}
	if err := op.waitedFor(ctx, w, s.Name); err != nil {
		return op, err
	}
	list := conditions.Of(o)
	item := o.Shows("status.conditions", fmt.Sprintf("%d conditions", len(list)), time.Time{})
	op.Reported.Set(len(list) > 0, item)
	op.Stays.Set(false, item)
	op.Refused.Set("", item)
	for _, is := range []struct {
		kind  string
		bad   string // the status that speaks against the operator
		value *facts.Field[bool]
		since *facts.Field[time.Time]
	}{
		{"Available", "False", &op.Available, &op.AvailableSince},
		{"Degraded", "True", &op.Degraded, &op.DegradedSince},
		{"Progressing", "", &op.Progressing, &op.ProgressingSince},
	} {
		c := conditions.Find(list, is.kind)
		// Unknown is what an operator reports before it knows.
		if c.Status != "True" && c.Status != "False" {
			if err := facts.Miss(conditions.NotReported(evidence.ClusterOperators, s.Name, is.kind), is.value, is.since); err != nil {
				return op, err
			}
			continue
		}
		is.value.Set(c.Status == "True", c.Item())
		is.since.Set(c.Since, c.Item())
		if c.Status == is.bad {
			op.why(c)
		}
	}
	facts.Complete(&op)
	return op, nil
}

// versionsBefore is what the machine-config operator writes before the reason
// (openshift/machine-config-operator: pkg/operator/status.go syncAvailableStatus).
var versionsBefore = regexp.MustCompile(`^Cluster not available for \[[^\]]*\]: `)

// plainly is a line as a sentence says it: Available alone means here that it is not.
func plainly(c conditions.Condition) conditions.Condition {
	if c.Type == "Available" {
		c.Type, c.Message = "not available", versionsBefore.ReplaceAllString(c.Message, "")
	}
	return c
}

// waitedFor asks whether the version operator names the operator.
func (op *Operator) waitedFor(ctx context.Context, w *facts.World, name string) error {
	cv, err := clusterVersion(ctx, w)
	if err != nil {
		return facts.Miss(err, &op.HeldUp)
	}
	list := conditions.Named(conditions.Of(cv), "Progressing", "Failing")
	if len(list) == 0 {
		return facts.Miss(conditions.NotReported(evidence.ClusterVersions, "version", "Progressing"), &op.HeldUp)
	}
	held := slices.ContainsFunc(list, func(c conditions.Condition) bool { return slices.Contains(waitsFor(c.Message), name) })
	op.HeldUp.Set(held)
	for _, c := range list {
		if !held || slices.Contains(waitsFor(c.Message), name) {
			op.HeldUp.Prove(c.Item())
		}
	}
	return nil
}

// why reads the lines of a condition that speaks against the operator.
func (op *Operator) why(c conditions.Condition) {
	facts.Earliest(&op.Since, c.Since, c.Item())
	first := op.First.Value() == "" || len(op.Lines.Value()) == 0
	if op.First.Value() == "" {
		op.First.Set(c.Type+"="+c.Status, c.Item())
	}
	for _, part := range conditions.Split([]conditions.Condition{c}) {
		item := evidence.Item{Locator: c.Loc, Excerpt: c.Type + "=" + c.Status + " " + part.Message, Time: c.Since}
		if first {
			op.First.Set(cmp.Or(unscheduled(part.Message), brief(plainly(part))), item)
			first = false
		}
		facts.Append(&op.Lines, part.Message, item)
		facts.Append(&op.Controllers, strings.TrimSuffix(part.Type, c.Type), item)
		op.Since.Prove(item)
		if conditions.CannotPass(part.Message) {
			op.Stays.Set(true, item)
			op.Refused.Set(evidence.Shorten(conditions.Refused(part.Message), longRefusal), item)
		}
		if m := needServers.FindStringSubmatch(part.Message); m != nil {
			needed, _ := strconv.Atoi(m[1])
			got, _ := strconv.Atoi(m[2])
			op.APIServersNeeded.Set(needed, item)
			op.APIServers.Set(got, item)
			op.APIServersSince.Set(c.Since, item)
		}
		for _, m := range poolNamed.FindAllStringSubmatch(part.Message, -1) {
			facts.Append(&op.Pools, m[1], item)
		}
	}
}
