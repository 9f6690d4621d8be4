package pools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// membership is which custom pools choose a node by its labels.
type membership struct {
	Custom facts.Field[[]string] `cel:"custom"` // sorted
	Names  facts.Field[string]   `cel:"names"`  // the same, as words
}

// More than one custom pool is an error for the controller: the node is then of no pool
// (openshift/machine-config-operator:pkg/helpers/helpers.go GetPoolsForNode).
var membershipFact = facts.Define("host-pools", fault.Host, "the custom pools whose nodeSelector chooses the host's Node",
	append(inventory.Needs(), evidence.Objects(evidence.MachineConfigPools, "")), readMembership)

func readMembership(ctx context.Context, w *facts.World, s fault.Subject) (membership, error) {
	var m membership
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	node, err := inventory.NodeOf(ctx, w, s.Name)
	if err != nil {
		return m, err
	}
	if os, _ := node.Label("kubernetes.io/os"); os == "windows" {
		return m, facts.NotApplicable("Node %s is of Windows: no pool is for it", node.Name)
	}
	list, err := w.List(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return m, err
	}
	var custom []string
	proof := []evidence.Item{node.Shows("metadata.labels", "roles "+strings.Join(inventory.RolesOf(node), ", "), time.Time{})}
	for _, o := range list {
		pool, err := evidence.Decode[apitypes.MachineConfigPool](o)
		if err != nil {
			return m, err
		}
		chosen, err := chooses(&pool, node)
		if err != nil || !chosen || o.Name == "master" || o.Name == "worker" {
			continue // a selector that cannot be read chooses nothing
		}
		custom = append(custom, o.Name)
		proof = append(proof, o.Shows("spec.nodeSelector", fmt.Sprintf("pool %s chooses node %s", o.Name, node.Name), time.Time{}))
	}
	slices.Sort(custom)
	m.Custom.Set(custom, proof...)
	m.Names.Set(strings.Join(custom, " and "), proof...)
	return m, nil
}

// chooses reports whether a pool's nodeSelector chooses a Node. An empty one chooses none.
func chooses(pool *apitypes.MachineConfigPool, node evidence.Object) (bool, error) {
	selector := pool.Spec.NodeSelector
	if selector == nil || selector.Empty() {
		return false, nil
	}
	labels := map[string]string{}
	raw, _ := evidence.Field(node.Content, "metadata", "labels").(map[string]any)
	for k, v := range raw {
		labels[k], _ = v.(string)
	}
	return selector.Matches(labels)
}
