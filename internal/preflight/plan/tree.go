package plan

import (
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Bounds of one document: hosts have some ten levels and, in large plans, some ten
// thousand values.
const (
	maxDepth  = 64
	maxValues = 500_000
)

// tree turns the nodes of a YAML document into values and keeps where each stands.
type tree struct {
	file  string
	at    map[string]any // path of a value -> Place
	twice []any          // keys that a mapping has more than once: {path, at, first}
	notes map[string]any // what is said of secrets, see secrets.go
	wrong error
	open  bool // secrets are not replaced: nothing of the values is kept

	authorities [][]byte // certificates (DER) of additionalTrustBundle

	manifest  bool // an object of cluster-manifests: secrets are in other places
	root      any  // of one: the whole document
	overrides any  // of an AgentClusterInstall: its settings of install-config
}

func newTree(file string) *tree {
	return &tree{file: file, at: map[string]any{}, notes: map[string]any{}}
}

// object returns the document as an object of evidence.Plans.
func (t *tree) object(kind string, config map[string]any) evidence.Object {
	content := map[string]any{
		"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "Plan", "metadata": map[string]any{"name": t.file},
		"type": kind, "config": config, "at": t.at, "twice": t.twice, "form": t.notes,
	}
	return evidence.Object{Resource: evidence.Plans, Name: t.file, Content: content, Loc: evidence.Locator{Source: t.file, Path: t.file}}
}

// value converts a node. path is as the installer's messages write it:
// platform.baremetal.hosts[0].bmc.address.
func (t *tree) value(n *yaml.Node, path string, depth int) any {
	switch {
	case t.wrong != nil:
		return nil
	case depth > maxDepth:
		t.wrong = fmt.Errorf("line %d: it is nested deeper than %d levels", n.Line, maxDepth)
		return nil
	case len(t.at) > maxValues:
		t.wrong = fmt.Errorf("it has more than %d values", maxValues)
		return nil
	}
	if n.Line > 0 && path != "" {
		t.at[path] = position(n)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 1 {
			return t.value(n.Content[0], path, depth)
		}
	case yaml.AliasNode:
		return t.value(n.Alias, path, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, child := range n.Content {
			list = append(list, t.value(child, path+"["+strconv.Itoa(i)+"]", depth+1))
		}
		return list
	case yaml.MappingNode:
		return t.mapping(n, path, depth)
	case yaml.ScalarNode:
		return t.scalar(n)
	}
	return nil
}

func (t *tree) mapping(n *yaml.Node, path string, depth int) any {
	m := make(map[string]any, len(n.Content)/2)
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, node := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			t.wrong = fmt.Errorf("line %d: a key is not a word", key.Line)
			return nil
		}
		if key.Tag == "!!merge" {
			if merged, ok := t.value(node, path, depth+1).(map[string]any); ok {
				for k, v := range merged {
					if _, own := m[k]; !own {
						m[k] = v
					}
				}
			}
			continue
		}
		child := key.Value
		if path != "" {
			child = path + "." + key.Value
		}
		if first, again := lines[key.Value]; again {
			t.twice = append(t.twice, map[string]any{"path": child, "at": position(key), "first": first})
		} else {
			lines[key.Value] = key.Line
		}
		if hidden, secret := t.secret(key.Value, child, node); secret && !t.open {
			t.at[child] = position(node)
			m[key.Value] = hidden
			continue
		}
		m[key.Value] = t.value(node, child, depth+1)
	}
	return m
}

func position(n *yaml.Node) int64 { return place(n.Line, n.Column) }

// booleans are the words that the installer's decoder, which is one of YAML 1.1, takes for true
// or false besides these two (sigs.k8s.io/yaml: goyaml.v2/resolve.go).
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// scalar decodes a value as the installer does.
func (t *tree) scalar(n *yaml.Node) any {
	if b, ok := booleans[n.Value]; ok && n.Style == 0 {
		return b
	}
	var v any
	if err := n.Decode(&v); err != nil {
		if t.wrong == nil {
			t.wrong = errors.New("line " + strconv.Itoa(n.Line) + ": a value cannot be read")
		}
		return nil
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case string, bool, int64, float64, nil:
		return v
	}
	return n.Value // times and large numbers, as they are written
}
