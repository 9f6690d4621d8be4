package cluster

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/product"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// ofProduct notes that a cluster is of another distribution, and how its pods stand: no check of OpenShift's parts judges them.
func ofProduct(ctx context.Context, w *facts.World, info *diagnosis.ClusterInfo) error {
	p, err := product.Of(ctx, w)
	if err != nil || p.Name == "" {
		return err
	}
	nodes := "1 Node"
	if p.Nodes > 1 {
		nodes = fmt.Sprintf("%d Nodes", p.Nodes)
	}
	info.Product = &diagnosis.Product{Name: p.Name, Says: nodes + ", " + p.Proof.Excerpt, Locator: p.Proof.Locator.String()}
	pods, err := w.Some(ctx, evidence.Pods, "")
	read := counted(pods, "pod", "completed or Ready", waitsOf)
	if read.says != "" {
		info.Read, info.ReadWrong = append(info.Read, read.says), info.ReadWrong || read.wrong
	}
	return tolerate(err)
}

// waitsOf says what is wrong with a pod, "" where it has completed or is Ready.
func waitsOf(pod evidence.Object) string {
	phase := evidence.String(pod.Content, "status", "phase")
	switch {
	case phase == "Succeeded":
		return ""
	case phase == "Running" && conditions.Find(conditions.Of(pod), "Ready").Status == "True":
		return ""
	case phase == "Running":
		return "not Ready"
	}
	return orUnknown(phase)
}
