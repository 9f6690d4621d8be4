package assisted

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// agent is the part of an Agent that is read
// (openshift/assisted-service:api/v1beta1/agent_types.go).
type agent struct {
	Spec struct {
		ClusterDeploymentName *struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"clusterDeploymentName"`
		Role     string `json:"role"`
		Hostname string `json:"hostname"`
		Approved bool   `json:"approved"`
		DiskPath string `json:"installation_disk_path"`
		DiskID   string `json:"installation_disk_id"`

		NodeLabels map[string]string `json:"nodeLabels"`
	} `json:"spec"`
	Status struct {
		Bootstrap bool   `json:"bootstrap"`
		Role      string `json:"role"`
		Kind      string `json:"kind"`
		Inventory struct {
			Hostname   string `json:"hostname"`
			BMCAddress string `json:"bmcAddress"`
			BMCV6      string `json:"bmcV6Address"`
			Interfaces []struct {
				MAC  string   `json:"macAddress"`
				IPv4 []string `json:"ipV4Addresses"`
				IPv6 []string `json:"ipV6Addresses"`
			} `json:"interfaces"`
		} `json:"inventory"`
		Progress struct {
			Current    string   `json:"currentStage"`
			Stages     []string `json:"progressStages"`
			Info       string   `json:"progressInfo"`
			Percentage int64    `json:"installationPercentage"`
			StartedAt  stamp    `json:"stageStartTime"`
			UpdatedAt  stamp    `json:"stageUpdateTime"`
		} `json:"progress"`
		DebugInfo struct {
			State     string `json:"state"`
			StateInfo string `json:"stateInfo"`
		} `json:"debugInfo"`
		ValidationsInfo json.RawMessage `json:"validationsInfo"`
		Conditions      []condition     `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	At     stamp  `json:"lastTransitionTime"`
}

// HostOf reads an object of evidence.AssistedHosts or evidence.Agents.
func HostOf(o evidence.Object) (Host, error) {
	if o.Resource == evidence.AssistedHosts {
		return evidence.Decode[Host](o)
	}
	a, err := evidence.Decode[agent](o)
	if err != nil {
		return Host{}, err
	}
	st := a.Status
	h := Host{
		ID: word(o.Name), Bootstrap: st.Bootstrap, DayTwo: st.Kind == "AddToExistingClusterHost", Rejected: !a.Spec.Approved,
		Hostname: word(st.Inventory.Hostname), Role: word(st.Role), SpecRole: word(a.Spec.Role), Disk: word(a.Spec.DiskPath),
		Status: word(st.DebugInfo.State), StatusInfo: text(st.DebugInfo.StateInfo), Registered: o.Created(),
		Stage: word(st.Progress.Current), Stages: words(st.Progress.Stages), StageAt: time.Time(st.Progress.StartedAt),
		MovedAt: time.Time(st.Progress.UpdatedAt),
		Percent: st.Progress.Percentage, Info: text(st.Progress.Info),
		BMC: bmc(st.Inventory.BMCAddress, st.Inventory.BMCV6), Validations: parseValidations(st.ValidationsInfo),
	}
	if h.BMH, _ = o.Label(openshift.HostOfInfraEnvLabel); h.Disk == "" {
		h.Disk = word(a.Spec.DiskID)
	}
	for _, label := range []string{openshift.MasterLabel, openshift.ControlPlaneLabel} {
		// The Node gets it, whatever its role is (openshift/assisted-service:api/v1beta1/agent_types.go AgentSpec.NodeLabels).
		if _, has := a.Spec.NodeLabels[label]; has {
			h.SpecRole = "master"
		}
	}
	if h.Role == "" || h.Role == "auto-assign" {
		h.Role = word(a.Spec.Role)
	}
	if ref := a.Spec.ClusterDeploymentName; ref != nil && ref.Name != "" {
		h.Cluster = word(ref.Namespace + "/" + ref.Name)
	}
	for _, n := range st.Inventory.Interfaces[:min(len(st.Inventory.Interfaces), maxNICs)] {
		h.nic(n.MAC, slices.Concat(n.IPv4, n.IPv6))
	}
	for _, c := range st.Conditions {
		// When its status changed is not kept; the newest condition is not older.
		if t := time.Time(c.At); t.After(h.StatusAt) && c.Type != "SpecSynced" {
			h.StatusAt = t
		}
	}
	h.normalize(a.Spec.Hostname)
	return h, nil
}

// install is the part of an AgentClusterInstall that is read
// (openshift/assisted-service:api/hiveextension/v1beta1/agentclusterinstall_types.go).
type install struct {
	Spec struct {
		ClusterDeploymentRef struct {
			Name string `json:"name"`
		} `json:"clusterDeploymentRef"`
		PlatformType          string `json:"platformType"`
		ProvisionRequirements struct {
			ControlPlaneAgents int64 `json:"controlPlaneAgents"`
		} `json:"provisionRequirements"`
		ImageSetRef struct {
			Name string `json:"name"`
		} `json:"imageSetRef"`
	} `json:"spec"`
	Status struct {
		DebugInfo struct {
			State     string `json:"state"`
			StateInfo string `json:"stateInfo"`
		} `json:"debugInfo"`
		Progress struct {
			Total int64 `json:"totalPercentage"`
		} `json:"progress"`
		ValidationsInfo json.RawMessage `json:"validationsInfo"`
		Conditions      []condition     `json:"conditions"`
	} `json:"status"`
}

// ClusterOf reads an object of evidence.AssistedClusters or
// evidence.AgentClusterInstalls.
func ClusterOf(o evidence.Object) (Cluster, error) {
	if o.Resource == evidence.AssistedClusters {
		return evidence.Decode[Cluster](o)
	}
	i, err := evidence.Decode[install](o)
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{
		ID: word(o.Namespace + "/" + i.Spec.ClusterDeploymentRef.Name), Name: word(o.Name), Version: word(i.Spec.ImageSetRef.Name),
		Platform: word(i.Spec.PlatformType),
		Status:   word(i.Status.DebugInfo.State), StatusInfo: text(i.Status.DebugInfo.StateInfo), Percent: i.Status.Progress.Total,
		ControlPlanes: i.Spec.ProvisionRequirements.ControlPlaneAgents, Validations: parseValidations(i.Status.ValidationsInfo),
	}
	for _, k := range i.Status.Conditions {
		t := time.Time(k.At)
		if k.Type == "Completed" && k.Status == "True" && c.Status == Installed {
			c.Completed = t
		}
		if t.After(c.StatusAt) && k.Type != "SpecSynced" {
			c.StatusAt = t
		}
	}
	return c, nil
}

// Name says what an object is in messages.
func (c Cluster) String() string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("cluster %s", c.ID)
}
