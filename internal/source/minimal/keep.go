package minimal

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/source/lean"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// tree are the fields that stay, by name. The tree of a field has what stays below it: nil is a
// value that is no object.
type tree map[string]tree

// add adds the paths of a list to a tree: names with dots between, and lists in braces.
func (t tree) add(paths string) error {
	rest, err := t.read(paths)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q is left over", rest)
	}
	if err != nil {
		return fmt.Errorf("read the paths %q: %w", paths, err)
	}
	return nil
}

// read reads one path, a list of paths in braces, or names in braces that have the same below them.
func (t tree) read(text string) (rest string, err error) {
	in, ok := strings.CutPrefix(text, "{")
	if !ok {
		return t.path(text)
	}
	if names, below, ok := strings.Cut(in, "}."); ok && !strings.ContainsAny(names, "{}") {
		for name := range strings.SplitSeq(names, ",") {
			if rest, err = t.below(name).read(below); err != nil {
				return rest, err
			}
		}
		return rest, nil
	}
	for {
		if in, err = t.read(in); err != nil {
			return in, err
		}
		if rest, ok := strings.CutPrefix(in, "}"); ok {
			return rest, nil
		}
		if in, ok = strings.CutPrefix(in, ","); !ok {
			return in, fmt.Errorf("no end of the list at %q", in)
		}
	}
}

func (t tree) path(text string) (rest string, err error) {
	end := strings.IndexAny(text+"}", ".,{}")
	name, rest := text[:end], text[end:]
	if name == "" {
		return rest, fmt.Errorf("no name at %q", text)
	}
	if below, ok := strings.CutPrefix(rest, "."); ok {
		return t.below(name).read(below)
	}
	if _, known := t[name]; !known {
		t[name] = nil
	}
	return rest, nil
}

// below returns the tree of a field.
func (t tree) below(name string) tree {
	if t[name] == nil {
		t[name] = tree{}
	}
	return t[name]
}

// keep returns what stays of a value: nil where nothing does.
func (t tree) keep(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if t == nil {
			return nil
		}
		if _, all := t["**"]; all {
			return v
		}
		out := map[string]any{}
		for k, child := range v {
			below, ok := t[k]
			if !ok {
				below, ok = t["*"]
			}
			if !ok {
				continue
			}
			if kept := below.keep(child); kept != nil || child == nil {
				out[k] = kept
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, child := range v {
			if kept := t.keep(child); kept != nil {
				out = append(out, kept)
			}
		}
		return out
	}
	if _, all := t["**"]; t != nil && !all {
		return nil // where an object belongs
	}
	return v
}

// known are the trees of all resources, and those that they share.
type known struct {
	metadata, common, install, operator tree
	kinds                               map[string]tree
}

// trees reads the lists of fields.go once.
var trees = sync.OnceValues(func() (*known, error) {
	k := &known{metadata: tree{}, common: tree{}, install: tree{}, operator: tree{}, kinds: map[string]tree{}}
	for t, paths := range map[*tree]string{&k.metadata: metadata, &k.common: common, &k.install: installConfig, &k.operator: operator} {
		if err := t.add(paths); err != nil {
			return nil, err
		}
	}
	for name, paths := range fields {
		k.kinds[name] = tree{}
		if err := k.kinds[name].add(paths); err != nil {
			return nil, err
		}
	}
	return k, nil
})

// Object returns what stays of an object's content. The content is not changed.
func Object(r evidence.Resource, content map[string]any) (map[string]any, error) {
	if r.Group == evidence.ProbeGroup {
		return content, nil // what Rollcall asked for itself: it has no other fields
	}
	k, err := trees()
	if err != nil {
		return nil, err
	}
	name := r.In("").String()
	of := k.kinds[name]
	if of == nil && r.Group == openshift.OperatorGroup {
		of = k.operator
	}
	out, _ := k.common.keep(content).(map[string]any)
	if m := lean.Of(r, "v1"); m != nil && r.In("") != evidence.ConfigMaps && r.In("") != evidence.Secrets {
		kept := lean.NewDecoder().Keep(content, m)
		delete(kept, "metadata")
		merge(out, kept)
	}
	merge(out, of.object(content))
	if meta, ok := content["metadata"].(map[string]any); ok {
		kept, _ := k.metadata.keep(meta).(map[string]any)
		labels(kept, meta, slices.Contains(allLabels, name))
		out["metadata"] = kept
	}
	if r.In("") == evidence.ConfigMaps {
		k.configMap(out, content)
	}
	return out, nil
}

func (t tree) object(content map[string]any) map[string]any {
	if t == nil {
		return nil
	}
	out, _ := t.keep(content).(map[string]any)
	return out
}

// merge adds the fields of another part of the same object.
func merge(to, from map[string]any) {
	for k, v := range from {
		have, isObject := to[k].(map[string]any)
		more, bothAre := v.(map[string]any)
		if isObject && bothAre {
			merge(have, more)
		} else if _, there := to[k]; !there {
			to[k] = v
		}
	}
}

// labels adds the labels and annotations that stay.
func labels(kept, meta map[string]any, all bool) {
	for field, stays := range map[string]func(string) bool{"labels": func(key string) bool { return all || productLabel(key) }, "annotations": readAnnotation} {
		have, ok := meta[field].(map[string]any)
		if !ok {
			continue
		}
		out := map[string]any{}
		for key, v := range have {
			if text, is := v.(string); is && stays(key) {
				out[key] = text
			}
		}
		kept[field] = out
	}
}

// productLabel reports whether a label is one of the product.
func productLabel(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return key == "app" || key == "k8s-app" || key == "name"
	}
	return slices.ContainsFunc([]string{"kubernetes.io", "openshift.io", "x-k8s.io", openshift.Metal3Group}, func(of string) bool {
		return domain == of || strings.HasSuffix(domain, "."+of)
	})
}

// readAnnotation reports whether facts read an annotation.
func readAnnotation(key string) bool {
	return slices.Contains(annotations, key)
}

var annotations = []string{
	openshift.CurrentConfigAnnotation, openshift.DesiredConfigAnnotation, openshift.ConfigStateAnnotation, openshift.ConfigReasonAnnotation,
	openshift.DesiredDrainAnnotation, openshift.LastDrainAnnotation, openshift.GeneratedByControllerAnnotation, openshift.ReleaseVersionAnnotation,
	openshift.MachineOnNodeAnnotation, openshift.InstanceStateAnnotation, openshift.HostOnMachineAnnotation, openshift.ClusterAPIMachineAnnotation,
	openshift.NodePoolKey, openshift.NodePoolConfigAnnotation, openshift.TokenSecretAnnotation, openshift.TokenGeneratedAnnotation,
	openshift.TokenExpiresAnnotation, openshift.IgnitionReachedAnnotation, openshift.TokenUpgradeTypeAnnotation, openshift.DisableMachinesAnnotation,
	openshift.PodSecurityAnnotation, openshift.CertificateNotBeforeAnnotation, openshift.CertificateNotAfterAnnotation,
	openshift.CertificateIssuerAnnotation, openshift.MirrorPodAnnotation, metal3.DetachedAnnotation, metal3.PausedAnnotation, evidence.PartMark,
}

// configMap adds the keys of a ConfigMap that stay.
func (k *known) configMap(out, content map[string]any) {
	data, _ := content["data"].(map[string]any)
	kept := map[string]any{}
	for key, v := range data {
		text, ok := v.(string)
		switch {
		case !ok:
		case slices.Contains(configMapKeys, key):
			kept[key] = text
		case key == "install-config":
			kept[key] = k.installConfig(text)
		}
	}
	if data != nil {
		out["data"] = kept
	}
}

// maxInstallConfig bounds an install-config with its aliases followed. A ConfigMap has 1 MiB.
const maxInstallConfig = 4 << 20

// installConfig returns what stays of an install-config. One that cannot be read is empty.
func (k *known) installConfig(text string) string {
	var content map[string]any
	if err := yamlin.Unmarshal([]byte(text), &content, maxInstallConfig); err != nil {
		return ""
	}
	out, err := yaml.Marshal(k.install.keep(content))
	if err != nil {
		return ""
	}
	return string(out)
}
