package metalhost

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// onlyOn says that a PersistentVolume can be used on one Node and on no other: by its nodeAffinity, which local volumes
// and drivers of local disks have (kubernetes/kubernetes: staging/src/k8s.io/component-helpers/storage/volume/helpers.go
// CheckNodeAffinity). claim names who uses it. A term that is not understood is taken to fit.
func onlyOn(volume kube.Object, nodes []kube.Object, name string) (only bool, claim string) {
	if c := evidence.String(volume, "spec", "claimRef", "name"); c != "" {
		claim = " (claim " + evidence.String(volume, "spec", "claimRef", "namespace") + "/" + c + ")"
	}
	terms, _ := evidence.Field(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms").([]any)
	if len(terms) == 0 {
		return false, claim
	}
	here, others := false, false
	for _, n := range nodes {
		if !fitsAny(terms, n) {
			continue
		}
		if evidence.String(n, "metadata", "name") == name {
			here = true
		} else {
			others = true
		}
	}
	return here && !others, claim
}

func fitsAny(terms []any, node kube.Object) bool {
	for _, t := range terms {
		if fits(t, node) {
			return true
		}
	}
	return false
}

// operators are those of a NodeSelectorRequirement.
var operators = map[string]selection.Operator{"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists,
	"DoesNotExist": selection.DoesNotExist, "Gt": selection.GreaterThan, "Lt": selection.LessThan}

func fits(term any, node kube.Object) bool {
	m, _ := term.(map[string]any)
	for key, of := range map[string]labels.Set{"matchExpressions": texts(evidence.Field(node, "metadata", "labels")),
		"matchFields": {"metadata.name": evidence.String(node, "metadata", "name")}} {
		list, _ := m[key].([]any)
		for _, e := range list {
			x, _ := e.(map[string]any)
			var values []string
			raw, _ := x["values"].([]any)
			for _, v := range raw {
				s, _ := v.(string)
				values = append(values, s)
			}
			r, err := labels.NewRequirement(evidence.String(x, "key"), operators[evidence.String(x, "operator")], values)
			if err == nil && !r.Matches(of) {
				return false
			}
		}
	}
	return true
}
