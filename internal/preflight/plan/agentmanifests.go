package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// clusterManifest is the kind of a file of cluster-manifests, the plan of an agent-based
// installation as objects (`openshift-install agent create cluster-manifests`).
const clusterManifest = "ClusterManifest"

// The files of cluster-manifests. Others are not read
// (openshift/installer:pkg/asset/agent/manifests).
const (
	manifestDir    = "cluster-manifests"
	clusterInstall = "agent-cluster-install.yaml"
	deployment     = "cluster-deployment.yaml"
	imageSet       = "cluster-image-set.yaml"
	infraEnv       = "infraenv.yaml"
	nmState        = "nmstateconfig.yaml"
	pullSecretFile = "pull-secret.yaml"
)

// clusterManifests are the files of cluster-manifests that are there, by their names.
type clusterManifests map[string]*tree

// agentManifests reads cluster-manifests. The directory itself can be named, too.
func (s *Source) agentManifests(fsys fs.FS, dir, name string) error {
	sub := manifestDir
	if _, err := fs.Stat(fsys, path.Join(dir, infraEnv)); err == nil {
		sub = ""
	}
	all := clusterManifests{}
	for _, file := range []string{clusterInstall, deployment, imageSet, infraEnv, nmState, pullSecretFile} {
		raw, err := readIn(fsys, path.Join(dir, sub, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			all[file], err = manifestTree(filepath.ToSlash(filepath.Join(name, sub, file)), raw, file == nmState)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path.Join(sub, file), err)
		}
		t := all[file]
		config, _ := t.root.(map[string]any)
		o := t.object(clusterManifest, config)
		o.Content["file"] = file
		s.objects = append(s.objects, o)
	}
	if len(all) == 0 {
		return nil
	}
	s.project(all, path.Join(filepath.ToSlash(name), sub))
	return nil
}

// manifestTree reads the first document of a file, as the installer does, or all of them
// below "documents".
func manifestTree(name string, raw []byte, many bool) (*tree, error) {
	if _, err := yamlin.ToJSON(raw, 2*maxFile); err != nil && !tolerable(err) {
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	t := newTree(name)
	t.manifest = true
	documents := []any{}
	for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is not YAML: %w", err)
		}
		if len(doc.Content) != 1 || doc.Content[0].Tag == "!!null" {
			continue
		}
		if !many {
			t.root = t.value(&doc, "", 0)
			return t, t.wrong
		}
		documents = append(documents, t.value(&doc, fmt.Sprintf("documents[%d]", len(documents)), 0))
	}
	t.root = map[string]any{"documents": documents}
	return t, t.wrong
}

// projection is what the objects say, as an install-config or an agent-config says it, with the
// place of each value in its own file.
type projection struct {
	*tree
	config map[string]any
	from   map[string]any // a path here -> {file, field}
}

func newProjection(name string) *projection {
	return &projection{newTree(name), map[string]any{}, map[string]any{}}
}

// put takes what a file has at a field. What is not there has a place, too: its file.
func (p *projection) put(to string, t *tree, field string) {
	if t == nil {
		return
	}
	v := dig(t.root, field)
	if m, ok := v.(map[string]any); ok {
		v = maps.Clone(m) // more is set in it here
	}
	p.from[to] = map[string]any{"file": t.file, "field": field}
	for at, where := range t.at {
		if rest, ok := strings.CutPrefix(at, field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			p.at[to+rest] = where
		}
	}
	if v == nil {
		return
	}
	p.set(to, v)
}

func (p *projection) set(to string, v any) {
	m := p.config
	keys := strings.Split(to, ".")
	for _, key := range keys[:len(keys)-1] {
		below, _ := m[key].(map[string]any)
		if below == nil {
			below = map[string]any{}
			m[key] = below
		}
		m = below
	}
	m[keys[len(keys)-1]] = v
}

// dig follows a path as trees write it. A name that begins with a dot follows two of them.
func dig(v any, path string) any {
	prefix := ""
	for key := range strings.SplitSeq(path, ".") {
		if key == "" {
			prefix = "."
			continue
		}
		name, index, listed := strings.Cut(prefix+key, "[")
		prefix = ""
		m, _ := v.(map[string]any)
		v = m[name]
		if listed {
			list, _ := v.([]any)
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
		}
	}
	return v
}

func (p *projection) finish(kind string) evidence.Object {
	o := p.object(kind, p.config)
	o.Content["from"] = p.from
	return o
}

// platformNames are the platforms of an AgentClusterInstall, which earlier releases wrote in
// lower case (openshift/installer:pkg/asset/agent/manifests/agentclusterinstall.go Load).
var platformNames = map[string]string{"baremetal": "baremetal", "none": "none", "vsphere": "vsphere", "external": "external", "nutanix": "nutanix"}

// project adds the objects as plans. With a file install-config.yaml they are regenerated from
// it, and what they say does not count (openshift/installer:pkg/asset/store/store.go load).
func (s *Source) project(all clusterManifests, name string) {
	kinds := map[any]bool{}
	for _, o := range s.objects {
		kinds[o.Content["type"]] = true
	}
	if kinds[InstallConfig] {
		return
	}
	if all[clusterInstall] != nil || all[deployment] != nil {
		s.objects = append(s.objects, s.installConfigOf(all, name+" (the cluster)"))
	}
	if !kinds[AgentConfig] {
		s.objects = append(s.objects, agentConfigOf(all, name+" (the hosts)"))
	}
}

func (s *Source) installConfigOf(all clusterManifests, name string) evidence.Object {
	p := newProjection(name)
	install, env := all[clusterInstall], all[infraEnv]
	p.set("apiVersion", "v1")
	p.put("metadata.name", all[deployment], "spec.clusterName")
	p.put("baseDomain", all[deployment], "spec.baseDomain")
	p.put("pullSecret", all[pullSecretFile], "stringData..dockerconfigjson")
	p.put("sshKey", install, "spec.sshPublicKey")
	p.put("proxy", install, "spec.proxy")
	p.put("additionalTrustBundle", env, "spec.additionalTrustBundle")
	if install != nil {
		p.put("networking", install, "spec.networking")
		platform := platformOf(install.root)
		p.put("platform", install, "spec.platformType")
		p.config["platform"] = map[string]any{}
		if platform != "" {
			p.set("platform."+platform, map[string]any{})
			for _, key := range []string{"apiVIP", "apiVIPs", "ingressVIP", "ingressVIPs", "loadBalancer"} {
				p.put("platform."+platform+"."+key, install, "spec."+key)
			}
		}
		p.put("controlPlane", install, "spec.controlPlane")
		p.set("controlPlane.replicas", int64(0)) // what is not written
		p.put("controlPlane.replicas", install, "spec.provisionRequirements.controlPlaneAgents")
		p.put("arbiter.replicas", install, "spec.provisionRequirements.arbiterAgents")
		workers, _ := dig(install.root, "spec.provisionRequirements.workerAgents").(int64)
		p.set("compute", []any{map[string]any{"name": "worker", "replicas": workers}})
		p.from["compute"] = map[string]any{"file": install.file, "field": "spec.provisionRequirements.workerAgents"}
		if at, ok := install.at["spec.provisionRequirements.workerAgents"]; ok {
			p.at["compute"] = at
		}
		for _, key := range []string{"fips", "capabilities"} {
			if v := dig(install.overrides, key); v != nil {
				p.set(key, v)
				p.from[key] = map[string]any{"file": install.file, "field": "metadata.annotations." + openshift.InstallConfigOverridesAnnotation}
			}
		}
		p.notes["ssh"] = install.notes["ssh"]
		for _, field := range []string{"httpProxy", "httpsProxy"} {
			if list, _ := install.notes["users"].([]any); slices.Contains(list, any("spec.proxy."+field)) {
				users, _ := p.notes["users"].([]any)
				p.notes["users"] = append(users, "proxy."+field)
			}
		}
	}
	if secret := all[pullSecretFile]; secret != nil {
		p.notes["pulls"] = secret.notes["pulls"]
	}
	if env != nil {
		p.notes["bundle"] = env.notes["bundle"]
		s.authorities = append(s.authorities, env.authorities...)
	}
	return p.finish(InstallConfig)
}

// platformOf is the platform of install-config that an AgentClusterInstall stands for
// (openshift/assisted-service:internal/controller/controllers/clusterdeployments_controller.go
// CreateClusterParams): without one, hosts have the VIPs but where the user has
// a load balancer, or there is a single host.
func platformOf(install any) string {
	written, _ := dig(install, "spec.platformType").(string)
	user, _ := dig(install, "spec.networking.userManagedNetworking").(bool)
	masters, _ := dig(install, "spec.provisionRequirements.controlPlaneAgents").(int64)
	switch {
	case written != "":
		return platformNames[strings.ToLower(written)]
	case user || masters == 1:
		return "none"
	}
	return "baremetal"
}

func agentConfigOf(all clusterManifests, name string) evidence.Object {
	p := newProjection(name)
	p.set("apiVersion", "v1beta1")
	p.set("kind", AgentConfig)
	p.put("additionalNTPSources", all[infraEnv], "spec.additionalNTPSources")
	configs := all[nmState]
	if configs == nil {
		return p.finish(AgentConfig)
	}
	documents, _ := dig(configs.root, "documents").([]any)
	hosts := make([]any, 0, len(documents))
	for i := range documents {
		one := newProjection(name)
		doc, at := fmt.Sprintf("documents[%d]", i), fmt.Sprintf("hosts[%d]", i)
		for to, field := range map[string]string{"nmStateConfig": ".metadata.name", "interfaces": ".spec.interfaces", "networkConfig": ".spec.config"} {
			one.put(to, configs, doc+field)
		}
		for to, where := range one.at {
			p.at[at+"."+to] = where
		}
		for to, where := range one.from {
			p.from[at+"."+to] = where
		}
		p.at[at], p.from[at] = configs.at[doc], map[string]any{"file": configs.file, "field": doc}
		hosts = append(hosts, one.config)
	}
	p.config["hosts"] = hosts
	return p.finish(AgentConfig)
}
