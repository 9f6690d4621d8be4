package lab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// Where the operator of the kube-apiserver keeps the certificate of the controller manager, and
// its signer (openshift/cluster-kube-apiserver-operator:
// pkg/operator/certrotationcontroller/certrotationcontroller.go).
const (
	leafNamespace   = "openshift-config-managed"
	leafSecret      = "kube-controller-manager-client-cert-key"
	signerNamespace = "openshift-kube-apiserver-operator"
	rotatorProc     = "cert-rotator"
	kcmProc         = "kube-controller-manager"
)

// ExpireControllerCertificate puts a certificate that has expired into the controller manager's
// Secret, without the annotations by which its operator judges, and starts the controller
// manager with it. That ends; the masters show it as their pods do. The operator's rotation of
// this Secret runs from then on.
func (l *Lab) ExpireControllerCertificate(ctx context.Context) error {
	now := time.Now()
	expired, err := l.pki.ControlSigner.ClientUntil(pki.Name{CN: "system:kube-controller-manager"}, now.Add(-time.Hour))
	if err != nil {
		return err
	}
	if err := l.Create(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+signerNamespace+"}\n"); err != nil {
		return err
	}
	const day = 24 * time.Hour
	signer := secretYAML(signerNamespace, "kube-control-plane-signer", l.pki.ControlSigner, now.Add(-2*day), now.Add(58*day))
	if err := l.Create(ctx, signer+"---\n"+secretYAML(leafNamespace, leafSecret, expired, now.Add(-2*day), now.Add(28*day))); err != nil {
		return err
	}
	err = l.procs.Start(proc.Spec{
		Name: rotatorProc, Path: l.opts.Artifacts.Bin[rotatorProc], Log: filepath.Join(l.opts.Dir.Logs(), rotatorProc+".log"),
		Args: []string{"--kubeconfig=" + l.opts.Dir.Kubeconfig(), "--v=2"},
	})
	if err != nil {
		return err
	}
	l.procs.Stop(kcmProc)
	l.Stop(PartWorkloads)
	last, err := l.refusedController(ctx, expired)
	if err != nil {
		return err
	}
	for _, h := range l.values.Hosts {
		file := filepath.Join(l.Disk(h.Name), host.CrashFile)
		line := kcmNamespace + "/" + kcmProc + " " + last + "\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(line), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// secretYAML is a Secret of a rotation (openshift/library-go:pkg/operator/certrotation/annotations.go).
func secretYAML(namespace, name string, pair pki.Pair, from, to time.Time) string {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata:
  namespace: %s
  name: %s
  annotations:
    auth.openshift.io/certificate-not-before: %q
    auth.openshift.io/certificate-not-after: %q
    auth.openshift.io/certificate-issuer: kube-control-plane-signer
data: {tls.crt: %s, tls.key: %s}
`, namespace, name, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), b64(pair.Cert), b64(pair.Key))
}

// refusedController runs the controller manager with a certificate that the API server refuses,
// with the flags with which the product's ends then, and returns its last line of an error
// (openshift/cluster-kube-controller-manager-operator:bindata/assets/kube-controller-manager/pod.yaml).
func (l *Lab) refusedController(ctx context.Context, with pki.Pair) (string, error) {
	if err := l.plane.GiveControllers(with.Cert, with.Key); err != nil {
		return "", err
	}
	kubeconfig := l.plane.ControllersKubeconfig()
	if err := l.plane.RunControllers("--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig); err != nil {
		return "", err
	}
	err := l.await(ctx, time.Minute, "the controller manager runs with an expired certificate", func(context.Context) (bool, error) {
		return !l.procs.Running(kcmProc), nil
	})
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(l.plane.ControllersLog())
	if err != nil {
		return "", err
	}
	last := ""
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, `"command failed"`) {
			last = strings.TrimSpace(line)
		}
	}
	if last == "" {
		return "", errors.New("the controller manager ended and logged no reason")
	}
	return last, nil
}

// SyncControllerCertificate is the controller manager's side once its Secret has a valid
// certificate: the copy on each master's disk follows, and the container starts
// (openshift/library-go:pkg/operator/staticpod/certsyncpod).
func (l *Lab) SyncControllerCertificate(ctx context.Context) error {
	secret, err := l.kube.CoreV1().Secrets(leafNamespace).Get(ctx, leafSecret, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the controller manager's Secret: %w", err)
	}
	pair, err := pki.Parse(secret.Data["tls.crt"], secret.Data["tls.key"])
	if err != nil {
		return fmt.Errorf("read the controller manager's certificate: %w", err)
	}
	var crashing []string
	for _, h := range l.values.Hosts {
		if file := filepath.Join(l.Disk(h.Name), host.CrashFile); exists(file) {
			crashing = append(crashing, file)
		}
	}
	if len(crashing) == 0 || time.Now().After(pair.NotAfter()) {
		return nil
	}
	l.procs.Stop(kcmProc) // a rollout may have started it with the old certificate
	if err := l.plane.GiveControllers(pair.Cert, pair.Key); err != nil {
		return err
	}
	if err := startControllerManager(ctx, l, ""); err != nil {
		return err
	}
	var errs []error
	for _, file := range crashing {
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
