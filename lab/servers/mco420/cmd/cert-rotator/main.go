// Command cert-rotator issues the client certificate of the kube-controller-manager again when
// its Secret asks for it: the one of cluster-kube-apiserver-operator's rotations that the lab
// runs, with the product's own controller and the operator's names and times
// (openshift/cluster-kube-apiserver-operator:pkg/operator/certrotationcontroller/certrotationcontroller.go,
// KubeControllerManagerClient; openshift/library-go:pkg/operator/certrotation).
//
// What the operator would write into its status is written to the log.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/openshift/library-go/pkg/operator/certrotation"
	"github.com/openshift/library-go/pkg/operator/events"
)

const (
	operatorNamespace = "openshift-kube-apiserver-operator"
	managedNamespace  = "openshift-config-managed"
	day               = 24 * time.Hour
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "`FILE` that leads to the API server")
	klog.InitFlags(nil)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "cert-rotator:", err)
		os.Exit(1)
	}
}

// run rotates until ctx ends.
func run(ctx context.Context, kubeconfig string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	of := func(namespace string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, informers.WithNamespace(namespace))
	}
	operator, managed := of(operatorNamespace), of(managedNamespace)
	signers, targets, bundles := operator.Core().V1().Secrets(), managed.Core().V1().Secrets(), operator.Core().V1().ConfigMaps()
	recorder := events.NewLoggingEventRecorder("kube-apiserver-operator", clock.RealClock{})
	controller := certrotation.NewCertRotationController(
		"KubeControllerManagerClient",
		certrotation.RotatedSigningCASecret{
			Namespace: operatorNamespace, Name: "kube-control-plane-signer", Validity: 60 * day, Refresh: 30 * day,
			Informer: signers, Lister: signers.Lister(), Client: client.CoreV1(), EventRecorder: recorder,
		},
		certrotation.CABundleConfigMap{
			Namespace: operatorNamespace, Name: "kube-control-plane-signer-ca",
			Informer: bundles, Lister: bundles.Lister(), Client: client.CoreV1(), EventRecorder: recorder,
		},
		certrotation.RotatedSelfSignedCertKeySecret{
			Namespace: managedNamespace, Name: "kube-controller-manager-client-cert-key", Validity: 30 * day, Refresh: 15 * day,
			CertCreator: &certrotation.ClientRotation{UserInfo: &user.DefaultInfo{Name: "system:kube-controller-manager"}},
			Informer:    targets, Lister: targets.Lister(), Client: client.CoreV1(), EventRecorder: recorder,
		},
		recorder, status{},
	)
	operator.Start(ctx.Done())
	managed.Start(ctx.Done())
	controller.Run(ctx, 1)
	return nil
}

// status writes to the log how a rotation came out.
type status struct{}

// Report implements certrotation.StatusReporter.
func (status) Report(_ context.Context, controller string, err error) (bool, error) {
	if err != nil {
		klog.ErrorS(err, "rotation failed", "controller", controller)
	}
	return false, nil
}
