package trouble

import (
	"context"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// requests are the troubles of requests that no one approves, and of those that
// no one should.
var requests = []lab.Trouble{
	{
		Name:   "csr-machine-too-old",
		About:  "a worker boots three hours after its Machine was made; the machine approver takes two",
		Break:  bootLate,
		Steady: asks("worker8"),
	},
	{
		Name:   "csr-machine-no-addresses",
		About:  "a worker's BareMetalHost was never inspected, so that its Machine has no addresses",
		Break:  bootWithoutAddresses,
		Steady: asks("worker9"),
	},
	{
		Name:  "csr-machine-other-name",
		About: "a worker calls itself by its full name, and was inspected under the short one",
		Break: func(ctx context.Context, l *lab.Lab) error {
			m := worker(renamedWorker)
			m.Hostname = "worker10.lab.example.com"
			return addWorker(ctx, l, m)
		},
		Steady: asks("worker10.lab.example.com"),
	},
	{
		Name:   "csr-no-machine",
		About:  "a worker was booted by hand, without a Machine",
		Break:  func(ctx context.Context, l *lab.Lab) error { return l.PowerOn(ctx, worker(strangeWorker)) },
		Steady: asks("worker11"),
	},
	{
		Name:   "csr-flood",
		About:  "the kubelet of a retired host restarts in a loop and asks each time, until the machine approver ignores everybody",
		Break:  flood,
		Steady: asks("worker12"),
		Stands: 20 * time.Minute, // requests older than an hour do not count
	},
	{
		Name:   "rogue-csr-master",
		About:  "somebody asks with a stolen bootstrap credential for the identity of the living master control0",
		Break:  func(ctx context.Context, l *lab.Lab) error { return steal(ctx, l, "control0") },
		Steady: asks("control0"),
		Stands: 30 * time.Minute,
	},
	{
		Name:   "rogue-csr-worker",
		About:  "somebody asks with a stolen bootstrap credential for the identity of the living worker0",
		Break:  func(ctx context.Context, l *lab.Lab) error { return steal(ctx, l, "worker0") },
		Steady: asks("worker0"),
		Stands: 30 * time.Minute,
	},
}

// bootLate: the Machine waits three hours for its host to be switched on.
func bootLate(ctx context.Context, l *lab.Lab) error {
	m := worker(lateWorker)
	if err := addMachine(ctx, l, m); err != nil {
		return err
	}
	if err := l.Age(ctx, 3*time.Hour); err != nil {
		return err
	}
	return l.PowerOn(ctx, m)
}

// bootWithoutAddresses: with inspection switched off the host has no hardware
// details, and the Machine no addresses
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go nodeAddresses).
func bootWithoutAddresses(ctx context.Context, l *lab.Lab) error {
	m := worker(addresslessWorker)
	if err := addMachine(ctx, l, m); err != nil {
		return err
	}
	if err := l.Patch(ctx, bareMetal, machineNamespace, m.Name, `{"metadata":{"annotations":{"inspect.metal3.io":"disabled"}}}`); err != nil {
		return err
	}
	if err := l.Patch(ctx, bareMetal, machineNamespace, m.Name, `{"status":{"hardware":null}}`, "status"); err != nil {
		return err
	}
	if err := l.Patch(ctx, machines, machineNamespace, machineName(l, m), `{"status":{"addresses":null}}`, "status"); err != nil {
		return err
	}
	return l.PowerOn(ctx, m)
}

// flood: a kubelet that rotates makes a new key and a new request at each start.
func flood(ctx context.Context, l *lab.Lab) error {
	client, err := bootstrapper(l)
	if err != nil {
		return err
	}
	for i := range 130 {
		r := cluster.Request{Name: fmt.Sprintf("csr-retired-%03d", i), Signer: certificatesv1.KubeAPIServerClientKubeletSignerName,
			CN: "system:node:retired3", O: "system:nodes"}
		if _, err := r.File(ctx, client); err != nil {
			return err
		}
	}
	return addWorker(ctx, l, worker(floodedWorker))
}

// steal asks with the credential that every pointer config leads to.
func steal(ctx context.Context, l *lab.Lab, node string) error {
	client, err := bootstrapper(l)
	if err != nil {
		return err
	}
	_, err = cluster.Request{
		Name: "csr-x7w2f-" + node, Signer: certificatesv1.KubeAPIServerClientKubeletSignerName, CN: "system:node:" + node, O: "system:nodes",
	}.File(ctx, client)
	return err
}

// bootstrapper is a client with the credential of new hosts.
func bootstrapper(l *lab.Lab) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(&rest.Config{
		Host: l.Net().APIURL(), QPS: 100, Burst: 200,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: l.PKI().KubeAPISigner.Cert, CertData: l.PKI().NodeBootstrapper.Cert, KeyData: l.PKI().NodeBootstrapper.Key,
		},
	})
}
