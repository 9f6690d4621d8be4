package hosted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Pool is the fact nodepool. A field that is a sentence is "" where nothing is wrong.
type Pool struct {
	Platform       facts.Field[string]    `cel:"platform"`
	Automated      facts.Field[bool]      `cel:"automated"` // Machines are made for it: not on the platform None
	UpgradeType    facts.Field[string]    `cel:"upgradeType"`
	Created        facts.Field[time.Time] `cel:"created"`
	Version        facts.Field[string]    `cel:"version"`
	ConfigError    facts.Field[string]    `cel:"configError"`
	ConfigSince    facts.Field[time.Time] `cel:"configSince"`
	TuningError    facts.Field[string]    `cel:"tuningError"`
	TuningSince    facts.Field[time.Time] `cel:"tuningSince"`
	ReleaseError   facts.Field[string]    `cel:"releaseError"`
	ReleaseSince   facts.Field[time.Time] `cel:"releaseSince"`
	SkewOnly       facts.Field[bool]      `cel:"skewOnly"` // the release error is the distance to the control plane's version, which stops nothing
	SettingsError  facts.Field[string]    `cel:"settingsError"`
	SettingsSince  facts.Field[time.Time] `cel:"settingsSince"`
	EndpointError  facts.Field[string]    `cel:"endpointError"`
	EndpointSince  facts.Field[time.Time] `cel:"endpointSince"`
	PayloadStatus  facts.Field[string]    `cel:"payloadStatus"` // of ValidGeneratedPayload; "" where it was not set
	PayloadReason  facts.Field[string]    `cel:"payloadReason"`
	PayloadMessage facts.Field[string]    `cel:"payloadMessage"`
	PayloadSince   facts.Field[time.Time] `cel:"payloadSince"`
	NotReached     facts.Field[bool]      `cel:"notReached"` // the payload of this config was not fetched yet
	ReachedSince   facts.Field[time.Time] `cel:"reachedSince"`
	Paused         facts.Field[bool]      `cel:"paused"`
	PausedSince    facts.Field[time.Time] `cel:"pausedSince"`
	Updating       facts.Field[string]    `cel:"updating"`
	UpdatingSince  facts.Field[time.Time] `cel:"updatingSince"`
	Machines       facts.Field[string]    `cel:"machines"` // what AllMachinesReady complains of
	MachinesSince  facts.Field[time.Time] `cel:"machinesSince"`
	Nodes          facts.Field[string]    `cel:"nodes"`
	NodesSince     facts.Field[time.Time] `cel:"nodesSince"`
}

// The conditions of a NodePool
// (openshift/hypershift:api/hypershift/v1beta1/nodepool_conditions.go).
var (
	poolReleaseTypes  = []string{"ValidReleaseImage", archType, "ValidPlatformImage", skewType} // the skew last
	poolSettingsTypes = []string{"UpdateManagementEnabled", "ValidPlatformConfig", "ValidMachineTemplate", "AWSSecurityGroupAvailable"}
)

// skewType is only set, and the NodePool reconciled on
// (hypershift-operator/controllers/nodepool/conditions.go supportedVersionSkewCondition, from 4.21).
const skewType = "SupportedVersionSkew"

// archType is set, and the NodePool reconciled on, where the table of architectures has no such entry;
// a payload of another architecture ends the pass (from 4.17).
const archType = "ValidArchPlatform"

// ArchFalseAlarm reports whether a condition of a NodePool refuses the architecture that it then asks
// for: the table of 4.16 has no entry for platform None, and user-data is written all the same
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go
// isArchAndPlatformSupported, release-4.16 and v0.1.30; release-4.17 has the entry).
func ArchFalseAlarm(condition, message string) bool {
	return condition == archType && strings.HasPrefix(message, "CPU arch amd64 is not supported for platform: "+none+",")
}

func poolFact() facts.Fact {
	return facts.Define("nodepool", fault.NodePool, "what a NodePool wants and what its conditions say",
		[]evidence.Need{evidence.Objects(evidence.NodePools, evidence.HostedNamespace)}, readPool)
}

func readPool(ctx context.Context, w *facts.World, s fault.Subject) (Pool, error) {
	var f Pool
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, err
	}
	o := n.Object
	upgrade, version := evidence.String(o.Content, "spec", "management", "upgradeType"), evidence.String(o.Content, "status", "version")
	spec := o.Shows("spec", fmt.Sprintf("platform %s, %d replicas, upgradeType %s", n.Platform, n.Wanted, upgrade), o.Created())
	f.Platform.Set(n.Platform, spec)
	f.Automated.Set(n.Platform != none, spec)
	f.Created.Set(o.Created(), spec)
	f.UpgradeType.Set(upgrade, spec)
	f.Version.Set(version, o.Shows("status.version", "version "+version, time.Time{}))
	f.conditions(o)
	f.scaling(o)
	f.payload(o)
	f.fetched(o)
	if n.Platform != none {
		f.members(o)
	}
	facts.Complete(&f)
	return f, nil
}

// conditions sets what is wrong with the parts of the NodePool. Of the release and the
// config a NodePool always reports; the others are set in some releases, or only while
// something is wrong (hypershift-operator/controllers/nodepool/conditions.go).
func (f *Pool) conditions(o evidence.Object) {
	for _, p := range []part{
		{&f.ConfigError, &f.ConfigSince, "False", []string{"ValidMachineConfig"}, true},
		{&f.TuningError, &f.TuningSince, "False", []string{"ValidTuningConfig"}, false},
		{&f.ReleaseError, &f.ReleaseSince, "False", poolReleaseTypes, true},
		{&f.SettingsError, &f.SettingsSince, "False", poolSettingsTypes, false},
		{&f.EndpointError, &f.EndpointSince, "False", []string{"IgnitionEndpointAvailable"}, false},
		{&f.Updating, &f.UpdatingSince, "True", []string{"UpdatingVersion", "UpdatingConfig"}, false},
	} {
		p.read(o)
	}
	list := conditions.Of(o)
	only := f.ReleaseError.Value() != "" && !slices.ContainsFunc(list, func(c conditions.Condition) bool {
		return c.Status == "False" && c.Type != skewType && slices.Contains(poolReleaseTypes, c.Type) && !ArchFalseAlarm(c.Type, c.Message)
	})
	if _, err := f.ReleaseError.Get(); err != nil {
		f.SkewOnly.Miss(err)
	} else {
		f.SkewOnly.Set(only, f.ReleaseError.Proof()...)
	}
	c := conditions.Find(list, "ReconciliationActive")
	switch {
	case c.Status == "False":
		f.Paused.Set(true, c.Item())
		f.PausedSince.Set(c.Since, c.Item())
	case c.Type != "":
		f.Paused.Set(false, c.Item())
	}
}

// scaling: AutoscalingEnabled is False as well where no autoscaler is wanted; only the
// reason tells (hypershift-operator/controllers/nodepool/conditions.go
// autoscalerEnabledCondition).
func (f *Pool) scaling(o evidence.Object) {
	if c := conditions.Find(conditions.Of(o), "AutoscalingEnabled"); c.Status == "False" && c.Reason == "ValidationFailed" && f.SettingsError.Value() == "" {
		f.SettingsError.Clear()
		f.SettingsError.Set(conditionText(c), c.Item())
		f.SettingsSince.Clear()
		f.SettingsSince.Set(c.Since, c.Item())
	}
}

// payload: the status is the empty string where the generation fails
// (createValidGeneratedPayloadCondition), so everything but True is a failure.
func (f *Pool) payload(o evidence.Object) {
	list := conditions.Named(conditions.Of(o), "ValidGeneratedPayload")
	if len(list) == 0 {
		return
	}
	c := list[0]
	status := c.Status
	if status == "" {
		status = "failed"
	}
	f.PayloadStatus.Set(status, c.Item())
	f.PayloadReason.Set(c.Reason, c.Item())
	f.PayloadMessage.Set(c.Message, c.Item())
	f.PayloadSince.Set(c.Since, c.Item())
}

func (f *Pool) fetched(o evidence.Object) {
	if c := conditions.Find(conditions.Of(o), "ReachedIgnitionEndpoint"); c.Type != "" {
		f.NotReached.Set(c.Status == "False", c.Item())
		f.ReachedSince.Set(c.Since, c.Item())
	}
}

// members: the same type and status are set where there are no replicas to be had.
func (f *Pool) members(o evidence.Object) {
	list := conditions.Of(o)
	for _, p := range []part{
		{&f.Machines, &f.MachinesSince, "False", []string{"AllMachinesReady"}, false},
		{&f.Nodes, &f.NodesSince, "False", []string{"AllNodesHealthy"}, false},
	} {
		p.read(o)
		if c := conditions.Find(list, p.types[0]); c.Status == "False" && c.Reason == "AsExpected" {
			p.text.Set("")
			p.since.Set(time.Time{})
		}
	}
}

// poolMachines is the fact nodepool-machines: what there is of a NodePool.
type poolMachines struct {
	Wanted  facts.Field[int]       `cel:"wanted"`
	Made    facts.Field[int]       `cel:"made"`   // Machines that are not being deleted
	Joined  facts.Field[int]       `cel:"joined"` // of them with a Node
	Oldest  facts.Field[time.Time] `cel:"oldest"` // since when the oldest Machine without a Node is there
	Waiting facts.Field[[]string]  `cel:"waiting"`
}

func poolMachinesFact() facts.Fact {
	return facts.Define("nodepool-machines", fault.NodePool, "the Machines of a NodePool", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace),
	}, readPoolMachines)
}

func readPoolMachines(ctx context.Context, w *facts.World, s fault.Subject) (poolMachines, error) {
	var f poolMachines
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, err
	}
	list, err := inventory.HostedMachines(ctx, w)
	if err != nil {
		return f, err
	}
	if n.Platform == none {
		return f, facts.Excluded(n.Object.Shows("spec.platform.type", "NodePool "+n.Name+": platform None", time.Time{}),
			"no Machines are made on the platform None")
	}
	f.Wanted.Set(n.Wanted, n.Object.Shows("spec.replicas", fmt.Sprintf("%d replicas", n.Wanted), time.Time{}))
	made, joined := 0, 0
	var waiting []string
	for _, m := range list {
		if inventory.NodePoolOf(m.Object) != n.Name || m.Deleting {
			continue
		}
		made++
		if m.NodeRef != "" {
			joined++
			continue
		}
		waiting = append(waiting, m.Name)
		item := m.Object.Shows("status.phase", fmt.Sprintf("Machine %s: %s, no Node yet", m.Name, m.Phase), m.Created)
		facts.Earliest(&f.Oldest, m.Created, item)
		facts.Prove(item, &f.Waiting, &f.Made)
	}
	slices.Sort(waiting)
	item := listRead("machines of the control plane", fmt.Sprintf("%d of NodePool %s, %d with a Node", made, n.Name, joined))
	f.Made.Set(made, item)
	f.Joined.Set(joined, item)
	f.Waiting.Set(waiting, item)
	facts.Complete(&f)
	return f, nil
}
