// Package chrony makes the MachineConfig that gives the nodes of a pool their time sources.
//
// It is one file, /etc/chrony.conf, in the form that Butane writes for OpenShift. Butane's
// library is not linked for it: it brings Ignition's types of eight versions and its validators,
// for an object of four fields.
package chrony

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The file, and the name that the documentation gives to such a MachineConfig
// (openshift/openshift-docs: modules/installation-special-config-chrony.adoc).
const (
	path     = "/etc/chrony.conf"
	mostSent = 8 // time servers
)

// Name is the name of the MachineConfig of a pool. It sorts behind the one of the
// documentation, so that it would win over it: whoever has that one edits it instead.
func Name(pool string) string { return "99-" + pool + "-rollcall-chrony" }

// Documented is the name that the documentation gives it.
func Documented(pool string) string { return "99-" + pool + "-chrony" }

var (
	poolName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$`)
	hostName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?$`)
)

// MachineConfig returns the object as YAML. Servers are names or addresses; each is asked with
// iburst. The rest is what RHEL CoreOS has by default.
func MachineConfig(pool string, servers []string) ([]byte, error) {
	if !poolName.MatchString(pool) {
		return nil, fmt.Errorf("%q is not the name of a pool", pool)
	}
	text, err := conf(servers)
	if err != nil {
		return nil, err
	}
	// Ignition 3.2.0 is read by the machine-config-operator of every release from 4.7 on
	// (openshift/machine-config-operator: pkg/controller/common/helpers.go ParseAndConvertConfig).
	return yaml.Marshal(map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
		"metadata": map[string]any{"name": Name(pool), "labels": map[string]any{openshift.ConfigRoleLabel: pool}},
		"spec": map[string]any{"config": map[string]any{
			"ignition": map[string]any{"version": "3.2.0"},
			"storage": map[string]any{"files": []any{map[string]any{
				"path": path, "mode": 0o644, "overwrite": true,
				"contents": map[string]any{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text))},
			}}},
		}},
	})
}

// conf returns the content of the file.
func conf(servers []string) (string, error) {
	if len(servers) == 0 || len(servers) > mostSent {
		return "", fmt.Errorf("want 1 to %d time servers, got %d", mostSent, len(servers))
	}
	var b strings.Builder
	for i, s := range servers {
		if _, err := netip.ParseAddr(s); err != nil && !hostName.MatchString(s) {
			return "", fmt.Errorf("%.80q is not the name or address of a time server", s)
		}
		if slices.Contains(servers[:i], s) {
			return "", errors.New(s + " is named twice")
		}
		fmt.Fprintf(&b, "server %s iburst\n", s)
	}
	b.WriteString("driftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\nlogdir /var/log/chrony\n")
	return b.String(), nil
}
