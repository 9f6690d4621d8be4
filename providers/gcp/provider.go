package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/proto"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// gcp makes instances. An instance is called as its worker. It has no external address and no
// service account, and the user-data of its first boot in its metadata, until Clean.
type gcp struct {
	api  *clients // nil: not connected yet
	open func(ctx context.Context, endpoint string) (*clients, error)
}

var (
	_ provider.Provider = (*gcp)(nil)
	_ provider.Checker  = (*gcp)(nil)
	_ provider.Screen   = (*gcp)(nil)
)

// userDataKey is where Ignition looks on this platform
// (coreos/ignition:internal/providers/gcp).
const userDataKey = "user-data"

// Create implements provider.Provider.
func (g *gcp) Create(ctx context.Context, o provider.Order, userData []byte) (provider.Machine, error) {
	p, err := g.options(ctx, o)
	if err != nil {
		return provider.Machine{}, err
	}
	if p.image == "" {
		return provider.Machine{}, errors.New("no boot image is known: name one with --option image=projects/PROJECT/global/images/NAME")
	}
	if m, err := g.found(ctx, p, o, true); !errors.Is(err, provider.ErrNone) {
		return m, err
	}
	if userData, err = provider.WithHostname(userData, o.Worker.Name); err != nil {
		return provider.Machine{}, err
	}
	if p.firewall == "create" {
		if err := g.ensureRule(ctx, p, o); err != nil {
			return provider.Machine{}, err
		}
	}
	var full []string
	for i := range p.zones { // the first zone is another one for each worker
		zone := p.zones[(o.Index+i)%len(p.zones)]
		err := act(ctx, func() (*compute.Operation, error) {
			return g.api.instances.Insert(ctx, &computepb.InsertInstanceRequest{
				Project: p.project, Zone: zone, InstanceResource: instance(p, o, zone, userData), RequestId: proto.String(requestID(o, "insert", zone)),
			})
		})
		switch {
		case err == nil:
			return g.found(ctx, p, o, true)
		case status(err) == http.StatusConflict: // it came between, or the answer was lost
			return g.found(ctx, p, o, true)
		case noRoom(err), g.zoneGone(ctx, p, zone):
			full = append(full, zone+": "+err.Error())
		default:
			return provider.Machine{}, fmt.Errorf("make instance %s in %s: %w", o.Worker.Name, zone, err)
		}
	}
	return provider.Machine{}, fmt.Errorf("make instance %s: no zone has room: %s", o.Worker.Name, strings.Join(full, "; "))
}

// options are those of an order, for which it is connected.
func (g *gcp) options(ctx context.Context, o provider.Order) (options, error) {
	if o.Worker.Name != "" && !nameForm.MatchString(o.Worker.Name) {
		return options{}, fmt.Errorf("worker %.80q: an instance is called so, and its name has at most 63 lower case letters, digits and dashes", o.Worker.Name)
	}
	p, err := parseOptions(o)
	if err == nil {
		err = g.connect(ctx, p)
	}
	return p, err
}

// connect opens the API once: its address is an option of the order.
func (g *gcp) connect(ctx context.Context, p options) (err error) {
	if g.api == nil {
		if g.api, err = g.open(ctx, p.endpoint); err != nil {
			return fmt.Errorf("connect to Compute Engine: %w", err)
		}
	}
	return nil
}

// zoneGone reports whether a zone is not there, or down.
func (g *gcp) zoneGone(ctx context.Context, p options, zone string) bool {
	z, err := g.api.zones.Get(ctx, &computepb.GetZoneRequest{Project: p.project, Zone: zone})
	return notFound(err) || err == nil && z.GetStatus() == "DOWN"
}

func instance(p options, o provider.Order, zone string, userData []byte) *computepb.Instance {
	return &computepb.Instance{
		Name: proto.String(o.Worker.Name), Description: proto.String(description(o)), Labels: labels(o),
		MachineType: proto.String("zones/" + zone + "/machineTypes/" + p.machineType),
		Disks: []*computepb.AttachedDisk{{
			Boot: proto.Bool(true), AutoDelete: proto.Bool(true),
			InitializeParams: &computepb.AttachedDiskInitializeParams{
				SourceImage: proto.String(p.image), DiskSizeGb: proto.Int64(p.diskGB),
				DiskType: proto.String("zones/" + zone + "/diskTypes/" + p.diskType), Labels: labels(o),
			},
		}},
		// Without access configs it has no external address, without a service account no
		// credential for the cloud.
		NetworkInterfaces: []*computepb.NetworkInterface{{Subnetwork: proto.String(p.subnetwork)}},
		Metadata: &computepb.Metadata{Items: []*computepb.Items{
			{Key: proto.String(userDataKey), Value: proto.String(string(userData))},
			{Key: proto.String("block-project-ssh-keys"), Value: proto.String("true")},
		}},
		ShieldedInstanceConfig: &computepb.ShieldedInstanceConfig{
			EnableSecureBoot: proto.Bool(p.secureBoot), EnableVtpm: proto.Bool(true), EnableIntegrityMonitoring: proto.Bool(true),
		},
		Tags: &computepb.Tags{Items: p.tags},
	}
}

// foreignError is a machine of somebody else that has the name.
type foreignError struct{ zone, name string }

// Error implements error.
func (e *foreignError) Error() string {
	return fmt.Sprintf("instance %s in %s does not have the labels of this run: it is somebody else's, and stays as it is", e.name, e.zone)
}

// get returns the run's instance. What is being made by a request whose answer was lost is
// waited for.
func (g *gcp) get(ctx context.Context, p options, o provider.Order) (*computepb.Instance, string, error) {
	var foreign error
	for _, zone := range p.zones {
		if err := g.settle(ctx, p, zone, o.Worker.Name); err != nil {
			return nil, "", err
		}
		i, err := g.api.instances.Get(ctx, &computepb.GetInstanceRequest{Project: p.project, Zone: zone, Instance: o.Worker.Name})
		switch {
		case notFound(err): // the instance, or the zone
		case err != nil:
			return nil, "", fmt.Errorf("look for instance %s in %s: %w", o.Worker.Name, zone, err)
		case mine(i, o):
			return i, zone, nil
		default:
			foreign = &foreignError{zone, o.Worker.Name}
		}
	}
	return nil, "", errors.Join(provider.ErrNone, foreign)
}

// mine reports whether an instance has all marks of the run.
func mine(i *computepb.Instance, o provider.Order) bool {
	for key, value := range labels(o) {
		if i.GetLabels()[key] != value {
			return false
		}
	}
	return i.GetDescription() == description(o)
}

// settle waits for what is being made or deleted under a name.
func (g *gcp) settle(ctx context.Context, p options, zone, name string) error {
	list := g.api.operations.List(ctx, &computepb.ListZoneOperationsRequest{Project: p.project, Zone: zone, Filter: proto.String(`status != "DONE"`)})
	for {
		op, err := list.Next()
		if errors.Is(err, iterator.Done) || notFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list what is being done in %s: %w", zone, err)
		}
		if !strings.HasSuffix(op.GetTargetLink(), "/instances/"+name) {
			continue
		}
		pause := retryPause
		for op.GetStatus() != computepb.Operation_DONE {
			if op, err = g.api.operations.Wait(ctx, &computepb.WaitZoneOperationRequest{Project: p.project, Zone: zone, Operation: op.GetName()}); err != nil {
				return fmt.Errorf("wait for operation in %s: %w", zone, err)
			}
			if op.GetStatus() == computepb.Operation_DONE {
				break
			}
			if err := sleep(ctx, &pause); err != nil {
				return err
			}
		}
	}
}

// found is the run's machine. strict: a machine of somebody else under its name is an error.
func (g *gcp) found(ctx context.Context, p options, o provider.Order, strict bool) (provider.Machine, error) {
	i, zone, err := g.get(ctx, p, o)
	var foreign *foreignError
	switch {
	case errors.As(err, &foreign) && strict:
		return provider.Machine{}, foreign
	case err != nil:
		return provider.Machine{}, err
	}
	m := provider.Machine{ID: fmt.Sprintf("projects/%s/zones/%s/instances/%s", p.project, zone, i.GetName())}
	for _, n := range i.GetNetworkInterfaces() {
		if n.GetNetworkIP() != "" {
			m.IPs = append(m.IPs, n.GetNetworkIP())
		}
	}
	return m, nil
}

// Find implements provider.Provider.
func (g *gcp) Find(ctx context.Context, o provider.Order) (provider.Machine, error) {
	p, err := g.options(ctx, o)
	if err != nil {
		return provider.Machine{}, err
	}
	return g.found(ctx, p, o, false)
}

// Clean implements provider.Provider: it removes the user-data from the instance's metadata.
func (g *gcp) Clean(ctx context.Context, o provider.Order) error {
	p, err := g.options(ctx, o)
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		have, zone, err := g.get(ctx, p, o)
		if errors.Is(err, provider.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		items := slices.DeleteFunc(slices.Clone(have.GetMetadata().GetItems()), func(x *computepb.Items) bool { return x.GetKey() == userDataKey })
		if len(items) == len(have.GetMetadata().GetItems()) {
			return nil
		}
		fingerprint := have.GetMetadata().GetFingerprint() // what somebody changes meanwhile is not overwritten
		err = act(ctx, func() (*compute.Operation, error) {
			return g.api.instances.SetMetadata(ctx, &computepb.SetMetadataInstanceRequest{
				Project: p.project, Zone: zone, Instance: o.Worker.Name, RequestId: proto.String(requestID(o, "clean", fingerprint)),
				MetadataResource: &computepb.Metadata{Fingerprint: proto.String(fingerprint), Items: items},
			})
		})
		if status(err) == http.StatusPreconditionFailed && i < tries {
			continue
		}
		if err != nil {
			return fmt.Errorf("remove the user-data from the metadata of %s: %w", o.Worker.Name, err)
		}
		return nil
	}
}

// Delete implements provider.Provider. With the last machine of the hosted cluster goes the
// firewall rule that was made for it.
func (g *gcp) Delete(ctx context.Context, o provider.Order) error {
	p, err := g.options(ctx, o)
	if err != nil {
		return err
	}
	have, zone, err := g.get(ctx, p, o)
	switch {
	case errors.Is(err, provider.ErrNone):
	case err != nil:
		return err
	default:
		// The uid keeps the request for this machine: a later one of the name is another.
		id := requestID(o, "delete", fmt.Sprint(have.GetId()))
		err := act(ctx, func() (*compute.Operation, error) {
			return g.api.instances.Delete(ctx, &computepb.DeleteInstanceRequest{Project: p.project, Zone: zone, Instance: o.Worker.Name,
				RequestId: proto.String(id)})
		})
		if err != nil && !notFound(err) {
			return fmt.Errorf("delete instance %s: %w", o.Worker.Name, err)
		}
	}
	if p.firewall != "create" {
		return nil
	}
	return g.dropRule(ctx, p, o)
}

// Console implements provider.Screen: the newest megabyte of the first serial port.
func (g *gcp) Console(ctx context.Context, o provider.Order) ([]byte, error) {
	p, err := g.options(ctx, o)
	if err != nil {
		return nil, err
	}
	have, zone, err := g.get(ctx, p, o)
	if err != nil {
		return nil, err
	}
	out, err := g.api.instances.GetSerialPortOutput(ctx, &computepb.GetSerialPortOutputInstanceRequest{Project: p.project, Zone: zone,
		Instance: have.GetName(), Port: proto.Int32(1)})
	if err != nil {
		return nil, fmt.Errorf("read the serial port of %s: %w", o.Worker.Name, err)
	}
	return []byte(out.GetContents()), nil
}
