package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/iterator"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// Check implements provider.Checker: zones, image, machine type and quota, subnetwork and the
// right to use it, a way out, firewall rules.
func (g *gcp) Check(ctx context.Context, o provider.Order, workers []provider.Worker) ([]provider.Check, error) {
	p, err := parseOptions(o)
	if err == nil {
		err = g.connect(ctx, p)
	}
	if err != nil {
		return []provider.Check{{Outcome: provider.Failed, Text: err.Error()}}, nil
	}
	var list []provider.Check
	for _, w := range workers {
		if !nameForm.MatchString(w.Name) {
			list = append(list, provider.Check{Outcome: provider.Failed, Text: fmt.Sprintf("worker %.80q: the name of an instance has at most 63 "+
				"lower case letters, digits and dashes", w.Name)})
		}
	}
	zones, up := g.checkZones(ctx, p)
	list = append(list, zones, g.checkImage(ctx, p))
	list = append(list, g.checkQuota(ctx, p, up, len(workers))...)
	more, subnetwork := g.checkSubnetwork(ctx, p)
	list = append(list, more...)
	list = append(list, g.checkRules(ctx, p, o, subnetwork)...)
	return append(list, provider.Check{Outcome: provider.Unknown, Text: "whether this account may make instances: the API answers that for instances " +
		"that exist only"}), nil
}

// outcome is the check of something that has to be read: not there fails, refused is not
// known.
func outcome(what string, err error) provider.Check {
	switch status(err) {
	case http.StatusNotFound:
		return provider.Check{Outcome: provider.Failed, Text: what + " does not exist"}
	case http.StatusForbidden, http.StatusUnauthorized:
		return provider.Check{Outcome: provider.Unknown, Text: what + ": no permission to read it: " + err.Error()}
	}
	return provider.Check{Outcome: provider.Unknown, Text: what + ": " + err.Error()}
}

// checkZones also returns the zones that machines can be made in, as far as that is known.
func (g *gcp) checkZones(ctx context.Context, p options) (c provider.Check, up []string) {
	var wrong []string
	for _, zone := range p.zones {
		z, err := g.api.zones.Get(ctx, &computepb.GetZoneRequest{Project: p.project, Zone: zone})
		switch {
		case notFound(err):
			wrong = append(wrong, zone+" does not exist")
		case err != nil:
			return outcome("zone "+zone, err), p.zones
		case z.GetStatus() == "DOWN":
			wrong = append(wrong, zone+" is down")
		default:
			up = append(up, zone)
		}
	}
	switch {
	case len(up) == 0:
		return provider.Check{Outcome: provider.Failed, Text: "zones: " + strings.Join(wrong, ", ")}, nil
	case len(wrong) > 0:
		return provider.Check{Outcome: provider.Warning, Text: "zones: " + strings.Join(wrong, ", ") + "; workers go to " + strings.Join(up, ", ")}, up
	}
	return provider.Check{Outcome: provider.Passed, Text: "zones " + strings.Join(up, ", ") + " are up; workers go to them in turn"}, up
}

func (g *gcp) checkImage(ctx context.Context, p options) provider.Check {
	if p.image == "" {
		return provider.Check{Outcome: provider.Failed, Text: "no boot image is known: name one with --option image=projects/PROJECT/global/images/NAME"}
	}
	project, name := split(p.image)
	i, err := g.api.images.Get(ctx, &computepb.GetImageRequest{Project: project, Image: name})
	switch {
	case err != nil:
		return outcome("boot image "+p.image, err)
	case i.GetStatus() != "READY":
		return provider.Check{Outcome: provider.Failed, Text: "boot image " + p.image + " is " + i.GetStatus()}
	case i.GetDiskSizeGb() > p.diskGB:
		return provider.Check{Outcome: provider.Failed, Text: fmt.Sprintf("boot image %s needs a disk of %d GB, --option "+
			"disk-gb has %d", p.image, i.GetDiskSizeGb(), p.diskGB)}
	case i.GetDeprecated().GetState() == "OBSOLETE" || i.GetDeprecated().GetState() == "DELETED":
		return provider.Check{Outcome: provider.Failed, Text: "boot image " + p.image + " is marked as " + i.GetDeprecated().GetState()}
	}
	return provider.Check{Outcome: provider.Passed, Text: "boot image " + p.image + " is there"}
}

// quotaOf is the metric of the quota for a machine type's processors: most families have their
// own (https://cloud.google.com/compute/resource-usage#cpu_quota).
func quotaOf(machineType string) string {
	family, _, _ := strings.Cut(machineType, "-")
	switch family {
	case "e2", "n1", "f1", "g1", "custom":
		return "CPUS"
	}
	return strings.ToUpper(family) + "_CPUS"
}

// machineType reads the machine type where there is one, and names the zones that have none.
func (g *gcp) machineType(ctx context.Context, p options, zones []string) (t *computepb.MachineType, checks []provider.Check) {
	var without []string
	for _, zone := range zones {
		have, err := g.api.machineTypes.Get(ctx, &computepb.GetMachineTypeRequest{Project: p.project, Zone: zone, MachineType: p.machineType})
		switch {
		case notFound(err):
			without = append(without, zone)
		case err != nil:
			return nil, []provider.Check{outcome("machine type "+p.machineType+" in "+zone, err)}
		default:
			t = have
		}
	}
	switch {
	case len(without) == 0:
		return t, nil
	case t == nil:
		return nil, []provider.Check{{Outcome: provider.Failed, Text: "machine type " + p.machineType + " does not exist in " + strings.Join(without, ", ")}}
	}
	// An insert into such a zone is refused, and is no reason to try the next one.
	return t, []provider.Check{{Outcome: provider.Failed, Text: "machine type " + p.machineType + " does not exist in " + strings.Join(without, ", ") +
		": leave these out of --option zones"}}
}

func (g *gcp) checkQuota(ctx context.Context, p options, zones []string, n int) []provider.Check {
	t, list := g.machineType(ctx, p, zones)
	if t == nil {
		return list
	}
	r, err := g.api.regions.Get(ctx, &computepb.GetRegionRequest{Project: p.project, Region: p.region})
	if err != nil {
		return append(list, outcome("quotas of region "+p.region, err))
	}
	disk := map[string]string{"pd-balanced": "SSD_TOTAL_GB", "pd-ssd": "SSD_TOTAL_GB", "pd-standard": "DISKS_TOTAL_GB"}[p.diskType]
	wanted := []struct {
		metric string
		amount float64
	}{
		{quotaOf(p.machineType), float64(n) * float64(t.GetGuestCpus())},
		{"INSTANCES", float64(n)},
		{disk, float64(n) * float64(p.diskGB)},
	}
	have := map[string]*computepb.Quota{}
	for _, q := range r.GetQuotas() {
		have[q.GetMetric()] = q
	}
	var enough []string
	for _, w := range wanted {
		q := have[w.metric]
		switch {
		case q == nil:
			list = append(list, provider.Check{Outcome: provider.Unknown, Text: "quota for " + w.metric + ": region " + p.region + " has no such entry"})
		case q.GetUsage()+w.amount > q.GetLimit():
			list = append(list, provider.Check{Outcome: provider.Failed, Text: fmt.Sprintf("quota %s of region %s: %g needed, "+
				"%g of %g used", w.metric, p.region, w.amount, q.GetUsage(), q.GetLimit())})
		default:
			enough = append(enough, fmt.Sprintf("%s %g of %g left", w.metric, q.GetLimit()-q.GetUsage(), q.GetLimit()))
		}
	}
	if len(enough) > 0 {
		list = append(list, provider.Check{Outcome: provider.Passed, Text: "quotas of region " + p.region + ": " + strings.Join(enough, ", ")})
	}
	return list
}

func (g *gcp) checkSubnetwork(ctx context.Context, p options) ([]provider.Check, netip.Prefix) {
	project, name := split(p.subnetwork)
	s, err := g.api.subnetworks.Get(ctx, &computepb.GetSubnetworkRequest{Project: project, Region: p.region, Subnetwork: name})
	if err != nil {
		return []provider.Check{outcome("subnetwork "+p.subnetwork, err)}, netip.Prefix{}
	}
	list := []provider.Check{{Outcome: provider.Passed, Text: "subnetwork " + p.subnetwork + " is there, with " + s.GetIpCidrRange()}}
	if !sameResource(s.GetNetwork(), p.network) {
		list = append(list, provider.Check{Outcome: provider.Failed, Text: "subnetwork " + name + " is of another network than --option " +
			"network=NAME: " + s.GetNetwork()})
	}
	const use = "compute.subnetworks.use"
	may, err := g.api.subnetworks.TestIamPermissions(ctx, &computepb.TestIamPermissionsSubnetworkRequest{
		Project: project, Region: p.region, Resource: name, TestPermissionsRequestResource: &computepb.TestPermissionsRequest{Permissions: []string{use}},
	})
	switch {
	case err != nil:
		list = append(list, provider.Check{Outcome: provider.Unknown, Text: "permission " + use + ": " + err.Error()})
	case len(may.GetPermissions()) == 0:
		list = append(list, provider.Check{Outcome: provider.Failed, Text: "this account has no permission " + use + " on subnetwork " + name})
	}
	cidr, _ := netip.ParsePrefix(s.GetIpCidrRange()) // without one no range of a rule is taken for its
	return append(list, g.checkWayOut(ctx, p, s.GetNetwork())), cidr
}

// checkWayOut looks for Cloud NAT: machines without an external address reach registries and
// the ignition endpoint of another network through it only.
func (g *gcp) checkWayOut(ctx context.Context, p options, network string) provider.Check {
	list := g.api.routers.List(ctx, &computepb.ListRoutersRequest{Project: p.project, Region: p.region})
	for {
		r, err := list.Next()
		if errors.Is(err, iterator.Done) {
			return provider.Check{Outcome: provider.Warning, Text: "network " + network + " has no Cloud NAT in " + p.region +
				": workers have no external address, and reach registries by a mirror or a private path only"}
		}
		if err != nil {
			return provider.Check{Outcome: provider.Unknown, Text: "Cloud NAT: " + err.Error()}
		}
		if len(r.GetNats()) > 0 && sameResource(r.GetNetwork(), network) {
			return provider.Check{Outcome: provider.Passed, Text: "Cloud NAT of router " + r.GetName() + " leads out of the network"}
		}
	}
}

func sleep(ctx context.Context, pause *gax.Backoff) error { return gax.Sleep(ctx, pause.Pause()) }
