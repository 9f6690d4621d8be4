package metalhost

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Namespace has the BareMetalHosts and the Machines of a cluster: a Machine chooses among the hosts of its
// own namespace (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go
// chooseHost).
const Namespace = openshift.MachineAPINamespace

// RunAnnotation is on what a run has made: its id. What was made by a request whose answer was lost is
// known again by it.
const RunAnnotation = "rollcall.dev/run"

// Want is a host that is to be added. It holds no secret.
type Want struct {
	Name        string            `json:"name"` // of the BareMetalHost
	BMC         string            `json:"bmc"`  // address, as metal3 takes it
	MAC         string            `json:"mac"`  // of the NIC that boots
	BootMode    string            `json:"bootMode,omitempty"`
	Hints       map[string]any    `json:"rootDeviceHints,omitempty"`
	NetworkData string            `json:"networkData,omitempty"` // Secret with the network of the ramdisk and the host
	Secret      string            `json:"secret"`                // with user and password of the BMC
	HaveSecret  bool              `json:"haveSecret,omitempty"`  // the Secret is there and is somebody's
	Unverified  bool              `json:"unverified,omitempty"`  // the certificate of the BMC is not verified
	Labels      map[string]string `json:"labels,omitempty"`      // for the hostSelector of a MachineSet
	MachineSet  string            `json:"machineSet,omitempty"`  // "": the only one that takes the host
	NoScale     bool              `json:"noScale,omitempty"`     // the MachineSet is not scaled
	IPs         []string          `json:"ips,omitempty"`         // that the host will have, where a person knows them
}

// Credentials are user and password of a BMC. They print as nothing.
type Credentials struct{ User, Password string }

// String hides them.
func (Credentials) String() string { return "(hidden)" }

// GoString hides them.
func (Credentials) GoString() string { return "(hidden)" }

// LogValue hides them.
func (Credentials) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// MarshalText hides them.
func (Credentials) MarshalText() ([]byte, error) { return []byte("(hidden)"), nil }

// SecretOf is the name of the Secret of a host, as the installer names it (openshift/installer:
// pkg/asset/machines/baremetal/hosts.go createSecret).
func SecretOf(host string) string { return host + "-bmc-secret" }

// The boot modes (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go BootMode).
// Without one the host boots with UEFI.
var bootModes = []string{"", "UEFI", "UEFISecureBoot", "legacy"}

// hintKinds are the root device hints and what they hold (metal3-io/baremetal-operator:
// apis/metal3.io/v1alpha1/baremetalhost_types.go RootDeviceHints).
var hintKinds = map[string]string{
	"deviceName": "device", "hctl": "text", "model": "text", "vendor": "text", "serialNumber": "text", "minSizeGigabytes": "number",
	"wwn": "text", "wwnWithExtension": "text", "wwnVendorExtension": "text", "rotational": "bool",
}

// ParseHint reads NAME=VALUE into a root device hint.
func ParseHint(text string) (name string, value any, err error) {
	name, raw, ok := strings.Cut(text, "=")
	kind := hintKinds[name]
	switch {
	case !ok || raw == "" || kind == "":
		var names []string
		for n := range hintKinds {
			names = append(names, n)
		}
		slices.Sort(names)
		return "", nil, fmt.Errorf("--root-device-hint %.80q: want NAME=VALUE with a name of %s", text, strings.Join(names, ", "))
	case kind == "device" && !deviceForm.MatchString(raw):
		// validateRootDeviceHints of metal3's webhook (internal/webhooks/metal3.io/v1alpha1/baremetalhost_validation.go).
		return "", nil, fmt.Errorf("--root-device-hint %.80q: want a path in /dev/ or /dev/disk/by-path/", text)
	case kind == "number":
		n, err := strconv.ParseInt(raw, 10, 32)
		if err != nil || n < 0 {
			return "", nil, fmt.Errorf("--root-device-hint %.80q: want a number", text)
		}
		return name, n, nil
	case kind == "bool":
		b, err := strconv.ParseBool(raw)
		if err != nil {
			return "", nil, fmt.Errorf("--root-device-hint %.80q: want true or false", text)
		}
		return name, b, nil
	}
	return name, raw, nil
}

var (
	deviceForm = regexp.MustCompile(`^/dev/(disk/by-path/)?[^/]+$`)
	macForm    = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)
	uuidForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
)

// Check refuses what cannot be meant, before a cluster is asked. MACs are in lower case then.
func (w *Want) Check() error {
	if problems := validation.IsDNS1123Subdomain(w.Name); len(problems) > 0 || len(w.Name) > 63 || uuidForm.MatchString(w.Name) {
		return fmt.Errorf("host %.80q: want a name in lower case, with at most 63 characters, that is no UUID", w.Name)
	}
	if w.Name == "localhost" || strings.HasPrefix(w.Name, "localhost.") {
		return fmt.Errorf("host %q: every host without a name of its own is called so", w.Name)
	}
	mac, err := net.ParseMAC(w.MAC)
	if err != nil || len(mac) != 6 || mac[0]&1 != 0 || !macForm.MatchString(strings.ToLower(w.MAC)) {
		return fmt.Errorf("--boot-mac %.40q: want the MAC address of the NIC that boots, such as 52:54:00:0a:0b:0c", w.MAC)
	}
	w.MAC = mac.String()
	if _, err := parseBMC(w.BMC); err != nil {
		return err
	}
	if !slices.Contains(bootModes, w.BootMode) {
		return fmt.Errorf("--boot-mode %.40q: want UEFI, UEFISecureBoot or legacy", w.BootMode)
	}
	for flag, name := range map[string]string{"--bmc-secret": w.Secret, "--network-data": w.NetworkData, "--machineset": w.MachineSet} {
		if problems := validation.IsDNS1123Subdomain(name); name != "" && len(problems) > 0 {
			return fmt.Errorf("%s %.80q is not the name of an object", flag, name)
		}
	}
	for key, value := range w.Labels {
		if len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return fmt.Errorf("--label %.80q: want KEY=VALUE of a label", key+"="+value)
		}
	}
	for i, ip := range w.IPs {
		a, err := netip.ParseAddr(ip)
		if err != nil || a.Zone() != "" {
			return fmt.Errorf("--ip %.80q is not an address", ip)
		}
		w.IPs[i] = a.Unmap().String()
	}
	return nil
}

// driver is what a scheme of a BMC address stands for.
type driver struct {
	network    bool // its ramdisk boots over the provisioning network
	secureBoot bool
}

// drivers are those of metal3-io/baremetal-operator:pkg/hardwareutils/bmc/*.go (RegisterFactory,
// RequiresProvisioningNetwork, SupportsSecureBoot). Those of earlier releases are known to the API server of
// these releases only: ilo4, ilo5, irmc, ibmc, idrac.
var drivers = map[string]driver{
	"ipmi": {network: true}, "libvirt": {network: true},
	"redfish": {true, true}, "ilo5-redfish": {true, true}, "idrac-redfish": {true, true},
	"redfish-virtualmedia": {false, true}, "ilo5-virtualmedia": {false, true}, "idrac-virtualmedia": {false, true}, "redfish-uefihttp": {false, true},
}

// bmcAddress is a BMC address in its parts.
type bmcAddress struct {
	driver string // "redfish-virtualmedia", without +http
	host   string // with the port
	path   string
	known  bool // the driver is
}

// same says that both are one machine: one chassis has several systems under one address.
func (b bmcAddress) same(o bmcAddress) bool {
	return b.host == o.host && (b.path == o.path || b.path == "" || o.path == "")
}

// parseBMC reads a BMC address as metal3 does (metal3-io/baremetal-operator:pkg/hardwareutils/bmc/access.go
// GetParsedURL): without a scheme it is IPMI.
func parseBMC(text string) (bmcAddress, error) {
	wrong := fmt.Errorf("--bmc %.80q: want the address as metal3 takes it, such as "+
		"redfish-virtualmedia://192.0.2.5/redfish/v1/Systems/1", withoutUser(text))
	if !strings.Contains(text, "://") {
		text = "ipmi://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return bmcAddress{}, wrong
	}
	if u.User != nil || u.RawQuery != "" && strings.Contains(strings.ToLower(u.RawQuery), "pass") {
		return bmcAddress{}, fmt.Errorf("--bmc has user or password in it: the address is readable for many. Give them in the "+
			"environment, in a file "+
			"or as a Secret (%s)", withoutUser(text))
	}
	scheme, _, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	_, known := drivers[scheme]
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "623", false: "443"}[scheme == "ipmi" || scheme == "libvirt"]
		if strings.HasSuffix(u.Scheme, "+http") {
			port = "80"
		}
	}
	path := strings.TrimSuffix(u.Path, "/")
	if path == "/redfish/v1" { // the only system is meant
		path = ""
	}
	return bmcAddress{driver: scheme, host: strings.ToLower(u.Hostname()) + ":" + port, path: path, known: known}, nil
}

// withoutUser is an address without what could be a credential.
func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = "(hidden)@" + rest[i+1:]
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + rest
}

// Manifest is the BareMetalHost as it is sent: without image, userData and consumerRef, so that metal3
// registers and inspects it and then leaves it available for a Machine. run is "" for a manifest that
// another tool applies.
func (w Want) Manifest(run string) map[string]any {
	meta := map[string]any{"name": w.Name, "namespace": Namespace}
	if len(w.Labels) > 0 {
		labels := map[string]any{}
		for k, v := range w.Labels {
			labels[k] = v
		}
		meta["labels"] = labels
	}
	mark(meta, run)
	bmc := map[string]any{"address": w.BMC, "credentialsName": w.Secret}
	if w.Unverified {
		bmc["disableCertificateVerification"] = true
	}
	spec := map[string]any{"online": true, "bootMACAddress": w.MAC, "bmc": bmc}
	if w.BootMode != "" {
		spec["bootMode"] = w.BootMode
	}
	if len(w.Hints) > 0 {
		spec["rootDeviceHints"] = w.Hints
	}
	if w.NetworkData != "" {
		spec["preprovisioningNetworkDataName"] = w.NetworkData
	}
	return map[string]any{"apiVersion": openshift.Metal3Group + "/v1alpha1", "kind": "BareMetalHost", "metadata": meta, "spec": spec}
}

func mark(meta map[string]any, run string) {
	if run != "" {
		meta["annotations"] = map[string]any{RunAnnotation: run}
	}
}

// secretManifest is the Secret as it is sent.
func (w Want) secretManifest(run string, c Credentials) map[string]any {
	meta := map[string]any{"name": w.Secret, "namespace": Namespace}
	mark(meta, run)
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": meta, "data": map[string]any{
		"username": base64.StdEncoding.EncodeToString([]byte(c.User)), "password": base64.StdEncoding.EncodeToString([]byte(c.Password)),
	}}
}
