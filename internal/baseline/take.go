package baseline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Lister reads objects; internal/kernel/facts.World is one.
type Lister interface {
	// List returns all objects, or an *evidence.Unavailable where only some could be read.
	List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error)
	// Some returns those that could be read.
	Some(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error)
	// Unlisted reports whether one that is lost is not missed.
	Unlisted(ctx context.Context, n evidence.Need) bool
}

// taker collects the values of one area.
type taker struct {
	area    Area
	entries []Entry
}

func (t *taker) add(subject, name string, value any) {
	var text string
	switch v := value.(type) {
	case nil:
		return
	case string:
		text = v
	case []any:
		words := make([]string, 0, len(v))
		for _, item := range v {
			words = append(words, fmt.Sprint(item))
		}
		text = strings.Join(words, ", ")
	default:
		text = fmt.Sprint(v)
	}
	const most = 300
	text = evidence.Shorten(unsalted(strings.ToValidUTF8(text, "")), most)
	if text != "" {
		t.entries = append(t.entries, Entry{t.area, unsalted(subject), unsalted(name), text})
	}
}

// unsalted drops the digest of a secret that was removed from a text. Each run has a salt of its
// own: one secret has another digest at each time, and would be shown as a change.
func unsalted(text string) string { return redacted.ReplaceAllString(text, "[redacted]") }

var redacted = regexp.MustCompile(`\[redacted [^\]]*\]`)

// fields adds fields of an object under their own paths.
func (t *taker) fields(subject string, o evidence.Object, paths ...string) {
	for _, p := range paths {
		t.add(subject, p, evidence.Field(o.Content, strings.Split(p, ".")...))
	}
}

// readers are what each area reads. One that lists nothing is no gap.
var readers = []struct {
	area  Area
	from  evidence.Resource
	where string // namespace
	kind  string // of the subject that an object is
	take  func(*taker, evidence.Object)
}{
	{Version, evidence.ClusterVersions, "", "clusterversion", takeVersion},
	{Operators, evidence.ClusterOperators, "", "co", takeOperator},
	{Nodes, evidence.Nodes, "", "node", takeNode},
	{Pools, evidence.MachineConfigPools, "", "mcp", takePool},
	{Configs, evidence.MachineConfigs, "", "mc", takeConfig},
	{Certificates, evidence.ControllerConfigs, "", "", takeCertificates},
	{Network, evidence.Infrastructures, "", "infrastructure", takeInfrastructure},
	{Network, evidence.NetworkConfigs, "", "network", takeNetwork},
	{Hardware, evidence.BareMetalHosts, openshift.MachineAPINamespace, "bmh", takeHost},
	{Hardware, evidence.HardwareData, openshift.MachineAPINamespace, "bmh", takeHardware},
}

// noEnds is why a cluster has no ends of certificates: releases before
// ControllerConfig.status.controllerCertificates do not list them.
const noEnds = "its ControllerConfig lists no certificates"

// reporting are the resources whose objects always have conditions once they are looked after.
var reporting = []evidence.Resource{evidence.ClusterVersions, evidence.ClusterOperators, evidence.Nodes, evidence.MachineConfigPools}

// Take reads what a cluster is like now. Only a canceled context, or a source that breaks,
// is an error.
func Take(ctx context.Context, l Lister, at time.Time, source, verdict string) (Baseline, error) {
	b := Baseline{
		APIVersion: apiVersion,
		Kind:       kind,
		Taken:      at.UTC(),
		Source:     source,
		Verdict:    verdict,
		Entries:    []Entry{},
		Missing:    []Gap{},
		created:    map[string]time.Time{},
	}
	for i := range readers {
		if err := b.read(ctx, l, i); err != nil {
			return b, err
		}
	}
	if err := b.identify(ctx, l); err != nil {
		return b, err
	}
	slices.SortStableFunc(b.Entries, compare) // of two that describe one host the BareMetalHost stays
	b.Entries = slices.CompactFunc(b.Entries, func(x, y Entry) bool { return x.key() == y.key() })
	if len(b.Entries) > maxEntries {
		return b, fmt.Errorf("the cluster has more than %d values", maxEntries)
	}
	return b, nil
}

// read adds what one of the readers reads. Where only some objects could be read, they are
// added, and that others are missing is a gap.
func (b *Baseline) read(ctx context.Context, l Lister, i int) error {
	r, had := readers[i], len(b.Missing)
	_, err := l.List(ctx, r.from, r.where)
	if u, unread := evidence.AsUnavailable(err); unread {
		if u.Why == evidence.NotServed {
			return nil // a cluster without it
		}
		b.Missing = append(b.Missing, Gap{Area: r.area, Reason: unsalted(u.Error())})
	} else if err != nil {
		return err
	}
	list, err := l.Some(ctx, r.from, r.where)
	if _, unread := evidence.AsUnavailable(err); unread {
		return nil
	} else if err != nil {
		return err
	}
	t := &taker{area: r.area}
	for _, o := range list {
		r.take(t, o)
		if slices.Contains(reporting, r.from) && evidence.Field(o.Content, "status", "conditions") == nil { // a file that was cut, or a new object
			b.Missing = append(b.Missing, Gap{Area: r.area, Reason: r.kind + "/" + o.Name + " has no conditions"})
		}
		if r.kind != "" && r.from != evidence.HardwareData { // an inspection is younger than its host
			b.created[r.kind+"/"+o.Name] = o.Created()
		}
	}
	if r.area == Certificates && len(b.Missing) == had {
		switch {
		case slices.ContainsFunc(list, endsCut):
			b.Missing = append(b.Missing, Gap{Area: r.area, Reason: "its ControllerConfig has no status.observedGeneration: its file is cut off"})
		case len(list) > 0 && len(t.entries) == 0:
			b.Missing = append(b.Missing, Gap{Area: r.area, Reason: noEnds})
		}
	}
	b.Entries = append(b.Entries, t.entries...)
	if r.kind != "" && !slices.Contains(b.Unlisted, r.area) && l.Unlisted(ctx, evidence.Objects(r.from, r.where)) {
		b.Unlisted = append(b.Unlisted, r.area)
	}
	return nil
}

func takeVersion(t *taker, o evidence.Object) {
	t.fields("clusterversion/"+o.Name, o, "spec.channel", "status.desired.version", "status.desired.image")
	t.conditions("clusterversion/"+o.Name, o, "Available", "Failing", "Upgradeable")
}

// conditions adds the states of conditions; their times and messages change all the time.
func (t *taker) conditions(subject string, o evidence.Object, kinds ...string) {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		if kind := evidence.String(c, "type"); slices.Contains(kinds, kind) {
			t.add(subject, "condition "+kind, evidence.String(c, "status"))
		}
	}
}

func takeOperator(t *taker, o evidence.Object) {
	t.conditions("co/"+o.Name, o, "Available", "Degraded", "Upgradeable")
	versions, _ := evidence.Field(o.Content, "status", "versions").([]any)
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if evidence.String(m, "name") == "operator" {
			t.add("co/"+o.Name, "version", evidence.String(m, "version"))
		}
	}
}

func takeNode(t *taker, o evidence.Object) {
	subject := "node/" + o.Name
	t.conditions(subject, o, "Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
	t.fields(subject, o, "spec.unschedulable", "spec.providerID", "status.capacity.cpu", "status.capacity.memory")
	for _, f := range []string{"kubeletVersion", "osImage", "kernelVersion", "containerRuntimeVersion", "machineID", "systemUUID"} {
		t.add(subject, f, evidence.String(o.Content, "status", "nodeInfo", f))
	}
	addresses, _ := evidence.Field(o.Content, "status", "addresses").([]any)
	var ips []any
	for _, a := range addresses {
		m, _ := a.(map[string]any)
		if evidence.String(m, "type") == "InternalIP" {
			ips = append(ips, evidence.String(m, "address"))
		}
	}
	t.add(subject, "InternalIP", ips)
	var roles []any
	labels, _ := evidence.Field(o.Content, "metadata", "labels").(map[string]any)
	for key := range labels {
		if role, ok := strings.CutPrefix(key, openshift.NodeRolePrefix); ok {
			roles = append(roles, role)
		}
	}
	slices.SortFunc(roles, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	t.add(subject, "roles", roles)
	annotations, _ := evidence.Field(o.Content, "metadata", "annotations").(map[string]any)
	for _, a := range []string{"currentConfig", "desiredConfig", "state"} {
		t.add(subject, a, evidence.String(annotations, openshift.MachineConfigGroup+"/"+a))
	}
}

// takePool: the name of a rendered config is a digest of its content
// (openshift/machine-config-operator: pkg/controller/render/hash.go).
func takePool(t *taker, o evidence.Object) {
	subject := "mcp/" + o.Name
	t.fields(subject, o, "spec.configuration.name", "status.configuration.name", "spec.paused", "spec.maxUnavailable", "status.machineCount",
		"status.degradedMachineCount")
	t.conditions(subject, o, "Updated", "Degraded")
}

// takeConfig: contents are not kept. Generation counts the changes of spec.
func takeConfig(t *taker, o evidence.Object) {
	if strings.HasPrefix(o.Name, "rendered-") {
		return // what is in use is with the pools; the others are never removed by themselves
	}
	t.fields("mc/"+o.Name, o, "metadata.generation", "metadata.uid")
}

// takeCertificates: ControllerConfig has the ends of the cluster's CA certificates
// (openshift/api: machineconfiguration/v1 ControllerCertificate).
func takeCertificates(t *taker, o evidence.Object) {
	list, _ := evidence.Field(o.Content, "status", "controllerCertificates").([]any)
	ends := map[string][]string{} // of a bundle and a subject: after a rotation there are two
	for _, item := range list {
		m, _ := item.(map[string]any)
		subject := evidence.String(m, "bundleFile") + " " + evidence.String(m, "subject")
		ends[subject] = append(ends[subject], evidence.String(m, "notAfter"))
	}
	for subject, all := range ends {
		slices.Sort(all)
		t.add(subject, "notAfter", strings.Join(slices.Compact(all), ", "))
	}
}

// endsCut reports whether the list of certificates may be cut off: fields are written in the
// order of the alphabet, and every status has this one.
func endsCut(o evidence.Object) bool {
	return evidence.Field(o.Content, "status", "observedGeneration") == nil
}

func takeInfrastructure(t *taker, o evidence.Object) {
	subject := "infrastructure/" + o.Name
	t.fields(subject, o, "status.apiServerURL", "status.apiServerInternalURI", "status.controlPlaneTopology", "status.infrastructureTopology",
		"status.platformStatus.type")
	platforms, _ := evidence.Field(o.Content, "status", "platformStatus").(map[string]any)
	for name, p := range platforms {
		m, _ := p.(map[string]any)
		for key, former := range map[string]string{"apiServerInternalIPs": "apiServerInternalIP", "ingressIPs": "ingressIP", "machineNetworks": ""} {
			v := m[key]
			if v == nil { // releases that know one address only
				v = m[former]
			}
			t.add(subject, name+"."+key, v)
		}
		t.add(subject, name+".loadBalancer.type", evidence.String(m, "loadBalancer", "type"))
	}
}

func takeNetwork(t *taker, o evidence.Object) {
	subject := "network/" + o.Name
	t.fields(subject, o, "status.networkType", "status.clusterNetworkMTU", "status.serviceNetwork")
	list, _ := evidence.Field(o.Content, "status", "clusterNetwork").([]any)
	var words []any
	for _, n := range list {
		m, _ := n.(map[string]any)
		words = append(words, fmt.Sprintf("%v/%v", m["cidr"], m["hostPrefix"]))
	}
	t.add(subject, "status.clusterNetwork", words)
}

func takeHost(t *taker, o evidence.Object) {
	subject := "bmh/" + o.Name
	t.fields(subject, o, "spec.bmc.address", "spec.bootMACAddress", "spec.bootMode", "status.provisioning.state", "status.operationalStatus",
		"status.poweredOn", "spec.consumerRef.name")
	if hardware, ok := evidence.Field(o.Content, "status", "hardware").(map[string]any); ok {
		t.hardware(subject, hardware)
	}
}

func takeHardware(t *taker, o evidence.Object) {
	if hardware, ok := evidence.Field(o.Content, "spec", "hardware").(map[string]any); ok {
		t.hardware("bmh/"+o.Name, hardware)
	}
}

// hardware adds what an inspection found. A network card is known by its MAC address, a disk
// by its serial number: their names may change with a restart.
func (t *taker) hardware(subject string, h map[string]any) {
	for name, path := range map[string][]string{
		"vendor": {"systemVendor", "manufacturer"}, "product": {"systemVendor", "productName"}, "serial": {"systemVendor", "serialNumber"},
		"BIOS": {"firmware", "bios", "version"}, "BIOS date": {"firmware", "bios", "date"},
		"CPU": {"cpu", "model"}, "CPUs": {"cpu", "count"}, "memory MiB": {"ramMebibytes"}, "hostname": {"hostname"},
	} {
		t.add(subject, name, evidence.Field(h, path...))
	}
	nics, _ := h["nics"].([]any)
	for _, n := range nics {
		m, _ := n.(map[string]any)
		if mac := evidence.String(m, "mac"); mac != "" {
			t.add(subject, "NIC "+mac, fmt.Sprintf("%v %v", m["name"], m["model"]))
		}
	}
	disks, _ := h["storage"].([]any)
	for _, d := range disks {
		m, _ := d.(map[string]any)
		id := evidence.String(m, "serialNumber")
		if id == "" {
			id = evidence.String(m, "wwn")
		}
		if id != "" {
			t.add(subject, "disk "+id, fmt.Sprintf("%v, %v bytes", m["model"], m["sizeBytes"]))
		}
	}
}
