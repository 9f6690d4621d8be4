// Command ignition-server is HyperShift's ignition server
// (openshift/hypershift:ignition-server) as the control plane operator runs it,
// with one thing added: payloads that a lab cannot build are given to it.
//
// To build a payload the server pulls the release image, takes the
// machine-config-operator's programs out of it and runs them
// (ignition-server/controllers/local_ignitionprovider.go GetPayload). There is no
// registry here. So --payloads names a directory with files SECRET.ign: the
// product's own TokenSecretReconciler reconciles these token Secrets once, with
// the file instead of what the programs would have rendered, before the
// server starts. A Secret without a file goes the product's own way, and fails at
// the registry in the product's words. Serving, refusing, events, what is written
// into the Secret, expiry and rotation are the product's.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	_ "unsafe" // for the linkname

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/openshift/hypershift/ignition-server/cmd"
	"github.com/openshift/hypershift/ignition-server/controllers"
	hyperapi "github.com/openshift/hypershift/support/api"
)

// payloadStore is the server's cache of payloads by token. Its package keeps it to
// itself, and makes the HTTP handler and the provider in one function: there is no
// exported way to the real handler with another provider.
//
//go:linkname payloadStore github.com/openshift/hypershift/ignition-server/cmd.payloadStore
var payloadStore *controllers.ExpiringCache

// given is an IgnitionProvider that has the payload already.
type given []byte

var _ controllers.IgnitionProvider = given(nil)

// GetPayload implements controllers.IgnitionProvider.
func (g given) GetPayload(context.Context, string, string, string, string) ([]byte, error) {
	return g, nil
}

func main() {
	root := &cobra.Command{Use: "control-plane-operator", SilenceUsage: true}
	start := cmd.NewStartCommand()
	payloads := start.Flags().String("payloads", "", "directory with payloads in files SECRET.ign")
	start.PreRunE = func(c *cobra.Command, _ []string) error { return build(context.Background(), *payloads) }
	root.AddCommand(start)
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}

// build lets the reconciler build the payloads that are given.
func build(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.ign"))
	if err != nil || dir == "" {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	kube, err := client.New(config, client.Options{Scheme: hyperapi.Scheme})
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		secret := strings.TrimSuffix(filepath.Base(file), ".ign")
		r := controllers.TokenSecretReconciler{Client: kube, IgnitionProvider: given(payload), PayloadStore: payloadStore}
		request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: os.Getenv("MY_NAMESPACE"), Name: secret}}
		if _, err := r.Reconcile(ctx, request); err != nil {
			return fmt.Errorf("build the payload of %s: %w", secret, err)
		}
	}
	return nil
}
