package host

import (
	"context"
	"strings"
)

// hostnameUnit is the description of node-valid-hostname.service
// (openshift/machine-config-operator:templates/common/_base/units/node-valid-hostname.service.yaml).
const hostnameUnit = "Wait for a non-localhost hostname"

// awaitHostname is node-valid-hostname.service, before the kubelet: it waits for
// a name that is not localhost, here one that no one will ever give. systemd
// ends it after five minutes, and kubelet-dependencies.target with it, so that
// there is no kubelet
// (openshift/machine-config-operator:templates/common/_base/files/usr-local-bin-mco-hostname.yaml).
func (h *Host) awaitHostname(ctx context.Context) error {
	if !strings.HasPrefix(h.cfg.Name, "localhost") {
		return nil
	}
	h.console.status("         Starting " + hostnameUnit + "...")
	h.console.log("mco-hostname[1021]", "waiting for non-localhost hostname to be assigned")
	if !h.sleep(ctx, h.pace.Hostname) {
		return ctx.Err()
	}
	h.console.log("systemd[1]", "node-valid-hostname.service: start operation timed out. Terminating.")
	h.console.log("systemd[1]", "node-valid-hostname.service: Failed with result 'timeout'.")
	for _, line := range []string{
		"[FAILED] Failed to start " + hostnameUnit + ".",
		"See 'systemctl status node-valid-hostname.service' for details.",
		"[DEPEND] Dependency failed for Dependencies necessary to run kubelet.",
		"[DEPEND] Dependency failed for Kubernetes Kubelet.",
		"",
		"localhost login: ",
	} {
		h.console.status(line)
	}
	<-ctx.Done()
	return ctx.Err()
}
