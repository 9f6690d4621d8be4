package repair

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// input is what a change may need in addition to its object.
type input struct {
	plan  string // the plan's id
	value string // what a person gave
}

// planMark is the annotation by which a write is recognized whose other fields do not stay.
var planMark = pointer("metadata", "annotations", planAnnotation)

const (
	inspectKey = "inspect.metal3.io"
	rebootKey  = "reboot.metal3.io"
	bmcAddress = "/spec/bmc/address"
)

// sets are the fields to be written; an error says why not.
func (c change) sets(o Object, in input) (map[string]any, error) {
	if c.with != nil {
		return c.with(o, in)
	}
	return c.set(o)
}

// valueChanges need a value of a person or the plan's id.
func valueChanges() []change {
	return []change{
		{
			remedy: bmcAddressRemedy, object: bareMetalHostRef,
			reads:    append(hostReads(), bmcAddress, "/status/operationalStatus"),
			with:     setAddress,
			valid:    validAddress,
			flag:     "--bmc-address ADDRESS",
			risk:     fault.RiskPower,
			riskText: "metal3 manages the machine behind the new address; with a wrong one that is another machine",
			proof:    ProvedInLab,
			title:    "write the address of its BMC into BareMetalHost %s",
			oc:       "oc -n " + bareMetalNamespace + ` patch bmh %s --type=merge -p '{"spec":{"bmc":{"address":"VALUE"}}}'`,
			inverse:  "write the old address back, while the host is registering or detached",
			keeps: func(o Object) string {
				if !addressable(o) {
					return "the host was registered with the new address; metal3 takes another one only after it is detached"
				}
				return ""
			},
			expect: "the address of %s is the new one",
			takes:  10,
		},
		{
			remedy: "inspect-host-again", object: bareMetalHostRef,
			reads:    append(hostReads(), pointer("metadata", "annotations", inspectKey), pointer("metadata", "annotations", rebootKey), "/spec/externallyProvisioned", "/spec/customDeploy"),
			with:     inspectAgain,
			taken:    inspectTaken,
			risk:     fault.RiskPower,
			riskText: "the server is powered off and on and boots the ramdisk; it must run nothing",
			proof:    ProvedInLab,
			title:    "have metal3 inspect BareMetalHost %s again",
			oc:       "oc -n " + bareMetalNamespace + ` annotate bmh %s inspect.metal3.io=''   # in the state inspecting: reboot.metal3.io='{"mode":"hard","force":true}'`,
			inverse:  "take the annotation away, until metal3 has acted on it",
			keeps: func(o Object) string {
				if inspectTaken(o) == "" {
					return "metal3 has begun; an inspection ends by itself"
				}
				return ""
			},
			expect: "metal3 has taken the annotation of %s",
			takes:  15,
		},
		{
			remedy: "append-machine-network", object: func(string) Ref { return infrastructureRef() },
			reads:    []string{"/spec/platformSpec", "/status/platform"},
			with:     appendNetwork,
			valid:    validNetwork,
			flag:     "--machine-network CIDR",
			since:    "4.16",
			risk:     fault.RiskReversible,
			riskText: "the network operator checks spec again and copies it to status; no node restarts",
			proof:    Simulated,
			title:    "append a network to machineNetworks of Infrastructure %s",
			oc:       `oc patch infrastructure %s --type=json -p '[{"op":"add","path":"/spec/platformSpec/PLATFORM/machineNetworks/-","value":"VALUE"}]'`,
			inverse:  "take the entry out again; the first network stays",
			expect:   "machineNetworks of %s has the network",
			takes:    5,
		},
		leaderless("redeploy-controller-manager", "kube-controller-manager", Simulated),
		leaderless("redeploy-scheduler", "kube-scheduler", Advice),
		failedInstall(),
	}
}

func infrastructureRef() Ref {
	return Ref{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures", Name: "cluster"}
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
		return nil, fmt.Errorf("its state is %s: the address can be changed only while it is registering, or detached (annotation %s; its system keeps running)",
			orNone(stringAt(o, "status", "provisioning", "state")), detachedKey)
	}
	return set, nil
}

// validAddress takes the forms that metal3 knows as drivers; user and password belong into the Secret.
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

// inspectAgain asks for a new inspection in available, and restarts the one that is under way in
// inspecting (openshift/baremetal-operator: docs/inspectAnnotation.md;
// internal/controller/metal3.io/host_state_machine.go handleInspecting). Elsewhere metal3
// would ignore it, or reboot a system that runs.
func inspectAgain(o Object, in input) (map[string]any, error) {
	for _, key := range []string{pausedKey, detachedKey, inspectKey, rebootKey} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return nil, fmt.Errorf("the host has the annotation %s", key)
		}
	}
	_, image := fieldAt(o, "/spec/image")
	_, custom := fieldAt(o, "/spec/customDeploy")
	switch state := stringAt(o, "status", "provisioning", "state"); {
	case stringAt(o, "metadata", "deletionTimestamp") != "":
		return nil, errors.New("the host is being deleted")
	case boolAt(o, "spec", "externallyProvisioned") || image || custom:
		return nil, errors.New("the host has a system, or is to get one: an inspection would reboot it")
	case state == "available" || state == "ready":
		return map[string]any{pointer("metadata", "annotations", inspectKey): "", planMark: in.plan}, nil
	case state == "inspecting":
		return map[string]any{pointer("metadata", "annotations", rebootKey): `{"mode":"hard","force":true}`, planMark: in.plan}, nil
	default:
		return nil, fmt.Errorf("its state is %s: metal3 inspects again only from available or inspecting", orNone(state))
	}
}

func inspectTaken(o Object) string {
	for _, key := range []string{inspectKey, rebootKey} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return key
		}
	}
	return ""
}

// appendNetwork appends; the operator refuses another first network and an empty list
// (openshift/cluster-network-operator: pkg/controller/infrastructureconfig/validations.go).
func appendNetwork(o Object, in input) (map[string]any, error) {
	var names []string
	spec, _ := fieldAt(o, "/spec/platformSpec")
	platforms, _ := spec.(map[string]any)
	for name, v := range platforms {
		if _, ok := v.(map[string]any); ok && slices.Contains([]string{"baremetal", "openstack", "vsphere"}, name) {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("spec.platformSpec has %d platforms with machine networks, want one of baremetal, openstack and vsphere", len(names))
	}
	path := pointer("spec", "platformSpec", names[0], "machineNetworks")
	v, _ := fieldAt(o, path)
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("machineNetworks is empty: nothing is checked then, and a list cannot be emptied again")
	}
	if slices.Contains(list, any(in.value)) {
		return map[string]any{path: list}, nil
	}
	return map[string]any{path: append(slices.Clone(list), in.value)}, nil
}

func validNetwork(v string) error {
	p, err := netip.ParsePrefix(v)
	if err != nil || p.Masked() != p || p.Bits() == 0 {
		return fmt.Errorf("%.60q is not a network, such as 192.0.2.0/24", v)
	}
	return nil
}

// allowed refuses a change that the cluster's version does not allow, or whose version
// is not known.
func allowed(ctx context.Context, api Reader, c change) error {
	if c.since == "" {
		return nil
	}
	cv, err := api.Get(ctx, clusterVersionRef())
	if err != nil {
		return fmt.Errorf("the version of the cluster could not be read: %w", err)
	}
	version := ""
	if v, ok := fieldAt(cv, "/status/history/0/version"); ok {
		version, _ = v.(string)
	}
	have, known := minorOf(version)
	want, _ := minorOf(c.since)
	if !known || have < want {
		return fmt.Errorf("version %s does not allow it; it needs %s", orNone(version), c.since)
	}
	return nil
}

// minorOf returns 16 of 4.16.3; a later major version counts as later than all minor ones.
func minorOf(version string) (int, bool) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0, false
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return (major-4)*1000 + minor, err == nil && err2 == nil
}
