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
	return p, p.networks(ctx, from)
}

// GatherPartly is Gather for a source that may lack something, such as an archive: what
// could not be read is in Snapshot.Gaps, and then nothing would be approved. At least one
// request must be there.
func GatherPartly(ctx context.Context, from Lister, now time.Time) (Snapshot, error) {
	lenient := &gapLister{from: from}
	p, err := Gather(ctx, lenient, now)
	p.Gaps = lenient.gaps
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
}

// List implements Lister.
func (g *gapLister) List(ctx context.Context, group, version, resource, namespace string) ([]map[string]any, error) {
	list, err := g.from.List(ctx, group, version, resource, namespace)
	requests := resource == requestsResource
	if err == nil || apierrors.IsNotFound(err) || requests && len(list) == 0 || ctx.Err() != nil {
		return list, err
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
	}
	return nil
}

func plain(n corev1.Node, renewed time.Time) Node {
	out := Node{Name: n.Name, Renewed: renewed, Created: n.CreationTimestamp.UTC(), Port: int(n.Status.DaemonEndpoints.KubeletEndpoint.Port)}
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
		if a.Type == corev1.NodeInternalIP || a.Type == corev1.NodeExternalIP {
			out.Addresses = append(out.Addresses, a.Address)
		}
	}
	return out
}

// networks reads the VIPs and the networks of pods and services
// (openshift/api:config/v1 Infrastructure.status.platformStatus, Network.status).
func (p *Snapshot) networks(ctx context.Context, from Lister) error {
	infras, err := optional(ctx, from, openshift.ConfigGroup, "v1", "infrastructures", "")
	if err != nil {
		return err
	}
	for _, o := range infras {
		platforms, _ := evidence.Field(o, "status", "platformStatus").(map[string]any)
		for _, v := range platforms {
			m, _ := v.(map[string]any)
			for _, field := range []string{"apiServerInternalIPs", "ingressIPs"} {
				p.VIPs = append(p.VIPs, texts(m[field])...)
			}
			for _, field := range []string{"apiServerInternalIP", "ingressIP"} {
				p.VIPs = append(p.VIPs, texts([]any{m[field]})...)
			}
		}
	}
	networks, err := optional(ctx, from, openshift.ConfigGroup, "v1", "networks", "")
	if err != nil {
		return err
	}
	for _, o := range networks {
		for _, part := range []string{"spec", "status"} {
			cidrs := texts(evidence.Field(o, part, "serviceNetwork"))
			pods, _ := evidence.Field(o, part, "clusterNetwork").([]any)
			for _, e := range pods {
				m, _ := e.(map[string]any)
				cidrs = append(cidrs, texts([]any{m["cidr"]})...)
			}
			if err := p.prefixes(cidrs); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Snapshot) prefixes(cidrs []string) error {
	for _, c := range cidrs {
		prefix, err := netip.ParsePrefix(c)
		if err != nil {
			return fmt.Errorf("read network of the cluster: %w", err)
		}
		p.CIDRs = append(p.CIDRs, prefix)
	}
	return nil
}

func texts(v any) []string {
	var out []string
	l, _ := v.([]any)
	for _, e := range l {
		if s, ok := e.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}
