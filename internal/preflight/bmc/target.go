package bmc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// PlanTargets returns the BMCs of the hosts of a plan, and takes their credentials out of its
// files. The objects are those that plan.Source gives of the same files: they have no
// credentials, and the place of each value.
func PlanTargets(files []string, objects []evidence.Object, c *Credentials) ([]Target, error) {
	var install, agent []planned
	architectures := map[string]string{}
	for _, file := range files {
		raw, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the BMCs of the plan: %w", err)
		}
		for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
			var doc any
			err := dec.Decode(&doc)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil { // its text may quote a line with a password
				return nil, fmt.Errorf("read the BMCs of the plan: %s has a block that is not valid YAML, or a field twice in one block", file)
			}
			name := filepath.ToSlash(file)
			install = append(install, hostsOf(value{doc, ""}.get("platform").get("baremetal").get("hosts"), placeOf(objects, plan.InstallConfig, name))...)
			agent = append(agent, hostsOf(value{doc, ""}.get("hosts"), placeOf(objects, plan.AgentConfig, name))...)
			architecturesOf(value{doc, ""}, architectures)
		}
	}
	byAgent := slices.ContainsFunc(objects, func(o evidence.Object) bool { return o.Content["type"] == plan.AgentConfig })
	list := agent
	if len(list) == 0 {
		list = install
	}
	var targets []Target
	for _, h := range list {
		if h.Address == "" {
			h.completeFrom(install)
		}
		if h.Address == "" {
			continue
		}
		h.ByAgent, h.Architecture = byAgent, architectures[h.Role]
		c.usePlan(h.Target, h.user, h.pass)
		targets = append(targets, h.Target)
	}
	return targets, nil
}

// planned is a host of a plan with its credential, which stays here.
type planned struct {
	Target
	user, pass string
}

// completeFrom takes the BMC of the same host of install-config: agent-config may leave it
// there (openshift/installer:pkg/asset/agent/agentconfig/agenthosts.go).
func (h *planned) completeFrom(list []planned) {
	for _, o := range list {
		same := o.Host == h.Host || slices.ContainsFunc(o.MACs, func(m string) bool {
			return MAC(m) != "" && slices.ContainsFunc(h.MACs, func(n string) bool { return MAC(n) == MAC(m) })
		})
		if same && o.Address != "" {
			h.Address, h.Off, h.user, h.pass = o.Address, o.Off, o.user, o.pass
			h.File, h.Field, h.Line, h.Column = o.File, o.Field, o.Line, o.Column
			return
		}
	}
}

// value is a value of a document with its path. As the installer it does not mind the case
// of letters.
type value struct {
	v    any
	path string
}

func (v value) get(key string) value {
	m, _ := v.v.(map[string]any)
	child, ok := m[key]
	if !ok {
		for _, name := range sortedKeys(m) {
			if strings.EqualFold(name, key) {
				key, child = name, m[name]
				break
			}
		}
	}
	if v.path != "" {
		key = v.path + "." + key
	}
	return value{child, key}
}

func (v value) items() []value {
	list, _ := v.v.([]any)
	var out []value
	for i, item := range list {
		out = append(out, value{item, v.path + "[" + strconv.Itoa(i) + "]"})
	}
	return out
}

func (v value) text() string {
	switch x := v.v.(type) {
	case string:
		return strings.TrimSpace(x)
	case int, int64, float64:
		return fmt.Sprint(x)
	}
	return ""
}

func (v value) yes() bool { b, _ := v.v.(bool); return b }

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// placeOf returns where a path of a plan is written.
func placeOf(objects []evidence.Object, kind, file string) func(path string) (string, int, int) {
	for _, o := range objects {
		if o.Content["type"] != kind || o.Loc.Path != file {
			continue
		}
		at, _ := o.Content["at"].(map[string]any)
		return func(path string) (string, int, int) {
			line, column, _ := plan.LineColumn(at[path])
			return file, line, column
		}
	}
	return func(string) (string, int, int) { return file, 0, 0 }
}

// hostsOf reads the hosts of install-config or agent-config
// (openshift/installer:pkg/types/baremetal/platform.go Host, pkg/types/agent Host).
func hostsOf(list value, place func(string) (string, int, int)) []planned {
	var out []planned
	for _, item := range list.items() {
		bmc := item.get("bmc")
		at := bmc.get("address")
		h := planned{user: bmc.get("username").text(), pass: bmc.get("password").text()}
		h.Host = item.get("name").text()
		if h.Host == "" {
			h.Host = item.get("hostname").text()
		}
		if h.Host == "" {
			h.Host = item.path
		}
		h.Role, h.Address, h.Off = item.get("role").text(), withoutUser(at.text()), bmc.get("disableCertificateVerification").yes()
		h.BootMode = item.get("bootMode").text()
		if mac := item.get("bootMACAddress").text(); mac != "" {
			h.MACs = append(h.MACs, mac)
		}
		for _, i := range item.get("interfaces").items() {
			if mac := i.get("macAddress").text(); mac != "" {
				h.MACs = append(h.MACs, mac)
			}
		}
		h.Hints = hintsOf(item.get("rootDeviceHints"))
		h.File, h.Line, h.Column = place(at.path)
		h.Field = at.path
		out = append(out, h)
	}
	return out
}

// hintsOf reads the hints that are set, nil where none is.
func hintsOf(v value) *metal3.RootDeviceHints {
	h := metal3.RootDeviceHints{
		DeviceName: v.get("deviceName").text(), HCTL: v.get("hctl").text(), Model: v.get("model").text(), Vendor: v.get("vendor").text(),
		SerialNumber: v.get("serialNumber").text(), WWN: v.get("wwn").text(), WWNWithExtension: v.get("wwnWithExtension").text(),
		WWNVendorExtension: v.get("wwnVendorExtension").text(),
	}
	if size, ok := v.get("minSizeGigabytes").v.(int); ok {
		h.MinSizeGigabytes = size
	}
	if turns, ok := v.get("rotational").v.(bool); ok {
		h.Rotational = &turns
	}
	if h == (metal3.RootDeviceHints{}) {
		return nil
	}
	return &h
}

// architecturesOf notes what the machine pools of install-config ask for, by role.
func architecturesOf(doc value, by map[string]string) {
	for role, pool := range map[string]value{"master": doc.get("controlPlane"), "arbiter": doc.get("arbiter")} {
		if a := pool.get("architecture").text(); a != "" {
			by[role] = a
		}
	}
	for _, pool := range doc.get("compute").items() {
		if a := pool.get("architecture").text(); a != "" && pool.get("name").text() == "worker" {
			by["worker"] = a
		}
	}
}

// offWord in a line of a list says that a certificate need not be verified.
const offWord = "disableCertificateVerification"

// ListTargets reads a list: a line for each BMC, [NAME] ADDRESS [master|worker] [disableCertificateVerification].
// An address without a scheme is one of Redfish.
func ListTargets(path string) ([]Target, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of BMCs: %w", err)
	}
	var targets []Target
	for i, line := range strings.Split(string(raw), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		t, err := listed(words)
		if err != nil {
			return nil, fmt.Errorf("read the list of BMCs: %s:%d: %w", path, i+1, err)
		}
		t.File, t.Line, t.Column = filepath.ToSlash(path), i+1, 1
		targets = append(targets, t)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("read the list of BMCs: %s names none; write a line for each: NAME redfish-virtualmedia://ADDRESS/redfish/v1/Systems/1", path)
	}
	return targets, nil
}

func listed(words []string) (t Target, err error) {
	for len(words) > 1 {
		switch last := words[len(words)-1]; last {
		case offWord:
			t.Off = true
		case "master", "worker", "arbiter":
			t.Role = last
		default:
			if len(words) != 2 {
				return t, fmt.Errorf("write NAME ADDRESS, then master or worker, then %s; a word too much is there", offWord)
			}
			t.Host = words[0]
			words = words[1:]
			continue
		}
		words = words[:len(words)-1]
	}
	at := words[0]
	if strings.Contains(at, "@") { // the text is not shown: it holds a password
		return t, errors.New("the address holds a user or a password; write those in a file for --bmc-credentials")
	}
	if !strings.Contains(at, "://") {
		if host, _, _ := strings.Cut(at, "/"); !isHost(host) {
			return t, fmt.Errorf("%q is not an address", wire.Clip(at))
		}
		at = "redfish://" + at
	}
	t.Address = at
	if t.Host == "" {
		t.Host = hostOf(at)
	}
	return t, nil
}

// roles are the roles of the Machines of a cluster, by their names. A host of the control plane has a
// Machine: where Machines were read, a host without one is no master.
type roles map[string]string

func rolesOf(machines []evidence.Object) roles {
	r := roles{}
	for _, o := range machines {
		r[o.Namespace+"/"+o.Name] = evidence.String(o.Content, "metadata", "labels", openshift.MachineRoleLabel)
	}
	return r
}

func (r roles) of(h *metal3.BareMetalHost) string {
	if role := map[string]string{"control-plane": "master", "arbiter": "arbiter", "worker": "worker"}[h.Labels[openshift.HostRoleLabel]]; role != "" {
		return role
	}
	if c := h.Spec.ConsumerRef; c != nil && r[c.Namespace+"/"+c.Name] != "" {
		return r[c.Namespace+"/"+c.Name]
	}
	if len(r) > 0 {
		return "worker"
	}
	return ""
}

// HostTargets returns the BMCs of BareMetalHosts, with what metal3 found in the machines
// before. Their credentials are in Secrets, which are not read.
func HostTargets(hosts, hardware, machines []evidence.Object) ([]Target, error) {
	roles := rolesOf(machines)
	found := map[string]*metal3.HardwareDetails{}
	for _, o := range hardware {
		h, err := evidence.Decode[metal3.HardwareData](o)
		if err == nil && h.Spec.HardwareDetails != nil {
			found[h.Namespace+"/"+h.Name] = h.Spec.HardwareDetails
		}
	}
	var targets []Target
	for _, o := range hosts {
		h, err := evidence.Decode[metal3.BareMetalHost](o)
		if err != nil {
			return nil, fmt.Errorf("read the BMC of BareMetalHost %s: %w", o.Name, err)
		}
		if h.Spec.BMC.Address == "" {
			continue
		}
		details := found[h.Namespace+"/"+h.Name]
		if details == nil {
			details = h.Status.HardwareDetails
		}
		t := Target{
			Host: h.Name, Role: roles.of(&h),
			Address: withoutUser(h.Spec.BMC.Address), Off: h.Spec.BMC.DisableCertificateVerification, BootMode: string(h.Spec.BootMode),
			Hints: h.Spec.RootDeviceHints, Architecture: goArchitecture(h.Spec.Architecture), Inspected: inspected(details),
			File: o.Loc.Path, Field: "spec.bmc.address",
		}
		if h.Spec.BootMACAddress != "" {
			t.MACs = []string{h.Spec.BootMACAddress}
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// goArchitecture turns the kernel's word into Go's.
func goArchitecture(word string) string {
	if name, ok := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[word]; ok {
		return name
	}
	return word
}

func inspected(d *metal3.HardwareDetails) *Inspected {
	if d == nil {
		return nil
	}
	i := &Inspected{MemoryGiB: (d.RAMMebibytes + 512) / 1024, Threads: d.CPU.Count}
	for _, n := range d.NIC {
		if mac := MAC(n.MAC); mac != "" && !slices.Contains(i.MACs, mac) {
			i.MACs = append(i.MACs, mac)
		}
	}
	for _, s := range d.Storage {
		if s.SerialNumber != "" {
			i.Serials = append(i.Serials, s.SerialNumber)
		}
	}
	return i
}
