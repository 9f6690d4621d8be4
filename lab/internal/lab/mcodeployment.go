package lab

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

var (
	operatorDeployment       = deployment{MCONamespace, "machine-config-operator", "74f6c9d5b8"}
	controllerConfigResource = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "controllerconfigs"}
)

// syncMachineConfigOperator stands in for one act of the machine-config-operator, where a
// trouble has made its Deployment: it writes the ControllerConfig that is missing
// (openshift/machine-config-operator:pkg/operator/sync.go syncMachineConfigController,
// syncControllerConfig, on each pass of syncAll). Scaled to nothing it does nothing.
func (l *Lab) syncMachineConfigOperator(ctx context.Context) error {
	if !l.controllerWanted() {
		return nil
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	pod, err := l.deployedPod(ctx, operatorDeployment, nodes)
	if apierrors.IsNotFound(err) {
		return nil // this cluster does not show it
	}
	if err != nil {
		return err
	}
	if pod != nil {
		if err := l.silent(pod); err != nil {
			return err
		}
	}
	if err := l.syncDeployment(ctx, operatorDeployment); err != nil || pod == nil || !podReady(pod) {
		return err
	}
	_, err = l.dyn.Resource(controllerConfigResource).Get(ctx, "machine-config-controller", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	return l.writeControllerConfig(ctx)
}

// writeControllerConfig creates the ControllerConfig that the cluster was installed with.
func (l *Lab) writeControllerConfig(ctx context.Context) error {
	data, err := l.values.YAML("60-machineconfig.yaml")
	if err != nil {
		return err
	}
	objects, err := seed.Parse(data)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() != "ControllerConfig" {
			continue
		}
		if _, err := l.dyn.Resource(controllerConfigResource).Create(ctx, o, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("write the ControllerConfig: %w", err)
		}
	}
	return nil
}
