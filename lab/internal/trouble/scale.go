package trouble

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/scale"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// large are clusters of many simulated workers, a few of them in trouble.
var large = []lab.Trouble{largeCluster(500), largeCluster(2000)}

func largeCluster(workers int) lab.Trouble {
	k := scale.TroubledOf(workers)
	return lab.Trouble{
		Name: fmt.Sprintf("scale-%d", workers),
		About: fmt.Sprintf("%d simulated workers with %d pods each; of each kind %d: not inspected, BMC password wrong, Machine without addresses, "+
			"kubelet gone",
			workers, scale.PodsPerWorker, k),
		Break:  func(ctx context.Context, l *lab.Lab) error { return populate(ctx, l, workers) },
		Steady: func(ctx context.Context, l *lab.Lab) (string, error) { return counted(ctx, l, workers, k) },
		Stands: -1, // its objects are made as old as they should be
	}
}

// populate makes the workers; their leases and logs live as long as the lab.
func populate(ctx context.Context, l *lab.Lab, workers int) error {
	pool, err := l.Get(ctx, pools, "", "worker")
	if err != nil {
		return err
	}
	render, _, _ := unstructured.NestedString(pool.Object, "spec", "configuration", "name")
	v, net := l.Values(), l.Net()
	store, err := l.Store()
	if err != nil {
		return err
	}
	c, err := scale.New(scale.Spec{
		Store: store, Config: l.Config(), Workers: workers, Infra: v.InfraName, Version: seed.KubeletVersion, Image: v.Image, Render: render,
		// The networks after the lab's own; one that is taken is an error.
		Address: func(i int) string { return fmt.Sprintf("127.%d.%d.%d", net.X, (int(net.Y)+1+i/250)%256, 1+i%250) },
		Port:    plan.KubeletPort,
		Kubelet: func(ips []string) (pki.Pair, error) {
			return l.PKI().KubeletSigner.Server(pki.Name{CN: "system:node:workers", O: []string{"system:nodes"}}, ips, 24*time.Hour)
		},
		Clients: l.PKI().ToKubeletSigner.Cert, Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	listening := make(chan error, 1)
	go c.Serve(ctx, func(err error) { listening <- err })
	if err := <-listening; err != nil {
		return err
	}
	if err := c.Populate(ctx); err != nil {
		return err
	}
	set := v.InfraName + "-worker"
	if err := l.Patch(ctx, machineSets, machineNamespace, set, fmt.Sprintf(`{"spec":{"replicas":%d}}`, len(v.Workers)+workers)); err != nil {
		return err
	}
	// Less than the hour after which requests are forgotten that were answered.
	return l.AgeRequests(ctx, 40*time.Minute)
}

// counted says what is missing until the nodes and what counts them tell the
// same. What looked at every node and Machine once a second stands still from
// then on: nothing changes, and it would be busy with nothing else.
func counted(ctx context.Context, l *lab.Lab, workers, k int) (string, error) {
	nodes, err := l.Kube().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	gone := 0
	for i := range nodes.Items {
		if scale.GivenUp(&nodes.Items[i]) {
			gone++
		}
	}
	if want := workers - 3*k; gone != k || len(nodes.Items) < want {
		return fmt.Sprintf("%d nodes, %d given up; expected %d, %d", len(nodes.Items), gone, want, k), nil
	}
	set, err := l.Get(ctx, machineSets, machineNamespace, l.Values().InfraName+"-worker")
	if err != nil {
		return "", err
	}
	want := int64(len(l.Values().Workers) + workers - 4*k)
	if ready, _, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas"); ready != want {
		return fmt.Sprintf("%d Machines are ready, expected %d", ready, want), nil
	}
	for _, part := range []string{lab.PartMachines, lab.PartWorkers, lab.PartWorkloads} {
		l.Stop(part)
	}
	return "", nil
}
