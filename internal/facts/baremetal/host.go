package baremetal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Host is the fact bmh.
type Host struct {
	Name         string    `cel:"name"`
	State        string    `cel:"state"`  // of the state machine: registering, inspecting, ...
	Status       string    `cel:"status"` // operationalStatus: OK, error, discovered, delayed, detached, servicing
	ErrorType    string    `cel:"errorType"`
	ErrorMessage string    `cel:"errorMessage"`
	Errors       int       `cel:"errors"` // failures in a row
	Failing      bool      `cel:"failing"`
	Retrying     bool      `cel:"retrying"`  // what failed is being tried again; what it said is from an event
	Cause        string    `cel:"cause"`     // what the message means; "" where it names no mechanism
	RetryFrom    time.Time `cel:"retryFrom"` // between these two the operator tries again
	RetryBy      time.Time `cel:"retryBy"`
	Settled      bool      `cel:"settled"` // in a state in which nothing is being done to it
	Managed      bool      `cel:"managed"` // it has a BMC and metal3 may use it: neither paused nor detached nor unmanaged
	External     bool      `cel:"external"`
	Deleting     bool      `cel:"deleting"`
	Online       bool      `cel:"online"` // wanted
	PoweredOn    bool      `cel:"poweredOn"`
	HeldOff      []string  `cel:"heldOff"` // reboot annotations that keep it off
	Paused       bool      `cel:"paused"`
	PausedBy     string    `cel:"pausedBy"`
	Detached     bool      `cel:"detached"`
	BMC          string    `cel:"bmc"`
	Secret       string    `cel:"secret"`    // with the BMC's credentials
	SecretNew    bool      `cel:"secretNew"` // what was tried last is not what worked last
	Failures     int       `cel:"failures"`  // of provisioning, over all rounds
	Consumer     string    `cel:"consumer"`  // the Machine that it belongs to
	ConsumerGone bool      `cel:"consumerGone"`
	Joined       bool      `cel:"joined"` // its host is a Node
	Inspected    bool      `cel:"inspected"`
	Updated      time.Time `cel:"updated"` // the last change of its status
	Since        time.Time `cel:"since"`   // when what is being done to it began
	Elapsed      string    `cel:"elapsed"` // from then to the run's clock
	Limit        string    `cel:"limit"`   // how long one try can last
	Overdue      bool      `cel:"overdue"` // longer than that, and the time of the next try has passed
}

// HostFact is the fact bmh.
func HostFact() facts.Fact {
	return facts.DefinePlain("bmh", fault.Host, "what the host's BareMetalHost says: state, error and what it means, next retry, power",
		needs(evidence.Objects(evidence.Events, hosts.MachineAPI)), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, facts.Proof, error) {
	var p facts.Proof
	h, err := find(ctx, w, s.Name)
	if err != nil {
		return Host{}, p, err
	}
	b := of(h, w.Now)
	raw, _, err := w.Get(ctx, evidence.BareMetalHosts, h.BMH.API.Namespace, h.BMH.API.Name)
	if err != nil {
		return b, p, err
	}
	b.Failures = int(evidence.Int(raw.Content, "status", "provisioningFailCount"))
	if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		p.Miss("joined", err)
	}
	machines, err := w.List(ctx, evidence.Machines, hosts.MachineAPI)
	if err := miss(&p, err, "consumerGone"); err != nil {
		return b, p, err
	}
	ref := h.BMH.API.Spec.ConsumerRef
	b.ConsumerGone = err == nil && ref != nil && ref.Kind == "Machine" && strings.HasPrefix(ref.APIVersion, "machine.openshift.io/") &&
		!slices.ContainsFunc(machines, func(o evidence.Object) bool { return o.Name == ref.Name })
	if err := b.again(ctx, w, h, &p); err != nil {
		return b, p, err
	}
	b.prove(h, &p)
	return b, p, nil
}

// of reads a BareMetalHost at a time.
func of(h hosts.Host, now time.Time) Host {
	api := &h.BMH.API
	st := &api.Status
	b := Host{
		Name: api.Name, State: string(st.Provisioning.State), Status: string(st.OperationalStatus),
		ErrorType: string(st.ErrorType), ErrorMessage: short(st.ErrorMessage), Errors: st.ErrorCount,
		External: api.Spec.ExternallyProvisioned, Deleting: api.DeletionTimestamp != nil,
		Online: api.Spec.Online, PoweredOn: st.PoweredOn, BMC: api.Spec.BMC.Address, Secret: api.Spec.BMC.CredentialsName,
		SecretNew: st.TriedCredentials.Version != "" && st.TriedCredentials != st.GoodCredentials,
		Joined:    h.Node != nil, Inspected: st.HardwareDetails != nil,
	}
	b.PausedBy, b.Paused = api.Annotations[metal3.PausedAnnotation]
	_, b.Detached = api.Annotations[metal3.DetachedAnnotation]
	b.Detached = b.Detached || st.OperationalStatus == metal3.OperationalStatusDetached
	for key := range api.Annotations {
		if client, ok := strings.CutPrefix(key, metal3.RebootAnnotationPrefix+"/"); ok {
			b.HeldOff = append(b.HeldOff, client)
		}
	}
	slices.Sort(b.HeldOff)
	if ref := api.Spec.ConsumerRef; ref != nil {
		b.Consumer = ref.Name
	}
	b.Failing = b.ErrorType != "" || b.ErrorMessage != "" || st.OperationalStatus == metal3.OperationalStatusError
	b.Cause = string(Means(st.ErrorMessage))
	b.Managed = !b.Paused && !b.Detached && b.BMC != "" && st.Provisioning.State != metal3.StateUnmanaged
	b.times(h, now)
	return b
}

func (b *Host) times(h hosts.Host, now time.Time) {
	api := &h.BMH.API
	st := &api.Status
	if st.LastUpdated != nil {
		b.Updated = st.LastUpdated.UTC()
	}
	b.Since = api.CreationTimestamp.UTC()
	if !b.Updated.IsZero() {
		b.Since = b.Updated
	}
	if op := operation(st); !op.Start.IsZero() && op.End.IsZero() {
		b.Since = op.Start.UTC()
	}
	try := limit(st.Provisioning.State)
	b.Settled = try == 0
	b.Limit, b.Elapsed = fault.Span(try), fault.Span(now.Sub(b.Since))
	if b.Failing && b.Errors > 0 && !b.Updated.IsZero() {
		least, most := backoff(b.Errors)
		b.RetryFrom, b.RetryBy = b.Updated.Add(least), b.Updated.Add(most)
	}
	// A try may begin at the last moment of the back-off and last as long as it can.
	last := b.Since
	if b.Updated.After(last) {
		last = b.Updated
	}
	if b.RetryBy.After(last) {
		last = b.RetryBy
	}
	b.Overdue = (try > 0 || b.Failing) && b.Managed && now.Sub(last) > max(try, 15*time.Minute)
}

func (b *Host) prove(h hosts.Host, p *facts.Proof) {
	loc, api := h.BMH.Loc, &h.BMH.API
	if b.Failing && !b.Retrying {
		text := fmt.Sprintf("state %s, %s %d times: %s", b.State, b.ErrorType, b.Errors, b.ErrorMessage)
		if !b.RetryBy.IsZero() {
			text += fmt.Sprintf(" (tried again between %s and %s)", stamp(b.RetryFrom), stamp(b.RetryBy))
		}
		p.Add(loc.At("status.errorMessage"), text, b.Updated, "failing", "errorType", "errorMessage", "errors", "cause", "retryFrom", "retryBy", "failures")
	}
	text := fmt.Sprintf("%s since %s, %s", b.State, stamp(b.Since), b.Status)
	if b.Errors > 0 && (!b.Failing || b.Retrying) {
		text += fmt.Sprintf(", errorCount %d", b.Errors) // which a failure leaves behind when its message is gone
	}
	p.Add(loc.At("status.provisioning.state"), text, b.Since,
		"errors", "retrying", "errorMessage", "state", "status", "settled", "since", "elapsed", "limit", "overdue", "updated", "managed", "failing", "inspected", "errorType", "cause", "failures")
	p.Add(loc.At("status.poweredOn"), fmt.Sprintf("spec.online: %t, status.poweredOn: %t", b.Online, b.PoweredOn), b.Updated, "online", "poweredOn")
	p.Add(loc.At("spec.bmc.address"), b.BMC, time.Time{}, "bmc", "secret")
	if b.SecretNew {
		p.Add(loc.At("status.triedCredentials"), "the credentials that were tried last are not those that worked last", b.Updated, "secretNew")
	}
	for _, c := range b.HeldOff {
		p.Add(loc.At("metadata.annotations"), metal3.RebootAnnotationPrefix+"/"+c, time.Time{}, "heldOff")
	}
	if b.Paused {
		p.Add(loc.At("metadata.annotations"), metal3.PausedAnnotation+": "+b.PausedBy, time.Time{}, "paused", "pausedBy")
	}
	if b.Detached {
		p.Add(loc.At("metadata.annotations"), metal3.DetachedAnnotation, time.Time{}, "detached")
	}
	if api.Spec.ConsumerRef != nil {
		p.Add(loc.At("spec.consumerRef"), "consumed by "+b.Consumer, time.Time{}, "consumer", "consumerGone")
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}
