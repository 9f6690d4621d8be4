package message

import (
	"strings"
	"testing"
)

// TestNotSilent: what a text shows of trouble without calling it an error is said, and the same text without
// the trouble stays quiet.
func TestNotSilent(t *testing.T) {
	x := builtIn(t)
	const (
		tree = "NAME                                          READY  SEVERITY  REASON                       SINCE  MESSAGE\n" +
			"/kite                                         True                                          57m\n" +
			"├─ControlPlane - KubeadmControlPlane/kite-cp  True                                          57m\n" +
			"└─Workers\n" +
			"  └─MachineDeployment/kite-md-0               False  SEVER     WaitingForAvailableMachines  60m    " +
			"Minimum availability requires 2 replicas, current 0 available\n" +
			"    └─Machine/kite-md-0-x                     True                                          56m\n"
		nodes = "$ oc get nodes\nNAME   STATUS   ROLES                  AGE   VERSION\n" +
			"m-1    Ready    control-plane,master   3h    v1.27.6+f67aeb3\nm-2    Ready    control-plane,master   3h    v1.27.6+f67aeb3\n"
		none      = "[root@bastion x]# oc --kubeconfig auth/kubeconfig get nodes\nNo resources found\n"
		unhealthy = "  Normal   Started    22m   kubelet, w-3  Started container agent\n" +
			"  Warning  Unhealthy  21m   kubelet, w-3  Liveness probe failed: dial unix agent.sock\n"
		removing = "Nov 25 03:56:55 m-1 Keepalived_vrrp[9]: (lark_API) removing VIPs.\n"
		signer   = `I0602 12:05:00.723609 1 event.go:281] Event(v1.ObjectReference{Kind:"namespace"}): type: 'Normal' reason: ` +
			`'SignerUpdateRequired' "kubelet-signer" in "n" requires a new signing cert/key pair: already expired` + "\n"
		renewed = `I0602 12:05:01.000000 1 event.go:281] Event(v1.ObjectReference{}): type: 'Normal' reason: 'SecretUpdated' ` +
			`Updated Secret/kubelet-signer -n n because it changed` + "\n"
		eval    = "level=debug msg=\"2019/04/09 13:03:33 [ERROR] root.m: eval: *terraform.EvalApplyPost, err: 1 error occurred:\"\n"
		learner = `{"level":"warn","msg":"retrying of unary invoker failed","error":"rpc error: code = FailedPrecondition ` +
			`desc = etcdserver: can only promote a learner member which is in sync with leader"}` + "\n"
		replicas = "NAME      REPLICAS   AVAILABLE   READY\npool-1    NUMBER\n"
		validate = `RPC validate_driver_interfaces returned {"result":{"console":{"reason":"Driver ipmi does not support console.",` +
			`"result":false},"deploy":{DEPLOY}}}` + "\n"
	)
	for name, c := range map[string]struct{ text, says string }{
		"a tree of Cluster API":         {strings.Replace(tree, "SEVER  ", "Warning", 1), "machinedeployment kite-md-0: READY is False"},
		"two masters":                   {nodes, "2 nodes are of the control plane"},
		"no node at all":                {none, "the cluster has no Node"},
		"an event that is pasted alone": {unhealthy, "Unhealthy: Liveness probe failed"},
		"keepalived goes":               {removing, "keepalived takes the VIPs off its host"},
		"a CA that has expired":         {signer, "a CA of an operator has expired"},
		"another Secret is renewed":     {signer + strings.Replace(renewed, "kubelet-signer", "metrics-signer", 1), "a CA of an operator has expired"},
		"replicas without an age":       {strings.Replace(replicas, "NUMBER", "3", 1), "0 of 3 are READY"},
		"an interface of Ironic":        {strings.Replace(validate, "DEPLOY", `"reason":"no image","result":false`, 1), "Ironic does not accept"},
		"an error over several lines": {"ironic-conductor[3120]: ERROR ironic.x [req-1] \\\nDeploy failed for node 9c1f \\\nno lease\n",
			"ironic.x [req-1] Deploy failed for node 9c1f no lease"},
		"Terraform repeats an error":       {eval + "level=debug msg=\"\\t* ironic_node_v1.m-1: Internal Server Error\"\n", "Ironic on the bootstrap host answers"},
		"Terraform repeats an unknown one": {eval + "level=debug msg=\"\\t* gizmo_v1.m-1: it is too green\"\n", "gizmo_v1.m-1: it is too green"},
		"a pod behind grep": {"$ oc get pods -n openshift-ingress | grep router\nrouter-7d9c-ab   0/1   Running   4 (3m ago)   45m\n",
			"pod router-7d9c-ab: READY is 0/1"},
		"a pod with its namespace":  {"openshift-etcd   etcd-m2   2/4   Error   7   6h9m\n", "pod etcd-m2: STATUS is Error"},
		"a Deployment without ages": {"NAME      READY   UP-TO-DATE   AVAILABLE\nrouter    0/2     2            0\n", "router: READY is 0/2"},
		"a limit of Azure": {`Code="PublicIPCountLimitReached" Message="Cannot create more than 20 public IP addresses in this region."`,
			"is reached (PublicIPCountLimitReached)"},
		"a quota of Azure": {"Deployment failed. Resource quota of cores exceeded. Maximum allowed: 12, Current in use: 4, Additional requested: 40.",
			"a limit of the account at the platform is reached (cores)"},
		"a quota of a region": {"Error: Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota.",
			"is reached (standardDSv3Family Cores)"},
		"a quota of Google":    {"Error: googleapi: Error 403: Quota 'CPUS_ALL_REGIONS' exceeded. Limit: 24.0 globally.", "is reached (CPUS_ALL_REGIONS)"},
		"a quota of OpenStack": {"Error: Quota exceeded for resources: ['floatingip'].", "is reached (floatingip)"},
		"SELinux without labels": {`[ 6.9] audit: type=1400 audit(16.9:4): avc:  denied  { write } for  pid=1 comm="systemd" name="machine-id" ` +
			`scontext=system_u:system_r:init_t:s0 tcontext=system_u:object_r:unlabeled_t:s0 tclass=file permissive=0`, "SELinux forbids systemd"},
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
		"pods behind grep that are well":  "router-7d9c-ab   1/1   Running   4 (3d ago)   45d\njob-1   0/1   Completed   0   3h\n",
		"a pod behind grep that is young": "router-7d9c-ab   0/1   Running   0   45s\n",
		"a Deployment that is young":      "NAME      READY   UP-TO-DATE   AVAILABLE   AGE\nrouter    0/2     2            0           50s\n",
		"a tree that is on its way":       strings.Replace(tree, "SEVER", "Info ", 1),
		"two masters that just begin":     strings.ReplaceAll(nodes, "3h ", "9m "),
		"two masters of 4.20":             strings.ReplaceAll(nodes, "v1.27.6", "v1.33.5"),
		"two masters of RKE2":             strings.ReplaceAll(nodes, "+f67aeb3", "+rke2r1"),
		"two masters of k0s":              strings.ReplaceAll(nodes, "+f67aeb3", "+k0s"),
		"three masters":                   nodes + "m-3    Ready    control-plane,master   3h    v1.27.6+f67aeb3\n",
		"nodes that were chosen":          strings.Replace(nodes, "get nodes", "get nodes m-1 m-2", 1),
		"no node of a role":               strings.Replace(none, "get nodes", "get nodes -l role=gpu", 1),
		"no pod":                          strings.Replace(none, "get nodes", "get pods", 1),
		"an event of a pod that is ready": "Conditions:\n  Type              Status\n  Initialized       True\n  Ready             True\n" +
			"Events:\n" + unhealthy,
		"an event of the same minute": strings.Replace(unhealthy, "21m", "22m", 1),
		"an event among those of others": "LAST SEEN   TYPE      REASON      OBJECT      MESSAGE\n" +
			"22m         Normal    Started     pod/a       Started it\n21m         Warning   Unhealthy   pod/b       Readiness probe failed: no\n",
		"keepalived starts":                removing + "Nov 25 03:56:56 m-1 Keepalived_vrrp[9]: (lark_API) Entering BACKUP STATE (init)\n",
		"keepalived has its VIPs again":    removing + "Nov 25 03:56:58 m-1 Keepalived_vrrp[9]: (lark_API) setting VIPs.\n",
		"a CA that is made again":          signer + renewed,
		"a CA and then others":             signer + renewed + strings.Replace(renewed, "kubelet-signer", "metrics-signer", 1),
		"a CA that is renewed in its time": strings.Replace(signer, "already expired", "past its refresh time 2026-01-01", 1),
		"a learner":                        learner + "This node has joined the cluster and a new control plane instance was created:\n",
		"replicas of none":                 strings.Replace(replicas, "NUMBER", "0", 1),
		"interfaces of Ironic":             strings.Replace(validate, "DEPLOY", `"result":true`, 1),
	} {
		if r := readText(t, x, text); r.Result != Absent {
			t.Errorf("%s: %+v %+v %+v", name, r.Matches, r.Symptoms, r.Errors)
		}
	}
}
