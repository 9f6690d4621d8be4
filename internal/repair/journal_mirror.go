package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// maxMirror keeps the copy below the API's limit for a ConfigMap (1 MiB); the
// oldest records go first, the file on disk has them all.
const maxMirror = 700 << 10

// ConfigMapMirror keeps a plan and its journal in one ConfigMap. It holds no
// secret: the plan has none, and the journal's pre-images are digests.
type ConfigMapMirror struct{ API API }

// Keep implements Mirror.
func (m ConfigMapMirror) Keep(ctx context.Context, p *Plan, encoded []byte, records []Record) error {
	lines, err := mirrored(records)
	if err != nil {
		return err
	}
	data := map[string]any{"plan.yaml": string(encoded), "journal.jsonl": lines}
	ref := Ref{Version: "v1", Resource: "configmaps", Namespace: mirrorOf(p), Name: "rollcall-plan-" + p.ID}
	have, err := m.API.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		_, err := m.API.Create(ctx, ref, Object{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace,
				"labels": map[string]any{openshift.ManagedByLabel: kube.FieldManager, "rollcall.dev/plan": p.ID}},
		}, false)
		return err
	}
	if err != nil {
		return err
	}
	patch, err := guarded(have, op{Op: "add", Path: "/data", Value: data})
	if err != nil {
		return err
	}
	_, err = m.API.Patch(ctx, ref, "", patch, false)
	return err
}

// mirrorOf is the namespace of the copy. A must-gather collects the ConfigMaps of the
// machine-config-operator's namespace, so that a later diagnosis knows what was done
// (openshift/machine-config-operator:manifests relatedObjects). Of a hosted
// cluster it is the namespace of its HostedCluster, which a dump collects (openshift/hypershift: cmd/cluster/core/dump.go).
func mirrorOf(p *Plan) string {
	if namespace, _ := p.Cluster.hosted(); namespace != "" {
		return namespace
	}
	return openshift.MachineConfigNamespace
}

func mirrored(records []Record) (string, error) {
	var lines [][]byte
	size := 0
	for i := len(records) - 1; i >= 0; i-- {
		raw, err := json.Marshal(records[i])
		if err != nil {
			return "", fmt.Errorf("encode journal: %w", err)
		}
		if size += len(raw) + 1; size > maxMirror {
			break
		}
		lines = append([][]byte{raw}, lines...)
	}
	return string(bytes.Join(lines, []byte("\n"))) + "\n", nil
}
