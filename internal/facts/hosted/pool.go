package hosted

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Pool is the fact nodepool. A field that is a sentence is "" where nothing is wrong.
type Pool struct {
	Platform       string    `cel:"platform"`
	Automated      bool      `cel:"automated"` // Machines are made for it: not on the platform None
	UpgradeType    string    `cel:"upgradeType"`
	Created        time.Time `cel:"created"`
	Wanted         int       `cel:"wanted"`
	Version        string    `cel:"version"`
	ConfigError    string    `cel:"configError"`
	ConfigSince    time.Time `cel:"configSince"`
	TuningError    string    `cel:"tuningError"`
	TuningSince    time.Time `cel:"tuningSince"`
	ReleaseError   string    `cel:"releaseError"`
	ReleaseSince   time.Time `cel:"releaseSince"`
	SkewOnly       bool      `cel:"skewOnly"` // the release error is the distance to the control plane's version, which stops nothing
	SettingsError  string    `cel:"settingsError"`
	SettingsSince  time.Time `cel:"settingsSince"`
	EndpointError  string    `cel:"endpointError"`
	EndpointSince  time.Time `cel:"endpointSince"`
	PayloadStatus  string    `cel:"payloadStatus"` // of ValidGeneratedPayload; "" where it was not set
	PayloadReason  string    `cel:"payloadReason"`
	PayloadMessage string    `cel:"payloadMessage"`
	PayloadSince   time.Time `cel:"payloadSince"`
	NotReached     bool      `cel:"notReached"` // nobody has fetched the payload of this config yet
	ReachedSince   time.Time `cel:"reachedSince"`
	Paused         bool      `cel:"paused"`
	PausedSince    time.Time `cel:"pausedSince"`
	Updating       string    `cel:"updating"`
	UpdatingSince  time.Time `cel:"updatingSince"`
	Machines       string    `cel:"machines"` // what AllMachinesReady complains of
	MachinesSince  time.Time `cel:"machinesSince"`
	Nodes          string    `cel:"nodes"`
	NodesSince     time.Time `cel:"nodesSince"`
}

// The conditions of a NodePool
// (openshift/hypershift:api/hypershift/v1beta1/nodepool_conditions.go).
var (
	poolReleaseTypes  = []string{"ValidReleaseImage", "ValidArchPlatform", "ValidPlatformImage", skewType} // the skew last
	poolSettingsTypes = []string{"UpdateManagementEnabled", "ValidPlatformConfig", "ValidMachineTemplate", "AWSSecurityGroupAvailable"}
)

// skewType is only set, and the NodePool reconciled on
// (hypershift-operator/controllers/nodepool/conditions.go supportedVersionSkewCondition, from 4.21).
const skewType = "SupportedVersionSkew"

func poolFact() facts.Fact {
	return facts.DefinePlain("nodepool", fault.NodePool, "what a NodePool wants and what its conditions say",
		[]evidence.Need{evidence.Objects(evidence.NodePools, evidence.HostedNamespace)}, readPool)
}

func readPool(ctx context.Context, w *facts.World, s fault.Subject) (Pool, facts.Proof, error) {
	var f Pool
	var p facts.Proof
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, p, err
	}
	o := n.Object
	f.Platform, f.Automated, f.Wanted, f.Created = n.Platform, n.Platform != none, n.Wanted, o.Created()
	f.UpgradeType, f.Version = evidence.String(o.Content, "spec", "management", "upgradeType"), evidence.String(o.Content, "status", "version")
	p.Add(o.Loc.At("spec"), fmt.Sprintf("platform %s, %d replicas", f.Platform, f.Wanted), time.Time{}, "platform", "automated", "wanted")
	for _, part := range []struct {
		text  *string
		since *time.Time
		field string
		bad   string
		types []string
	}{
		{&f.ConfigError, &f.ConfigSince, "config", "False", []string{"ValidMachineConfig"}},
		{&f.TuningError, &f.TuningSince, "tuning", "False", []string{"ValidTuningConfig"}},
		{&f.ReleaseError, &f.ReleaseSince, "release", "False", poolReleaseTypes},
		{&f.SettingsError, &f.SettingsSince, "settings", "False", poolSettingsTypes},
		{&f.EndpointError, &f.EndpointSince, "endpoint", "False", []string{"IgnitionEndpointAvailable"}},
		{&f.Updating, &f.UpdatingSince, "updating", "True", []string{"UpdatingVersion", "UpdatingConfig"}},
	} {
		t := wrong(o, part.bad, &p, []string{part.field + "Error", part.field, part.field + "Since"}, part.types...)
		*part.text, *part.since = t.text, t.since
	}
	f.SkewOnly = f.ReleaseError != "" && !slices.ContainsFunc(conditions.Of(o), func(c conditions.Condition) bool {
		return c.Status == "False" && c.Type != skewType && slices.Contains(poolReleaseTypes, c.Type)
	})
	f.scaling(o, &p)
	f.payload(o, &p)
	f.fetched(o, &p)
	if f.Automated {
		f.members(o, &p)
	}
	if c := conditions.Find(conditions.Of(o), "ReconciliationActive"); c.Status == "False" {
		f.Paused, f.PausedSince = true, c.Since
		p.Add(c.Loc, said(c), c.Since, "paused")
	}
	return f, p, nil
}

// scaling: AutoscalingEnabled is False as well where no autoscaler is wanted; only the
// reason tells (hypershift-operator/controllers/nodepool/conditions.go
// autoscalerEnabledCondition).
func (f *Pool) scaling(o evidence.Object, p *facts.Proof) {
	if c := conditions.Find(conditions.Of(o), "AutoscalingEnabled"); c.Status == "False" && c.Reason == "ValidationFailed" && f.SettingsError == "" {
		f.SettingsError, f.SettingsSince = said(c), c.Since
		p.Add(c.Loc, c.Reason+": "+c.Message, c.Since, "settingsError")
	}
}

// payload: the status is the empty string where the generation fails
// (createValidGeneratedPayloadCondition), so everything but True is a failure.
func (f *Pool) payload(o evidence.Object, p *facts.Proof) {
	list := conditions.Named(conditions.Of(o), "ValidGeneratedPayload")
	if len(list) == 0 {
		return
	}
	c := list[0]
	f.PayloadStatus, f.PayloadReason, f.PayloadMessage, f.PayloadSince = c.Status, c.Reason, c.Message, c.Since
	if c.Status == "" {
		f.PayloadStatus = "failed"
	}
	p.Add(c.Loc, c.Reason+": "+c.Message, c.Since, "payloadStatus", "payloadMessage", "payloadReason")
}

func (f *Pool) fetched(o evidence.Object, p *facts.Proof) {
	if c := conditions.Find(conditions.Of(o), "ReachedIgnitionEndpoint"); c.Status == "False" {
		f.NotReached, f.ReachedSince = true, c.Since
		p.Add(c.Loc, "ReachedIgnitionEndpoint=False "+c.Reason, c.Since, "notReached")
	}
}

// members: the same type and status are set where there are no replicas to be had.
func (f *Pool) members(o evidence.Object, p *facts.Proof) {
	for _, part := range []struct {
		text  *string
		since *time.Time
		field string
		kind  string
	}{{&f.Machines, &f.MachinesSince, "machines", "AllMachinesReady"}, {&f.Nodes, &f.NodesSince, "nodes", "AllNodesHealthy"}} {
		if c := conditions.Find(conditions.Of(o), part.kind); c.Status == "False" && c.Reason != "AsExpected" {
			*part.text, *part.since = said(c), c.Since
			p.Add(c.Loc, c.Reason+": "+c.Message, c.Since, part.field)
		}
	}
}

// PoolMachines is the fact nodepool-machines: what there is of a NodePool.
type PoolMachines struct {
	Wanted  int       `cel:"wanted"`
	Made    int       `cel:"made"`   // Machines that are not being deleted
	Joined  int       `cel:"joined"` // of them with a Node
	Oldest  time.Time `cel:"oldest"` // since when the oldest Machine without a Node is there
	Waiting []string  `cel:"waiting"`
}

func poolMachinesFact() facts.Fact {
	return facts.DefinePlain("nodepool-machines", fault.NodePool, "the Machines of a NodePool", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace),
	}, readPoolMachines)
}

func readPoolMachines(ctx context.Context, w *facts.World, s fault.Subject) (PoolMachines, facts.Proof, error) {
	var f PoolMachines
	var p facts.Proof
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, p, err
	}
	list, err := hosts.HostedMachines(ctx, w)
	if err != nil {
		return f, p, err
	}
	if n.Platform == none {
		return f, p, facts.NotApplicable("no Machines are made on the platform None")
	}
	f.Wanted = n.Wanted
	p.Add(n.Object.Loc.At("spec.replicas"), fmt.Sprintf("%d replicas", n.Wanted), time.Time{}, "wanted")
	for _, m := range list {
		if hosts.NodePoolOf(m.Object) != n.Name || m.Deleting {
			continue
		}
		f.Made++
		if m.NodeRef != "" {
			f.Joined++
			continue
		}
		f.Waiting = append(f.Waiting, m.Name)
		if f.Oldest.IsZero() || m.Created.Before(f.Oldest) {
			f.Oldest = m.Created
		}
		p.Add(m.Loc.At("status.phase"), fmt.Sprintf("Machine %s: %s, no Node yet", m.Name, m.Phase), m.Created, "waiting", "oldest", "made")
	}
	slices.Sort(f.Waiting)
	return f, p, nil
}
