package message

import (
	"strings"
	"testing"
)

// TestSeenOnce: what an object, an event or Ceph says of trouble counts when it is seen once and nothing ends it.
func TestSeenOnce(t *testing.T) {
	x := builtIn(t)
	const (
		scheduled = "  Normal   Scheduled               61s   default-scheduler        Successfully assigned kites/kite-0 to w-1\n"
		multi     = "  Warning  FailedAttachVolume      60s   attachdetach-controller  Multi-Attach error for volume \"pvc-1\" Volume is already used by pod(s) kite-1\n"
		attached  = "  Normal   SuccessfulAttachVolume  20s   attachdetach-controller  AttachVolume.Attach succeeded for volume \"pvc-1\"\n"
		mount     = "  Warning  FailedMount  70s  kubelet  MountVolume.SetUp failed for volume \"conf\" : configmap \"conf\" not found\n"
		started   = "  Normal   Started      10s  kubelet  Started container kite\n"
		noCPU     = "  Warning  FailedScheduling  20s  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n"
		noClaim   = "  Warning  FailedScheduling  20s  default-scheduler  0/3 nodes are available: persistentvolumeclaim \"kite\" not found.\n"
		condition = "status:\n  phase: Pending\n  conditions:\n  - type: PodScheduled\n    status: \"False\"\n    reason: Unschedulable\n    message: MESSAGE\n"
		head      = "NAME             VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE\n"
		dns       = "dns                        Unknown     Unknown       Unknown    Unknown\n"
		network   = "network          4.18.9    True        False         False      AGE\n"
		ceph      = "NAME   DATADIRHOSTPATH   MONCOUNT   AGE   PHASE   MESSAGE                        HEALTH        EXTERNAL\n" +
			"ocs    /var/lib/rook     3          41d   Ready   Cluster created successfully   HEALTH_ERR    \n"
	)
	for name, c := range map[string]struct{ text, says string }{
		"a volume of another node":          {scheduled + multi, "still attached to the node of another pod"},
		"a ConfigMap that is missing":       {mount, "FailedMount"},
		"a pod without a node":              {noCPU, "Insufficient cpu"},
		"a claim that is missing":           {noClaim, "persistentvolumeclaim \"kite\" not found"},
		"a claim that is deleted":           {strings.Replace(condition, "MESSAGE", `persistentvolumeclaim "kite" is being deleted`, 1), "PersistentVolumeClaim that is being deleted"},
		"a pod that waits for something":    {strings.Replace(condition, "MESSAGE", "something is being made", 1), "PodScheduled is False"},
		"an operator without conditions":    {head + strings.Replace(network, "AGE", "54m", 1) + dns, "dns has never reported its conditions"},
		"no operator with conditions":       {head + dns, "dns has never reported its conditions"},
		"Ceph with an error":                {"  cluster:\n    id:     1\n    health: HEALTH_ERR\n", "Ceph reports HEALTH_ERR"},
		"a table of Ceph":                   {ceph, "Ceph reports HEALTH_ERR"},
		"an OSD that is down":               {"    health: HEALTH_WARN\n            1 osds down\n", "OSDs of Ceph are down"},
		"an OSD that is down, in a list":    {"[WRN] OSD_DOWN: 1 osds down\n    osd.2 (root=default,host=w-1) is down\n", "OSDs of Ceph are down"},
		"a package that no catalog has":     {"20s   Warning   ResolutionFailed   namespace/kites   constraints not satisfiable: no operators found in package kite in the catalog referenced by subscription kite\n", "does not have its package"},
		"the same, as a line of a Markdown": {"constraints not satisfiable: no operators found in channel kite of package lark\n", "does not have the channel"},
	} {
		r, says := readText(t, x, c.text), ""
		for _, m := range r.Symptoms {
			says += m.Failure + "\n"
		}
		for _, e := range r.Errors {
			says += e.Says + "\n"
		}
		if !strings.Contains(says, c.says) || r.Result == Absent {
			t.Errorf("%s: %q, want %q", name, says, c.says)
		}
	}
	for name, text := range map[string]string{
		"a volume that was attached later": scheduled + multi + attached,
		"a pod that was started later":     mount + started,
		"a pod that got a node later":      strings.Replace(noCPU, "20s", "90s", 1) + scheduled,
		"an installation that has begun":   head + strings.Replace(network, "AGE", "4m", 1) + dns,
		"Ceph that is well again": "2026-06-11 07:00:01.1 I | clusterdisruption-controller: osd \"rook-ceph-osd-2\" is down but no node drain is detected\n" +
			"2026-06-11 07:09:01.1 I | clusterdisruption-controller: all PGs are active+clean. Restoring default OSD pdb settings\n" +
			"2026-06-11 07:10:01.1 I | ceph-cluster-controller: CephCluster \"a\" status: \"HEALTH_OK\"\n",
		"Ceph that is well":         "  cluster:\n    id:     1\n    health: HEALTH_OK\n  services:\n    mon: 3 daemons, quorum a,b,c (age 4h)\n    osd: 3 osds: 3 up (since 4h), 3 in (since 5d)\n",
		"a pod that has a node":     strings.NewReplacer("MESSAGE", "placed", "False", "True", "reason: Unschedulable\n    ", "").Replace(condition),
		"a Subscription in order":   "    - lastTransitionTime: \"2026-06-11T07:00:00Z\"\n      message: all available catalogsources are healthy\n      reason: AllCatalogSourcesHealthy\n      status: \"False\"\n      type: CatalogSourcesUnhealthy\n",
		"a login that went through": "I0611 07:00:01.123456       1 login.go:190] Login with provider \"company\" succeeded for \"kite\": &user.DefaultInfo{Name:\"kite\"}\n",
	} {
		if r := readText(t, x, text); r.Result != Absent {
			t.Errorf("%s: %+v %+v %+v", name, r.Matches, r.Symptoms, r.Errors)
		}
	}
}
