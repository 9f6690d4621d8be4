package message

import (
	"strings"
	"testing"
)

// What the last error of a chain says comes before the step that failed, and an error that
// nobody knows says where the rest of its program's log is.
func TestReasons(t *testing.T) {
	x := builtIn(t)
	for name, tt := range map[string]struct {
		text   string
		first  string // the first failure or fault
		reason bool
		next   string // a part of what to look at
	}{
		"a field that the API refuses": {
			`E0301 10:00:00.000001 1 controller.go:1] could not apply: DaemonSet.apps "agent-node" is invalid: spec.template.spec.containers[1].lifecycle: Required value: must specify` + "\n",
			"the API refuses DaemonSet.apps agent-node: the value of spec.template.spec.containers[1].lifecycle is not valid", true,
			"oc explain daemonset.spec.template.spec.containers.lifecycle "},
		"in the row of an operator": {
			`console   4.16.3   True   False   True   3h   SyncLoopDegraded: Route.route.openshift.io "console" is invalid: spec.host: Invalid value: "console_x": must conform to DNS` + "\n",
			"the API refuses Route.route.openshift.io console: the value of spec.host is not valid", true, "oc explain route.spec.host"},
		"credentials that may not": {
			`Error from server (Forbidden): nodes is forbidden: User "system:serviceaccount:a:b" cannot list resource "nodes" in API group "" at the cluster scope` + "\n",
			"system:serviceaccount:a:b may not list nodes", true, "--as system:serviceaccount:a:b"},
		"an account of a cloud": {
			`level=error msg="Error: creating EC2 Instance: UnauthorizedOperation: You are not authorized to perform this operation"` + "\n",
			"the platform does not allow the account that was used what it asks for", true, "permissions"},
		"a limit of a cloud": {
			`level=fatal msg="failed to fetch Cluster: failed to generate asset \"Platform Quota Check\": error(MissingQuota): compute.googleapis.com/cpus is not available in us-east1"` + "\n",
			"a limit of the account at the platform is reached (compute.googleapis.com/cpus)", true, "raised"},
		"an object that is missing": {
			`E0301 10:00:00.000001 1 sync.go:1] cannot sync: configmaps "kubelet-serving-ca" not found` + "\n",
			"configmaps kubelet-serving-ca does not exist", false, "oc get configmaps kubelet-serving-ca"},
		"the unit of systemctl status": {
			"● nodeip-configuration.service - Writes IP address configuration\n     Loaded: loaded (/etc/systemd/system/nodeip-configuration.service; enabled)\n" +
				"     Active: failed (Result: exit-code) since Fri 2026-03-01 13:57:51 UTC; 21min ago\n",
			"a systemd unit failed: nodeip-configuration", false, "-u nodeip-configuration"},
		"a permission before its unit": {
			"× afterburn.service - Afterburn\n     Active: failed (Result: exit-code) since Fri 2026-03-01 13:57:51 UTC; 21min ago\n" +
				"Mar 01 13:57:51 w1 afterburn[879]: Error: creating directory \"/run/x\": Permission denied (os error 13)\n",
			"afterburn: no permission for /run/x", false, "ls -lZ"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if len(r.Symptoms) == 0 || r.Result != Unknown {
				t.Fatalf("%s, nothing found: %+v", r.Result, r)
			}
			m := r.Symptoms[0]
			if m.Fault+m.Failure != tt.first || m.Reason != tt.reason || !strings.Contains(m.Next, tt.next) {
				t.Errorf("first is %q, reason %v, next %q", m.Fault+m.Failure, m.Reason, m.Next)
			}
		})
	}
}

// An error that no message knows stands in its own words, and says where to look.
func TestUnknownErrorsSay(t *testing.T) {
	x := builtIn(t)
	for name, tt := range map[string]struct{ text, says, next string }{
		"klog":    {"E0301 21:08:03.130489   58258 gateway_init.go:130] error bridging to the widget\n", "OVN-Kubernetes: error bridging to the widget", "openshift-ovn-kubernetes"},
		"journal": {"Mar 01 10:00:00 w1 afterburn[5]: Error: no widget for the bridge\n", "afterburn: Error: no widget for the bridge", "afterburn"},
		"oslo":    {"2026-03-01 10:00:00.1 1 ERROR ironic.drivers.modules.widget [-] The widget broke\n", "Ironic: The widget broke", "metal3-ironic"},
		"nobody":  {"E0301 21:08:03.130489   58258 widget.go:130] the widget broke\n", "the widget broke", ""},
		"last words": {"    Last State:  Terminated\n      Reason:    Error\n      Message:   cannot bend the widget: it is\n of another make\n      Exit Code: 1\n",
			"cannot bend the widget: it is of another make", ""},
	} {
		r := readText(t, x, tt.text)
		if len(r.Errors) != 1 || r.Errors[0].Says != tt.says || !strings.Contains(r.Errors[0].Next, tt.next) || tt.next == "" && r.Errors[0].Next != "" {
			t.Errorf("%s: %+v", name, r.Errors)
		}
	}
	if r := readText(t, x, "    State:  Running\n      Reason:    Completed\n      Message:   cannot bend the widget\n"); len(r.Errors) != 0 {
		t.Errorf("the words of a container that ended well: %+v", r.Errors)
	}
}
