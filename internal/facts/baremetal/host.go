package baremetal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Host is the fact bmh.
type Host struct {
	Name         facts.Field[string]    `cel:"name"`
	State        facts.Field[string]    `cel:"state"`  // of the state machine: registering, inspecting, ...
	Status       facts.Field[string]    `cel:"status"` // operationalStatus: OK, error, discovered, delayed, detached, servicing
	ErrorType    facts.Field[string]    `cel:"errorType"`
	ErrorMessage facts.Field[string]    `cel:"errorMessage"`
	Errors       facts.Field[int]       `cel:"errors"` // failures in a row
	Failing      facts.Field[bool]      `cel:"failing"`
	Retrying     facts.Field[bool]      `cel:"retrying"`  // what failed is being tried again; what it said is from an event
	Cause        facts.Field[string]    `cel:"cause"`     // what the message means; "" where it names no mechanism
	RetryFrom    facts.Field[time.Time] `cel:"retryFrom"` // between these two the operator tries again
	RetryBy      facts.Field[time.Time] `cel:"retryBy"`
	Settled      facts.Field[bool]      `cel:"settled"` // in a state in which nothing is being done to it
	Managed      facts.Field[bool]      `cel:"managed"` // it has a BMC and metal3 may use it: neither paused nor detached nor unmanaged
	Deleting     facts.Field[bool]      `cel:"deleting"`
	Online       facts.Field[bool]      `cel:"online"` // wanted
	PoweredOn    facts.Field[bool]      `cel:"poweredOn"`
	HeldOff      facts.Field[[]string]  `cel:"heldOff"` // reboot annotations that keep it off
	Paused       facts.Field[bool]      `cel:"paused"`
	Detached     facts.Field[bool]      `cel:"detached"`
	BMC          facts.Field[string]    `cel:"bmc"`
	Secret       facts.Field[string]    `cel:"secret"`   // with the BMC's credentials
	Failures     facts.Field[int]       `cel:"failures"` // of provisioning, over all rounds
	Consumer     facts.Field[string]    `cel:"consumer"` // the Machine that it belongs to
	ConsumerGone facts.Field[bool]      `cel:"consumerGone"`
	Joined       facts.Field[bool]      `cel:"joined"` // its host is a Node
	Inspected    facts.Field[bool]      `cel:"inspected"`
	Updated      facts.Field[time.Time] `cel:"updated"` // the last change of its status
	Since        facts.Field[time.Time] `cel:"since"`   // when what is being done to it began
	Elapsed      facts.Field[string]    `cel:"elapsed"` // from then to the run's clock
	Overdue      facts.Field[bool]      `cel:"overdue"` // longer than that, and the time of the next try has passed
}

// hostStatus is the status of a BareMetalHost at a time.
type hostStatus struct {
	state, status           string
	errorType, errorMessage string
	errors                  int
	failing, retrying       bool
	cause                   cause
	retryFrom, retryBy      time.Time
	settled, managed        bool
	paused, detached        bool
	pausedBy                string
	updated, since          time.Time
	elapsed                 string
	overdue                 bool
	sinceUnknown            bool // only some fields were pasted, and none says since when

	unclear []facts.Setter // fields that are unknown, as what failed before the present try is
	why     error
}

// HostFact is the fact bmh.
func HostFact() facts.Fact {
	return facts.Define("bmh", fault.Host, "what the host's BareMetalHost says: state, error and what it means, next retry, power",
		needs(evidence.Objects(evidence.Events, openshift.MachineAPINamespace)), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, error) {
	var f Host
	h, err := Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	raw, _, err := w.Get(ctx, evidence.BareMetalHosts, h.BMH.API.Namespace, h.BMH.API.Name)
	if err != nil {
		return f, err
	}
	b := statusOf(h, w.Now)
	f.spec(h)
	f.power(h, raw, b)
	if err := f.consumer(ctx, w, h); err != nil {
		return f, err
	}
	if err := b.again(ctx, w, h, &f); err != nil {
		return f, err
	}
	f.progress(h, b)
	f.Failures.Set(int(evidence.Int(raw.Content, "status", "provisioningFailCount")), f.State.Proof()...)
	f.failure(h, b)
	if err := facts.Miss(b.why, b.unclear...); err != nil {
		return f, err
	}
	facts.Complete(&f)
	return f, nil
}

// statusOf returns the status of a BareMetalHost at a time.
func statusOf(h inventory.Host, now time.Time) hostStatus {
	api := &h.BMH.API
	st := &api.Status
	b := hostStatus{
		state: string(st.Provisioning.State), status: string(st.OperationalStatus),
		errorType: string(st.ErrorType), errorMessage: short(st.ErrorMessage), errors: st.ErrorCount, cause: means(st.ErrorMessage),
	}
	b.pausedBy, b.paused = api.Annotations[metal3.PausedAnnotation]
	_, b.detached = api.Annotations[metal3.DetachedAnnotation]
	b.detached = b.detached || st.OperationalStatus == metal3.OperationalStatusDetached
	b.failing = b.errorType != "" || b.errorMessage != "" || st.OperationalStatus == metal3.OperationalStatusError
	b.managed = !b.paused && !b.detached && api.Spec.BMC.Address != "" && st.Provisioning.State != metal3.StateUnmanaged
	b.times(h, now)
	return b
}

func (b *hostStatus) times(h inventory.Host, now time.Time) {
	api := &h.BMH.API
	st := &api.Status
	if st.LastUpdated != nil {
		b.updated = st.LastUpdated.UTC()
	}
	b.since = api.CreationTimestamp.UTC()
	if !b.updated.IsZero() {
		b.since = b.updated
	}
	op := operation(st)
	if !op.Start.IsZero() && op.End.IsZero() {
		b.since = op.Start.UTC()
	}
	// A row of a table has the age of the host, and no time of its state.
	b.sinceUnknown = api.Annotations[evidence.PartMark] != "" && b.updated.IsZero() && op.Start.IsZero()
	try := limit(st.Provisioning.State)
	b.settled = try == 0
	b.elapsed = fault.Span(now.Sub(b.since))
	if b.failing && b.errors > 0 && !b.updated.IsZero() {
		least, most := backoff(b.errors)
		b.retryFrom, b.retryBy = b.updated.Add(least), b.updated.Add(most)
	}
	// A try may begin at the last moment of the back-off and last as long as it can.
	last := b.since
	if b.updated.After(last) {
		last = b.updated
	}
	if b.retryBy.After(last) {
		last = b.retryBy
	}
	b.overdue = (try > 0 || b.failing) && b.managed && now.Sub(last) > max(try, 15*time.Minute)
}

// stateTime is since when the host is in its state, zero where that is not known.
func (b *hostStatus) stateTime() time.Time {
	if b.sinceUnknown {
		return time.Time{}
	}
	return b.since
}

// shown returns a field of the BareMetalHost as a piece of evidence.
func shown(h inventory.Host, field, excerpt string, at time.Time) evidence.Item {
	return evidence.Item{Locator: h.BMH.Loc.At(field), Excerpt: excerpt, Time: at}
}

// spec sets what is asked of the host.
func (f *Host) spec(h inventory.Host) {
	api := &h.BMH.API
	bmc := shown(h, "spec.bmc.address", "address: "+api.Spec.BMC.Address, time.Time{})
	f.Name.Set(api.Name, bmc)
	f.BMC.Set(api.Spec.BMC.Address, bmc)
	f.Secret.Set(api.Spec.BMC.CredentialsName, bmc)
	meta := shown(h, "metadata", "deletion requested: "+fmt.Sprint(api.DeletionTimestamp != nil), time.Time{})
	f.Deleting.Set(api.DeletionTimestamp != nil, meta)
	var held []string
	for key := range api.Annotations {
		if client, ok := strings.CutPrefix(key, metal3.RebootAnnotationPrefix+"/"); ok {
			held = append(held, client)
		}
	}
	slices.Sort(held)
	f.HeldOff.Set(held, shown(h, "metadata.annotations", metal3.RebootAnnotationPrefix+"/ of: "+strings.Join(held, ", "), time.Time{}))
}

// power sets what the status says of power, hardware and credentials.
func (f *Host) power(h inventory.Host, raw evidence.Object, b hostStatus) {
	api := &h.BMH.API
	st := &api.Status
	item := shown(h, "status.poweredOn", fmt.Sprintf("spec.online: %t, status.poweredOn: %t", api.Spec.Online, st.PoweredOn), b.updated)
	f.Online.Set(api.Spec.Online, item)
	if _, reported := evidence.Field(raw.Content, "status", "poweredOn").(bool); reported {
		f.PoweredOn.Set(st.PoweredOn, item)
	} else {
		f.PoweredOn.Miss(conditions.NotReported(evidence.BareMetalHosts, api.Name, "poweredOn"))
	}
	f.Inspected.Set(st.HardwareDetails != nil, shown(h, "status.hardware", fmt.Sprintf("reported: %t", st.HardwareDetails != nil), time.Time{}))
}

// consumer sets who uses the host.
func (f *Host) consumer(ctx context.Context, w *facts.World, h inventory.Host) error {
	if h.Node != nil {
		f.Joined.Set(true, evidence.Item{Locator: h.Node.Loc, Excerpt: "node " + h.Node.API.Name, Time: h.Node.API.CreationTimestamp.UTC()})
	} else if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		if err := facts.Miss(err, &f.Joined); err != nil {
			return err
		}
	} else {
		f.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "none is of host "+h.Name))
	}
	ref := h.BMH.API.Spec.ConsumerRef
	if ref == nil {
		item := shown(h, "spec.consumerRef", "none", time.Time{})
		f.Consumer.Set("", item)
		f.ConsumerGone.Set(false, item)
		return nil
	}
	item := shown(h, "spec.consumerRef", "consumed by "+ref.Name, time.Time{})
	f.Consumer.Set(ref.Name, item)
	if ref.Kind != "Machine" || !strings.HasPrefix(ref.APIVersion, "machine.openshift.io/") {
		f.ConsumerGone.Set(false, item) // of another provider
		return nil
	}
	machines, err := w.List(ctx, evidence.Machines, openshift.MachineAPINamespace)
	if err != nil {
		return facts.Miss(err, &f.ConsumerGone)
	}
	if i := slices.IndexFunc(machines, func(o evidence.Object) bool { return o.Name == ref.Name }); i >= 0 {
		f.ConsumerGone.Set(false, item, machines[i].Shows("metadata.name", "Machine "+ref.Name+" exists", machines[i].Created()))
		return nil
	}
	f.ConsumerGone.Set(true, item, evidence.Dangling(evidence.Machines, openshift.MachineAPINamespace,
		fmt.Sprintf("none of the %d Machines is %s", len(machines), ref.Name)))
	return nil
}

// progress sets where the host is and since when.
func (f *Host) progress(h inventory.Host, b hostStatus) {
	text := fmt.Sprintf("%s since %s, %s", b.state, stamp(b.since), b.status)
	if b.sinceUnknown {
		text = b.state
	}
	if b.errors > 0 && (!b.failing || b.retrying) {
		text += fmt.Sprintf(", errorCount %d", b.errors) // which a failure leaves behind when its message is gone
	}
	item := shown(h, "status.provisioning.state", text, b.stateTime())
	f.State.Set(b.state, item)
	f.Status.Set(b.status, item)
	f.Settled.Set(b.settled, item)
	f.Managed.Set(b.managed, item)
	f.Updated.Set(b.updated, item)
	if b.sinceUnknown {
		why := conditions.NotReported(evidence.BareMetalHosts, h.BMH.API.Name, "the time of its state")
		why.Fields = true
		f.Since.Miss(why)
		f.Elapsed.Miss(why)
		f.Overdue.Miss(why)
	} else {
		f.Since.Set(b.since, item)
		f.Elapsed.Set(b.elapsed, item)
		f.Overdue.Set(b.overdue, item)
	}
	annotation := shown(h, "metadata.annotations", metal3.PausedAnnotation+": "+b.pausedBy, time.Time{})
	if !b.paused {
		annotation.Excerpt = "no " + metal3.PausedAnnotation
	}
	f.Paused.Set(b.paused, annotation)
	f.Detached.Set(b.detached, shown(h, "metadata.annotations", fmt.Sprintf("%s: %t, operationalStatus %s", metal3.DetachedAnnotation, b.detached,
		b.status), time.Time{}))
}

// failure sets what failed, and when it is tried again.
func (f *Host) failure(h inventory.Host, b hostStatus) {
	item := f.State.Proof()[0]
	if b.failing && !b.retrying {
		text := "state " + b.state + ", " + b.errorType
		if b.errors > 0 {
			text += fmt.Sprintf(" %d times", b.errors)
		}
		if b.errorMessage != "" {
			text += ": " + b.errorMessage
		}
		if !b.retryBy.IsZero() {
			text += fmt.Sprintf(" (tried again between %s and %s)", stamp(b.retryFrom), stamp(b.retryBy))
		}
		facts.Prove(shown(h, "status.errorMessage", text, b.updated), f.ofFailure()...)
	}
	f.ErrorType.Set(b.errorType, item)
	f.ErrorMessage.Set(b.errorMessage, item)
	f.Errors.Set(b.errors, item)
	f.Failing.Set(b.failing, item)
	f.Retrying.Set(b.retrying, item)
	f.Cause.Set(string(b.cause), item)
	f.RetryFrom.Set(b.retryFrom, item)
	f.RetryBy.Set(b.retryBy, item)
}

// ofFailure are the fields that the error message shows.
func (f *Host) ofFailure() []facts.Setter {
	return []facts.Setter{&f.Failing, &f.ErrorType, &f.ErrorMessage, &f.Errors, &f.Cause, &f.RetryFrom, &f.RetryBy, &f.Failures}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return excerpt.Time(t)
}
