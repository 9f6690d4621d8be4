package message

import (
	"strings"
	"testing"
)

// TestStates reads what tables, conditions and events say of objects that no rule knows.
func TestStates(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct {
		text string
		want []string // parts of the failures and errors, in their order; none: the text is quiet
	}{
		"state of a row": {"$ oc get machine -A\nNAMESPACE               NAME      STATE    TYPE      AGE\nopenshift-machine-api   kite-a1   ACTIVE   m5.xl     3h\n" +
			"openshift-machine-api   kite-a2   ERROR              3h\n", []string{"machine kite-a2: STATE is ERROR"}},
		"a kind that nobody has seen": {"$ kubectl get gizmos.example.com -n toys\nNAME    HEALTH     AGE\none     Degraded   3h\ntwo     Healthy    3h\n",
			[]string{"gizmo one: HEALTH is Degraded"}},
		"a row that was edited": {"kubectl get bmh\nNAME   STATUS   PROVISIONING STATUS   BMC              ONLINE   ERROR\n" +
			"w-5    error    inspecting            10.0.x.x     true     Lease of it ran out\n", []string{"bmh w-5: STATUS is error, ERROR is Lease of it ran out"}},
		"rows that are well": {"NAME     READY   STATUS      RESTARTS   AGE\njob-1    0/1     Completed   0          3h\nweb-1    1/1     Running     2          3h\n" +
			"web-2    0/1     Running     0          9s\n", nil},
		"conditions that are well": {"- lastTransitionTime: \"2026-01-01T00:00:00Z\"\n  message: 'NodeControllerDegraded: All master nodes are ready'\n  status: \"False\"\n  type: Degraded\n", nil},
		"a condition of an own kind": {"  - message: the lease was not renewed, the agent stopped\n    reason: LeaseLost\n    status: Unknown\n    type: ManagedClusterConditionAvailable\n",
			[]string{"ManagedClusterConditionAvailable is Unknown (LeaseLost): the lease was not renewed"}},
		"describe": {"Status:\n  Conditions:\n    Last Transition Time:  2026-01-01T00:00:00Z\n    Message:               volume claim is lost\n    Reason:                Lost\n" +
			"    Status:                False\n    Type:                  Ready\n  Error Message:\n", []string{"Ready is False (Lost): volume claim is lost"}},
		"a list of types": {"SpecSynced\tThe Spec was applied to the host\nValidated\tThe validations are failing: no disk is large enough\nFailed\tThe installation has not failed\n",
			[]string{"Validated: The validations are failing"}},
		"what Insights may do": {"SCAAvailable=False NonHTTPError: Failed to pull SCA certs\n", nil},
		"an event": {"LAST SEEN   TYPE      REASON         OBJECT            MESSAGE\n3m          Warning   CreateFailed   gizmo/one         no license\n9m          Normal    Created        gizmo/two         made\n" +
			"9m          Warning   Unhealthy      pod/web-1         Readiness probe failed: HTTP probe failed\n", []string{"gizmo one: CreateFailed: no license"}},
		"an event that is past": {"LAST SEEN   TYPE      REASON         OBJECT            MESSAGE\n9m          Warning   CreateFailed   gizmo/one         no license\n" +
			"8m          Normal    Created        gizmo/one         made\n", nil},
		"a unit that starts for hours": {"● first.service - First\n   Active: activating (start) since Mon 2026-03-02 09:20:48 UTC; 17h ago\n", []string{"unit first: has been activating (start) for 17h"}},
		"a unit that starts":           {"● first.service - First\n   Active: activating (start) since Mon 2026-03-02 09:20:48 UTC; 3min 2s ago\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, c.text)
			var got []string
			for _, m := range r.Symptoms {
				got = append(got, m.Failure)
			}
			for _, e := range r.Errors {
				got = append(got, e.Says)
			}
			if len(got) != len(c.want) || len(got) == 0 && r.Result != Absent {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

// A cell that is empty, or that has no word, is no trouble and no panic.
func TestCellsWithoutWords(t *testing.T) {
	x := builtIn(t)
	for _, cell := range []string{"-", "--", "%", "1/2", "<none>", "…", "0"} {
		readText(t, x, "NAMESPACE   NAME   STATE   PHASE   AGE\na   b   "+cell+"   "+cell+"   3d\n")
		readText(t, x, "NAME   STATUS   AGE\nb   "+cell+"   3d\n\nNAME   READY   STATUS   AGE\nb   "+cell+"   "+cell+"   3d\n")
	}
}
