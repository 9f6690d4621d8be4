// Package assisted reads what the assisted-service of an agent-based install says
// while there is no API yet: the service on the rendezvous host, port 8090
// (openshift/installer:pkg/agent/rest.go NewNodeZeroRestClient), and the Agents
// and AgentClusterInstalls of a hub, which say the same.
//
// Invariants:
//   - Only the fields of Host and Cluster are kept of a foreign answer, bounded in
//     number and length. Pull secrets, ignition overrides and SSH keys never get in.
//   - A token goes to the one address that it was made for, is never followed into
//     a redirect or through a proxy, and is kept nowhere else.
//   - What did not answer is said in Service, and the lists are then an
//     *evidence.Unavailable and never empty.
package assisted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// port is where the service listens (openshift/installer:pkg/agent/rest.go).
const port = 8090

// Outcomes of a validation (openshift/assisted-service:internal/host/validator.go
// ValidationStatus).
const (
	Success  = "success"
	Failure  = "failure"
	Pending  = "pending"
	Disabled = "disabled"
	Faulty   = "error" // the service could not judge
)

// The statuses of a host that mean something of their own here
// (openshift/assisted-service:models/host.go HostStatus*).
const (
	Discovering       = "discovering"
	Known             = "known"
	Disconnected      = "disconnected"
	Insufficient      = "insufficient"
	PendingForInput   = "pending-for-input"
	PreparingFailed   = "preparing-failed"
	PendingUserAction = "installing-pending-user-action"
	Installed         = "installed"
	Error             = "error"
	Cancelled         = "cancelled"
	AddedToExisting   = "added-to-existing-cluster"
)

// Validation is one check of the service.
type Validation struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// Host is what the service says of one host.
type Host struct {
	ID        string `json:"id"`
	ClusterID string `json:"clusterID,omitempty"`
	Cluster   string `json:"cluster,omitempty"` // namespace/name of the ClusterDeployment of an Agent
	Name      string `json:"name,omitempty"`    // requested host name, else the one it has now
	Hostname  string `json:"hostname,omitempty"`
	BMH       string `json:"bmh,omitempty"` // the BareMetalHost that booted it, of an Agent
	Role      string `json:"role,omitempty"`
	SpecRole  string `json:"specRole,omitempty"` // of an Agent: what was asked for, "auto-assign" where the service may choose
	Bootstrap bool   `json:"bootstrap,omitempty"`
	DayTwo    bool   `json:"dayTwo,omitempty"`   // added to a cluster that exists
	Rejected  bool   `json:"rejected,omitempty"` // an Agent that is not approved

	Status     string    `json:"status,omitempty"`
	StatusInfo string    `json:"statusInfo,omitempty"`
	StatusAt   time.Time `json:"statusAt,omitzero"`
	Registered time.Time `json:"registered,omitzero"`
	CheckedIn  time.Time `json:"checkedIn,omitzero"`
	Media      string    `json:"media,omitempty"` // "disconnected": the image it runs from cannot be read

	Stage    string    `json:"stage,omitempty"`
	Stages   []string  `json:"stages,omitempty"` // of this host, in their order
	StageAt  time.Time `json:"stageAt,omitzero"`
	MovedAt  time.Time `json:"movedAt,omitzero"` // the last progress within the stage
	Percent  int64     `json:"percent,omitempty"`
	Info     string    `json:"info,omitempty"`
	TimedOut bool      `json:"timedOut,omitempty"`

	Disk        string       `json:"disk,omitempty"`
	BMC         string       `json:"bmc,omitempty"`
	MACs        []string     `json:"macs,omitempty"`
	Addresses   []string     `json:"addresses,omitempty"`
	Validations []Validation `json:"validations,omitempty"`
}

// Cluster is what the service says of the cluster that it installs.
type Cluster struct {
	ID            string       `json:"id"`
	Name          string       `json:"name,omitempty"`
	Version       string       `json:"version,omitempty"`
	Platform      string       `json:"platform,omitempty"`
	Status        string       `json:"status,omitempty"`
	StatusInfo    string       `json:"statusInfo,omitempty"`
	StatusAt      time.Time    `json:"statusAt,omitzero"`
	Percent       int64        `json:"percent,omitempty"`
	Started       time.Time    `json:"started,omitzero"`
	Completed     time.Time    `json:"completed,omitzero"`
	ControlPlanes int64        `json:"controlPlanes,omitempty"`
	Validations   []Validation `json:"validations,omitempty"`
}

// Service is how the service itself answered.
type Service struct {
	Address  string    `json:"address"` // ip:port
	Vantage  string    `json:"vantage"`
	At       time.Time `json:"at"`
	Millis   int64     `json:"millis"`
	Status   int       `json:"status,omitempty"`   // of HTTP, 0 where none came
	Error    string    `json:"error,omitempty"`    // why there is no usable answer
	Refused  bool      `json:"refused,omitempty"`  // the host answers and nothing listens
	Token    bool      `json:"token,omitempty"`    // one was sent
	Usable   bool      `json:"usable,omitempty"`   // clusters and hosts could be read
	Clusters int       `json:"clusters,omitempty"` // that it knows
	Hosts    int       `json:"hosts,omitempty"`
}

// object makes an evidence object of a value of this package.
func object(r evidence.Resource, kind, name, path string, at time.Time, v any) (evidence.Object, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return evidence.Object{}, fmt.Errorf("encode %s %s: %w", kind, name, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return evidence.Object{}, fmt.Errorf("decode %s %s: %w", kind, name, err)
	}
	content["apiVersion"] = evidence.ProbeGroup + "/v1alpha1"
	content["kind"] = kind
	content["metadata"] = map[string]any{"name": name}
	return evidence.Object{Resource: r, Name: name, Content: content, ReadAt: at, Loc: evidence.Locator{Source: "probe", Path: path}}, nil
}

// Failing returns the validations that failed or that the service could not judge.
func Failing(list []Validation) []Validation {
	var out []Validation
	for _, v := range list {
		if v.Status == Failure || v.Status == Faulty {
			out = append(out, v)
		}
	}
	return out
}

// Awaited returns the validations that wait for something, such as an input.
func Awaited(list []Validation) []Validation {
	return slices.DeleteFunc(slices.Clone(list), func(v Validation) bool { return v.Status != Pending })
}

// Unmet names validations that are not passed: the first with the first sentence of its message, the others by their ids.
func Unmet(list []Validation) string {
	if len(list) == 0 {
		return ""
	}
	verb := "fails"
	if list[0].Status == Pending {
		verb = "is pending"
	}
	message, _, _ := strings.Cut(strings.Join(strings.Fields(list[0].Message), " "), ". ")
	says := fmt.Sprintf("validation %s %s: %s", list[0].ID, verb, strings.TrimSuffix(message, "."))
	var more []string
	for _, v := range list[1:] {
		more = append(more, v.ID)
	}
	if len(more) > 0 {
		says += "; also " + strings.Join(more, ", ")
	}
	return says
}

// order is the path of a host where the answer names none
// (openshift/assisted-service:internal/host/common.go MasterStages, WorkerStages).
var order = []string{
	"Starting installation", "Installing", StageWriting, "Copying registry data to disk", "Waiting for control plane", "Waiting for bootkube",
	"Waiting for controller", StageRebooting, StageIgnition, StageConfiguring, StageJoined, StageDone,
}

// The stages of an installation that prove a step of the join path
// (openshift/assisted-service:models/host_stage.go).
const (
	StageWriting     = "Writing image to disk"
	StageRebooting   = "Rebooting"
	StageIgnition    = "Waiting for ignition"
	StageConfiguring = "Configuring"
	StageJoined      = "Joined"
	StageDone        = "Done"
)

// Past reports whether the host has left a stage behind, or is in one of the later
// ones. The service lists the stages of each host in their order: the bootstrap
// host and a single node have another one than the rest.
func (h Host) Past(stage string) bool {
	path := h.Stages
	if !slices.Contains(path, h.Stage) {
		path = order
	}
	at, mark := slices.Index(path, h.Stage), slices.Index(path, stage)
	if mark < 0 {
		mark = slices.Index(order, stage)
		at = slices.Index(order, h.Stage)
	}
	return at >= 0 && at > mark
}

// Reached reports whether the host is in a stage or past it.
func (h Host) Reached(stage string) bool { return h.Stage == stage || h.Past(stage) }

// NoName reports whether a host name says nothing of who it is: the live image
// boots as localhost, and many hosts may.
func NoName(name string) bool {
	return name == "" || name == "localhost" || strings.HasPrefix(name, "localhost.")
}
