package update

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Check is one question that is asked before an update.
type Check struct {
	ID    string
	Title string // what is wrong when it is present, for a list
	// Faults of the catalog that are shown here. Hold are those of them that hold an update although they are
	// only warnings else; NewHosts concern new hosts only: hosts that are there come back.
	Faults, Hold, NewHosts []string
	Reads                  []evidence.Need // in addition to what a diagnosis reads
	// Look adds what no fault of the catalog says. nil: the faults are all.
	Look func(context.Context, *look, *Result) error
	// Holds says that what it finds can hold an update: while it is unknown, the answer is undecided.
	Holds   bool
	Sources []fault.Ref
}

// Checks lists all of them, in the order in which they are shown.
func Checks() []Check {
	return []Check{versionCheck, operatorsCheck, skewCheck, poolsCheck, configCheck, drainCheck, nodesCheck, etcdCheck, certificatesCheck, diskCheck,
		bmcCheck, remediationCheck, bootImagesCheck, restCheck}
}

// Needs is what the checks read in addition to a diagnosis.
func Needs() []evidence.Need {
	var list []evidence.Need
	for _, c := range Checks() {
		list = append(list, c.Reads...)
	}
	return list
}

// configCheck is about what a host runs against what it should run: a host that drifted is not
// updated, and one that lost its config does not come back to it.
//
// Sources: openshift/machine-config-operator pkg/daemon/daemon.go runPreflightConfigDriftCheck (4.16
// on: drift is looked for before an update, and stops it), pkg/daemon/on_disk_validation.go.
var configCheck = Check{
	ID: "host-config", Title: "hosts whose config is not the one that they should have", Holds: true,
	Faults: []string{"bootstrap-mc-mismatch", "booted-image-differs", "config-drift", "config-file-damaged", "config-unreconcilable",
		"controllerconfig-failing", "controller-version-mismatch", "kargs-mismatch", "machineconfig-invalid", "mcd-never-ran",
		"node-annotation-edited", "node-config-missing", "node-degraded-other", "node-in-several-pools", "os-update-failed", "os-update-incomplete",
		"rendered-config-missing", "firstboot-not-finished"},
	Sources: []fault.Ref{
		{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/daemon.go", Symbol: "runPreflightConfigDriftCheck", Note: "from release-4.16"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/on_disk_validation.go", Symbol: "validateOnDiskState"},
	},
}

// etcdCheck: a master that reboots takes its member away for minutes. Without one to spare the API
// stops; the guard's PodDisruptionBudget then holds the drain.
//
// Sources: openshift/cluster-etcd-operator pkg/operator/ceohelpers/bootstrap.go CheckSafeToScaleCluster (4.12 to 4.20);
// openshift/library-go pkg/operator/staticpod/controller/guard.
var etcdCheck = Check{
	ID: "etcd", Title: "etcd without a healthy member to spare", Holds: true, Look: lookEtcd,
	Faults: []string{"etcd-alarm-raised", "etcd-bootstrap-member-left", "etcd-disk-rotational", "etcd-member-identity-clash", "etcd-member-unhealthy",
		"etcd-no-quorum", "etcd-not-fault-tolerant", "etcd-not-started", "etcd-operand-gone", "etcd-slow-disk", "etcd-unsafe-override"},
	Hold: []string{"etcd-not-fault-tolerant"},
	Sources: []fault.Ref{
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/ceohelpers/bootstrap.go", Symbol: "CheckSafeToScaleCluster"},
		{Repo: "openshift/library-go", Path: "pkg/operator/staticpod/controller/guard/guard_controller.go"},
	},
}

// diskCheck: the kubelet evicts pods, and the machine-config-operator counts a node with DiskPressure as
// unavailable. Whether a new image fits is not in the API.
//
// Source: openshift/machine-config-operator pkg/controller/node/status.go checkNodeReady (4.6 to 4.20).
var diskCheck = Check{
	ID: "disk", Title: "nodes whose disks are full", Holds: true, Look: lookDisk,
	Faults:  []string{"host-file-system-full", "host-file-system-read-only", "image-pull-disk-full", "install-disk-failed"},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/status.go", Symbol: "checkNodeReady"}},
}

// bootImagesCheck concerns hosts that are added later: one that is there does not boot from them.
//
// Source: openshift/machine-config-operator pkg/operator/status.go (ClusterBootImageSkewError, gated, 4.22) is
// shown by the check of operators, as it comes as Upgradeable=False.
var bootImagesCheck = Check{
	ID: "boot-images", Title: "boot images and user-data too old for new hosts",
	Faults: []string{"boot-image-mismatch", "machineset-user-data-missing", "machineset-user-data-refused", "pointer-ca-outdated", "pointer-config-old",
		"pointer-host-not-in-certificate"},
	NewHosts: []string{"boot-image-mismatch", "machineset-user-data-missing", "machineset-user-data-refused", "pointer-config-old"},
	Look:     lookUserData,
	Sources:  []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/operator/status.go"}},
}

// restCheck shows what a diagnosis finds and no other check names, and what it leaves open.
var restCheck = Check{
	ID: restID, Title: "other causes that a diagnosis finds", Holds: true, Look: lookRest,
	Sources: []fault.Ref{{Repo: "openshift/oc", Path: "pkg/cli/admin/upgrade/recommend", Note: "what the product itself looks at before an update"}},
}

// notLookedAt is what no check looks at, with who does.
func notLookedAt(program string) []Missing {
	return []Missing{
		{What: "APIs that the target no longer has, and who still uses them", Supply: "oc get apirequestcounts"},
		{What: "alerts, and the risks that are known of the target", Supply: "oc adm upgrade recommend"},
		{What: "whether each node can pull the images of the target", Supply: "oc adm release info RELEASE-IMAGE --pullspecs names them"},
		{What: "room on the disks of the nodes for the new image, and what their journals report", Supply: program + " hosts --ssh HOST,..."},
		{What: "admission webhooks that can hold an eviction", Supply: "oc get validatingwebhookconfigurations"},
		{What: "finalizers of pods and volumes that do not unmount", Supply: "oc get pods -A, for pods that stay in Terminating"},
		{What: "certificates in Secrets, other than those named above", Supply: "oc adm ocp-certificates monitor-certificates"},
	}
}

var apiReads = []evidence.Need{evidence.Objects(evidence.PodDisruptionBudgets, ""), evidence.Objects(evidence.Pods, "")}

// pausedNote is the annotation that pauses a MachineHealthCheck.
const pausedNote = "cluster.x-k8s.io/paused"

var machineAPI = openshift.MachineAPINamespace
