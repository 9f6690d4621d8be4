// Command kubelet-bootstrap runs the kubelet's own TLS bootstrap and nothing
// else of a kubelet: with the bootstrap kubeconfig it files a
// CertificateSigningRequest for system:node:NAME, waits until the request is
// approved and signed, stores the certificate and writes the runtime
// kubeconfig. It is the code that decides on a real host whether a request is
// filed, again or at all (k8s.io/kubernetes:pkg/kubelet/certificate/bootstrap/bootstrap.go
// LoadClientCert).
//
// It exits 0 once the runtime kubeconfig is in place and valid, and 1 with the
// reason on standard error when the kubelet would have exited as well.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/certificate/bootstrap"
)

func main() {
	klog.InitFlags(nil)
	kubeconfig := flag.String("kubeconfig", "", "runtime kubeconfig to validate or write (/var/lib/kubelet/kubeconfig on a host)")
	bootstrapKubeconfig := flag.String("bootstrap-kubeconfig", "", "bootstrap kubeconfig (/etc/kubernetes/kubeconfig on a host)")
	certDir := flag.String("cert-dir", "", "certificate directory (/var/lib/kubelet/pki on a host)")
	nodeName := flag.String("node-name", "", "name of the Node to ask for")
	flag.Parse()
	if *kubeconfig == "" || *bootstrapKubeconfig == "" || *certDir == "" || *nodeName == "" {
		fmt.Fprintln(os.Stderr, "kubelet-bootstrap: --kubeconfig, --bootstrap-kubeconfig, --cert-dir and --node-name are required")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := bootstrap.LoadClientCert(ctx, *kubeconfig, *bootstrapKubeconfig, *certDir, types.NodeName(*nodeName))
	klog.Flush()
	if err != nil {
		fmt.Fprintf(os.Stderr, "failed to run Kubelet: %v\n", err)
		os.Exit(1)
	}
}
