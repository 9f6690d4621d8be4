package checks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// baselines are the sets of capabilities: each release adds one of its own name
// (openshift/api: config/v1/types_cluster_version.go ClusterVersionCapabilitySet).
var baselines = regexp.MustCompile(`^(None|vCurrent|v4\.\d{1,2})$`)

// capabilities are those of all releases until 4.22 (same file, ClusterVersionCapability).
var capabilities = []string{
	"openshift-samples", "baremetal", "marketplace", "Console", "Insights", "Storage", "CSISnapshot", "NodeTuning", "MachineAPI", "Build",
	"DeploymentConfig", "ImageRegistry",
	"OperatorLifecycleManager", "OperatorLifecycleManagerV1", "CloudCredential", "Ingress", "CloudControllerManager", "CompatibilityRequirements", "ClusterAPI",
}

// capabilities: pkg/types/validation/installconfig.go validateCapabilities. Which
// capabilities exist, and need one another, depends on the release.
func (f *fileArea) capabilities(p plans) {
	c := p.install.get("capabilities")
	if !c.there() {
		return
	}
	baseline := c.get("baselineCapabilitySet")
	if !baselines.MatchString(baseline.text()) {
		add(&f.Unsupported, baseline, baseline.path, "%q is no set of capabilities; write vCurrent, None, or v4.Y of a release", baseline.text())
	}
	added := c.get("additionalEnabledCapabilities")
	has := map[string]bool{}
	for _, n := range added.items() {
		has[n.text()] = true
		if !slices.Contains(capabilities, n.text()) {
			add(&f.Unsupported, n, n.path, "%q is no capability; write one of %s", n.text(), strings.Join(capabilities, ", "))
		}
	}
	if baseline.text() != "None" {
		return
	}
	if platformOf(p.install) == "baremetal" && !has["baremetal"] {
		add(&f.Unsupported, added, added.path, "platform baremetal needs the capability baremetal; add it")
	}
	minor, known := minorOf(p.release)
	if known && minor >= 15 && has["marketplace"] && !has["OperatorLifecycleManager"] {
		add(&f.Unsupported, added, added.path, "the capability marketplace needs OperatorLifecycleManager; add it")
	}
	if known && minor >= 16 && !has["Ingress"] {
		add(&f.Unsupported, added, added.path, "the capability Ingress cannot be left out; add it")
	}
}

// featureGates: validateFeatureSet, GenerateCustomFeatures of pkg/types/featuregates.go.
func (f *fileArea) featureGates(p plans) {
	list := p.install.get("featureGates")
	if list.there() && p.install.get("featureSet").text() != "CustomNoUpgrade" {
		add(&f.Unsupported, list, list.path, "featureGates go with featureSet: CustomNoUpgrade only; remove them")
		return
	}
	for _, n := range list.items() {
		_, value, ok := strings.Cut(n.text(), "=")
		if _, err := strconv.ParseBool(value); !ok || err != nil {
			add(&f.Unsupported, n, n.path, "%q is no feature gate; write NAME=true or NAME=false", n.text())
		}
	}
}
