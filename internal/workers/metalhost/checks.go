package metalhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// Check is something that was looked at before anything is made. Present: there is something wrong.
type Check struct {
	Outcome fault.Outcome
	Stops   bool // nothing is made
	Text    string
}

func passed(text string) Check      { return Check{fault.Absent, false, text} }
func warning(text string) Check     { return Check{fault.Present, false, text} }
func stop(text string) Check        { return Check{fault.Present, true, text} }
func unknown(text string) Check     { return Check{fault.Unknown, false, text} }
func unknownStop(text string) Check { return Check{fault.Unknown, true, text} }

// Checks are all that the lists of a cluster show about a host that is to be added, but its place.
func (s Seen) Checks(w Want) []Check {
	checks := []Check{s.metal3Check()}
	checks = append(checks, s.nameChecks(w)...)
	checks = append(checks, s.macCheck(w), s.bmcCheck(w), s.addressCheck(w), s.driverCheck(w), s.bootModeCheck(w))
	return append(checks, s.approverCheck(), s.healthCheck(w))
}

func (s Seen) metal3Check() Check {
	switch why := s.unknown("metal3"); {
	case why != "":
		return unknown("whether metal3 runs: " + why)
	case s.absent("metal3"):
		return stop("there is no Deployment metal3 in " + Namespace + ": nothing would register the host (ClusterOperator baremetal says why)")
	case number(evidence.Field(s.Metal3, "status", "availableReplicas")) == 0:
		return stop("Deployment metal3 in " + Namespace + " has no pod that is available: nothing would register the host")
	}
	return passed("metal3 runs; its provisioning network is " + orText(evidence.String(s.Provisioning, "spec", "provisioningNetwork"), "not named"))
}

func (s Seen) nameChecks(w Want) []Check {
	var checks []Check
	if o := object(s.Hosts, w.Name); o != nil {
		h := hostOf(o)
		text := fmt.Sprintf("BareMetalHost %s exists (state %s", h.name, orText(h.state, "not set"))
		if h.consumer != "" {
			text += ", of Machine " + h.consumer
		}
		if h.run != "" {
			text += ", made by run " + h.run
		}
		checks = append(checks, stop(text+"): it is not changed"))
	} else {
		checks = append(checks, passed("there is no BareMetalHost "+w.Name))
	}
	switch why := s.unknown("nodes"); {
	case why != "":
		checks = append(checks, unknown("whether there is a Node "+w.Name+": "+why))
	case slices.ContainsFunc(s.Nodes, func(n kube.Object) bool {
		return shortName(evidence.String(n, "metadata", "name")) == shortName(w.Name)
	}):
		checks = append(checks, stop("there is a Node "+w.Name+": a machine of that name is in the cluster, and its request for a "+
			"certificate would be refused "+
			"for another one"))
	default:
		checks = append(checks, passed("there is no Node "+w.Name))
	}
	return checks
}

func shortName(name string) string {
	first, _, _ := strings.Cut(strings.ToLower(name), ".")
	return first
}

// macCheck: metal3 refuses to register a second host with a MAC (pkg/provisioner/ironic/ironic.go
// macAddressConflictError).
func (s Seen) macCheck(w Want) Check {
	for _, o := range s.Hosts {
		name := evidence.String(o, "metadata", "name")
		if name == w.Name {
			continue
		}
		if strings.EqualFold(evidence.String(o, "spec", "bootMACAddress"), w.MAC) {
			return stop(fmt.Sprintf("MAC address %s is that of BareMetalHost %s", w.MAC, name))
		}
		nics, _ := evidence.Field(o, "status", "hardware", "nics").([]any)
		for _, n := range nics {
			m, _ := n.(map[string]any)
			if strings.EqualFold(evidence.String(m, "mac"), w.MAC) {
				return stop(fmt.Sprintf("MAC address %s is that of NIC %s of BareMetalHost %s", w.MAC, evidence.String(m, "name"), name))
			}
		}
	}
	return passed("no BareMetalHost has MAC address " + w.MAC)
}

func (s Seen) bmcCheck(w Want) Check {
	mine, err := parseBMC(w.BMC)
	if err != nil {
		return stop(err.Error())
	}
	for _, o := range s.Hosts {
		name := evidence.String(o, "metadata", "name")
		other, err := parseBMC(evidence.String(o, "spec", "bmc", "address"))
		if name == w.Name || err != nil {
			continue
		}
		if mine.same(other) {
			return stop(fmt.Sprintf("BMC %s%s is that of BareMetalHost %s: two hosts would switch one machine", mine.host, mine.path, name))
		}
	}
	return passed("no BareMetalHost has BMC " + mine.host + mine.path)
}

func (s Seen) addressCheck(w Want) Check {
	if len(w.IPs) == 0 {
		return unknown("whether the address that the host will have is free: --ip names it")
	}
	if why := s.unknown("nodes"); why != "" {
		return unknown("whether " + strings.Join(w.IPs, ", ") + " is the address of a Node: " + why)
	}
	for _, n := range s.Nodes {
		list, _ := evidence.Field(n, "status", "addresses").([]any)
		for _, x := range list {
			m, _ := x.(map[string]any)
			if ip := evidence.String(m, "address"); slices.Contains(w.IPs, ip) {
				return stop(fmt.Sprintf("%s is the address of Node %s", ip, evidence.String(n, "metadata", "name")))
			}
		}
	}
	for _, h := range s.hosts() {
		for _, ip := range h.ips {
			if slices.Contains(w.IPs, ip) && h.name != w.Name {
				return stop(fmt.Sprintf("BareMetalHost %s had the address %s at its inspection", h.name, ip))
			}
		}
	}
	return passed(strings.Join(w.IPs, ", ") + " is the address of no Node and no BareMetalHost")
}

// driverCheck: metal3 refuses what boots over a provisioning network where there is none
// (pkg/provisioner/ironic/register.go), which its webhook does not look at.
func (s Seen) driverCheck(w Want) Check {
	b, err := parseBMC(w.BMC)
	if err != nil {
		return stop(err.Error())
	}
	d := drivers[b.driver]
	network := evidence.String(s.Provisioning, "spec", "provisioningNetwork")
	switch {
	case !b.known:
		return unknown("whether metal3 of this release knows the BMC driver " + b.driver)
	case d.network && network == "Disabled":
		return stop(fmt.Sprintf("BMC driver %s boots over the provisioning network, and this cluster has none (provisioningNetwork "+
			"Disabled): use a driver with "+
			"virtual media, such as redfish-virtualmedia://", b.driver))
	case w.BootMode == "UEFISecureBoot" && !d.secureBoot:
		return stop("BMC driver " + b.driver + " does not support secure boot")
	case d.network:
		return passed(fmt.Sprintf("BMC driver %s boots over the provisioning network (%s)", b.driver, orText(network, "not named")))
	}
	return passed("BMC driver " + b.driver + " needs no provisioning network")
}

// bootModeCheck compares with the workers that metal3 has provisioned.
func (s Seen) bootModeCheck(w Want) Check {
	mine := orText(w.BootMode, "UEFI") // baremetalhost_types.go DefaultBootMode
	var others []string
	for _, h := range s.hosts() {
		if h.state == "provisioned" && h.bootMode != "" && !slices.Contains(others, h.bootMode) {
			others = append(others, h.bootMode)
		}
	}
	if len(others) == 0 {
		return unknown("whether other workers boot with " + mine + ": no BareMetalHost shows its boot mode")
	}
	if !slices.Contains(others, mine) {
		return warning(fmt.Sprintf("the host boots with %s, and the other workers with %s: --boot-mode chooses", mine, strings.Join(others, ", ")))
	}
	return passed("the host boots with " + mine + ", as other workers do")
}

// approves says whether the machine-approver answers the requests of hosts with a Machine; why where it is
// not known or it does not. It approves both requests of a Machine's host, the first one within two hours of the Machine's
// creation (openshift/cluster-machine-approver:pkg/controller/csr_check.go authorizeCSR, maxMachineDelta).
func (s Seen) approves() (yes bool, why string) {
	switch {
	case s.Unread["approver runs"] != nil:
		return false, "its Deployment was not read: " + s.Unread["approver runs"].Error()
	case number(evidence.Field(s.ApproverRuns, "status", "availableReplicas")) == 0:
		return false, "it has no pod that is available"
	}
	// pkg/controller/config.go LoadConfig: what cannot be read is the default.
	var config struct {
		NodeClientCert struct {
			Disabled bool `json:"disabled"`
		} `json:"nodeClientCert"`
	}
	if err := yaml.Unmarshal([]byte(evidence.String(s.Approver, "data", "config.yaml")), &config); err == nil && config.NodeClientCert.Disabled {
		return false, "ConfigMap machine-approver-config disables first certificates"
	}
	return true, ""
}

func (s Seen) approverCheck() Check {
	if yes, why := s.approves(); !yes {
		return warning("the cluster-machine-approver may not answer the host's requests (" + why + "): this run approves those of this " +
			"host that wait for 2 minutes")
	}
	return passed("the cluster-machine-approver runs: it approves the requests of hosts with a Machine. This run approves those of this " +
		"host that still wait " +
		"after 2 minutes")
}

// healthCheck: a MachineHealthCheck remediates a Machine that has no Node in time, 10 minutes where it names
// none (openshift/machine-api-operator:pkg/controller/machinehealthcheck/machinehealthcheck_controller.go
// needsRemediation, defaultNodeStartupTimeout; "0" is never).
func (s Seen) healthCheck(w Want) Check {
	if why := s.unknown("healthchecks"); why != "" {
		return unknown("whether a MachineHealthCheck ends a Machine that has no Node in time: " + why)
	}
	p, _, ok := s.Place(w)
	if !ok {
		return unknown("whether a MachineHealthCheck ends a Machine that has no Node in time: its MachineSet is not known")
	}
	template := texts(evidence.Field(object(s.Sets, p.Set), "spec", "template", "metadata", "labels"))
	for _, o := range s.HealthChecks {
		wanted := texts(evidence.Field(o, "spec", "selector", "matchLabels"))
		expressions, _ := evidence.Field(o, "spec", "selector", "matchExpressions").([]any)
		if !labels.SelectorFromSet(wanted).Matches(labels.Set(template)) {
			continue
		}
		name := evidence.String(o, "metadata", "name")
		text := orText(evidence.String(o, "spec", "nodeStartupTimeout"), "10m")
		within, err := time.ParseDuration(text)
		switch {
		case len(expressions) > 0:
			return unknown("whether MachineHealthCheck " + name + " is about the new Machine: it selects by expressions")
		case err != nil:
			return unknown("how long MachineHealthCheck " + name + " waits for a Node: " + text)
		case within > 0 && within < 45*time.Minute:
			return warning(fmt.Sprintf("MachineHealthCheck %s remediates a Machine that has no Node after %s; a bare metal host takes 20 "+
				"to 40 minutes. Raise its "+
				"spec.nodeStartupTimeout first", name, text))
		}
	}
	return passed("no MachineHealthCheck ends the Machine before its Node can be there")
}

// SecretChecks look at the Secrets that a host names. Values stay here.
func SecretChecks(ctx context.Context, api API, w Want) []Check {
	var checks []Check
	secret, err := api.Get(ctx, secretRef(w.Secret))
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return []Check{unknownStop("Secret " + w.Secret + " with the credentials of the BMC: " + err.Error())}
	case w.HaveSecret && err != nil:
		checks = append(checks, stop("there is no Secret "+w.Secret+" in "+Namespace+": --bmc-secret names one that is there"))
	case w.HaveSecret && (!filled(secret, "username") || !filled(secret, "password")):
		checks = append(checks, stop("Secret "+w.Secret+" has no username or no password, the keys that metal3 reads"))
	case w.HaveSecret:
		checks = append(checks, passed("Secret "+w.Secret+" has the keys username and password. metal3 makes the host its owner: whoever deletes the host "+
			"deletes the Secret, where it has no other owner"))
	case err == nil:
		checks = append(checks, stop("Secret "+w.Secret+" exists already and is not changed: use it with --bmc-secret "+w.Secret+", or delete it"))
	default:
		checks = append(checks, passed("there is no Secret "+w.Secret+" yet"))
	}
	if w.NetworkData == "" {
		return checks
	}
	network, err := api.Get(ctx, secretRef(w.NetworkData))
	switch {
	case apierrors.IsNotFound(err):
		return append(checks, stop("there is no Secret "+w.NetworkData+" in "+Namespace+": --network-data"))
	case err != nil:
		return append(checks, unknown("Secret "+w.NetworkData+" with the network: "+err.Error()))
	case !filled(network, "nmstate"):
		// openshift/image-customization-controller: "network data Secret provided but missing required 'nmstate' key".
		return append(checks, stop("Secret "+w.NetworkData+" has no key nmstate: the host would wait for its ramdisk"))
	}
	return append(checks, passed("Secret "+w.NetworkData+" has the key nmstate"))
}

func filled(secret kube.Object, key string) bool {
	return evidence.String(secret, "data", key) != "" || evidence.String(secret, "stringData", key) != ""
}
