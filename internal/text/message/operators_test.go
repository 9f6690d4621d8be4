package message

import (
	"strings"
	"testing"
)

const operatorHead = "NAME                      VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE\n"

// TestOperatorsInOrder: of ClusterOperators that are not well, one that others need is named first.
func TestOperatorsInOrder(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, first, also string }{
		"routers of an unknown version": {operatorHead +
			"authentication                      Unknown     Unknown       True       63m\n" +
			"console                   4.1.0     Unknown     True          False      46m\n" +
			"dns                       4.1.0     True        False         False      16m\n" +
			"ingress                   unknown   False       True          False      52m\n", "ClusterOperator ingress is not Available", "ClusterOperator authentication is not Available"},
		"one rule for all": {operatorHead +
			"authentication            4.10.3    False       True          True       48m\n" +
			"console                   4.10.3    False       True          True       48m\n" +
			"dns                       4.10.3    False       True          True       49m\n", "ClusterOperator dns is not Available, and 2 more", ""},
		"an operator that never reported": {operatorHead +
			"authentication                      Unknown     Unknown       True       92m\n" +
			"csi-snapshot-controller                                                     \n" +
			"dns                       4.5.0     True        False         False      91m\n",
			"ClusterOperator authentication is not Available", "ClusterOperator csi-snapshot-controller has never reported its conditions"},
		"the list of openshift-install": {"level=fatal msg=failed to initialize the cluster: Some cluster operators are still updating: authentication, console, ingress, monitoring\n",
			"ClusterOperator ingress is not Available", "the cluster is not complete"},
		"a route that no router has admitted": {
			"level=error msg=Cluster operator authentication Degraded is True with OAuthServerServiceEndpointsEndpointAccessibleController_SyncError: IngressStateEndpointsDegraded: No subsets\n" +
				"level=error msg=OAuthServerDeploymentDegraded: waiting for the oauth-openshift route to contain an admitted ingress: " +
				"no admitted ingress for route oauth-openshift in namespace openshift-authentication\n",
			"the routers of ingress have not admitted a route", "ClusterOperator authentication is Degraded"},
		"an empty list": {"E0819 13:48:19.733390       1 controller.go:129] {A A} failed with: failed handling the route: route is not available at canonical host o.apps.lab: []\n",
			"the routers of ingress have not admitted a route", ""},
	} {
		r := readText(t, x, c.text)
		if len(r.Symptoms) == 0 || r.Symptoms[0].Failure != c.first {
			t.Errorf("%s: %+v, want %q first", name, r.Symptoms, c.first)
			continue
		}
		var all []string
		for _, m := range r.Symptoms {
			all = append(all, m.Failure)
		}
		if !strings.Contains(strings.Join(all, "; "), c.also) {
			t.Errorf("%s: %q, want %q too", name, all, c.also)
		}
	}
	for text, want := range map[string]string{
		"$ oc get pods -n openshift-etcd | grep etcd\netcd-m1.lab  2/3  Error  7  6h9m\netcd-m2.lab  3/3  Running  0  6h6m\n": "pod etcd-m1.lab: STATUS is Error",
		"OpenShift:       Degraded (v4.8.12)\n\nINFO Operator image-registry is degraded\n":                                   "ClusterOperator image-registry is Degraded",
	} {
		found := false
		for _, m := range readText(t, x, text).Symptoms {
			found = found || strings.HasPrefix(m.Failure, want)
		}
		if !found {
			t.Errorf("%s: %+v, want %q", text, readText(t, x, text).Symptoms, want)
		}
	}
	lost := operatorHead + "authentication\nconsole\ndns\n"
	if r := readText(t, x, lost); r.Result != Absent {
		t.Errorf("a table whose columns were lost: %+v", r.Symptoms)
	}
}

// TestPoolWithoutDegradedNode: where no machine of a degraded pool is degraded, its conditions are read, and no node is repaired.
func TestPoolWithoutDegradedNode(t *testing.T) {
	x := builtIn(t)
	head := "NAME     CONFIG              UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT   UPDATEDMACHINECOUNT   DEGRADEDMACHINECOUNT   AGE\n"
	for row, want := range map[string]string{
		"worker   rendered-worker-a   True  False  True  3  3  3  0  3h\n": "MachineConfigPool worker is degraded, and no node of it is",
		"worker   rendered-worker-a   False  True  True  3  2  2  1  3h\n": "MachineConfigPool worker is degraded",
	} {
		if r := readText(t, x, head+row); len(r.Symptoms) != 1 || r.Symptoms[0].Failure != want {
			t.Errorf("%s: %+v, want %q", row, r.Symptoms, want)
		}
	}
}
