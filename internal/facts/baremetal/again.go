package baremetal

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// eventsKept is how long the API server of OpenShift keeps events
// (openshift/cluster-kube-apiserver-operator:bindata/assets/config/defaultconfig.yaml event-ttl).
const eventsKept = 3 * time.Hour

// failures are the reasons under which the operator makes an event of a failure of what
// takes long, with the message that it also writes to the status
// (metal3-io/baremetal-operator:internal/controller/metal3.io/baremetalhost_controller.go recordActionFailure).
// Up to OpenShift 4.17 a failed preparation has none there: its events are without a reason.
//
// A registration is none of these. It is tried for a minute at most, and its count says
// nothing: a secret that is missing is counted every ten seconds (credentialsErrorResult),
// and the first try with the right one begins with all of these.
var failures = map[string]metal3.ErrorType{
	"InspectionError":      metal3.InspectionError,
	"PreparationError":     metal3.PreparationError,
	"":                     metal3.PreparationError,
	"ProvisioningError":    metal3.ProvisioningError,
	"PowerManagementError": metal3.PowerManagementError,
}

// failure is what an event says.
type failure struct {
	kind    metal3.ErrorType
	message string
	uid     string // of the BareMetalHost
	at      time.Time
	count   int
	loc     evidence.Locator
}

// failed returns the failures that the events tell of, by the name of the host.
func failed(ctx context.Context, w *facts.World) (map[string][]failure, error) {
	return facts.Memo(ctx, w, "baremetal.failed", func(ctx context.Context, w *facts.World) (map[string][]failure, error) {
		list, err := w.List(ctx, evidence.Events, openshift.MachineAPINamespace)
		if err != nil {
			return nil, err
		}
		by := map[string][]failure{}
		for _, o := range list {
			kind, ok := failures[evidence.String(o.Content, "reason")]
			if !ok || evidence.String(o.Content, "involvedObject", "kind") != "BareMetalHost" {
				continue
			}
			at := evidence.Time(o.Content, "lastTimestamp")
			if at.IsZero() {
				at = evidence.Time(o.Content, "eventTime")
			}
			name := evidence.String(o.Content, "involvedObject", "name")
			by[name] = append(by[name], failure{kind, evidence.String(o.Content, "message"),
				evidence.String(o.Content, "involvedObject", "uid"), at, int(evidence.Int(o.Content, "count")), o.Loc.At("message")})
		}
		return by, nil
	})
}

// again finds out what a host failed at that is being tried again. When a try begins,
// the operator takes the error out of the status (clearErrorWithStatus) and leaves
// errorCount, which only success resets (handleInspecting and the like): for the half
// hour of an inspection the status of a host that has failed three times reads OK.
//
// It is failing still when it failed at least twice in a row. One failure is what
// metal3's own next try is for, and it tells nothing while that has not ended.
//
// The count alone does not say what failed, nor that it fails still: a registration
// that failed and worked later leaves it as it is. The event of the last failure says
// it, and that of the failure before, what was counted; without them, the state may.
func (b *hostStatus) again(ctx context.Context, w *facts.World, h inventory.Host, f *Host) error {
	if b.failing || b.errors < 2 || b.settled || !b.managed || b.overdue {
		return nil
	}
	api := &h.BMH.API
	if s := api.Status.Provisioning.State; s == metal3.StateNone || s == metal3.StateRegistering {
		return nil
	}
	_, pause := backoff(b.errors)
	longest := pause + limit(api.Status.Provisioning.State)
	by, err := failed(ctx, w)
	if err := facts.Miss(err); err != nil {
		return err
	}
	last, times := latest(api, by[api.Name], w.Now.Add(-longest))
	if err == nil && longest > eventsKept {
		err = noEvent(fmt.Sprintf("events are kept for three hours, and after %d failures the last one may be older", b.errors))
	}
	kind := only(&api.Status)
	switch {
	case last.kind != "" && times < 2 && kind == "" && err == nil:
		return nil // the others that were counted may have been of registrations
	case last.kind != "" && times < 2 && kind == "", last.kind == "" && kind == "" && err != nil:
		b.unclear, b.why = []facts.Setter{&f.Failing, &f.Retrying, &f.ErrorType, &f.ErrorMessage, &f.Cause}, err
	case last.kind != "":
		b.failing, b.retrying = true, true
		b.errorType, b.errorMessage, b.cause = string(last.kind), short(last.message), means(last.message)
		text := fmt.Sprintf("%s, of %d failures that were counted the last: %s", b.errorType, b.errors, b.errorMessage)
		facts.Prove(evidence.Item{Locator: last.loc, Excerpt: text, Time: last.at}, &f.Failing, &f.Retrying, &f.ErrorType, &f.ErrorMessage, &f.Cause)
	case kind != "":
		b.failing, b.retrying = true, true
		b.errorType, b.errorMessage = string(kind), "it is tried again, and no event is left that says what it was"
		if err == nil {
			err = noEvent("none is of its last failure")
		}
		b.unclear, b.why = []facts.Setter{&f.Cause}, err
	}
	return nil
}

// latest returns the last failure since a time that continues, and how often what failed
// was counted.
func latest(api *metal3.BareMetalHost, list []failure, since time.Time) (last failure, count int) {
	times := map[metal3.ErrorType]int{}
	for _, f := range list {
		other := f.uid != "" && api.UID != "" && f.uid != string(api.UID)
		if other || !inProgress(&api.Status, f) {
			continue
		}
		times[f.kind] += max(1, f.count)
		if !f.at.Before(since) && !f.at.Before(last.at) {
			last = f
		}
	}
	return last, times[last.kind]
}

func noEvent(why string) *evidence.Unavailable {
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Events, openshift.MachineAPINamespace), Why: evidence.NotCollected,
		Detail: why, Supply: evidence.Supply{Kind: evidence.SupplyPodLog, Namespace: openshift.MachineAPINamespace,
			Name: "deployment/metal3-baremetal-operator"}}
}

// inProgress reports whether the host is working on what failed. A failed provisioning is followed
// by deprovisioning (handleProvisioning).
func inProgress(st *metal3.BareMetalHostStatus, f failure) bool {
	state, history := st.Provisioning.State, &st.OperationHistory
	switch f.kind {
	case metal3.InspectionError:
		return state == metal3.StateInspecting && !f.at.Before(history.Inspect.Start.Time)
	case metal3.PreparationError:
		return state == metal3.StatePreparing
	case metal3.ProvisioningError:
		return state == metal3.StateDeprovisioning
	case metal3.PowerManagementError:
		return state == metal3.StatePoweringOffBeforeDelete
	}
	return false
}

// only returns the one thing that can have failed since the count was last reset, ""
// where there are several. It is set to zero when a host goes from its registration into
// inspection, which ends the one operation and begins the other with one time stamp
// (handleRegistering, updateHostStateFrom); a registration that failed since would have
// begun again.
func only(st *metal3.BareMetalHostStatus) metal3.ErrorType {
	history := &st.OperationHistory
	if st.Provisioning.State == metal3.StateInspecting && !history.Inspect.Start.IsZero() && history.Register.End.Equal(&history.Inspect.Start) {
		return metal3.InspectionError
	}
	return ""
}
