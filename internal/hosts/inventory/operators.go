package inventory

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// OperatorWord is what an operator of static pods reports of one node.
type OperatorWord struct {
	Node     string
	Operator string // the ClusterOperator's name
	NotReady bool
	Why      string // why it is not ready, as the operator reports it
	Since    time.Time
	Item     evidence.Item
}

// staticPodOperators are the resources in which these operators keep a status of each
// control-plane node (openshift/library-go:pkg/operator/staticpod/controller/node/node_controller.go).
var staticPodOperators = []struct {
	name     string
	resource evidence.Resource
}{
	{"etcd", evidence.EtcdOperators}, {openshift.APIServer, evidence.APIServerOperators},
}

// operatorNeeds is what OperatorWords reads.
func operatorNeeds() []evidence.Need {
	return []evidence.Need{evidence.Objects(evidence.EtcdOperators, ""), evidence.Objects(evidence.APIServerOperators, ""),
		evidence.Objects(evidence.ClusterOperators, "")}
}

// OperatorWords returns what the operators of etcd and the API server report of nodes: in
// their own resources, else in their ClusterOperators, which lag behind. Where one of
// their own resources could not be read it returns the rest with an *evidence.Unavailable.
func OperatorWords(ctx context.Context, w *facts.World) ([]OperatorWord, error) {
	return facts.Memo(ctx, w, "inventory.operator-words", func(ctx context.Context, w *facts.World) ([]OperatorWord, error) {
		var words []OperatorWord
		var failed error
		for _, op := range staticPodOperators {
			o, ok, err := w.Get(ctx, op.resource, "", "cluster")
			list := conditions.Of(o)
			if err != nil || !ok {
				if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
					return nil, err
				}
				failed = cmp.Or(failed, err)
				union, _, err := w.Get(ctx, evidence.ClusterOperators, "", op.name)
				if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
					return nil, err
				}
				list = conditions.Split(conditions.Of(union))
			}
			words = append(words, statusesOf(o, op.name)...)
			words = append(words, notReady(list, op.name)...)
		}
		if len(words) > 0 {
			return words, failed
		}
		for _, name := range otherStaticPodOperators {
			union, _, err := w.Get(ctx, evidence.ClusterOperators, "", name)
			if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
				return nil, err
			}
			words = append(words, notReady(conditions.Split(conditions.Of(union)), name)...)
		}
		return words, failed
	})
}

// otherStaticPodOperators run the same controller over the same Nodes. They count where
// nothing of the two is there: of a log or a paste only some operators are kept.
var otherStaticPodOperators = []string{openshift.ControllerManager, openshift.Scheduler}

// statusesOf reads openshift/api:operator/v1/types.go NodeStatus. A node whose revision is
// not set yet has just been seen: its Node may be younger than the list of Nodes.
func statusesOf(o evidence.Object, operator string) []OperatorWord {
	var words []OperatorWord
	list, _ := evidence.Field(o.Content, "status", "nodeStatuses").([]any)
	for _, e := range list {
		n, _ := e.(map[string]any)
		if name := evidence.String(n, "nodeName"); name != "" && !obfuscation.Found(name) && evidence.Int(n, "currentRevision") > 0 {
			words = append(words, OperatorWord{Node: name, Operator: operator,
				Item: o.Shows("status.nodeStatuses", "operator "+operator+" has a status of node "+name, time.Time{})})
		}
	}
	return words
}

// nodeNotReady is one node in the message of NodeControllerDegraded.
var nodeNotReady = regexp.MustCompile(`node "([^"]+)" not ready(?: since (.+?) because (.+)|, (no Ready condition found))?`)

// notReady reads which nodes are not ready, and why.
func notReady(list []conditions.Condition, operator string) []OperatorWord {
	var words []OperatorWord
	for _, c := range conditions.Named(list, "NodeControllerDegraded") {
		if c.Status != "True" {
			continue
		}
		for _, part := range strings.Split(strings.ReplaceAll(c.Message, `, node "`, "\nnode \""), "\n") {
			m := nodeNotReady.FindStringSubmatch(part)
			if m == nil || obfuscation.Found(m[1]) {
				continue
			}
			why := m[3] + m[4]
			if why == "" {
				why = "it gives no reason"
			}
			words = append(words, OperatorWord{
				Node:     m[1],
				Operator: operator,
				NotReady: true,
				Why:      brief(why),
				Since:    cmp.Or(nodeTime(m[2]), c.Since),
				Item:     c.Item(),
			})
		}
	}
	return words
}

// nodeTime is since when the Node's Ready condition is what it is, as the operator prints it;
// zero where it does not. It is nearer than the operator's own condition, which is about all
// its nodes.
func nodeTime(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04:05 -0700 MST", text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// brief is one line, short enough for a title.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 160
	return evidence.Shorten(text, most)
}

// operatorNodes adds the control-plane nodes that operators name and nothing else does.
func (b *builder) operatorNodes(ctx context.Context, w *facts.World, _ evidence.Need) error {
	words, err := OperatorWords(ctx, w)
	for _, word := range words {
		h := b.match(named(word.Node), b.shortNamed(word.Node))
		if h == nil {
			h = b.add(word.Node)
			h.Role = "master"
		}
		h.alias(word.Node)
		h.OperatorWords = append(h.OperatorWords, word)
	}
	return err
}

// Operators are the operators that have reported of the host, sorted.
func (h Host) Operators() []string {
	var names []string
	for _, word := range h.OperatorWords {
		if !slices.Contains(names, word.Operator) {
			names = append(names, word.Operator)
		}
	}
	slices.Sort(names)
	return names
}
