package lab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

var nodePoolResource = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "nodepools"}

var hostedClusterResource = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedclusters"}

func (h *Hosted) tokenName() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "token-" + seed.HostedPool + "-" + h.hash
}

func (h *Hosted) userDataName() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "user-data-" + seed.HostedPool + "-" + h.hash
}

// token is the token Secret of the config that new machines get.
func (h *Hosted) token(ctx context.Context) (*corev1.Secret, error) {
	s, err := h.lab.kube.CoreV1().Secrets(seed.HostedControlPlane).Get(ctx, h.tokenName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the token secret: %w", err)
	}
	return s, nil
}

// Token is the present token.
func (h *Hosted) Token(ctx context.Context) (string, error) {
	s, err := h.token(ctx)
	if err != nil {
		return "", err
	}
	return string(s.Data["token"]), nil
}

// UserData is what a machine that is made now gets.
func (h *Hosted) UserData(ctx context.Context) ([]byte, error) {
	s, err := h.lab.kube.CoreV1().Secrets(seed.HostedControlPlane).Get(ctx, h.userDataName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the user-data: %w", err)
	}
	return s.Data["value"], nil
}

// UserDataVia is the present user-data for machines that are to dial another
// address.
func (h *Hosted) UserDataVia(ctx context.Context, address string) ([]byte, error) {
	token, err := h.Token(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return seed.HostedPointer(h.values.IgnitionCA.Cert, token, fmt.Sprintf("%s:%d", address, hostedPort), h.hash)
}

// The HyperShift operator (openshift/hypershift: cmd/install/assets/hypershift_operator.go).
const (
	hypershiftNamespace = "hypershift"
	hypershiftOperator  = "operator"
)

// StopOperator scales the HyperShift operator to nothing: no one rewrites user-data or the
// NodePool's conditions from then on.
func (h *Hosted) StopOperator(ctx context.Context) error { return h.scaleOperator(ctx, 0) }

func (h *Hosted) scaleOperator(ctx context.Context, replicas int) error {
	_, err := h.lab.kube.AppsV1().Deployments(hypershiftNamespace).Patch(ctx, hypershiftOperator, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("scale the HyperShift operator: %w", err)
	}
	return h.lab.await(ctx, time.Minute, "the HyperShift operator has not been scaled", func(ctx context.Context) (bool, error) {
		runs, err := h.operatorRuns(ctx)
		return runs == (replicas > 0), err
	})
}

// operatorRuns follows the Deployment of the operator: its status, and whether it works.
func (h *Hosted) operatorRuns(ctx context.Context) (bool, error) {
	deployments := h.lab.kube.AppsV1().Deployments(hypershiftNamespace)
	d, err := deployments.Get(ctx, hypershiftOperator, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read the HyperShift operator: %w", err)
	}
	want := int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	if s := &d.Status; s.AvailableReplicas != want || s.ObservedGeneration != d.Generation {
		s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration = want, want, want, want, d.Generation
		if _, err := deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
			return false, fmt.Errorf("write the HyperShift operator's status: %w", err)
		}
	}
	return want > 0, nil
}

// paused says whether somebody has stopped the operator for an object
// (openshift/hypershift: support/util/pausereconcile.go IsReconciliationPaused).
func paused(o *unstructured.Unstructured) bool {
	until := nested(o, "spec", "pausedUntil")
	if at, err := time.Parse(time.RFC3339, until); err == nil {
		return time.Now().Before(at)
	}
	return until == "true"
}

// Scale writes the wanted number of workers.
func (h *Hosted) Scale(ctx context.Context, replicas int) error {
	return h.lab.Patch(ctx, nodePoolResource, seed.HostedNamespace, seed.HostedPool, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// Rotate lets six hours pass, after which the ignition server makes a new token
// and keeps the one before, and waits until it has, and until the operator, where it
// runs, has seen it: in six hours it has time enough.
func (h *Hosted) Rotate(ctx context.Context) error {
	before, err := h.Token(ctx)
	if err != nil {
		return err
	}
	if err := h.lab.Age(ctx, 6*time.Hour); err != nil {
		return err
	}
	err = h.lab.await(ctx, time.Minute, "the ignition server has not rotated the token", func(ctx context.Context) (bool, error) {
		now, err := h.Token(ctx)
		return err == nil && now != before, err
	})
	if err != nil {
		return err
	}
	return h.lab.followUp(ctx)
}

// Reconfigure changes the NodePool's config. For the new one the ignition server
// has to build a payload by itself, which it cannot here: it goes to the registry
// of the release image, and nothing listens there.
func (h *Hosted) Reconfigure(ctx context.Context, extra string) error {
	was := h.userDataName()
	outdated := h.tokenName()
	h.mu.Lock()
	h.hash = h.values.Hash(extra)
	h.values.Token = string(uuid.NewUUID())
	h.mu.Unlock()
	token, err := h.values.HostedToken(extra)
	if err != nil {
		return err
	}
	if err := h.lab.Create(ctx, token); err != nil {
		return err
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	expires := time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
	note := fmt.Sprintf(`{"metadata":{"annotations":{"hypershift.openshift.io/ignition-token-expiration-timestamp":%q}}}`, expires)
	if err := h.lab.Patch(ctx, secrets, seed.HostedControlPlane, outdated, note); err != nil {
		return err
	}
	if err := h.lab.Delete(ctx, secrets, seed.HostedControlPlane, was); err != nil {
		return err
	}
	notes := fmt.Sprintf(`{"metadata":{"annotations":{"hypershift.openshift.io/nodePoolCurrentConfig":%q,`+
		`"hypershift.openshift.io/nodePoolCurrentConfigVersion":%q}}}`, h.hash, h.hash)
	return h.lab.Patch(ctx, nodePoolResource, seed.HostedNamespace, seed.HostedPool, notes)
}

// syncPool is the part of the NodePool controller that follows the token Secret:
// the user-data and the conditions
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go reconcile,
// reconcileUserDataSecret, createValidGeneratedPayloadCondition, createReachedIgnitionEndpointCondition).
func (h *Hosted) syncPool(ctx context.Context) error {
	if runs, err := h.operatorRuns(ctx); err != nil || !runs {
		return err
	}
	cluster, err := h.lab.Get(ctx, hostedClusterResource, seed.HostedNamespace, seed.HostedName)
	if err != nil || paused(cluster) {
		return err
	}
	pool, err := h.lab.Get(ctx, nodePoolResource, seed.HostedNamespace, seed.HostedPool)
	if err != nil {
		return err
	}
	if image := nested(pool, "spec", "release", "image"); image != h.values.Release && !paused(pool) {
		return h.refuseRelease(ctx, pool, image)
	}
	token, err := h.token(ctx)
	if err != nil {
		return err
	}
	if paused(pool) {
		return h.syncConditions(ctx, token)
	}
	return errors.Join(h.syncUserData(ctx, token), h.syncConditions(ctx, token))
}

func (h *Hosted) syncUserData(ctx context.Context, token *corev1.Secret) error {
	h.mu.Lock()
	hash := h.hash
	h.mu.Unlock()
	value, err := seed.HostedPointer(h.values.IgnitionCA.Cert, string(token.Data["token"]), h.values.Endpoint(), hash)
	if err != nil {
		return err
	}
	secrets := h.lab.kube.CoreV1().Secrets(seed.HostedControlPlane)
	have, err := secrets.Get(ctx, h.userDataName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: h.userDataName(), Annotations: map[string]string{"hypershift.openshift.io/nodePool": seed.HostedNamespace + "/" + seed.HostedPool},
			},
			Data: map[string][]byte{"disableTemplating": []byte(base64.StdEncoding.EncodeToString([]byte("true"))), "value": value},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil || string(have.Data["value"]) == string(value) {
		return err
	}
	have.Data["value"] = value
	_, err = secrets.Update(ctx, have, metav1.UpdateOptions{})
	return err
}

// poolStands says what is missing until machines can be made.
func (h *Hosted) poolStands(ctx context.Context) (string, error) {
	if _, err := h.UserData(ctx); err != nil {
		return err.Error(), nil // not yet
	}
	return "", nil
}

// OutdatedToken is the token Secret of a config that the NodePool had before.
func (h *Hosted) OutdatedToken(ctx context.Context) (string, error) {
	list, err := h.lab.kube.CoreV1().Secrets(seed.HostedControlPlane).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the token secrets: %w", err)
	}
	for _, s := range list.Items {
		if s.Annotations["hypershift.openshift.io/ignition-token-expiration-timestamp"] != "" {
			return s.Name, nil
		}
	}
	return "", errors.New("no token secret is outdated")
}

// HangRegistry lets the registry of the release image take connections and never answer: the
// ignition server then builds for as long as its client waits.
func (h *Hosted) HangRegistry() error {
	listener, err := net.Listen("tcp", h.lab.net.Mirror()+":5000")
	if err != nil {
		return fmt.Errorf("hang the registry: %w", err)
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }() // read, and never answered
		}
	}()
	return nil
}

// ForgetPayloads starts the ignition server again, which has the payload of no config then and
// builds that of each.
func (h *Hosted) ForgetPayloads() error {
	if err := os.Remove(filepath.Join(h.payloads(), h.tokenName()+".ign")); err != nil {
		return fmt.Errorf("forget the payload: %w", err)
	}
	h.lab.procs.Stop(ignitionProc) // its pod starts it again
	return nil
}

// AnswerRegistry is answerRegistry for a trouble.
func (h *Hosted) AnswerRegistry(ctx context.Context) error { return h.answerRegistry(ctx) }

// answerRegistry lets the ignition server build the payload of the present config, as it
// would with a registry that answers: what it would build is put where its provider looks
// (servers/hypershift). That looks at its start only, so that the server is started again.
func (h *Hosted) answerRegistry(ctx context.Context) error {
	payload, err := h.payload(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.payloads(), h.tokenName()+".ign"), payload, 0o600); err != nil {
		return err
	}
	h.lab.procs.Stop(ignitionProc) // its pod starts it again
	return nil
}
