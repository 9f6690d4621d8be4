package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	yamlutil "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/rollcall-project/rollcall/lab/internal/build"
)

// renderer renders with the machine-config-controller itself.
type renderer struct {
	bin, templates string
	base           map[string][]byte // what each installation has: the controller's own test data
}

const pullSecretFile = "machineconfigcontroller-pull-secret"

func newRenderer(t *testing.T) renderer {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	art, err := build.Builder{Source: source(t), Cache: filepath.Join(cache, "rollcall", "lab"), Progress: io.Discard}.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/machine-config-operator")
	list.Dir = filepath.Join(source(t), "mco420")
	module, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := renderer{bin: art.Bin["machine-config-controller"], templates: art.Templates, base: map[string][]byte{}}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "pkg/controller/bootstrap/testdata/bootstrap/*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "the module has no manifests")
	}
	version, err := exec.CommandContext(t.Context(), r.bin, "version").Output() // "MachineConfigController v4.20.0-..."
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.Fields(string(version))
	for _, f := range files {
		if filepath.Base(f) == "cluster-image-config.yaml" {
			continue // no installation has an Image of its own
		}
		if r.base[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	const config = "machineconfigcontroller-controllerconfig.yaml" // it renders for its own version alone
	r.base[config] = bytes.ReplaceAll(r.base[config], []byte("v0.0.0-was-not-built-properly"), []byte(ofCommit(mine[len(mine)-1])))
	return r
}

// render returns the names of the rendered configs, which are digests of their contents.
func (r renderer) render(t *testing.T, files map[string][]byte) ([]string, error) {
	t.Helper()
	in, out := t.TempDir(), t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(in, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), r.bin, "bootstrap", "--manifest-dir="+in, "--dest-dir="+out, "--templates="+r.templates,
		"--pull-secret="+filepath.Join(in, pullSecretFile), "--payload-version=0.0.1-snapshot")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	entries, err := os.ReadDir(filepath.Join(out, "machine-configs"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// object is one document of a manifest.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	raw []byte
}

func documentsOf(text []byte) (list []object) {
	for dec := yamlutil.NewYAMLReader(bufioReader(text)); ; {
		raw, err := dec.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		var o object
		if err == nil {
			err = yaml.Unmarshal(raw, &o)
		}
		if err != nil {
			return list
		}
		if o.Kind != "" {
			o.raw = raw
			list = append(list, o)
		}
	}
}

// clusterHas are the manifests as the cluster has them: of each file the first document, in
// the order of the names, and none that exists (openshift/library-go:
// pkg/assets/create/creater.go load, create); a MachineConfig with a name of the controllers
// is theirs, and an Image with another name than cluster is not read.
func clusterHas(files map[string][]byte) map[string][]byte {
	out, seen := map[string][]byte{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == pullSecretFile {
			out[name] = files[name]
			continue
		}
		list := documentsOf(files[name])
		if len(list) == 0 {
			continue
		}
		o := list[0]
		id := o.Kind + "/" + o.Metadata.Name
		if seen[id] || o.Kind == "MachineConfig" && generated(o.Metadata.Name) || o.Kind == "Image" && o.Metadata.Name != "cluster" {
			continue
		}
		seen[id], out[name] = true, o.raw
	}
	return out
}

func generated(name string) bool {
	return name == "00-master" || name == "00-worker" || strings.Contains(name, "-generated-")
}

// manifest is a random object that both renders may use.
func manifest(r *rand.Rand) string {
	role := []string{"master", "worker"}[r.IntN(2)]
	content := []string{"a", "b"}[r.IntN(2)]
	pick := func(names ...string) string { return names[r.IntN(len(names))] }
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {name: %s}\nspec:\n  machineConfigPoolSelector: {matchLabels: {pools.operator.machineconfiguration.openshift.io/%s: \"\"}}\n  kubeletConfig: {maxPods: %d}\n", pick("pods", "more"), role, 200+len(content)+r.IntN(2))
	case 1:
		return fmt.Sprintf("apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: %s}\nspec:\n  imageDigestMirrors: [{source: quay.io/%s, mirrors: [mirror.example.com/%s]}]\n", pick("mirror", "other"), content, content)
	case 2:
		return fmt.Sprintf("apiVersion: config.openshift.io/v1\nkind: Image\nmetadata: {name: %s}\nspec:\n  registrySources: {insecureRegistries: [%s.example.com]}\n", pick("custom", "other"), content)
	case 3:
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\ndata: {a: %s}\n", pick("a", "b"), content)
	case 4:
		return fmt.Sprintf("apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 98-%s-kargs\n  labels: {machineconfiguration.openshift.io/role: %s}\nspec:\n  kernelArguments: [%s]\n", role, role, content)
	}
	name := pick("98-"+role+"-file", "99-"+role+"-file", "99-"+role+"-file", "99-"+role+"-generated-registries")
	return fmt.Sprintf("apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: %s\n  labels: {machineconfiguration.openshift.io/role: %s}\nspec:\n  config:\n    ignition: {version: 3.4.0}\n    storage:\n      files: [{path: /etc/%s, mode: 420, overwrite: true, contents: {source: \"data:,%s\"}}]\n", name, role, pick("x", "y"), content)
}

// installDir is a random directory of an installation: files below openshift and manifests.
func installDir(r *rand.Rand) map[string]string {
	files := map[string]string{}
	for range 1 + r.IntN(4) {
		var docs []string
		for range 1 + r.IntN(5)/4 {
			docs = append(docs, manifest(r))
		}
		dir := []string{"openshift", "openshift", "manifests"}[r.IntN(3)]
		files[dir+"/"+[]string{"97-a.yaml", "98-b.yaml", "99-c.yml", "99_z.yaml"}[r.IntN(4)]] = strings.Join(docs, "---\n")
	}
	return files
}

// TestRenders: where the machine-config-controller renders other configs of what the bootstrap
// host has than of what the cluster has, preflight has a mistake. Where it renders the same, a
// mistake of preflight is about an object that is lost, or of one whose content another has,
// too: these are few, and are logged.
func TestRenders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the machine-config-controller")
	}
	t.Parallel()
	renders := newRenderer(t)
	inputs := 60
	if inFull() {
		inputs = 600
	}
	stopped, differ, same, lost, equal := 0, 0, 0, 0, 0
	for seed := range inputs {
		dir := t.TempDir()
		onHost := maps.Clone(renders.base)
		files := installDir(rand.New(rand.NewPCG(uint64(seed), 14)))
		for _, name := range slices.Sorted(maps.Keys(files)) { // manifests before openshift, which replaces
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[name]), 0o600)); err != nil {
				t.Fatal(err)
			}
			onHost[filepath.Base(name)] = []byte(files[name])
		}
		mistakes := ofManifests(t, dir)
		host, err := renders.render(t, onHost)
		if err != nil {
			if stopped++; len(mistakes) == 0 {
				t.Errorf("input %d: the bootstrap host stops (%v), and preflight finds no mistake\n%s", seed, err, show(files))
			}
			continue
		}
		cluster, err := renders.render(t, clusterHas(onHost))
		if err != nil {
			t.Fatalf("input %d: the cluster: %v", seed, err)
		}
		switch desync := !slices.Equal(host, cluster); {
		case desync && len(mistakes) == 0:
			t.Errorf("input %d: the renders differ (%v, %v), and preflight finds no mistake\n%s", seed, host, cluster, show(files))
		case desync:
			differ++
		case len(mistakes) == 0:
			same++
		case onlyAboutObjects(mistakes):
			lost++ // nodes get the same, and an object is in no cluster
		default:
			equal++
			t.Logf("input %d: the renders are the same, and preflight finds %v\n%s", seed, mistakes, show(files))
		}
	}
	t.Logf("of %d inputs the bootstrap host stops at %d, %d render differently, and all these are mistakes; %d are the same and none; of %d an object or a change is lost; %d are mistakes all the same", inputs, stopped, differ, same, lost, equal)
	if equal > inputs/10 {
		t.Errorf("%d of %d inputs are mistakes though the renders are the same", equal, inputs)
	}
}

// proven is a mistake with its proof.
type proven struct{ fault, proof string }

func ofManifests(t *testing.T, dir string) (list []proven) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), rollcallBin, "preflight", "--install-dir", dir, "-o", "json")
	raw, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 1) {
		t.Fatalf("preflight: %v", err)
	}
	var d struct {
		Findings []struct {
			Fault, Outcome, Severity string
			Evidence                 []struct{ Excerpt string }
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Outcome == "present" && f.Severity == "error" && strings.HasPrefix(f.Fault, "plan-manifest") {
			for _, e := range f.Evidence {
				list = append(list, proven{f.Fault, e.Excerpt})
			}
		}
	}
	return list
}

// onlyAboutObjects: what is wrong is not about the configs of nodes, or says itself that no
// file differs yet.
func onlyAboutObjects(list []proven) bool {
	return !slices.ContainsFunc(list, func(f proven) bool { return strings.Contains(f.proof, "will differ") })
}

func show(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "-- %s --\n%s", name, files[name])
	}
	return b.String()
}

func bufioReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

// ofCommit is a version without the commit that the program adds to it.
func ofCommit(version string) string {
	return version[:max(strings.LastIndexByte(version, '-'), 0)]
}
