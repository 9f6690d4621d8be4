package checks

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// Extra manifests reach the nodes on two paths, which have to give one result. The bootstrap
// host copies all files into one directory, from which machine-config-controller renders
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootkube.sh.template;
// openshift/machine-config-operator:pkg/controller/bootstrap/bootstrap.go Run, 4.10 to 4.22: it
// reads each document of each file, and of a kind with one object the last). cluster-bootstrap
// creates them in the cluster (openshift/library-go:pkg/assets/create/creater.go load, create):
// of each file the first document, in the order of the file names, and never one that exists.
// Masters boot with the bootstrap host's render. Where the cluster's is another, it does not
// have theirs, and they do not get further.

// manifestArea is the area plan-manifests: extra manifests of which the bootstrap host and the cluster render different configs of nodes.
type manifestArea struct {
	Unreadable problems // files that are not YAML
	Lists      problems // files with a list of objects
	Lost       problems // objects that are not the first document of their file
	Twice      problems // objects of which two manifests differ
	Generated  problems // MachineConfigs with a name that a controller or the installer writes
	Differs    problems // objects that only one of the two renders uses
	NoPool     problems // MachineConfigs without a role: no pool uses them
	SamePool   problems // settings of kubelet or CRI-O for a pool that has some already
}

var manifestChecks = check.Area("plan-manifests", needs, readManifests, check.Fields[manifestArea]{
	"plan-manifest-unreadable":     func(f *manifestArea) *problems { return &f.Unreadable },
	"plan-manifest-list":           func(f *manifestArea) *problems { return &f.Lists },
	"plan-manifest-documents-lost": func(f *manifestArea) *problems { return &f.Lost },
	"plan-manifest-twice":          func(f *manifestArea) *problems { return &f.Twice },
	"plan-manifest-generated-name": func(f *manifestArea) *problems { return &f.Generated },
	"plan-manifest-differs":        func(f *manifestArea) *problems { return &f.Differs },
	"plan-manifest-without-pool":   func(f *manifestArea) *problems { return &f.NoPool },
	"plan-manifest-same-pool":      func(f *manifestArea) *problems { return &f.SamePool },
})

func readManifests(ctx context.Context, w *facts.World) (manifestArea, error) {
	var f manifestArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	list := f.files(p)
	if !p.agentBased() { // there each document becomes a file (openshift/installer:pkg/asset/agent/image/ignition.go addExtraManifests)
		f.lost(list)
	}
	f.twice(list)
	f.samePool(list)
	for _, m := range list {
		f.name(p, list, m)
		f.fixedFile(m)
		if m.is(openshift.ConfigGroup, "Image") && m.name != "cluster" && m.n.get("registrySources").yes() {
			m.add(&f.Differs, "the bootstrap host renders with an Image of any name, and the cluster only with the one named cluster: %s will differ. "+
				"Name it cluster", written["Image"])
		}
		if m.is(openshift.MachineConfigGroup, "MachineConfig") && m.n.get("role").text() == "" {
			m.add(&f.NoPool, "it has no label machineconfiguration.openshift.io/role, by which pools choose: no node gets it. Add the label, with the "+
				"value master or worker")
		}
	}
	return f, nil
}

// rendered are the kinds that both renders read, and written what they write on nodes
// (openshift/machine-config-operator:pkg/controller/bootstrap/bootstrap.go, 4.10 to 4.22).
var rendered = map[string][]string{
	openshift.MachineConfigGroup: {"MachineConfig", "MachineConfigPool", "KubeletConfig", "ContainerRuntimeConfig", "ControllerConfig"},
	openshift.OperatorGroup:      {"ImageContentSourcePolicy"},
	openshift.ConfigGroup: {"ImageDigestMirrorSet", "ImageTagMirrorSet", "Image", "ImagePolicy", "ClusterImagePolicy", "FeatureGate", "Node",
		"APIServer"},
}

var written = map[string]string{
	"KubeletConfig": "/etc/kubernetes/kubelet.conf", "FeatureGate": "/etc/kubernetes/kubelet.conf", "Node": "/etc/kubernetes/kubelet.conf",
	"APIServer":              "/etc/kubernetes/kubelet.conf",
	"ContainerRuntimeConfig": "/etc/crio/crio.conf.d and /etc/containers/storage.conf", "ImageContentSourcePolicy": "/etc/containers/registries.conf",
	"ImageDigestMirrorSet": "/etc/containers/registries.conf", "ImageTagMirrorSet": "/etc/containers/registries.conf",
	"Image":       "/etc/containers/registries.conf and policy.json",
	"ImagePolicy": "/etc/containers/policy.json", "ClusterImagePolicy": "/etc/containers/policy.json",
	"Proxy": "/etc/mco/proxy.env", "Infrastructure": "files of the platform", "DNS": "files of the platform", "Network": "files of the platform",
}

// extra is one object of the extra manifests.
type extra struct {
	n                            node
	group, kind, namespace, name string
	file                         string // without its directories: one directory on the bootstrap host
	index                        int    // of the document in its file
}

func (m extra) is(group, kind string) bool { return m.group == group && m.kind == kind }
func (m extra) renders() bool              { return slices.Contains(rendered[m.group], m.kind) }
func (m extra) same(o extra) bool {
	return m.group == o.group && m.kind == o.kind && m.namespace == o.namespace && m.name == o.name
}

func (m extra) add(to *problems, format string, args ...any) {
	add(to, m.n, m.name, m.kind+" "+m.name+": "+format, args...)
}

// files lists the objects of all files, in the order in which the cluster gets them.
func (f *manifestArea) files(p plans) []extra {
	var list []extra
	for _, file := range p.manifests {
		base := path.Base(file.doc.object.Name)
		if p.agentBased() && !readByAgent(file.doc.object.Name) {
			continue
		}
		if file.get("broken").yes() {
			add(&f.Unreadable, file, base, "it cannot be read as YAML. The bootstrap host stops at it: correct it, and check it with `oc apply "+
				"--dry-run=client -f`")
		}
		for i, n := range file.get("documents").items() {
			group, _, ok := strings.Cut(n.get("apiVersion").text(), "/")
			if !ok {
				group = ""
			}
			m := extra{n: n, group: group, kind: n.get("kind").text(), namespace: n.get("namespace").text(), name: n.get("name").text(), file: base, index: i}
			if strings.HasSuffix(m.kind, "List") && m.name == "" {
				add(&f.Lists, n, base, "it holds a %s, which cannot be created: the bootstrap host stops at it. Write each object into a "+
					"file of its own", m.kind)
				continue
			}
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b extra) int { return cmp.Or(strings.Compare(a.file, b.file), a.index-b.index) })
	return list
}

// readByAgent: an agent-based installation reads openshift/*.yaml and *.yml only
// (openshift/installer: pkg/asset/agent/manifests/extramanifests.go Load, 4.12 to 4.22).
func readByAgent(name string) bool {
	return path.Base(path.Dir(name)) == "openshift" && path.Ext(name) != ".json"
}

// lost: what is behind the first document of a file is never created.
func (f *manifestArea) lost(list []extra) {
	for _, m := range list {
		switch {
		case m.index == 0:
		case m.renders():
			m.add(&f.Lost, "it is document %d of its file. The bootstrap host renders it, and the cluster gets only the first document: %s. Write it "+
				"into a file of its own", m.index+1, m.differing(list, nil))
		default:
			m.add(&f.Lost, "it is document %d of its file, and the cluster gets only the first. Write it into a file of its own", m.index+1)
		}
	}
}

// twice: two manifests for one object. The cluster keeps the first; the bootstrap host merges
// both, or takes the last of a kind with one object.
func (f *manifestArea) twice(list []extra) {
	for i, m := range list {
		if !m.renders() {
			continue
		}
		first := slices.IndexFunc(list[:i], m.same)
		if first < 0 || list[first].n.get("content").text() == m.n.get("content").text() {
			continue
		}
		o := list[first]
		if o.file == m.file && o.n.doc != m.n.doc {
			m.add(&f.Twice, "manifests/%s and openshift/%s have one name, and the one in openshift replaces the other. Keep one", m.file, m.file)
			continue
		}
		m.add(&f.Twice, "%s has an object of this name, too. The cluster keeps that one, the bootstrap host renders both: "+
			"%s. Keep one", o.n.doc.object.Name, m.differing(list, &o))
	}
}

// samePool: the bootstrap host renders with one KubeletConfig and one ContainerRuntimeConfig for
// each pool, and stops at a second (openshift/machine-config-operator:pkg/controller/
// kubelet-config/kubelet_config_bootstrap.go, container-runtime-config/
// container_runtime_config_bootstrap.go, RunBootstrap).
func (f *manifestArea) samePool(list []extra) {
	for i, m := range list {
		selector := m.n.get("selector").text()
		if selector == "" || !m.is(openshift.MachineConfigGroup, "KubeletConfig") && !m.is(openshift.MachineConfigGroup, "ContainerRuntimeConfig") {
			continue
		}
		first := slices.IndexFunc(list[:i], func(o extra) bool {
			replaced := o.file == m.file && o.n.doc != m.n.doc // one of manifests by one of openshift
			return !replaced && o.group == m.group && o.kind == m.kind && o.n.get("selector").text() == selector
		})
		if first >= 0 {
			m.add(&f.SamePool, "%s of %s is for the same pool. The bootstrap host takes one for each pool and stops: write the settings of "+
				"both into one", list[first].name, list[first].n.doc.object.Name)
		}
	}
}

// differing says what on nodes will differ where an object is in one render only, or another
// one instead in the other.
func (m extra) differing(list []extra, without *extra) string {
	if m.kind != "MachineConfig" {
		if files := written[m.kind]; files != "" {
			return files + " will differ"
		}
		return "the rendered configs will differ"
	}
	var parts []string
	for _, part := range m.n.get("parts").items() {
		name := part.get("name").text()
		if (without == nil || !without.writes(name, part.get("content").text())) && !m.overridden(list, name) {
			parts = append(parts, name)
		}
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], "others")
	}
	if len(parts) == 0 {
		return "other MachineConfigs write the same files now, and no file differs until one of them changes"
	}
	return strings.Join(parts, ", ") + " will differ"
}

// writes reports whether an object writes a file; any content, where it is "".
func (m extra) writes(name, content string) bool {
	return slices.ContainsFunc(m.n.get("parts").items(), func(part node) bool {
		return part.get("name").text() == name && (content == "" || part.get("content").text() == content)
	})
}

// overridden reports whether another MachineConfig, which both renders have, replaces a file
// of this one: they are merged in the order of their names
// (openshift/machine-config-operator:pkg/controller/common/helpers.go MergeMachineConfigs).
func (m extra) overridden(list []extra, name string) bool {
	return strings.HasPrefix(name, "/") && slices.ContainsFunc(list, func(o extra) bool {
		return o.is(openshift.MachineConfigGroup, "MachineConfig") && o.index == 0 && o.name > m.name &&
			o.n.get("role").text() == m.n.get("role").text() && o.writes(name, "")
	})
}

// name finds MachineConfigs with the name of one that the cluster's controllers or the installer write.
// A controller replaces the content of what has its name (openshift/machine-config-operator:
// pkg/controller/template, kubelet-config/helpers.go, container-runtime-config/helpers.go;
// lib/resourcemerge/machineconfig.go EnsureMachineConfig), the bootstrap host merges both.
func (f *manifestArea) name(p plans, list []extra, m extra) {
	if !m.is(openshift.MachineConfigGroup, "MachineConfig") {
		return
	}
	for _, pool := range []string{"master", "worker", "arbiter"} {
		switch m.name {
		case "00-" + pool, "01-" + pool + "-container-runtime", "01-" + pool + "-kubelet", "97-" + pool + "-generated-kubelet",
			"98-" + pool + "-generated-kubelet", "99-" + pool + "-generated-kubelet", "99-" + pool + "-generated-registries", "99-" + pool +
				"-generated-containerruntime":
			m.add(&f.Generated, "the machine-config-controller writes an object of this name and replaces the content of this one, and the bootstrap "+
				"host renders both: %s. Choose another name", m.differing(list, nil))
		case "99-" + pool + "-ssh", "99-" + pool + "-fips", "99-" + pool + "-disable-hyperthreading":
			f.ofInstaller(p, list, m, pool)
		}
	}
}

// ofInstaller: openshift-install writes these MachineConfigs itself, into files that begin
// with 99_openshift-machineconfig (pkg/asset/machines/machineconfig). Where those are there,
// there are two manifests of one object.
func (f *manifestArea) ofInstaller(p plans, list []extra, m extra, pool string) {
	const prefix = "99_openshift-machineconfig_"
	if !p.install.there() || slices.ContainsFunc(list, func(o extra) bool { return strings.HasPrefix(o.file, prefix) && o.name == m.name }) {
		return
	}
	writes := false
	switch strings.TrimPrefix(m.name, "99-"+pool) {
	case "-ssh":
		writes = p.install.get("sshKey").there()
	case "-fips":
		writes = p.install.get("fips").yes()
	default:
		machines := []node{p.install.get("controlPlane")}
		if pool != "master" {
			machines = p.install.get("compute").items()
		}
		writes = slices.ContainsFunc(machines, func(n node) bool { return n.get("hyperthreading").text() == "Disabled" })
	}
	if writes {
		m.add(&f.Generated, "openshift-install writes an object of this name itself. The cluster keeps one of the two, the bootstrap host renders "+
			"both: %s. Choose another name", m.differing(list, nil))
	}
}

// fixedFiles are the files from which the bootstrap host reads settings of the cluster
// (openshift/machine-config-operator:cmd/machine-config-operator/bootstrap.go). The cluster
// keeps whichever comes first.
var fixedFiles = map[string]string{
	"Infrastructure": "cluster-infrastructure-02-config.yml", "Network": "cluster-network-02-config.yml",
	"Proxy": "cluster-proxy-01-config.yaml", "DNS": "cluster-dns-02-config.yml",
}

func (f *manifestArea) fixedFile(m extra) {
	file := fixedFiles[m.kind]
	if file == "" || m.group != openshift.ConfigGroup || m.name != "cluster" || m.file == file {
		return
	}
	if m.file < file {
		m.add(&f.Differs, "the bootstrap host reads this object from manifests/%s only, and the cluster keeps the first file: %s will differ. Write "+
			"the change into manifests/%s", file, written[m.kind], file)
		return
	}
	m.add(&f.Differs, "bootstrap host and cluster use manifests/%s, which comes first: this one has no effect. Write the change there", file)
}
