package host

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// writeKubeletCA brings the CA with which the kubelet verifies its clients onto the disk
// whenever the ControllerConfig has changed. The daemon does that in addition to its updates,
// whether the pool is paused or not (openshift/machine-config-operator:
// pkg/daemon/certificate_writer.go syncControllerConfigHandler, at the fork points of
// 4.14 and 4.20).
func (d *daemon) writeKubeletCA(ctx context.Context) error {
	known := d.node.Annotations[annoControllerConfig]
	ca, version, err := d.configs.KubeletCA(ctx, known)
	if apierrors.IsNotFound(err) {
		return nil // the lister gives nothing yet
	}
	if err != nil {
		return fmt.Errorf("read ControllerConfig: %w", err)
	}
	if version == known {
		return nil
	}
	if err := d.disk.write(kubeletCAPath, ca, 0o644); err != nil {
		return err
	}
	if _, err := d.annotate(ctx, map[string]string{annoControllerConfig: version}); err != nil {
		return fmt.Errorf("failed to set annotations on node: %w", err)
	}
	d.log.infof("certificate_writer.go:284", "Certificate was synced from controllerconfig resourceVersion %s", version)
	return nil
}
