package lab

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// poolConditions are those of a NodePool of the platform None in the order in
// which the controller sets them; type, status, reason, message.
func poolConditions(release string, token *corev1.Secret) [][4]string {
	reason, message := string(token.Data["reason"]), string(token.Data["message"])
	// A failure has the empty status: the product sets none
	// (createValidGeneratedPayloadCondition).
	payload := [4]string{"ValidGeneratedPayload", "", reason, message}
	switch reason {
	case "AsExpected":
		payload[1] = "True"
	case "":
		payload = [4]string{"ValidGeneratedPayload", "Unknown", "", "Unable to get status data from token secret"}
	}
	reached := [4]string{"ReachedIgnitionEndpoint", "False", "ignitionNotReached", ""}
	if _, ok := token.Annotations["hypershift.openshift.io/ignition-reached"]; ok {
		reached = [4]string{"ReachedIgnitionEndpoint", "True", "AsExpected", ""}
	}
	return [][4]string{
		{"AutoscalingEnabled", "False", "AsExpected", ""},
		{"UpdateManagementEnabled", "True", "AsExpected", ""},
		{"ValidReleaseImage", "True", "AsExpected", "Using release image: " + release},
		{"ValidArchPlatform", "True", "AsExpected", ""},
		{"ReconciliationActive", "True", "AsExpected", "Reconciliation active on resource"},
		{"ValidMachineConfig", "True", "AsExpected", ""},
		{"UpdatingConfig", "False", "AsExpected", ""},
		{"UpdatingVersion", "False", "AsExpected", ""},
		payload, reached,
		{"ValidTuningConfig", "True", "AsExpected", ""},
		{"AllMachinesReady", "False", "NotFound", "No Machines are created"},
		{"AllNodesHealthy", "False", "NotFound", "No Machines are created"},
	}
}

func (h *Hosted) syncConditions(ctx context.Context, token *corev1.Secret) error {
	pool, err := h.lab.Get(ctx, nodePoolResource, seed.HostedNamespace, seed.HostedPool)
	if err != nil {
		return err
	}
	have, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
	changed := nested(pool, "status", "version") != seed.Version
	var list []any
	for _, c := range poolConditions(h.values.Release, token) {
		if c[0] == "ReconciliationActive" && paused(pool) { // conditions.go generateReconciliationActiveCondition
			c = [4]string{c[0], "False", "ReconciliationPaused", "Reconciliation paused until field removed"}
		}
		now := map[string]any{
			"type": c[0], "status": c[1], "reason": c[2], "message": c[3],
			"observedGeneration": pool.GetGeneration(), "lastTransitionTime": h.values.Now(),
		}
		i := slices.IndexFunc(have, func(e any) bool { m, _ := e.(map[string]any); return m["type"] == c[0] })
		if i < 0 {
			changed = true
		} else {
			was := have[i].(map[string]any) //nolint:errcheck // found as one above
			if was["status"] == c[1] {
				now["lastTransitionTime"] = was["lastTransitionTime"]
			}
			changed = changed || was["status"] != c[1] || was["reason"] != now["reason"] || was["message"] != c[3] ||
				was["observedGeneration"] != now["observedGeneration"]
		}
		if c[2] == "" {
			delete(now, "reason")
		}
		list = append(list, now)
	}
	if !changed {
		return nil
	}
	if err := unstructured.SetNestedSlice(pool.Object, list, "status", "conditions"); err != nil {
		return err
	}
	for field, value := range map[string]any{"version": seed.Version, "replicas": int64(0)} {
		if err := unstructured.SetNestedField(pool.Object, value, "status", field); err != nil {
			return err
		}
	}
	_, err = h.lab.dyn.Resource(nodePoolResource).Namespace(seed.HostedNamespace).UpdateStatus(ctx, pool, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("write the NodePool's status: %w", err)
	}
	return nil
}

// refuseRelease is what the controller does about a release that the registry does not have; it
// comes to nothing else of the NodePool then (nodepool_controller.go releaseImageCondition,
// support/releaseinfo/registryclient_provider.go Lookup).
func (h *Hosted) refuseRelease(ctx context.Context, pool *unstructured.Unstructured, image string) error {
	list, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
	i := slices.IndexFunc(list, func(e any) bool { m, _ := e.(map[string]any); return m["type"] == "ValidReleaseImage" })
	if i < 0 || list[i].(map[string]any)["status"] == "False" { //nolint:errcheck // found as one above
		return nil
	}
	list[i] = map[string]any{
		"type": "ValidReleaseImage", "status": "False", "reason": "ValidationFailed", "observedGeneration": pool.GetGeneration(),
		"lastTransitionTime": h.values.Now(),
		"message": "Failed to get release image: failed to extract release metadata: failed to obtain root " +
			"manifest for " + image + ": manifest unknown: manifest unknown",
	}
	if err := unstructured.SetNestedSlice(pool.Object, list, "status", "conditions"); err != nil {
		return err
	}
	if _, err := h.lab.dyn.Resource(nodePoolResource).Namespace(seed.HostedNamespace).UpdateStatus(ctx, pool, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write the NodePool's status: %w", err)
	}
	return nil
}
