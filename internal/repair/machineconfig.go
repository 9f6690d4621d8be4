package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Bounds of a MachineConfig. On a host it is indented, so the file may be
// larger than what the API accepts: etcd refuses requests above 1.5 MiB
// (etcd-io/etcd:server/embed/config.go DefaultMaxRequestBytes).
const (
	maxHeldFile   = 8 << 20
	maxConfigSize = 3 << 19
)

// machineConfig is a MachineConfig that was parsed and whose Ignition part is valid.
// It holds secrets: no method but content returns any of its contents.
type machineConfig struct {
	object   Object
	ignition types.Config
	spec     configSpec
}

// configSpec are the fields of a MachineConfig that a host applies
// (openshift/api:machineconfiguration/v1/types.go MachineConfigSpec).
type configSpec struct {
	OSImageURL      string          `json:"osImageURL"`
	Config          json.RawMessage `json:"config"`
	KernelArguments []string        `json:"kernelArguments"`
	Extensions      []string        `json:"extensions"`
	FIPS            bool            `json:"fips"`
	KernelType      string          `json:"kernelType"`
}

// parseConfig parses a MachineConfig as JSON. Errors hold no content.
func parseConfig(raw []byte) (*machineConfig, error) {
	if len(raw) > maxHeldFile {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(raw), maxHeldFile)
	}
	var o Object
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&o); err != nil {
		return nil, fmt.Errorf("it is not a JSON object (at byte %d)", dec.InputOffset())
	}
	if dec.More() {
		return nil, fmt.Errorf("something follows the JSON object at byte %d", dec.InputOffset())
	}
	return configOf(o)
}

func configOf(o Object) (*machineConfig, error) {
	if kind := stringAt(o, "kind"); kind != "" && kind != "MachineConfig" {
		return nil, fmt.Errorf("it is a %.60q, not a MachineConfig", kind)
	}
	if v := stringAt(o, "apiVersion"); v != "" && v != openshift.MachineConfigGroup+"/v1" {
		return nil, fmt.Errorf("its apiVersion is %.60q, want %s/v1", v, openshift.MachineConfigGroup)
	}
	raw, err := json.Marshal(o["spec"])
	if err != nil {
		return nil, fmt.Errorf("its spec cannot be encoded")
	}
	c := &machineConfig{object: o}
	if err := json.Unmarshal(raw, &c.spec); err != nil {
		return nil, fmt.Errorf("its spec does not fit the schema of a MachineConfig")
	}
	if len(c.spec.Config) == 0 || string(c.spec.Config) == "null" {
		return nil, fmt.Errorf("it has no Ignition config")
	}
	ignition, report, err := v3_5.ParseCompatibleVersion(c.spec.Config)
	if err != nil || report.IsFatal() {
		// The report quotes no values, but the error may; only the number of entries is reported.
		return nil, fmt.Errorf("its Ignition config is not valid (%d entries in the report)", len(report.Entries))
	}
	c.ignition = ignition
	return c, nil
}

// name returns metadata.name.
func (c *machineConfig) name() string { return stringAt(c.object, "metadata", "name") }

func (c *machineConfig) annotation(key string) string {
	return stringAt(c.object, "metadata", "annotations", key)
}

// content returns the object as the API would take it, compact. It is secret.
func (c *machineConfig) content() ([]byte, error) { return json.Marshal(c.object) }

// diff names what differs in what a host applies, without any content, in the
// order of openshift/machine-config-operator:pkg/daemon/update.go
// newMachineConfigDiff. Empty: a host that applied one has applied the other.
func (c *machineConfig) diff(other *machineConfig) ([]string, error) {
	var out []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	a, b := c.spec, other.spec
	add(a.OSImageURL != b.OSImageURL, "osImageURL")
	add(!sameList(a.KernelArguments, b.KernelArguments), "kernel arguments")
	add(a.FIPS != b.FIPS, "fips")
	add(!reflect.DeepEqual(c.ignition.Passwd, other.ignition.Passwd), "users and SSH keys")
	out = append(out, diffNamed("file", files(c.ignition), files(other.ignition))...)
	out = append(out, diffNamed("unit", units(c.ignition), units(other.ignition))...)
	add(kernelType(a.KernelType) != kernelType(b.KernelType), "kernel type")
	add(!sameList(a.Extensions, b.Extensions), "extensions")
	rest, otherRest := c.ignition, other.ignition
	for _, r := range []*types.Config{&rest, &otherRest} {
		r.Passwd, r.Storage.Files, r.Systemd = types.Passwd{}, nil, types.Systemd{}
		r.Ignition.Version = ""
	}
	same, err := sameJSON(rest, otherRest)
	if err != nil {
		return nil, err
	}
	add(!same, "other parts of the Ignition config")
	return out, nil
}

func sameList(a, b []string) bool { return len(a) == 0 && len(b) == 0 || slices.Equal(a, b) }

// kernelType: empty is "default" (pkg/daemon/update.go canonicalizeKernelType).
func kernelType(s string) string {
	if s == "" {
		return "default"
	}
	return s
}

func sameJSON(a, b any) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("encode Ignition config: %w", err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("encode Ignition config: %w", err)
	}
	return bytes.Equal(x, y), nil
}

func files(c types.Config) map[string]any {
	out := map[string]any{}
	for _, f := range c.Storage.Files {
		out[f.Path] = f
	}
	return out
}

func units(c types.Config) map[string]any {
	out := map[string]any{}
	for _, u := range c.Systemd.Units {
		out[u.Name] = u
	}
	return out
}

func diffNamed(what string, a, b map[string]any) []string {
	var out []string
	for name, v := range a {
		w, ok := b[name]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s %s only on the host", what, name))
		case !reflect.DeepEqual(v, w):
			out = append(out, fmt.Sprintf("%s %s", what, name))
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("%s %s only in the cluster", what, name))
		}
	}
	slices.Sort(out)
	return out
}

var renderedName = regexp.MustCompile(`^rendered-(.+)-[0-9a-f]{32}$`)

// expectedRender is what a held config must be before it is restored.
type expectedRender struct {
	Name           string // the missing render
	Pool           string
	ControllerHash string // generated-by-controller-version of the pool's present render
	Release        string // release-image-version of the pool's present render
}

// validate refuses a held config that is not the missing render of this pool
// and release. The name of a render is a hash over its spec, which neither the
// API nor the daemon verifies; therefore the rest is checked here.
func (c *machineConfig) validate(want expectedRender) error {
	if have := c.name(); have != want.Name {
		return refuse("the held config is %.80q, the missing one is %s", have, want.Name).
			instead("fetch it from a host whose currentConfig is the missing one")
	}
	m := renderedName.FindStringSubmatch(want.Name)
	if m == nil || m[1] != want.Pool {
		return refuse("%s is not the name of a rendered config of pool %s", want.Name, want.Pool)
	}
	owners, _ := fieldAt(c.object, "/metadata/ownerReferences")
	list, _ := owners.([]any)
	for _, o := range list {
		ref, _ := o.(map[string]any)
		if ref["kind"] != "MachineConfigPool" || ref["name"] != want.Pool {
			return refuse("the held config belongs to %v %v, not to pool %s", ref["kind"], ref["name"], want.Pool)
		}
	}
	if labels, ok := fieldAt(c.object, "/metadata/labels/"+strings.ReplaceAll(openshift.ConfigRoleLabel, "/", "~1")); ok {
		return refuse("the held config carries the role label %v: re-created, it would become an input of the next render", labels)
	}
	if have := c.annotation(openshift.GeneratedByControllerAnnotation); have == "" || have != want.ControllerHash {
		return refuse("the held config was generated by controller version %s, the cluster's by %s: it is from another release", orNone(have),
			orNone(want.ControllerHash)).
			instead("find out why the bootstrap used another payload; do not restore it")
	}
	if have := c.annotation(openshift.ReleaseVersionAnnotation); have != want.Release {
		return refuse("the held config is of release %s, the cluster's render of %s", orNone(have), orNone(want.Release)).
			instead("find out why the bootstrap used another payload; do not restore it")
	}
	body, err := json.Marshal(c.object)
	if err != nil {
		return fmt.Errorf("encode held config: %w", err)
	}
	if len(body) > maxConfigSize {
		return refuse("the held config has %d bytes, the API takes at most %d", len(body), maxConfigSize)
	}
	return nil
}

// forCreate returns the object as it is to be created: its exact name and spec,
// the annotations that the operator checks, and our mark. No metadata of the earlier object
// is in it. Owner references are removed: those of the bootstrap refer to a pool without
// a uid, which the API requires.
func (c *machineConfig) forCreate(plan, digest string) Object {
	annotations := map[string]any{}
	if have, ok := fieldAt(c.object, "/metadata/annotations"); ok {
		m, _ := have.(map[string]any)
		for k, v := range m {
			if strings.HasPrefix(k, openshift.MachineConfigGroup+"/") {
				annotations[k] = v
			}
		}
	}
	annotations[planAnnotation], annotations[contentAnnotation] = plan, digest
	return Object{
		"apiVersion": openshift.MachineConfigGroup + "/v1", "kind": "MachineConfig",
		"metadata": map[string]any{"name": c.name(), "annotations": annotations},
		"spec":     c.object["spec"],
	}
}

// Annotations of objects that a plan created.
const (
	planAnnotation    = "rollcall.dev/plan"
	contentAnnotation = "rollcall.dev/content"
)
