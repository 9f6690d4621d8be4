package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Manifests is the kind of a file with extra manifests: what it holds is listed, and none of
// its content is kept but the paths that it writes on nodes.
const Manifests = "Manifests"

// manifestDirs are where openshift-install looks for manifests below its directory, and
// manifestNames the files that it takes there (openshift/installer:pkg/asset/manifests/openshift.go
// Load, operators.go Load; pkg/asset/agent/manifests/extramanifests.go). Below that it takes none.
var (
	manifestDirs  = []string{"manifests", "openshift"}
	manifestNames = []string{".yaml", ".yml", ".json"}
)

// Bounds of the manifests of one installation: openshift-install itself writes some sixty.
const (
	maxManifests     = 4000
	maxManifestBytes = 64 << 20
)

// manifests reads the extra manifests of a directory. An object is a file.
func (s *Source) manifests(fsys fs.FS, dir, name string) error {
	contents := contents{}
	files, size := 0, 0
	for _, sub := range manifestDirs {
		entries, err := fs.ReadDir(fsys, path.Join(dir, sub))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the manifests in %s: %w", sub, err)
		}
		for _, e := range entries {
			if !slices.Contains(manifestNames, path.Ext(e.Name())) || e.IsDir() {
				continue
			}
			raw, err := readIn(fsys, path.Join(dir, sub, e.Name()))
			if err != nil {
				return fmt.Errorf("read the manifest %s/%s: %w", sub, e.Name(), err)
			}
			if files, size = files+1, size+len(raw); files > maxManifests || size > maxManifestBytes {
				return fmt.Errorf("read the manifests: there are more than %d files or %d MiB", maxManifests, maxManifestBytes>>20)
			}
			s.objects = append(s.objects, manifestFile(filepath.ToSlash(filepath.Join(name, sub, e.Name())), raw, contents))
		}
	}
	return nil
}

// contents numbers what is equal, so that facts can compare what they must not see.
type contents map[[sha256.Size]byte]int64

func (c contents) of(v any) int64 {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = fmt.Append(nil, v) // not comparable as JSON, such as a number that is none
	}
	sum := sha256.Sum256(raw)
	if c[sum] == 0 {
		c[sum] = int64(len(c) + 1)
	}
	return c[sum]
}

// manifestFile lists the documents of a file. One that is not YAML is part of the evidence:
// its error is not kept, which may quote a line with a secret.
func manifestFile(name string, raw []byte, c contents) evidence.Object {
	t := newTree(name)
	var documents []any
	broken := false
	for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			broken = true
			break
		}
		if len(doc.Content) != 1 || doc.Content[0].Tag == "!!null" {
			continue
		}
		plain := newTree(name)
		plain.open = true
		v := plain.value(&doc, "", 0)
		if plain.wrong != nil {
			broken = true
			break
		}
		at := "documents[" + strconv.Itoa(len(documents)) + "]"
		t.at[at] = position(doc.Content[0])
		if where, ok := plain.at["metadata.name"].(int64); ok {
			t.at[at] = where
		}
		m, _ := v.(map[string]any)
		documents = append(documents, manifest(m, c))
	}
	return t.object(Manifests, map[string]any{"documents": documents, "broken": broken})
}

// manifest keeps of an object what it is, which pools it is for, and what it writes on nodes.
func manifest(m map[string]any, c contents) map[string]any {
	metadata, _ := m["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	out := map[string]any{
		"apiVersion": evidence.String(m, "apiVersion"), "kind": evidence.String(m, "kind"), "name": evidence.String(metadata, "name"),
		"namespace": evidence.String(metadata, "namespace"), "role": evidence.String(labels, openshift.ConfigRoleLabel),
		"labels": int64(len(labels)), "content": c.of(m["spec"]),
	}
	if out["kind"] == "MachineConfig" {
		out["parts"] = parts(m, c)
	}
	if selector := evidence.Field(m, "spec", "machineConfigPoolSelector"); selector != nil {
		out["selector"] = c.of(selector)
	}
	if out["kind"] == "Image" {
		sources, _ := evidence.Field(m, "spec", "registrySources").(map[string]any)
		out["registrySources"] = len(sources) > 0
	}
	return out
}

// parts are the files, units and settings of a MachineConfig, each with the number of its
// content (coreos/ignition:config/v3_4/schema; openshift/api:machineconfiguration/v1).
func parts(m map[string]any, c contents) []any {
	var out []any
	add := func(name string, content any) {
		if len(out) < maxManifests {
			out = append(out, map[string]any{"name": name, "content": c.of(content)})
		}
	}
	each := func(key, word string, path ...string) {
		list, _ := evidence.Field(m, append([]string{"spec", "config"}, path...)...).([]any)
		for _, v := range list {
			if item, ok := v.(map[string]any); ok {
				add(word+evidence.String(item, key), item)
			}
		}
	}
	each("path", "", "storage", "files")
	each("path", "", "storage", "directories")
	each("path", "", "storage", "links")
	each("name", "unit ", "systemd", "units")
	each("name", "user ", "passwd", "users")
	spec, _ := m["spec"].(map[string]any)
	for _, key := range []string{"kernelArguments", "extensions", "kernelType", "osImageURL", "fips", "baseOSExtensionsContainerImage"} {
		if v := spec[key]; v != nil {
			add(key, v)
		}
	}
	return slices.Clip(out)
}

// several reports whether a plan has many objects of this kind.
func several(o evidence.Object) bool {
	return isManifests(o) || o.Content["type"] == clusterManifest
}

// isManifests reports whether an object lists manifests, of which there are many.
func isManifests(o evidence.Object) bool {
	return strings.EqualFold(evidence.String(o.Content, "type"), Manifests)
}
