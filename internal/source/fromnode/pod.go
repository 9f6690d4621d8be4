package fromnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/rollcall-project/rollcall/internal/kube/podexec"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// label selects the pods that run on every Linux node, with the node's own network and its root at
// /rootfs (openshift/machine-config-operator:manifests/machineconfigdaemon/daemonset.yaml,
// hostNetwork, privileged and the volume rootfs, 4.12 to 4.21).
const label = "k8s-app=" + openshift.MachineConfigDaemon

// host puts a command into the node's own file system, so that its programs and its
// resolver answer and not the image's; the operator's own tests reach a node so
// (openshift/machine-config-operator:test/helpers/utils.go ExecCmdOnNode). The
// messages are read, so they are not to be translated.
var host = []string{"chroot", "/rootfs", "env", "LC_ALL=C"}

// Find returns a node whose machine-config-daemon is used. It is refused where
// that pod does not have the node's network: its answers would not be the node's.
func Find(ctx context.Context, cfg *rest.Config, name string) (*Node, error) {
	client, err := podexec.New(cfg)
	if err != nil {
		return nil, err
	}
	pods, err := client.OnNode(ctx, openshift.MachineConfigNamespace, label, name, 10)
	if err != nil {
		return nil, &Error{name, permissionError("list pods", err)}
	}
	for _, p := range pods {
		if p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == name && p.DeletionTimestamp == nil {
			if !p.Spec.HostNetwork {
				return nil, &Error{name, fmt.Errorf("pod %s/%s does not have the node's network", openshift.MachineConfigNamespace, p.Name)}
			}
			return &Node{Name: name, Run: &pod{client: client, name: p.Name}}, nil
		}
	}
	if _, err := client.Node(ctx, name); apierrors.IsNotFound(err) {
		return nil, &Error{name, errors.New("the cluster has no node of this name; oc get nodes lists them")}
	}
	return nil, &Error{name, fmt.Errorf("no machine-config-daemon runs on it (oc -n %s get pods -o wide); name another node, or run rollcall-host on "+
		"the machine", openshift.MachineConfigNamespace)}
}

// permissionError adds the way out to what the API answered, or that it did not answer.
func permissionError(right string, err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you need the right to %s in %s: %w", right, openshift.MachineConfigNamespace, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API does not accept your credentials: %w", err)
	case errors.As(err, &status):
		return fmt.Errorf("the API could not do it (%s): %w", right, err)
	}
	return fmt.Errorf("the API does not answer, and no node can be asked without it; leave --probe-from out, or run rollcall-host on the machine: %w", err)
}

// pod runs commands in one container.
type pod struct {
	client *podexec.Client
	name   string
}

// Run implements Runner.
func (p *pod) Run(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error {
	var refused *apierrors.StatusError
	command := podexec.Command{Container: openshift.MachineConfigDaemon, Argv: slices.Concat(host, argv)}
	err := p.client.Run(ctx, openshift.MachineConfigNamespace, p.name, command, podexec.Streams{In: in, Out: out, Err: errs}, func(err error) bool {
		var upgrade *httpstream.UpgradeFailureError
		if errors.As(err, &upgrade) {
			_ = errors.As(upgrade.Cause, &refused) // SPDY's error is only text
		}
		return upgrade != nil || httpstream.IsHTTPSProxyError(err)
	})
	var exit *podexec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return &Exit{Code: exit.Code}
	case errors.Is(err, podexec.ErrLost):
		return fmt.Errorf("pod %s: %w", p.name, err)
	case ctx.Err() != nil:
		return fmt.Errorf("run a command in pod %s: %w", p.name, ctx.Err())
	}
	const answered = "unable to upgrade connection: "
	if text, ok := strings.CutPrefix(err.Error(), answered); ok {
		if refused == nil {
			refused = &apierrors.StatusError{}
		}
		err = &upgradeError{text, refused}
	}
	return fmt.Errorf("pod %s: %w", p.name, permissionError("create pods/exec", err))
}

// upgradeError is an exec that the API answered and did not do. Over SPDY, whose right
// is the one to have, it has only a text; the status is that of the web socket.
type upgradeError struct {
	text   string
	status *apierrors.StatusError
}

func (e *upgradeError) Error() string { return e.text }
func (e *upgradeError) Unwrap() error { return e.status }
