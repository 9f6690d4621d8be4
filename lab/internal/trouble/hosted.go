package trouble

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// hosted are the troubles of a hosted cluster (HyperShift) of the platform None,
// whose management cluster is the lab's.
var hosted = []lab.Trouble{
	{
		Name:  "hosted",
		About: "a hosted cluster with one worker, which fetched its config from HyperShift's ignition server; nothing is wrong",
		Break: func(ctx context.Context, l *lab.Lab) error {
			_, err := l.StartHosted(ctx, lab.HostedOptions{})
			return err
		},
	},
	{
		Name:  "hosted-first-worker",
		About: "a hosted cluster before its first worker has joined: its network is not rendered and says so, as it always does; nothing is wrong",
		Break: func(ctx context.Context, l *lab.Lab) error {
			_, err := l.StartHosted(ctx, lab.HostedOptions{First: true})
			return err
		},
		Stands: -1,
	},
	{
		Name:   "hosted-stale-token",
		About:  "a worker is made from a copy of the user-data that somebody saved half a day ago; its token has been rotated out",
		Break:  bootStale,
		Steady: shows("guest1", "Network Authentication Required", 3),
	},
	{
		Name:   "hosted-user-data-outdated",
		About:  "the HyperShift operator has stopped, the ignition server has rotated the token twice since, and nobody rewrote the user-data",
		Break:  bootOutdated,
		Steady: shows("guest2", "Network Authentication Required", 3),
	},
	{
		Name:   "hosted-name-not-in-certificate",
		About:  "a worker is told to dial another node of the management cluster than the published one; the certificate is not for it",
		Break:  bootElsewhere,
		Steady: shows("guest3", "certificate is valid for", 3),
	},
	{
		Name:   "hosted-payload-failing",
		About:  "the NodePool got a new config, and the ignition server cannot reach the registry of the release image to build it",
		Break:  failPayload,
		Steady: all(shows("guest4", "Network Authentication Required", 3), payloadFails),
	},
	{
		Name:   "hosted-pod-security",
		About:  "the management cluster is no OpenShift, and its PodSecurity level refuses network-node-identity and ovnkube-control-plane; the first worker stays NotReady",
		Break:  refuseNetwork,
		Steady: waitsForNetwork,
	},
}

// Numbers of the workers of hosted clusters that troubles add.
const (
	staleGuest = lab.HostedWorker + 1 + iota
	outdatedGuest
	elsewhereGuest
	payloadGuest
)

// grown is the hosted cluster with one more worker wanted.
func grown(ctx context.Context, l *lab.Lab) (*lab.Hosted, error) {
	h, err := l.StartHosted(ctx, lab.HostedOptions{})
	if err != nil {
		return nil, err
	}
	return h, h.Scale(ctx, 2)
}

func bootStale(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	saved, err := h.UserData(ctx)
	if err != nil {
		return err
	}
	// The old token is good until the next rotation.
	for range 2 {
		if err := h.Rotate(ctx); err != nil {
			return err
		}
	}
	return h.PowerOn(ctx, staleGuest, lab.HostedMachine{Pointer: saved})
}

func bootOutdated(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	h.StopOperator()
	for range 2 {
		if err := h.Rotate(ctx); err != nil {
			return err
		}
	}
	return h.PowerOn(ctx, outdatedGuest, lab.HostedMachine{})
}

func bootElsewhere(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	pointer, err := h.UserDataVia(ctx, l.Net().Host(4))
	if err != nil {
		return err
	}
	return h.PowerOn(ctx, elsewhereGuest, lab.HostedMachine{Pointer: pointer})
}

func failPayload(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	if err := h.Reconfigure(ctx, "    storage: {files: [{path: /etc/motd, contents: {source: \"data:,hello\"}}]}\n"); err != nil {
		return err
	}
	err = l.Await(ctx, time.Minute, "the new config has no user-data", func(ctx context.Context) (bool, error) {
		_, err := h.UserData(ctx)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return h.PowerOn(ctx, payloadGuest, lab.HostedMachine{})
}

func payloadFails(ctx context.Context, l *lab.Lab) (string, error) {
	pool, err := l.Get(ctx, nodePools, seed.HostedNamespace, seed.HostedPool)
	if err != nil {
		return "", err
	}
	status, _ := pool.Object["status"].(map[string]any)
	if !strings.Contains(fmt.Sprint(status["conditions"]), "error getting ignition payload") {
		return "the NodePool does not say that the payload fails", nil
	}
	return "", nil
}

func refuseNetwork(ctx context.Context, l *lab.Lab) error {
	h, err := l.StartHosted(ctx, lab.HostedOptions{Unfit: true})
	if err != nil {
		return err
	}
	return h.PowerOn(ctx, lab.HostedWorker, lab.HostedMachine{})
}

// waitsForNetwork says whether both Deployments were refused and the first
// worker's network plugin waits for its certificate.
func waitsForNetwork(ctx context.Context, l *lab.Lab) (string, error) {
	events, err := l.Kube().CoreV1().Events(seed.HostedControlPlane).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	refused := 0
	for _, e := range events.Items {
		// The controller continues trying; an old refusal says nothing.
		recent := time.Since(e.LastTimestamp.Time) < 10*time.Minute
		if recent && e.Reason == "FailedCreate" && strings.Contains(e.Message, "violates PodSecurity") {
			refused++
		}
	}
	if refused < 2 {
		return fmt.Sprintf("%d ReplicaSets were refused, expected 2", refused), nil
	}
	h := l.Hosted()
	if h == nil {
		return "there is no hosted cluster", nil
	}
	list, err := h.Kube().CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	waiting := 0
	for _, req := range list.Items {
		if len(req.Status.Conditions) == 0 && strings.HasPrefix(lab.CommonName(&req), "system:ovn-node:") {
			waiting++
		}
	}
	if waiting != 1 {
		return "OVN of the first worker does not wait for its certificate", nil
	}
	nodes, err := h.Kube().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, c := range nodes.Items[0].Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionFalse {
			return "", nil
		}
	}
	return "the first worker is not NotReady", nil
}
