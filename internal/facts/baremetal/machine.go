package baremetal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The names of the bare metal actuator
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go
// pkg/apis/baremetal/v1alpha1 BareMetalMachineProviderSpec).
const (
	providerKind = "BareMetalMachineProviderSpec"
	idPrefix     = "baremetalhost:///"
)

// machine is the fact bmh-machine.
type machine struct {
	Name         facts.Field[string]    `cel:"name"`
	Phase        facts.Field[string]    `cel:"phase"`
	ControlPlane facts.Field[bool]      `cel:"controlPlane"`
	Host         facts.Field[string]    `cel:"host"` // the BareMetalHost that it names; "" for none
	HostExists   facts.Field[bool]      `cel:"hostExists"`
	HostState    facts.Field[string]    `cel:"hostState"`
	Replaced     facts.Field[bool]      `cel:"replaced"` // the BareMetalHost of that name is another object than the one that was provisioned
	Free         facts.Field[int]       `cel:"free"`     // BareMetalHosts that a Machine may take
	Error        facts.Field[string]    `cel:"error"`
	Joined       facts.Field[bool]      `cel:"joined"` // there is a Node
	Deleting     facts.Field[bool]      `cel:"deleting"`
	Created      facts.Field[time.Time] `cel:"created"`
}

// machineFact is the fact bmh-machine.
func machineFact() facts.Fact {
	return facts.Define("bmh-machine", fault.Host, "how the host's Machine and its BareMetalHost are tied to each other", inventory.Needs(), readMachine)
}

func readMachine(ctx context.Context, w *facts.World, s fault.Subject) (machine, error) {
	var f machine
	if _, err := w.Some(ctx, evidence.Machines, openshift.MachineAPINamespace); err != nil {
		return f, err
	}
	h, err := onRoll(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	if roll, err := inventory.Read(ctx, w); h.Machine == nil && err == nil && len(roll.Missing) > 0 {
		return f, roll.Missing[0] // what would join the name to its Machine was not read
	}
	if h.Machine == nil || !ofBareMetal(h) {
		return f, facts.NotApplicable("host %s has no Machine of the bare metal provider", s.Name)
	}
	f.machine(h)
	if h.Node != nil {
		f.Joined.Set(true, evidence.Item{Locator: h.Node.Loc, Excerpt: "node " + h.Node.API.Name})
	} else if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		if err := facts.Miss(err, &f.Joined); err != nil {
			return f, err
		}
	} else {
		f.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "none is of Machine "+h.Machine.API.Name))
	}
	list, err := all(ctx, w)
	if err != nil {
		return f, facts.Miss(err, &f.HostExists, &f.HostState, &f.Replaced, &f.Free)
	}
	f.hosts(h, list)
	facts.Complete(&f)
	return f, nil
}

// machine sets what the Machine itself says.
func (f *machine) machine(h inventory.Host) {
	api, loc := &h.Machine.API, h.Machine.Loc
	created, phase, message := api.CreationTimestamp.UTC(), "", ""
	if api.Status.Phase != nil {
		phase = *api.Status.Phase
	}
	if api.Status.ErrorMessage != nil {
		message = short(*api.Status.ErrorMessage)
	}
	item := evidence.Item{Locator: loc.At("status.phase"), Time: created,
		Excerpt: fmt.Sprintf("Machine %s is %s since at least %s %s", api.Name, phase, stamp(created), message)}
	f.Name.Set(api.Name, item)
	f.Created.Set(created, item)
	f.Phase.Set(phase, item)
	f.Error.Set(message, item)
	f.ControlPlane.Set(h.Role == "master", item)
	f.Deleting.Set(api.DeletionTimestamp != nil, item)
	_, host, _ := strings.Cut(api.Annotations[openshift.HostOnMachineAnnotation], "/")
	f.Host.Set(host, evidence.Item{Locator: loc.At("metadata.annotations"),
		Excerpt: fmt.Sprintf("%s: %s", openshift.HostOnMachineAnnotation, api.Annotations[openshift.HostOnMachineAnnotation])})
}

// ofBareMetal reports whether the Machine is one that becomes a BareMetalHost.
func ofBareMetal(h inventory.Host) bool {
	if h.BMH != nil || h.Machine.API.Annotations[openshift.HostOnMachineAnnotation] != "" {
		return true
	}
	return h.Machine.API.Spec.ProviderSpec.Kind() == providerKind
}

// hosts sets what the BareMetalHosts say of the one that the Machine names.
func (f *machine) hosts(own inventory.Host, list []inventory.Host) {
	id := ""
	if own.Machine.API.Spec.ProviderID != nil {
		id = *own.Machine.API.Spec.ProviderID
	}
	available := 0
	for _, h := range list {
		api := &h.BMH.API
		if choosable(api) {
			available++
		}
		if api.Name != f.Host.Value() {
			continue
		}
		state := string(api.Status.Provisioning.State)
		item := shown(h, "status.provisioning.state", fmt.Sprintf("%s is %s, uid %s, providerID %s", api.Name, state, api.UID, id), time.Time{})
		f.HostExists.Set(true, item)
		f.HostState.Set(state, item)
		// baremetalhost:///NAMESPACE/NAME/UID, of the host that was provisioned
		uid := id[strings.LastIndex(id, "/")+1:]
		f.Replaced.Set(strings.HasPrefix(id, idPrefix) && strings.Count(id, "/") == 5 && api.UID != "" && uid != string(api.UID), item)
		if obfuscation.Found(uid) || obfuscation.Found(string(api.UID)) || obfuscation.Found(id) {
			f.Replaced.Miss(obfuscation.Unavailable(evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace), "the providerID or the uid"))
		}
	}
	whole := evidence.Listed(evidence.BareMetalHosts, openshift.MachineAPINamespace, fmt.Sprintf("%d hosts, %d of them can be taken", len(list), available))
	f.Free.Set(available, whole)
	if _, err := f.HostExists.Get(); err != nil {
		f.HostExists.Set(false, whole)
		f.HostState.Set("", whole)
		f.Replaced.Set(false, whole)
	}
}

// choosable reports whether the actuator may choose the host (chooseHost).
func choosable(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return (state == metal3.StateAvailable || state == metal3.StateReady) && (h.Spec.ConsumerRef == nil || h.Spec.ConsumerRef.Name == "") &&
		strings.TrimSpace(h.Status.ErrorMessage) == "" && !h.Spec.ExternallyProvisioned && h.DeletionTimestamp == nil
}

// frozen is the fact bmh-progress.
type frozen struct {
	Hosts   facts.Field[int]       `cel:"hosts"`   // that metal3 manages
	Pending facts.Field[int]       `cel:"pending"` // with work left to do
	Overdue facts.Field[int]       `cel:"overdue"` // of these, for longer than one try can last, and past the next retry
	Newest  facts.Field[time.Time] `cel:"newest"`  // the newest change of any host's status
	Since   facts.Field[time.Time] `cel:"since"`
}

// frozenFact is the fact bmh-progress.
func frozenFact() facts.Fact {
	return facts.Define("bmh-progress", fault.Cluster, "whether anything still happens to the BareMetalHosts that have work left", needs(), readFrozen)
}

func readFrozen(ctx context.Context, w *facts.World, _ fault.Subject) (frozen, error) {
	var f frozen
	list, err := all(ctx, w)
	if err != nil {
		return f, Elsewhere(ctx, w, err)
	}
	if len(list) == 0 {
		return f, facts.NotApplicable("there are no BareMetalHosts")
	}
	var newest time.Time
	var items []evidence.Item
	managed, pending, overdue := 0, 0, 0
	for _, h := range list {
		b := statusOf(h, w.Now)
		if b.updated.After(newest) {
			newest = b.updated
		}
		if !b.managed {
			continue
		}
		managed++
		if b.settled && !b.failing {
			continue
		}
		pending++
		items = append(items, shown(h, "status.lastUpdated", fmt.Sprintf("%s since %s, last change %s", b.state, stamp(b.since), stamp(b.updated)), b.updated))
		if b.overdue && !waitsForPerson(b.cause) {
			overdue++
		}
	}
	count := evidence.Listed(evidence.BareMetalHosts, openshift.MachineAPINamespace,
		fmt.Sprintf("%d managed hosts, %d with work left, the newest change of any status %s", managed, pending, stamp(newest)))
	count.Time = newest
	items = append(items, count)
	f.Hosts.Set(managed, items...)
	f.Pending.Set(pending, items...)
	if newest.IsZero() && pending > 0 {
		return f, nil // no status has a time: for how long nothing has changed is not known
	}
	f.Overdue.Set(overdue, items...)
	f.Newest.Set(newest, items...)
	f.Since.Set(newest, items...)
	return f, nil
}

// waitsForPerson reports an error after which the operator waits until somebody
// changes the host or its secret.
func waitsForPerson(c cause) bool { return c == noCredentials || c == address || c == refused }
