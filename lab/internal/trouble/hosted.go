package trouble

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
		Name:   "hosted-release-missing",
		About:  "the NodePool names a release that its registry does not have; no worker has been made since, and the one that is there works",
		Break:  nameMissingRelease,
		Steady: releaseRefused,
	},
	{
		Name: "hosted-cold-cache",
		About: "the ignition server was started again and builds its payloads, which takes long; until then it knows no token, and a worker with a " +
			"good one waits",
		Break:  bootCold,
		Steady: shows("guest10", "Network Authentication Required", 3),
		Stands: -1,
	},
	{
		Name:   "hosted-payload-building",
		About:  "the NodePool got a new config, whose payload the ignition server has not built yet; a worker with the new user-data waits",
		Break:  bootUnbuilt,
		Steady: shows("guest11", "Network Authentication Required", 3),
		Stands: -1,
	},
	{
		Name:   "hosted-config-replaced",
		About:  "a worker is made from a copy of the user-data of a config that the NodePool no longer has; its token has expired",
		Break:  bootReplaced,
		Steady: shows("guest12", "Network Authentication Required", 3),
	},
	{
		Name: "hosted-pod-security",
		About: "the management cluster is no OpenShift, and its PodSecurity level refuses network-node-identity and ovnkube-control-plane; the first " +
			"worker stays NotReady",
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

const (
	coldGuest = lab.HostedWorker + 10 + iota
	unbuiltGuest
	replacedGuest
)

// poolMotd is a change of a NodePool's config.
const poolMotd = "    storage: {files: [{path: /etc/motd, contents: {source: \"data:,hello\"}}]}\n"

func nameMissingRelease(ctx context.Context, l *lab.Lab) error {
	if _, err := l.StartHosted(ctx, lab.HostedOptions{}); err != nil {
		return err
	}
	return l.Patch(ctx, nodePools, seed.HostedNamespace, seed.HostedPool, `{"spec":{"release":{"image":"registry.example.com/ocp/release:4.20.99-x86_64"}}}`)
}

// releaseRefused waits for the NodePool to say that it cannot use its release.
func releaseRefused(ctx context.Context, l *lab.Lab) (string, error) {
	pool, err := l.Get(ctx, nodePools, seed.HostedNamespace, seed.HostedPool)
	if err != nil {
		return "", err
	}
	conditions, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == "ValidReleaseImage" && c["status"] == "False" {
			return "", nil
		}
	}
	return "the NodePool does not say that its release is refused", nil
}

func bootCold(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	if err := errors.Join(h.HangRegistry(), h.ForgetPayloads()); err != nil {
		return err
	}
	return h.PowerOn(ctx, coldGuest, lab.HostedMachine{})
}

func bootUnbuilt(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	if err := errors.Join(h.HangRegistry(), reconfigure(ctx, l, h)); err != nil {
		return err
	}
	return h.PowerOn(ctx, unbuiltGuest, lab.HostedMachine{})
}

func bootReplaced(ctx context.Context, l *lab.Lab) error {
	h, err := grown(ctx, l)
	if err != nil {
		return err
	}
	saved, err := h.UserData(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(reconfigure(ctx, l, h), h.AnswerRegistry(ctx)); err != nil {
		return err
	}
	outdated, err := h.OutdatedToken(ctx)
	if err != nil {
		return err
	}
	if err := l.Age(ctx, 3*time.Hour); err != nil {
		return err
	}
	// What is in the future stays where it is when the lab ages: the token of the config before
	// expires two hours after the change.
	note := fmt.Sprintf(`{"metadata":{"annotations":{"hypershift.openshift.io/ignition-token-expiration-timestamp":%q}}}`,
		time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	if err := l.Patch(ctx, schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, seed.HostedControlPlane, outdated, note); err != nil {
		return err
	}
	err = l.Await(ctx, 2*time.Minute, "the ignition server has not dropped the expired token", func(ctx context.Context) (bool, error) {
		list, err := l.Kube().CoreV1().Secrets(seed.HostedControlPlane).List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(list.Items, func(s corev1.Secret) bool { return s.Name == outdated }), err
	})
	if err != nil {
		return err
	}
	return h.PowerOn(ctx, replacedGuest, lab.HostedMachine{Pointer: saved})
}

// reconfigure gives the NodePool another config, and waits for its user-data.
func reconfigure(ctx context.Context, l *lab.Lab, h *lab.Hosted) error {
	if err := h.Reconfigure(ctx, poolMotd); err != nil {
		return err
	}
	return l.Await(ctx, time.Minute, "the new config has no user-data", func(ctx context.Context) (bool, error) {
		_, err := h.UserData(ctx)
		return err == nil, err
	})
}

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
	if err := h.StopOperator(ctx); err != nil {
		return err
	}
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
	if err := reconfigure(ctx, l, h); err != nil {
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
