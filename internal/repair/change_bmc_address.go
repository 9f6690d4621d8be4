package repair

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

const bmcAddressRemedy = "correct-bmc-address"

// correctBMCAddress writes the address of a BMC that a person gave. A step that touches the
// Secret of the host follows it: see touchSecret.
func correctBMCAddress() fieldChange {
	return fieldChange{
		remedy:   bmcAddressRemedy,
		target:   bareMetalHostTarget(),
		reads:    append(hostReads(), bmcAddress, "/status/operationalStatus"),
		set:      setAddress,
		valid:    validAddress,
		flag:     "bmc-address",
		usage:    "write this `ADDRESS` of a BMC where the cause is a wrong one",
		rights:   access(secretRef(openshift.MachineAPINamespace, ""), "", "get", "patch"),
		risk:     fault.RiskPower,
		riskText: "metal3 manages the machine behind the new address; with a wrong one that is another machine",
		proof:    ProvedInLab,
		title:    "write the address of its BMC into BareMetalHost %s",
		oc:       "oc -n " + openshift.MachineAPINamespace + ` patch bmh %s --type=merge -p '{"spec":{"bmc":{"address":"VALUE"}}}'`,
		inverse:  "write the old address back, while the host is registering or detached",
		keeps: func(o Object) string {
			if !addressable(o) {
				return "the host was registered with the new address; metal3 takes another one only after it is detached"
			}
			return ""
		},
		expect: "the address of %s is the new one",
		takes:  10,
	}
}

// addressable reports whether metal3's webhook lets the address of a BMC be changed
// (openshift/baremetal-operator: internal/webhooks/metal3.io/v1alpha1/baremetalhost_validation.go
// validateChanges).
func addressable(o Object) bool {
	return stringAt(o, "status", "provisioning", "state") == "registering" || stringAt(o, "status", "operationalStatus") == "detached"
}

func setAddress(o Object, in input) (map[string]any, error) {
	set := map[string]any{bmcAddress: in.value}
	switch have := stringAt(o, "spec", "bmc", "address"); {
	case have == in.value:
		return set, nil
	case stringAt(o, "metadata", "deletionTimestamp") != "":
		return nil, errors.New("the host is being deleted")
	case have != "" && !addressable(o):
		return nil, fmt.Errorf("its state is %s: the address can be changed only while it is registering, or detached (annotation %s; its system "+
			"keeps running)",
			orNone(stringAt(o, "status", "provisioning", "state")), metal3.DetachedAnnotation)
	}
	return set, nil
}

// validAddress accepts the forms that metal3 knows as drivers; user and password belong into the Secret.
func validAddress(v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil || len(v) > 500 || !addressForm.MatchString(v):
		return errors.New("it is not the address of a BMC, such as redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1")
	case u.User != nil:
		return errors.New("it has a user or password; these belong into the Secret of the host")
	case u.Host == "":
		return errors.New("it has no host")
	}
	return nil
}

var addressForm = regexp.MustCompile(`^[a-z][a-z0-9+-]*://[A-Za-z0-9_./:\[\]%~-]+$`)
