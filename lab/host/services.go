package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// runServices is the running system of one boot: the kubelet, and what the
// kubelet runs. It ends with the boot: errReboot when a part asks for a
// reboot, ctx's error at power-off, another error when the simulation fails.
func (h *Host) runServices(ctx context.Context) error {
	if !h.resuming {
		h.console.status("[  OK  ] Reached target Multi-User System.")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !h.sleep(ctx, h.pace.KubeletStart) {
		return context.Cause(ctx)
	}
	k, err := newKubelet(h)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, part := range []func(context.Context) error{k.run, func(ctx context.Context) error { return h.runDaemon(ctx, k) }} {
		wg.Go(func() {
			if err := part(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// journalPath is where a unit's journal is kept.
func (h *Host) journalPath(unit string) string {
	dir := filepath.Join(h.cfg.Dir, "journal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.log.Warn("create journal directory", "error", err)
	}
	return filepath.Join(dir, unit+".log")
}

// roleLabels are the host's node-role labels as kubelet.service passes them
// (openshift/machine-config-operator:templates/{master,worker,arbiter}/01-*-kubelet/_base/units/kubelet.service.yaml).
func roleLabels(role string) (map[string]string, error) {
	switch role {
	case "master":
		return map[string]string{labelMaster: "", labelControlPlane: ""}, nil
	case "worker":
		return map[string]string{labelWorker: ""}, nil
	case "arbiter":
		return map[string]string{labelArbiter: ""}, nil
	}
	return nil, fmt.Errorf("role %q is none of master, worker, arbiter", role)
}
