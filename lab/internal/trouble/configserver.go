package trouble

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// configServer are the troubles of the machine config server and of what hosts
// trust it by.
var configServer = []lab.Trouble{
	{
		Name:   "worker-old-ca",
		About:  "a worker boots from a medium that was made before the machine config server's CA was replaced",
		Break:  bootWithOldPointer,
		Steady: shows("worker2", "certificate signed by unknown authority", 3),
	},
	{
		Name:   "mcs-certificate-expired",
		About:  "somebody put a certificate of his own into machine-config-server-tls, and it has expired",
		Break:  serveUntil(-11*30*24*time.Hour, -time.Hour, expiredWorker),
		Steady: shows("worker3", "certificate has expired or is not yet valid", 3),
	},
	{
		Name:   "mcs-certificate-not-yet-valid",
		About:  "the certificate of the machine config server begins in three hours: it was made where the clock runs ahead",
		Break:  serveUntil(3*time.Hour, 365*24*time.Hour, earlyWorker),
		Steady: shows("worker4", "certificate has expired or is not yet valid", 3),
	},
	{
		Name:   "mcs-tls-deleted",
		About:  "machine-config-server-tls was deleted; MachineSets exist, so the controller makes it again and nothing is wrong",
		MCS:    "4.20",
		Break:  deleteRotated,
		Stands: 5 * time.Minute,
	},
	{
		Name:   "mcs-tls-deleted-no-machinesets",
		About:  "machine-config-server-tls was deleted on a cluster without MachineSets; a server that restarts waits for it",
		MCS:    "4.20",
		Break:  deleteUnrotated,
		Steady: waitsForMount("control2"),
	},
	{
		Name:   "mcs-tls-deleted-4.14",
		About:  "the same with the machine config server of 4.14, where nothing makes the secret again",
		MCS:    "4.14",
		Break:  deleteUnrotated,
		Steady: waitsForMount("control2"),
	},
	{
		Name:  "mcs-refused-on-vip",
		About: "a firewall on the master that holds the API address rejects 22623; its machine config server runs",
		Break: func(ctx context.Context, l *lab.Lab) error {
			if err := l.RefuseServer("control0"); err != nil {
				return err
			}
			return addWorker(ctx, l, worker(refusedWorker))
		},
		Steady: shows("worker5", "connection refused", 3),
	},
}

// bootWithOldPointer: the pointer lies on the medium as it was when the cluster
// had another root CA of the same name, as each installation and each
// regeneration makes one.
func bootWithOldPointer(ctx context.Context, l *lab.Lab) error {
	old, err := pki.NewCA(pki.Name{CN: "root-ca", OU: []string{"openshift"}}, pki.TenYears)
	if err != nil {
		return err
	}
	pointer, err := l.Values().PointerWith("worker", old.Cert)
	if err != nil {
		return err
	}
	m := worker(oldCAWorker)
	m.Pointer = []byte(pointer)
	return addWorker(ctx, l, m)
}

// serveUntil puts another certificate of the same CA into the secret, without
// touching the annotations by which the rotator judges, and boots a worker once
// it is served.
func serveUntil(from, to time.Duration, index int) func(context.Context, *lab.Lab) error {
	return func(ctx context.Context, l *lab.Lab) error {
		now := time.Now()
		pair, err := l.PKI().Root.Again(l.PKI().MCS, now.Add(from), now.Add(to))
		if err != nil {
			return err
		}
		b64 := base64.StdEncoding.EncodeToString
		patch := fmt.Sprintf(`{"data":{"tls.crt":%q,"tls.key":%q}}`, b64(pair.Cert), b64(pair.Key))
		if err := l.Patch(ctx, secrets, lab.MCONamespace, "machine-config-server-tls", patch); err != nil {
			return err
		}
		if err := l.AwaitServed(ctx, pair.Cert); err != nil {
			return err
		}
		return addWorker(ctx, l, worker(index))
	}
}

func deleteSecret(ctx context.Context, l *lab.Lab) error {
	return l.Delete(ctx, secrets, lab.MCONamespace, "machine-config-server-tls")
}

// deleteRotated deletes the secret under a controller that has seen MachineSets
// at its start.
func deleteRotated(ctx context.Context, l *lab.Lab) error {
	if err := l.RestartController(ctx); err != nil {
		return err
	}
	if err := deleteSecret(ctx, l); err != nil {
		return err
	}
	return l.Await(ctx, 2*time.Minute, "the controller has not made the secret again", func(ctx context.Context) (bool, error) {
		_, err := l.Kube().CoreV1().Secrets(lab.MCONamespace).Get(ctx, "machine-config-server-tls", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// deleteUnrotated deletes the secret under a controller that has seen none, and
// restarts one server.
func deleteUnrotated(ctx context.Context, l *lab.Lab) error {
	if err := l.Delete(ctx, machineSets, machineNamespace, l.Values().InfraName+"-worker"); err != nil {
		return err
	}
	if err := l.RestartController(ctx); err != nil {
		return err
	}
	if err := deleteSecret(ctx, l); err != nil {
		return err
	}
	return l.RestartServerPod(ctx, "control2")
}

// waitsForMount says whether a new pod of a machine config server hangs.
func waitsForMount(node string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		events, err := l.Kube().CoreV1().Events(lab.MCONamespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedMount"})
		if err != nil {
			return "", err
		}
		for _, e := range events.Items {
			if e.Source.Host == node {
				return "", nil
			}
		}
		return "no mount has failed on " + node, nil
	}
}
