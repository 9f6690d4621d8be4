package baremetal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// The names of the bare metal actuator
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go
// HostAnnotation, pkg/apis/baremetal/v1alpha1 BareMetalMachineProviderSpec).
const (
	hostAnnotation = "metal3.io/BareMetalHost"
	providerKind   = "BareMetalMachineProviderSpec"
	idPrefix       = "baremetalhost:///"
)

// Machine is the fact bmh-machine.
type Machine struct {
	Name         string    `cel:"name"`
	Phase        string    `cel:"phase"`
	ControlPlane bool      `cel:"controlPlane"`
	Host         string    `cel:"host"` // the BareMetalHost that it names; "" for none
	HostExists   bool      `cel:"hostExists"`
	HostState    string    `cel:"hostState"`
	Replaced     bool      `cel:"replaced"` // the BareMetalHost of that name is another object than the one that was provisioned
	Free         int       `cel:"free"`     // BareMetalHosts that a Machine may take
	Error        string    `cel:"error"`
	Joined       bool      `cel:"joined"` // there is a Node
	Deleting     bool      `cel:"deleting"`
	Created      time.Time `cel:"created"`
}

// MachineFact is the fact bmh-machine.
func MachineFact() facts.Fact {
	return facts.DefinePlain("bmh-machine", fault.Host, "how the host's Machine and its BareMetalHost are tied to each other", hosts.Needs(), readMachine)
}

func readMachine(ctx context.Context, w *facts.World, s fault.Subject) (Machine, facts.Proof, error) {
	var f Machine
	var p facts.Proof
	if _, err := w.List(ctx, evidence.Machines, hosts.MachineAPI); err != nil {
		return f, p, err
	}
	h, err := onRoll(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	if roll, err := hosts.Read(ctx, w); h.Machine == nil && err == nil && len(roll.Missing) > 0 {
		return f, p, roll.Missing[0] // what would join the name to its Machine was not read
	}
	if h.Machine == nil || !ofBareMetal(h) {
		return f, p, facts.NotApplicable("host %s has no Machine of the bare metal provider", s.Name)
	}
	api, loc := &h.Machine.API, h.Machine.Loc
	f.Name, f.Created, f.Joined, f.Deleting = api.Name, api.CreationTimestamp.UTC(), h.Node != nil, api.DeletionTimestamp != nil
	f.ControlPlane = h.Role == "master"
	if api.Status.Phase != nil {
		f.Phase = *api.Status.Phase
	}
	if api.Status.ErrorMessage != nil {
		f.Error = short(*api.Status.ErrorMessage)
	}
	_, f.Host, _ = strings.Cut(api.Annotations[hostAnnotation], "/")
	p.Add(loc.At("status.phase"), fmt.Sprintf("Machine %s is %s since at least %s %s", f.Name, f.Phase, stamp(f.Created), f.Error), f.Created,
		"name", "phase", "error", "created", "controlPlane", "deleting")
	p.Add(loc.At("metadata.annotations"), fmt.Sprintf("%s: %s", hostAnnotation, api.Annotations[hostAnnotation]), time.Time{}, "host")
	if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		p.Miss("joined", err)
	}
	list, err := all(ctx, w)
	if err != nil {
		err = miss(&p, err, "hostExists", "hostState", "replaced", "free")
		return f, p, err
	}
	f.hosts(h, list, &p)
	return f, p, nil
}

// ofBareMetal reports whether the Machine is one that becomes a BareMetalHost.
func ofBareMetal(h hosts.Host) bool {
	if h.BMH != nil || h.Machine.API.Annotations[hostAnnotation] != "" {
		return true
	}
	value := h.Machine.API.Spec.ProviderSpec.Value
	if value == nil {
		return false
	}
	var kind struct {
		Kind string `json:"kind"`
	}
	return json.Unmarshal(value.Raw, &kind) == nil && kind.Kind == providerKind
}

func (f *Machine) hosts(own hosts.Host, list []hosts.Host, p *facts.Proof) {
	id := ""
	if own.Machine.API.Spec.ProviderID != nil {
		id = *own.Machine.API.Spec.ProviderID
	}
	for _, h := range list {
		api := &h.BMH.API
		if free(api) {
			f.Free++
		}
		if api.Name != f.Host {
			continue
		}
		f.HostExists, f.HostState = true, string(api.Status.Provisioning.State)
		// baremetalhost:///NAMESPACE/NAME/UID, of the host that was provisioned
		uid := id[strings.LastIndex(id, "/")+1:]
		f.Replaced = strings.HasPrefix(id, idPrefix) && strings.Count(id, "/") == 5 && api.UID != "" && uid != string(api.UID)
		p.Add(h.BMH.Loc.At("status.provisioning.state"), fmt.Sprintf("%s is %s, uid %s, providerID %s", api.Name, f.HostState, api.UID, id), time.Time{},
			"hostExists", "hostState", "replaced")
	}
	p.Add(evidence.Locator{Path: "baremetalhosts -n " + hosts.MachineAPI}, fmt.Sprintf("%d hosts, %d of them can be taken", len(list), f.Free), time.Time{}, "free", "hostExists")
}

// free reports whether the actuator may choose the host (chooseHost).
func free(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return (state == metal3.StateAvailable || state == metal3.StateReady) && (h.Spec.ConsumerRef == nil || h.Spec.ConsumerRef.Name == "") &&
		strings.TrimSpace(h.Status.ErrorMessage) == "" && !h.Spec.ExternallyProvisioned && h.DeletionTimestamp == nil
}

// Frozen is the fact bmh-progress.
type Frozen struct {
	Hosts     int       `cel:"hosts"`   // that metal3 manages
	Pending   int       `cel:"pending"` // with work left to do
	Overdue   int       `cel:"overdue"` // of these, for longer than one try can last, and past the next retry
	Names     []string  `cel:"names"`   // of those
	Newest    time.Time `cel:"newest"`  // the newest change of any host's status
	Since     time.Time `cel:"since"`
	Unmanaged int       `cel:"unmanaged"`
}

// FrozenFact is the fact bmh-progress.
func FrozenFact() facts.Fact {
	return facts.DefinePlain("bmh-progress", fault.Cluster, "whether anything still happens to the BareMetalHosts that have work left", needs(), readFrozen)
}

func readFrozen(ctx context.Context, w *facts.World, _ fault.Subject) (Frozen, facts.Proof, error) {
	var f Frozen
	var p facts.Proof
	list, err := all(ctx, w)
	if err != nil {
		return f, p, Elsewhere(ctx, w, err)
	}
	if len(list) == 0 {
		return f, p, facts.NotApplicable("there are no BareMetalHosts")
	}
	fields := []string{"hosts", "pending", "overdue", "names", "newest", "since", "unmanaged"}
	for _, h := range list {
		b := of(h, w.Now)
		if b.Updated.After(f.Newest) {
			f.Newest = b.Updated
		}
		if !b.Managed {
			f.Unmanaged++
			continue
		}
		f.Hosts++
		if b.Settled && !b.Failing {
			continue
		}
		f.Pending++
		p.Add(h.BMH.Loc.At("status.lastUpdated"), fmt.Sprintf("%s since %s, last change %s", b.State, stamp(b.Since), stamp(b.Updated)), b.Updated, fields...)
		if b.Overdue && !waitsForPerson(b) {
			f.Overdue++
			f.Names = append(f.Names, b.Name)
		}
	}
	f.Since = f.Newest
	p.Add(evidence.Locator{Path: "baremetalhosts -n " + hosts.MachineAPI}, fmt.Sprintf("%d managed hosts, %d with work left, the newest change of any status %s",
		f.Hosts, f.Pending, stamp(f.Newest)), f.Newest, fields...)
	return f, p, nil
}

// waitsForPerson reports an error after which the operator waits until somebody
// changes the host or its secret.
func waitsForPerson(b Host) bool {
	return b.Cause == string(NoCredentials) || b.Cause == string(Address) || b.Cause == string(Refused)
}
