package assisted

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Bounds of what is kept of a foreign answer.
const (
	maxHosts       = 2000
	maxClusters    = 8
	maxValidations = 200
	maxText        = 2000
	maxWord        = 253
	maxNICs        = 64
)

// restHost is the part of models.Host that is read. Inventory and validations are
// JSON in strings (openshift/assisted-service:models/host.go).
type restHost struct {
	ID                string    `json:"id"`
	ClusterID         string    `json:"cluster_id"`
	Kind              string    `json:"kind"`
	RequestedHostname string    `json:"requested_hostname"`
	Role              string    `json:"role"`
	SuggestedRole     string    `json:"suggested_role"`
	Bootstrap         bool      `json:"bootstrap"`
	Status            string    `json:"status"`
	StatusInfo        string    `json:"status_info"`
	StatusUpdatedAt   stamp     `json:"status_updated_at"`
	RegisteredAt      stamp     `json:"registered_at"`
	CreatedAt         stamp     `json:"created_at"`
	CheckedInAt       stamp     `json:"checked_in_at"`
	MediaStatus       string    `json:"media_status"`
	Progress          restStage `json:"progress"`
	ProgressStages    []string  `json:"progress_stages"`
	DiskPath          string    `json:"installation_disk_path"`
	Inventory         string    `json:"inventory"`
	ValidationsInfo   string    `json:"validations_info"`
}

type restStage struct {
	Current    string `json:"current_stage"`
	Info       string `json:"progress_info"`
	Percentage int64  `json:"installation_percentage"`
	StartedAt  stamp  `json:"stage_started_at"`
	UpdatedAt  stamp  `json:"stage_updated_at"`
	TimedOut   bool   `json:"stage_timed_out"`
}

type restInventory struct {
	Hostname   string `json:"hostname"`
	BMCAddress string `json:"bmc_address"`
	BMCV6      string `json:"bmc_v6address"`
	Interfaces []struct {
		MAC  string   `json:"mac_address"`
		IPv4 []string `json:"ipv4_addresses"`
		IPv6 []string `json:"ipv6_addresses"`
	} `json:"interfaces"`
}

// restCluster is the part of models.Cluster that is read.
type restCluster struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	OpenShiftVersion string `json:"openshift_version"`
	Platform         struct {
		Type string `json:"type"`
	} `json:"platform"`
	Status             string `json:"status"`
	StatusInfo         string `json:"status_info"`
	StatusUpdatedAt    stamp  `json:"status_updated_at"`
	InstallStartedAt   stamp  `json:"install_started_at"`
	InstallCompletedAt stamp  `json:"install_completed_at"`
	ControlPlaneCount  int64  `json:"control_plane_count"`
	Progress           struct {
		Total int64 `json:"total_percentage"`
	} `json:"progress"`
	ValidationsInfo string            `json:"validations_info"`
	Hosts           []json.RawMessage `json:"hosts"`
}

// stamp is a time of the service. What is no time, and the two values that it
// writes for "never" (year 1 and 2000-01-01), is none.
type stamp time.Time

func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && t.Year() > 2000 {
		*s = stamp(t.UTC())
	}
	return nil
}

// parseHost reads one element of a list of hosts.
func parseHost(raw []byte) (Host, error) {
	var r restHost
	if err := json.Unmarshal(raw, &r); err != nil {
		return Host{}, fmt.Errorf("read a host of the assisted-service: %w", err)
	}
	h := Host{
		ID: word(r.ID), ClusterID: word(r.ClusterID), Role: word(r.Role), Bootstrap: r.Bootstrap, DayTwo: r.Kind == "AddToExistingClusterHost",
		Status: word(r.Status), StatusInfo: text(r.StatusInfo), StatusAt: time.Time(r.StatusUpdatedAt),
		Registered: time.Time(r.RegisteredAt), CheckedIn: time.Time(r.CheckedInAt), Media: word(r.MediaStatus),
		Stage: word(r.Progress.Current), Stages: words(r.ProgressStages), StageAt: time.Time(r.Progress.StartedAt), MovedAt: time.Time(r.Progress.UpdatedAt),
		Percent: r.Progress.Percentage, Info: text(r.Progress.Info), TimedOut: r.Progress.TimedOut, Disk: word(r.DiskPath),
		Validations: parseValidations([]byte(r.ValidationsInfo)),
	}
	if h.ID == "" {
		return Host{}, fmt.Errorf("read a host of the assisted-service: it has no id")
	}
	if h.Registered.IsZero() {
		h.Registered = time.Time(r.CreatedAt)
	}
	if h.Role == "auto-assign" || h.Role == "" {
		h.Role = word(r.SuggestedRole)
	}
	var inv restInventory
	if json.Unmarshal([]byte(r.Inventory), &inv) == nil { // a host that has not reported yet has none
		h.Hostname = word(inv.Hostname)
		h.BMC = bmc(inv.BMCAddress, inv.BMCV6)
		for _, n := range inv.Interfaces[:min(len(inv.Interfaces), maxNICs)] {
			h.nic(n.MAC, slices.Concat(n.IPv4, n.IPv6))
		}
	}
	h.normalize(r.RequestedHostname)
	return h, nil
}

// normalize chooses the name and sorts what is compared.
func (h *Host) normalize(requested string) {
	h.Name = word(requested)
	if h.Name == "" && !NoName(h.Hostname) {
		h.Name = h.Hostname
	}
	if h.Role == "auto-assign" {
		h.Role = ""
	}
	if h.Role == "bootstrap" {
		h.Role, h.Bootstrap = "master", true
	}
	slices.Sort(h.MACs)
	slices.Sort(h.Addresses)
	h.MACs, h.Addresses = slices.Compact(h.MACs), slices.Compact(h.Addresses)
}

func (h *Host) nic(mac string, prefixes []string) {
	if mac = strings.ToLower(word(mac)); mac != "" {
		h.MACs = append(h.MACs, mac)
	}
	for _, p := range prefixes[:min(len(prefixes), maxNICs)] {
		prefix, err := netip.ParsePrefix(p)
		if err == nil && !prefix.Addr().IsLinkLocalUnicast() && !prefix.Addr().IsLoopback() {
			h.Addresses = append(h.Addresses, prefix.Addr().String())
		}
	}
}

// bmc is the address of the BMC; hosts without one report 0.0.0.0 and ::/0.
func bmc(list ...string) string {
	for _, a := range list {
		if ip, err := netip.ParseAddr(a); err == nil && !ip.IsUnspecified() {
			return ip.String()
		}
	}
	return ""
}

// parseCluster reads a cluster and the hosts in it.
func parseCluster(raw []byte) (Cluster, []Host, error) {
	var r restCluster
	if err := json.Unmarshal(raw, &r); err != nil {
		return Cluster{}, nil, fmt.Errorf("read a cluster of the assisted-service: %w", err)
	}
	c := Cluster{
		ID: word(r.ID), Name: word(r.Name), Version: word(r.OpenShiftVersion), Platform: word(r.Platform.Type),
		Status: word(r.Status), StatusInfo: text(r.StatusInfo), StatusAt: time.Time(r.StatusUpdatedAt), Percent: r.Progress.Total,
		Started: time.Time(r.InstallStartedAt), Completed: time.Time(r.InstallCompletedAt), ControlPlanes: r.ControlPlaneCount,
		Validations: parseValidations([]byte(r.ValidationsInfo)),
	}
	if c.ID == "" {
		return Cluster{}, nil, fmt.Errorf("read a cluster of the assisted-service: it has no id")
	}
	var list []Host
	for _, h := range r.Hosts[:min(len(r.Hosts), maxHosts)] {
		host, err := parseHost(h)
		if err != nil {
			return Cluster{}, nil, err
		}
		list = append(list, host)
	}
	return c, list, nil
}

// parseValidations reads validations by category; their order is that of the ids.
func parseValidations(raw []byte) []Validation {
	var by map[string][]Validation
	if json.Unmarshal(raw, &by) != nil {
		return nil // none were made yet
	}
	var list []Validation
	for _, group := range by {
		for _, v := range group {
			list = append(list, Validation{ID: word(v.ID), Status: word(v.Status), Message: text(v.Message)})
		}
	}
	slices.SortFunc(list, func(a, b Validation) int { return strings.Compare(a.ID+a.Status, b.ID+b.Status) })
	return list[:min(len(list), maxValidations)]
}

func text(s string) string { return evidence.Shorten(s, maxText) }

func word(s string) string { return evidence.Shorten(strings.TrimSpace(s), maxWord) }

func words(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), 32)] {
		out = append(out, word(s))
	}
	return out
}
