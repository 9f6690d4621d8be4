package checks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
)

// clusterManifests: pkg/asset/agent/manifests, 4.12 to 4.22. With an install-config.yaml the
// installer regenerates the objects; it reads those that are there all the same.
func (f *fileArea) clusterManifests(p plans) {
	if len(p.objects) == 0 {
		return
	}
	f.manifestFiles(p)
	for _, name := range slices.Sorted(maps.Keys(p.objects)) {
		n, known := p.objects[name], manifestKeys[name]
		if known == nil {
			nmStateKeys.wrong(n, f.unreadable)
			continue
		}
		known.unknown(n, func(n node, siblings []string) {
			hint := "remove it"
			if s := suggest.Nearest(n.path[strings.LastIndexByte(n.path, '.')+1:], siblings); s != "" {
				hint = "write " + s
			}
			add(&f.Refused, n, n.path, "the installer does not know this field and refuses the file; %s", hint)
		})
		known.wrong(n, f.unreadable)
		twice, _ := n.doc.object.Content["twice"].([]any)
		for _, v := range twice {
			m, _ := v.(map[string]any)
			again := node{n.doc, evidence.String(m, "path"), ""}
			add(&f.Twice, again, again.path, "this field is there twice in one block; keep one")
		}
	}
	f.clusterInstall(p.objects["agent-cluster-install.yaml"])
	f.imageSet(p.objects["cluster-image-set.yaml"])
	f.infraEnv(p)
	f.secret(p.objects["pull-secret.yaml"])
}

// manifestFiles: each object has to be there. An ignition without the cluster's configuration
// (agent create unconfigured-ignition) needs the InfraEnv and the pull secret alone.
func (f *fileArea) manifestFiles(p plans) {
	if p.install.there() && p.install.doc.from == nil {
		return // they are regenerated
	}
	if p.agent.there() && p.agent.doc.from == nil {
		add(&f.Unsupported, node{p.agent.doc, "", nil}, "agent-config.yaml", "where this file is, the installer regenerates cluster-manifests, and "+
			"finds no install-config.yaml for that. Take it out of the directory, or add install-config.yaml")
	}
	wanted := []string{"infraenv.yaml", "pull-secret.yaml"}
	if p.install.there() {
		wanted = []string{"agent-cluster-install.yaml", "cluster-deployment.yaml", "cluster-image-set.yaml", "infraenv.yaml", "pull-secret.yaml"}
	}
	for _, name := range wanted {
		if n := p.objects[name]; !n.there() {
			beside := p.objects[slices.Sorted(maps.Keys(p.objects))[0]]
			add(&f.Missing, node{beside.doc, "", nil}, "cluster-manifests/"+name, "cluster-manifests/%s is missing: the installer needs all "+
				"of %s there", name, strings.Join(wanted, ", "))
		}
	}
}

// clusterInstall: agentclusterinstall.go validateSupportedPlatforms.
func (f *fileArea) clusterInstall(n node) {
	if !n.there() {
		return
	}
	spec := n.get("spec")
	platform := spec.get("platformType")
	f.oneOf(platform, "BareMetal", "VSphere", "None", "External", "Nutanix", "baremetal", "vsphere", "none", "external", "nutanix")
	umn := spec.get("networking", "userManagedNetworking")
	if v, is := umn.v.(bool); is && !v && slices.Contains([]string{"none", "external"}, strings.ToLower(platform.text())) {
		add(&f.Unsupported, umn, umn.path, "platform %s needs a load balancer and DNS of your own; write true, or remove the field", platform.text())
	}
	if form, _ := n.doc.object.Content["form"].(map[string]any); form["overrides"] != nil {
		at := node{n.doc, "metadata.annotations", nil}
		add(&f.Unsupported, at, at.path, "the annotation agent-install.openshift.io/install-config-overrides is not JSON; the installation stops at it")
	}
}

var pullSpec = regexp.MustCompile(`^[a-z0-9][-a-z0-9.]*(:\d+)?/[-a-z0-9._/]+(:[-A-Za-z0-9._]+|@sha256:[0-9a-f]{64})$`)

// imageSet: clusterimageset.go validateReleaseVersion wants the very image that
// openshift-install was made for, which no plan names.
func (f *fileArea) imageSet(n node) {
	if v := n.get("spec", "releaseImage"); n.there() && !pullSpec.MatchString(v.text()) {
		add(&f.Unsupported, v, v.path, "%q is no release image; write the one that `openshift-install version` names: the installer takes no other", v.text())
	}
}

// infraEnv: infraenvfile.go finish, agent.go validateNMStateLabelSelector, nmstateconfig.go
// validateNMStateLabels.
func (f *fileArea) infraEnv(p plans) {
	env := p.objects["infraenv.yaml"]
	f.oneOf(env.get("spec", "cpuArchitecture"), "x86_64", "aarch64", "ppc64le", "s390x", "amd64", "arm64")
	chosen, _ := env.get("spec", "nmStateConfigLabelSelector", "matchLabels").v.(map[string]any)
	for _, doc := range p.objects["nmstateconfig.yaml"].get("documents").items() {
		labels := doc.get("metadata", "labels")
		m, _ := labels.v.(map[string]any)
		name := doc.get("metadata", "name").text()
		switch {
		case len(m) == 0:
			add(&f.Missing, labels, labels.path, "NMStateConfig %s has no labels; write those of spec.nmStateConfigLabelSelector.matchLabels of "+
				"the InfraEnv", name)
		case env.there() && !maps.Equal(words(m), words(chosen)):
			add(&f.Unsupported, labels, labels.path, "the labels of NMStateConfig %s are not the matchLabels of the InfraEnv (%s); write the "+
				"same in both", name, strings.Join(pairs(chosen), ", "))
		}
	}
}

func words(m map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = fmt.Sprint(v)
	}
	return out
}

func pairs(m map[string]any) []string {
	var out []string
	for _, k := range sorted(m) {
		out = append(out, fmt.Sprintf("%s: %v", k, m[k]))
	}
	return out
}

// secret: agentpullsecret.go validateSecretIsNotEmpty. What it holds is judged with the plan.
func (f *fileArea) secret(n node) {
	if !n.there() {
		return
	}
	form, _ := n.doc.object.Content["form"].(map[string]any)
	bad, _ := form["data"].([]any)
	for _, path := range bad {
		v := node{n.doc, fmt.Sprint(path), nil}
		add(&f.Unsupported, v, v.path, "the installer cannot read it: it has to be base64")
	}
	if v := n.get("stringData", ".dockerconfigjson"); v.text() == "" {
		add(&f.Missing, node{n.doc, "stringData", nil}, "stringData..dockerconfigjson", "the pull secret has to be in stringData, under "+
			".dockerconfigjson; the installer does not read data")
	}
}
