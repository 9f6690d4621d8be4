package message

import (
	"slices"
	"testing"
)

func TestWhereATextIsFrom(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Setting
	}{
		"script of the bootstrap host": {"Mar 01 10:00:00 boot0 bootkube.sh[812]: Error: no space left on device", Setting{Phase: Bootstrap}},
		"waits for the API": {
			"DEBUG Still waiting for the Kubernetes API: Get \"https://api.lab.example.org:6443/version\": EOF", Setting{Phase: Bootstrap}},
		"the API of the bootstrap host answers": {
			"INFO API v1.31.6 up\nINFO Waiting up to 45m0s (until 10:45AM UTC) for bootstrapping to complete...", Setting{Phase: Bootstrap, API: true}},
		"agent-based": {`level=error msg="Bootstrap Kube API never initialized"`, Setting{Phase: Bootstrap, Agent: true}},
		"after the bootstrap": {
			"INFO Waiting up to 30m0s for bootstrapping to complete...\nINFO It is now safe to remove the bootstrap resources", Setting{API: true}},
		"operators of the cluster": {
			"level=error msg=Bootstrap failed to complete\nlevel=error msg=Cluster operator network Degraded is True with ApplyOperatorConfig", Setting{API: true}},
		"machines are made": {`time="2025-03-01T10:00:00Z" level=info msg="Creating infrastructure resources..."`, Setting{Phase: NothingMade}},
		"Ignition runs":     {"[   12.1] ignition[701]: GET https://192.0.2.7:22623/config/worker: attempt #9", Setting{Phase: FirstBoot}},
		"a command of oc":   {"[root@bastion ~]# oc get nodes\nNAME STATUS\nw0 NotReady", Setting{API: true}},
		"MicroShift":        {"Mar 01 10:00:00 edge microshift[700]: kubelet E0301 10:00:00.1 700 pod_workers.go:951] failed", Setting{Product: MicroShift}},
		"hosted":            {"nodepool/blue: 2 of 3 machines are not ready: HostedCluster clusters/blue", Setting{Product: Hosted}},
		"a cloud":           {"ERROR AWSMachine boot0: failed to create instance", Setting{Platforms: []string{"AWS"}}},
		"no platform of an installer": {
			"DEBUG Symlinking plugin terraform-provider-aws src: \"/x/terraform-provider-vsphere\"\nplatform: none", Setting{Platforms: []string{"None"}}},
		"nothing shows it": {"error: something failed", Setting{}},
	} {
		got := settingOf([]byte(c.text))
		if got.Phase != c.want.Phase || got.Product != c.want.Product || got.API != c.want.API || got.Agent != c.want.Agent ||
			!slices.Equal(got.Platforms, c.want.Platforms) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestStepsFitWhereTheTextIsFrom(t *testing.T) {
	const (
		node     = "oc get node w0 -o yaml"
		loopback = "sudo oc --kubeconfig /opt/openshift/auth/kubeconfig-loopback get nodes"
		release  = "oc adm release info IMAGE"
		bmh      = "oc -n openshift-machine-api get bmh"
		pools    = "oc get mcp"
		journal  = "sudo journalctl -b -u kubelet"
		secret   = "oc -n openshift-config get secret pull-secret"
	)
	all := []string{node, loopback, release, bmh, pools, journal, secret}
	for name, c := range map[string]struct {
		in  Setting
		not []string
	}{
		"nothing is known":    {Setting{}, nil},
		"nothing made":        {Setting{Phase: NothingMade}, []string{node, loopback, bmh, pools, journal, secret}},
		"nothing made, metal": {Setting{Phase: NothingMade, Platforms: []string{"BareMetal"}}, []string{node, bmh, pools, secret}},
		"bootstrap":           {Setting{Phase: Bootstrap}, []string{node, bmh, pools, secret}},
		"bootstrap with API":  {Setting{Phase: Bootstrap, API: true}, nil},
		"vSphere":             {Setting{API: true, Platforms: []string{"VSphere"}}, []string{bmh}},
		"two platforms":       {Setting{API: true, Platforms: []string{"VSphere", "BareMetal"}}, nil},
		"MicroShift":          {Setting{Product: MicroShift}, []string{bmh, pools, secret}},
		"hosted":              {Setting{Product: Hosted}, []string{pools}},
		"CRC":                 {Setting{Product: CRC}, []string{bmh}},
	} {
		for _, step := range all {
			if got, want := c.in.Fits(step), !slices.Contains(c.not, step); got != want {
				t.Errorf("%s: %q fits: %v, want %v", name, step, got, want)
			}
		}
	}
}

func TestPartsOfANextStepThatDoNotFitAreLeftOut(t *testing.T) {
	next := "read the line before it. Before the bootstrap: openshift-install gather bootstrap --dir DIR; after it: oc adm must-gather"
	if got, want := (Setting{Phase: Bootstrap}).fitting(next),
		"read the line before it. Before the bootstrap: openshift-install gather bootstrap --dir DIR"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r := &Report{Setting: Setting{Phase: Bootstrap}, Symptoms: []Match{{Next: "oc get co"}, {}}}
	if r.suit(); r.Symptoms[0].Next != r.Setting.Instead() || r.Symptoms[0].Next == "" || r.Symptoms[1].Next != "" {
		t.Errorf("got %q and %q", r.Symptoms[0].Next, r.Symptoms[1].Next)
	}
}

func TestTextsOfSeveralPhasesHaveNone(t *testing.T) {
	boot, cluster, first := Setting{Phase: Bootstrap}, Setting{API: true, Platforms: []string{"AWS"}}, Setting{Phase: FirstBoot}
	for name, c := range map[string]struct {
		got, want Setting
	}{
		"bootstrap and cluster": {boot.and(cluster), Setting{API: true, Platforms: []string{"AWS"}}},
		"cluster and bootstrap": {cluster.and(boot), Setting{API: true, Platforms: []string{"AWS"}}},
		"bootstrap and nothing": {boot.and(Setting{}), boot},
		"nothing and bootstrap": {Setting{}.and(boot), boot},
		"bootstrap and a host":  {boot.and(first), Setting{}},
	} {
		if c.got.Phase != c.want.Phase || c.got.API != c.want.API || !slices.Equal(c.got.Platforms, c.want.Platforms) {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
}
