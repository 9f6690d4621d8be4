// Package answertest has the diagnoses that tests of what is printed are made of. They are written by
// hand: the engine's own tests prove how diagnoses come about.
package answertest

import (
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Noon is the time of the samples.
var Noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return Noon.Add(-d) }

// Pool is a pool as a subject.
func Pool(name string) fault.Subject { return fault.Subject{Kind: fault.Pool, Name: name} }

// Host is a host as a subject.
func Host(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }

func operator(name string) fault.Subject {
	return fault.Subject{Kind: fault.Operator, Name: name}
}

// Key is the finding of a fault at a subject.
func Key(id string, s fault.Subject) fault.Key { return fault.Key{Fault: id, Subject: s} }

// Item is evidence of a field of an object.
func Item(path, field, excerpt string) evidence.Item {
	return evidence.Item{Locator: evidence.Locator{Source: "mg", Path: path, Field: field}, Excerpt: excerpt}
}

// Logged is evidence of a line of a log.
func Logged(path string, line int, excerpt string) evidence.Item {
	return evidence.Item{Locator: evidence.Locator{Source: "mg", Path: path, Line: line}, Excerpt: excerpt}
}

// Present is a finding that has been present for 72 minutes.
func Present(id string, s fault.Subject, title string, severity fault.Severity) diagnosis.Finding {
	return diagnosis.Finding{Fault: id, Subject: s, Outcome: fault.Present, Title: title, Severity: severity, Since: ago(72 * time.Minute)}
}

// Base is a healthy cluster of these hosts, which are not grouped yet.
func Base(hosts ...diagnosis.HostState) *diagnosis.Diagnosis {
	return &diagnosis.Diagnosis{
		APIVersion: "rollcall.dev/v1alpha1", Kind: "Diagnosis",
		Source: diagnosis.Source{Kind: "must-gather", Name: "./must-gather.local.5512"}, Now: Noon,
		Cluster: diagnosis.ClusterInfo{ID: "9f6c0a34-6f7e-4a57-9c85-5f0c4a2f1c11", Version: "4.20.3", Platform: "BareMetal", Topology: "HighlyAvailable"},
		Verdict: diagnosis.Verdict{Class: diagnosis.Healthy, Cause: diagnosis.CauseNone,
			Reason: fmt.Sprintf("all %d expected hosts answered, nothing in the catalogue is present", len(hosts))},
		Roots: []diagnosis.Root{}, Deadlocks: []diagnosis.Deadlock{}, Unexplained: []diagnosis.Unexplained{}, Edges: []diagnosis.EdgeSeen{},
		Findings: []diagnosis.Finding{}, Hosts: append([]diagnosis.HostState{}, hosts...), Timeline: []diagnosis.Moment{},
		Coverage: []evidence.Coverage{
			{Need: "machineconfigpools.machineconfiguration.openshift.io", State: evidence.Read, Count: 2},
			{Need: "nodes", State: evidence.Read, Count: 3},
		},
		Stats: diagnosis.Stats{Faults: 34, Subjects: 12, Facts: 21, Millis: 41},
	}
}

// Answered is a host that has joined.
func Answered(name, role string) diagnosis.HostState {
	h := diagnosis.HostState{Name: name, Role: role, Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed,
		Since: ago(20 * time.Hour), BlockedBy: []fault.Key{}}
	for i, s := range fault.Stages() {
		h.Stages = append(h.Stages, diagnosis.StageState{Stage: s, State: diagnosis.StagePassed, At: ago(20*time.Hour - time.Duration(i)*time.Minute)})
	}
	return h
}

// Stopped is a host that has come to a stage and has not passed it.
func Stopped(name, role string, at fault.Stage, state diagnosis.StageOutcome, why string) diagnosis.HostState {
	h := diagnosis.HostState{Name: name, Role: role, Expected: true, Stage: at, State: state, Since: ago(70 * time.Minute), Why: why, BlockedBy: []fault.Key{}}
	reached := false
	for i, s := range fault.Stages() {
		st := diagnosis.StageState{Stage: s, State: diagnosis.StagePassed, At: ago(90*time.Minute - time.Duration(i)*time.Minute)}
		switch {
		case s == at:
			st, reached = diagnosis.StageState{Stage: s, State: state, Why: why}, true
		case reached:
			st = diagnosis.StageState{Stage: s, State: diagnosis.StageWaiting}
		}
		h.Stages = append(h.Stages, st)
	}
	return h
}

// Healthy is a cluster in which nothing is wrong.
func Healthy() *diagnosis.Diagnosis {
	d := Base(Answered("control0", "master"), Answered("control1", "master"), Answered("control2", "master"),
		Answered("worker0", "worker"), Answered("worker1", "worker"))
	diagnose.Group(d)
	return d
}

const (
	desync   = "pool-render-missing"
	empty    = "pool-nothing-to-serve"
	degraded = "node-config-not-found"
	fetch500 = "ignition-fetch-500"
	never    = "pool-never-converged"
)

// DesyncProven is a deadlock with a proven cause that Rollcall can repair.
func DesyncProven() *diagnosis.Diagnosis {
	d := Base(
		Stopped("control0", "master", fault.ConfigDone, diagnosis.StageFailed,
			"machine-config-daemon: machineconfigs \"rendered-master-0aa1f5c2d3e4b5a697887766554433aa\" not found"),
		Stopped("control1", "master", fault.ConfigDone, diagnosis.StageFailed,
			"machine-config-daemon: machineconfigs \"rendered-master-0aa1f5c2d3e4b5a697887766554433aa\" not found"),
		Stopped("control2", "master", fault.IgnitionFetched, diagnosis.StageFailed,
			"Ignition asks https://api-int.prod.example.com:22623/config/master and gets HTTP 500"),
	)
	d.Verdict = diagnosis.Verdict{Class: diagnosis.RecoverableInPlace, Cause: diagnosis.CauseKnown, Fix: fault.ByRollcall, Reason: "1 cause found"}
	root := Key(desync, Pool("master"))
	hold := []fault.Key{Key(degraded, Host("control0")), Key(degraded, Host("control1"))}
	d.Findings = []diagnosis.Finding{
		Present("etcd-too-few-members", fault.Subject{Kind: fault.Cluster}, "etcd has 2 of 3 members and can lose none", fault.Error),
		Present(fetch500, Host("control2"), "host control2 asks for its Ignition config and gets HTTP 500", fault.Error),
		Present(degraded, Host("control0"), "node control0 waits for a rendered config that does not exist", fault.Error),
		Present(degraded, Host("control1"), "node control1 waits for a rendered config that does not exist", fault.Error),
		Present(empty, Pool("master"), "the machine config server has no config to serve for pool master", fault.Error),
		Present(never, Pool("master"), "pool master has not converged once", fault.Error),
		Present(desync, Pool("master"), "nodes of pool master name rendered-master-0aa1f5c2d3e4b5a697887766554433aa, which was never in the cluster",
			fault.Error),
		Present("operator-degraded", operator("authentication"), "operator authentication is Degraded: only 2 kube-apiservers", fault.Error),
		Present("operator-degraded", operator("machine-config"), "operator machine-config is Degraded: pool master did not converge", fault.Error),
		{Fault: "pool-paused", Subject: Pool("master"), Outcome: fault.Absent, Title: "pool master is paused", Severity: fault.Warning},
	}
	d.Roots = []diagnosis.Root{{
		Fault: root.Fault, Severity: fault.Error, Refused: []string{"patch-annotations-blindly"}, Deadlock: 1,
		Means: "The bootstrap host rendered this pool once and the controller in the cluster rendered it again with another input, so under another " +
			"name. The first masters were given the first name. They wait for a config that no one will create, the pool waits for the masters, and " +
			"the machine config server has nothing to give to the next master.",
		Cases: []diagnosis.Case{{Key: root, Title: d.Findings[6].Title, Confidence: diagnosis.Proven, Since: ago(72 * time.Minute),
			Evidence: []evidence.Item{
				Item("nodes/control0", "metadata.annotations[machineconfiguration.openshift.io/currentConfig]",
					"rendered-master-0aa1f5c2d3e4b5a697887766554433aa (control0, control1)"),
				Item("machineconfigpools/master", "spec.configuration.name",
					"the pool wants rendered-master-7c3f09d8e7f6a5b4c3d2e1f00f1e2d3c; status.configuration.name is empty, 0 of 2 machines updated"),
				Logged("namespaces/openshift-machine-config-operator/pods/machine-config-server-x2k9p/machine-config-server/logs/current.log", 4711,
					`2026-05-01T10:51:02.123456789Z E0501 10:51:02.123402       1 api.go:183] couldn't get config for req: {master 0xc0004f2a80}, `+
						`error: could not fetch config , err: machineconfig.machineconfiguration.openshift.io "" not found`),
				Item("machineconfigs", "", "no rendered-master-0aa1f5c2d3e4b5a697887766554433aa among 14 objects"),
			},
			Explains: []fault.Key{hold[0], hold[1], Key(never, Pool("master")), Key(empty, Pool("master")), Key(fetch500, Host("control2")),
				Key("etcd-too-few-members", fault.Subject{Kind: fault.Cluster}), Key("operator-degraded", operator("authentication")),
				Key("operator-degraded", operator("machine-config"))},
			RuledOut: []diagnosis.RuledOut{
				{Key: Key("pool-paused", Pool("master")), Title: "pool master is paused", Reason: "spec.paused is false"},
				{Key: Key("node-disk-drift", Host("control0")), Title: "files on control0 differ from its config",
					Reason: "the config that it names does not exist, so nothing could be compared"},
				{Key: Key("controllerconfig-missing", fault.Subject{Kind: fault.Cluster}), Title: "there is no ControllerConfig",
					Reason: "controllerconfigs/machine-config-controller exists"},
				{Key: Key("mcs-wrong-pool", Host("control2")), Title: "host control2 asks for a pool that does not exist",
					Reason: "it asks for /config/master"},
			},
			Remedies: []fault.Advice{Adopt()},
		}}}}
	d.Deadlocks = []diagnosis.Deadlock{{
		Members: []fault.Key{hold[0], hold[1], Key(never, Pool("master")), root}, Opens: root, Remedy: "adopt-spec-config",
	}}
	for _, e := range [][2]fault.Key{
		{root, hold[0]}, {root, hold[1]}, {hold[0], Key(never, Pool("master"))}, {hold[1], Key(never, Pool("master"))},
		{Key(never, Pool("master")), root}, {root, Key(empty, Pool("master"))}, {never2(), Key(empty, Pool("master"))},
		{Key(empty, Pool("master")), Key(fetch500, Host("control2"))}, {root, Key(fetch500, Host("control2"))},
		{Key(fetch500, Host("control2")), Key("etcd-too-few-members", fault.Subject{Kind: fault.Cluster})},
		{Key(fetch500, Host("control2")), Key("operator-degraded", operator("authentication"))},
		{Key(never, Pool("master")), Key("operator-degraded", operator("machine-config"))},
	} {
		d.Edges = append(d.Edges, diagnosis.EdgeSeen{Cause: e[0], Effect: e[1], Strength: fault.Certain})
	}
	d.Coverage = append(d.Coverage,
		evidence.Coverage{Need: "console", State: evidence.Missing, Reason: "not collected",
			Supply: evidence.Supply{Kind: evidence.SupplyConsole, Host: "control2"}},
		evidence.Coverage{Need: "mcsanswers.rollcall.dev", State: evidence.Missing, Reason: "not collected: an archive holds no probes"})
	d.Timeline = []diagnosis.Moment{
		{Time: ago(72 * time.Minute), Subject: Pool("master"), Text: d.Findings[6].Title},
		{Time: ago(70 * time.Minute), Subject: Host("control2"), Text: d.Findings[1].Title},
	}
	diagnose.Group(d)
	return d
}

func never2() fault.Key { return Key(never, Pool("master")) }

// Settling is a cluster in which something is still normal.
func Settling() *diagnosis.Diagnosis {
	d := Base(Stopped("control0", "master", fault.ConfigDone, diagnosis.StageWaiting, "the first convergence of pool master is under way"),
		Answered("control1", "master"), Answered("control2", "master"))
	d.Findings = []diagnosis.Finding{
		{Fault: never, Subject: Pool("master"), Outcome: fault.Absent, Title: "pool master has not converged once", Severity: fault.Error,
			Since: ago(4 * time.Minute), Until: Noon.Add(26 * time.Minute)},
	}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Settling, Cause: diagnosis.CauseNone, Until: Noon.Add(26 * time.Minute),
		Reason: "in progress: pool-never-converged of pool/master"}
	diagnose.Group(d)
	return d
}

// Undecided is a symptom whose cause was not read.
func Undecided() *diagnosis.Diagnosis {
	d := Base(Answered("control0", "master"), Answered("control1", "master"),
		Stopped("control2", "master", fault.IgnitionFetched, diagnosis.StageFailed, "gets HTTP 500 from the machine config server"))
	d.Findings = []diagnosis.Finding{
		Present(fetch500, Host("control2"), "host control2 asks for its Ignition config and gets HTTP 500", fault.Error),
		{Fault: empty, Subject: Pool("master"), Outcome: fault.Unknown, Title: "the machine config server has no config to serve for pool master",
			Severity: fault.Error, Reason: "served.name: machineconfigpools: not collected", Missing: []string{"served.name"}},
	}
	d.Unexplained = []diagnosis.Unexplained{{
		Remedies: []fault.Advice{},
		Key:      Key(fetch500, Host("control2")), Title: d.Findings[0].Title, Severity: fault.Error,
		Evidence: []evidence.Item{{Locator: evidence.Locator{Source: "console:control2", Path: "control2.txt", Line: 88},
			Excerpt: "[   61.512345] ignition[751]: GET result: Internal Server Error"}},
		Suspects: []diagnosis.Suspect{
			{Key: Key(empty, Pool("master")), Title: d.Findings[1].Title, Next: "pool-served-config",
				Supply: evidence.Supply{Kind: evidence.SupplyInspect, Resource: "machineconfigpools"}},
			{Key: Key("controllerconfig-missing", fault.Subject{Kind: fault.Cluster}), Title: "there is no ControllerConfig", Next: "controller-config"},
		},
	}}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Reason: d.Findings[0].Title + "; cause unknown",
		Open: []diagnosis.Question{{Of: d.Unexplained[0].Key, Says: d.Findings[0].Title + "; cause unknown"}}}
	d.Coverage = append(d.Coverage, evidence.Coverage{Need: "machineconfigpools.machineconfiguration.openshift.io", State: evidence.Missing,
		Reason: "not collected", Supply: evidence.Supply{Kind: evidence.SupplyInspect, Resource: "machineconfigpools"}})
	diagnose.Group(d)
	return d
}

// TwoRoots are two causes, one with many effects, and no remedy.
func TwoRoots() *diagnosis.Diagnosis {
	var hosts []diagnosis.HostState
	for i := range 12 {
		hosts = append(hosts, Stopped(fmt.Sprintf("worker%02d.prod.example.com", i), "worker", fault.ClientCert, diagnosis.StageFailed,
			"its request for a client certificate waits for approval"))
	}
	d := Base(append(hosts, Answered("control0", "master"), Answered("control1", "master"), Answered("control2", "master"))...)
	for _, h := range hosts {
		d.Findings = append(d.Findings, Present("csr-waits", Host(h.Name), "the certificate request of "+h.Name+" waits for approval", fault.Error))
	}
	approver := Key("approver-stopped", operator("machine-approver"))
	expired := Key("kubelet-ca-expired", fault.Subject{Kind: fault.Cluster})
	d.Findings = append(d.Findings,
		Present(approver.Fault, approver.Subject, "the machine-approver does not run", fault.Error),
		Present(expired.Fault, expired.Subject, "the certificate that signs kubelets expired", fault.Warning))
	c1 := diagnosis.Case{Key: approver, Title: "the machine-approver does not run", Confidence: diagnosis.Likely, Since: ago(50 * time.Hour),
		Lowered: "the condition holds, the mechanism itself was not seen",
		Evidence: []evidence.Item{Item("-n openshift-cluster-machine-approver deployments/machine-approver", "status.availableReplicas",
			"0 of 1 replicas available")},
		RuledOut: []diagnosis.RuledOut{}, Remedies: []fault.Advice{}}
	for i, h := range hosts {
		c1.Explains = append(c1.Explains, Key("csr-waits", Host(h.Name)))
		strength := fault.Certain
		if i == 0 {
			strength = fault.LikelyEdge
		}
		d.Edges = append(d.Edges, diagnosis.EdgeSeen{Cause: approver, Effect: Key("csr-waits", Host(h.Name)), Strength: strength})
	}
	c2 := diagnosis.Case{Key: expired, Title: "the certificate that signs kubelets expired", Confidence: diagnosis.Proven,
		Evidence: []evidence.Item{Item("-n openshift-kube-controller-manager secrets/csr-signer", "data[tls.crt]", "notAfter 2026-04-30T08:00:00Z")},
		Explains: []fault.Key{}, RuledOut: []diagnosis.RuledOut{}, Remedies: []fault.Advice{}}
	d.Roots = []diagnosis.Root{
		{Fault: approver.Fault, Means: "No one approves the requests of machines that join.", Severity: fault.Error,
			Refused: []string{"approve-everything"}, Cases: []diagnosis.Case{c1}},
		{Fault: expired.Fault, Means: "No kubelet can renew its certificate any more.", Severity: fault.Warning, Refused: []string{},
			Cases: []diagnosis.Case{c2}},
	}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseKnown,
		Reason: "the catalogue knows no remedy for approver-stopped, kubelet-ca-expired"}
	diagnose.Group(d)
	return d
}

// Unreadable is a source that could not be read at all.
func Unreadable() *diagnosis.Diagnosis {
	d := Base()
	d.Source = diagnosis.Source{Kind: "live", Name: "prod/admin", API: "https://api.prod.example.com:6443", Vantage: "bastion"}
	d.Cluster = diagnosis.ClusterInfo{}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Reason: "no host was checked",
		Open: []diagnosis.Question{{Says: "no host was checked"}}}
	d.Coverage = nil
	for _, n := range []string{"baremetalhosts.metal3.io", "certificatesigningrequests.certificates.k8s.io",
		"log openshift-machine-config-operator/machine-config-server",
		"machineconfigpools.machineconfiguration.openshift.io", "nodes"} {
		d.Coverage = append(d.Coverage, evidence.Coverage{Need: n, State: evidence.Missing,
			Reason: "unreachable: dial tcp 192.0.2.10:6443: connect: connection refused", Supply: evidence.Supply{Kind: evidence.SupplyMustGather}})
	}
	for i := range 30 {
		d.Findings = append(d.Findings, diagnosis.Finding{Fault: fmt.Sprintf("fault-%02d", i), Subject: fault.Subject{Kind: fault.Host, Name: "?"},
			Outcome: fault.Unknown, Title: "?", Severity: fault.Error, Reason: "it could not be read which there are"})
	}
	diagnose.Group(d)
	return d
}

// Adopt is a remedy as the engine fills it in.
func Adopt() fault.Advice {
	return fault.Advice{
		ID: "adopt-spec-config", Title: "give the pool the config of its spec", By: fault.ByCluster, Risk: fault.RiskReversible,
		RiskText: "lets the third master boot",
		Applies:  fault.Present, Fix: true, Requires: []string{"etcd has quorum: yes"},
		Steps: []fault.Step{
			{Do: "Look at both.", Run: "oc get mcp master -o yaml", Expect: "two names"},
			{Do: "Copy it.", Run: "oc patch mcp master --subresource=status -p '{}'\noc get mcp", Changes: true},
		},
		Verify: fault.Proof{Run: "rollcall diagnose", Expect: "the host gets its config", Takes: "2m"},
		Undo:   "write it back", IfWrong: "nothing that runs is touched",
	}
}
