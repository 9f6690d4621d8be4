package csr

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Lister lists objects as they are now.
type Lister interface {
	List(ctx context.Context, group, version, resource, namespace string) ([]map[string]any, error)
}

// Gather reads what the judgment needs, again. What cannot be read is an error:
// there is no approval without all of it.
func Gather(ctx context.Context, from Lister, now time.Time) (Snapshot, error) {
	p := Snapshot{Now: now}
	requests, err := from.List(ctx, openshift.CertificatesGroup, "v1", requestsResource, "")
	if err != nil {
		return p, fmt.Errorf("list requests: %w", err)
	}
	for _, o := range requests {
		r, err := Parse(o)
		if err != nil {
			return p, err
		}
		p.Requests = append(p.Requests, r)
	}
	slices.SortFunc(p.Requests, func(a, b csrs.Request) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	if err := p.nodes(ctx, from); err != nil {
		return p, err
	}
	machines, err := optional(ctx, from, openshift.MachineGroup, "v1beta1", "machines", csrs.MachineNamespace)
	if err != nil {
		return p, err
	}
	p.Machines = len(machines)
	hosts, err := optional(ctx, from, openshift.Metal3Group, "v1alpha1", "baremetalhosts", csrs.MachineNamespace)
	if err != nil {
		return p, err
	}
	p.Declared = declaredBy(machines, hosts)
	return p, p.surroundings(ctx, from)
}

// GatherPartly is Gather for a source that may lack something, such as an archive: what
// could not be read is in Snapshot.Gaps, and then nothing would be approved. At least one
// request must be there.
func GatherPartly(ctx context.Context, from Lister, now time.Time) (Snapshot, error) {
	lenient := &gapLister{from: from}
	p, err := Gather(ctx, lenient, now)
	for _, g := range p.Gaps { // of a list that was not read it is no news that it is empty
		resource, _, _ := strings.Cut(g, ":")
		if !slices.ContainsFunc(lenient.gaps, func(have string) bool { return strings.HasPrefix(have, resource+":") }) {
			lenient.gaps = append(lenient.gaps, g)
		}
	}
	p.Gaps, p.AppsGap = lenient.gaps, lenient.apps
	return p, err
}

// Partly reports whether there may be requests that are not in the snapshot.
func (p Snapshot) Partly() bool {
	return slices.ContainsFunc(p.Gaps, func(g string) bool { return strings.HasPrefix(g, requestsResource+": ") })
}

// requestsResource is the resource of certificate requests.
const requestsResource = "certificatesigningrequests"

type gapLister struct {
	from Lister
	gaps []string
	apps string // why the domains of applications may not be known
}

// List implements Lister.
func (g *gapLister) List(ctx context.Context, group, version, resource, namespace string) ([]map[string]any, error) {
	list, err := g.from.List(ctx, group, version, resource, namespace)
	requests := resource == requestsResource
	if err == nil || apierrors.IsNotFound(err) || requests && len(list) == 0 || ctx.Err() != nil {
		return list, err
	}
	if resource == "ingresses" || resource == "ingresscontrollers" { // most archives are not read for them
		g.apps = resource + ": " + err.Error()
		return nil, nil
	}
	g.gaps = append(g.gaps, resource+": "+err.Error())
	if requests { // those that were read can be judged
		return list, nil
	}
	return nil, nil
}

// Parse decodes one request.
func Parse(o map[string]any) (csrs.Request, error) {
	c, err := decode[certificatesv1.CertificateSigningRequest](o)
	if err != nil {
		return csrs.Request{}, fmt.Errorf("decode request: %w", err)
	}
	return csrs.FromAPI(&c), nil
}

func decode[T any](o map[string]any) (T, error) {
	var v T
	return v, apitypes.Decode(o, &v)
}

// optional lists a resource that a cluster may not have.
func optional(ctx context.Context, from Lister, group, version, resource, namespace string) ([]map[string]any, error) {
	list, err := from.List(ctx, group, version, resource, namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource, err)
	}
	return list, nil
}

func (p *Snapshot) nodes(ctx context.Context, from Lister) error {
	leases, err := from.List(ctx, openshift.CoordinationGroup, "v1", "leases", corev1.NamespaceNodeLease)
	if err != nil {
		return fmt.Errorf("list leases of nodes: %w", err)
	}
	renewed := map[string]time.Time{}
	for _, l := range leases {
		renewed[evidence.String(l, "metadata", "name")] = evidence.Time(l, "spec", "renewTime")
	}
	nodes, err := from.List(ctx, "", "v1", "nodes", "")
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for _, o := range nodes {
		n, err := decode[corev1.Node](o)
		if err != nil {
			return fmt.Errorf("decode node: %w", err)
		}
		p.Nodes = append(p.Nodes, plain(n, renewed[n.Name]))
		for _, text := range append(texts(evidence.Field(o, "spec", "podCIDRs")), evidence.String(o, "spec", "podCIDR")) {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				p.CIDRs = append(p.CIDRs, prefix)
			}
		}
	}
	return nil
}

func plain(n corev1.Node, renewed time.Time) Node {
	out := Node{Name: n.Name, UID: string(n.UID),
		Renewed: renewed, Created: n.CreationTimestamp.UTC(), Port: int(n.Status.DaemonEndpoints.KubeletEndpoint.Port)}
	out.ProviderID, out.Machine = n.Spec.ProviderID, n.Annotations[openshift.MachineOnNodeAnnotation]
	if n.CreationTimestamp.IsZero() {
		out.Created = time.Time{}
	}
	for _, c := range n.Status.Conditions {
		out.Ready = out.Ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	for l := range n.Labels {
		out.Control = out.Control || l == openshift.MasterLabel || l == openshift.ControlPlaneLabel
	}
	for _, a := range n.Status.Addresses {
		switch a.Type {
		case corev1.NodeInternalIP, corev1.NodeExternalIP:
			out.Addresses = append(out.Addresses, a.Address)
		case corev1.NodeHostName, corev1.NodeInternalDNS, corev1.NodeExternalDNS:
			if len(readings(a.Address)) > 0 { // a kubelet has it among the addresses of its certificate
				out.Addresses = append(out.Addresses, a.Address)
			}
			out.Hostnames = append(out.Hostnames, a.Address)
		}
	}
	return out
}
