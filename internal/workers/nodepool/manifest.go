package nodepool

import (
	"errors"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// None is the platform for which HyperShift makes no machines.
const None = "None"

// The upgrade types (api/hypershift/v1beta1/nodepool_types.go UpgradeType). The controller accepts both
// for every platform, InPlace without a look at its settings (hypershift-operator/controllers/nodepool/
// nodepool_controller.go validateManagement), and none of them touches a node of platform None: the pass
// ends before the Cluster API (reconcile, isAutomatedMachineManagement).
const (
	Replace = "Replace"
	InPlace = "InPlace"
)

// Arches are the architectures of platform None, as the API and as stream metadata name them
// (hypershift-operator/controllers/nodepool/nodepool_controller.go isArchAndPlatformSupported from 4.17;
// api/hypershift/v1beta1/nodepool_types.go ArchAliases). The API refuses arm64 for it in 4.16 and 4.17.
var Arches = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// MaxReplicas bounds the wish for workers; it is far above what one hosted cluster has.
const MaxReplicas = 2000

// Want is a NodePool of platform None that is to be declared.
type Want struct {
	Namespace   string // that of the HostedCluster: the controller looks for it there only
	Cluster     string // name of the HostedCluster
	Name        string
	Release     string // image
	Replicas    int
	UpgradeType string
	Arch        string
}

// releaseForm is the API's own (api/hypershift/v1beta1/hostedcluster_types.go Release).
var releaseForm = regexp.MustCompile(`^(\w+\S+)$`)

// Check refuses what the API would, and what only a controller complains of later.
func (w Want) Check() error {
	// ConfigMaps of the NodePool carry its name as a label (hypershift-operator/controllers/nodepool/
	// nodepool_controller.go delete), which has at most 63 characters.
	if problems := validation.IsDNS1123Subdomain(w.Name); len(problems) > 0 || len(w.Name) > 63 {
		return fmt.Errorf("NodePool %.80q: want a name in lower case, with at most 63 characters", w.Name)
	}
	switch {
	case w.Release != "" && (!releaseForm.MatchString(w.Release) || len(w.Release) > 1000):
		return fmt.Errorf("--release %.80q is no image", w.Release)
	case w.Replicas < 0 || w.Replicas > MaxReplicas:
		return fmt.Errorf("--replicas %d: want 0 to %d", w.Replicas, MaxReplicas)
	case w.UpgradeType != Replace && w.UpgradeType != InPlace:
		return fmt.Errorf("--upgrade-type %.40q: want %s or %s", w.UpgradeType, Replace, InPlace)
	case Arches[w.Arch] == "":
		return fmt.Errorf("--arch %.40q: platform None has amd64, and arm64 from 4.18 on", w.Arch)
	}
	return nil
}

// Manifest is the NodePool as it is sent. replicas is always in it: the API of v0.1.30 demands replicas
// or autoScaling. What the API server adds by itself (management.replace) is left to it.
func (w Want) Manifest() (map[string]any, error) {
	if w.Release == "" {
		return nil, errors.New("no release image is known")
	}
	return map[string]any{
		"apiVersion": openshift.HyperShiftGroup + "/v1beta1",
		"kind":       "NodePool",
		"metadata":   map[string]any{"name": w.Name, "namespace": w.Namespace},
		"spec": map[string]any{
			"clusterName": w.Cluster,
			"platform":    map[string]any{"type": None},
			"release":     map[string]any{"image": w.Release},
			"replicas":    int64(w.Replicas),
			"arch":        w.Arch,
			"management":  map[string]any{"upgradeType": w.UpgradeType, "autoRepair": false},
		},
	}, nil
}
