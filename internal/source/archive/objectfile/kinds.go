package objectfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

var topLevel = regexp.MustCompile(`(?m)^(?:apiVersion|kind|items):|^\s*\{`)

// Likely reports whether the first bytes of a file may be those of objects.
func Likely(head []byte) bool { return topLevel.Match(head) }

// Held is how a file holds the objects of one resource.
type Held struct {
	List bool // a List has them, or would have: it may be empty
	// Single: an object is in no List.
	Single bool
	// Empty: its List surely has no item.
	Empty bool
	// Namespaces are those of the items of Lists, the first two: of one namespace, or of several.
	Namespaces []string
	// Bare: an item has no namespace, as those of kinds without namespaces have none.
	Bare bool
}

// Kinds returns the resources of which a file holds objects, and how.
func Kinds(raw []byte) (map[evidence.Resource]Held, error) {
	kinds := map[evidence.Resource]Held{}
	n := 0
	for doc := range documents(raw) {
		if n++; n > maxItems || len(kinds) > maxKinds {
			return nil, fmt.Errorf("more than %d documents, or than %d kinds of objects", maxItems, maxKinds)
		}
		addKinds(doc, kinds)
	}
	if len(kinds) > maxKinds {
		return nil, fmt.Errorf("more than %d kinds of objects", maxKinds)
	}
	return kinds, nil
}

// addKinds adds the resources of a document's objects.
func addKinds(doc []byte, kinds map[evidence.Resource]Held) {
	add := func(apiVersion, kind string, list bool) {
		if r, ok := ResourceOf(apiVersion, kind); ok && len(kinds) <= maxKinds {
			h := kinds[r]
			h.List, h.Single = h.List || list, h.Single || !list
			kinds[r] = h
		}
	}
	item := func(list header, apiVersion, kind string, namespace func() string) {
		r, ok := ResourceOf(apiVersion, kind)
		if !ok { // typed Lists may leave out their items' kind
			apiVersion, kind = list.apiVersion, itemKind(list.kind)
			r, _ = ResourceOf(apiVersion, kind)
		}
		add(apiVersion, kind, true)
		if h, known := kinds[r]; known && len(h.Namespaces) < several {
			kinds[r] = h.with(namespace())
		}
	}
	empty := func(apiVersion, list string, is bool) {
		r, _ := ResourceOf(apiVersion, itemKind(list))
		if h, known := kinds[r]; known && is {
			h.Empty = true
			kinds[r] = h
		}
	}
	if doc = bytes.TrimSpace(doc); bytes.HasPrefix(doc, []byte("{")) {
		var m typeMeta
		if json.Unmarshal(doc, &m) == nil {
			if m.infer(); !isList(m.Kind) {
				add(m.APIVersion, m.Kind, false)
				return
			}
			add(m.APIVersion, itemKind(m.Kind), true)
			empty(m.APIVersion, m.Kind, len(m.Items.list) == 0)
			for _, raw := range m.Items.list {
				var i struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
					Metadata   struct {
						Namespace string `json:"namespace"`
					} `json:"metadata"`
				}
				if json.Unmarshal(raw, &i) == nil {
					item(header{apiVersion: m.APIVersion, kind: m.Kind}, i.APIVersion, i.Kind, func() string { return i.Metadata.Namespace })
				}
			}
			return
		}
	}
	h := scanHeader(doc)
	if !isList(h.kind) && h.items == 0 {
		add(h.apiVersion, h.kind, false)
		return
	}
	if h.items == 0 && !h.noItems { // in flow style
		content, err := decode(doc)
		if raw, errJSON := json.Marshal(content); err == nil && errJSON == nil {
			addKinds(raw, kinds)
		}
		return
	}
	add(h.apiVersion, itemKind(h.kind), true)
	if h.noItems {
		empty(h.apiVersion, h.kind, true)
		return
	}
	items, ok := splitItems(doc[h.items:])
	empty(h.apiVersion, h.kind, ok && len(items) == 0)
	for _, text := range items {
		text = unindent(text)
		i := scanHeader(text)
		item(h, i.apiVersion, i.kind, func() string { return namespaceIn(text) })
	}
}

// several is how many namespaces show that a List is not of one.
const several = 2

// with adds the namespace of an item.
func (h Held) with(namespace string) Held {
	switch {
	case namespace == "":
		h.Bare = true
	case !slices.Contains(h.Namespaces, namespace):
		h.Namespaces = append(h.Namespaces, namespace)
	}
	return h
}

// namespaceIn is metadata.namespace of an object in block style, "" where it has none.
func namespaceIn(doc []byte) string {
	head, ok := prune(doc, namespaceFields)
	if !ok {
		head = doc
	}
	m, err := decode(head)
	if err != nil {
		return ""
	}
	return evidence.String(m, "metadata", "namespace")
}

var namespaceFields = FieldsOf("metadata.namespace")

// unindent returns an item's lines from its own margin on.
func unindent(item []byte) []byte {
	n := margin(item)
	var b bytes.Buffer
	for line := range bytes.Lines(item) {
		b.Write(line[min(n, margin(line), len(line)):])
	}
	return b.Bytes()
}

// ResourceOf returns the resource of a kind, false where it is no kind of an API:
// a group-less apiVersion is v1 and nothing else.
func ResourceOf(apiVersion, kind string) (evidence.Resource, bool) {
	g, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		g = ""
	}
	if kind == "" || apiVersion == "" || !grouped && apiVersion != "v1" {
		return evidence.Resource{}, false
	}
	return evidence.Resource{Group: g, Name: plural(kind)}, true
}

// plural is the resource of a kind, as the API machinery guesses it
// (k8s.io/apimachinery:pkg/api/meta/restmapper.go UnsafeGuessKindToResource).
func plural(kind string) string {
	kind = strings.ToLower(kind)
	switch {
	case kind == "", strings.HasSuffix(kind, "endpoints"), kind == "hardwaredata":
		return kind
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}

// DecodeKind decodes one object of YAML or JSON and returns its resource; false where it is
// no object of an API.
func DecodeKind(raw []byte) (map[string]any, evidence.Resource, bool, error) {
	content, err := decode(raw)
	if err != nil {
		return nil, evidence.Resource{}, false, err
	}
	r, ok := ResourceOf(evidence.String(content, "apiVersion"), evidence.String(content, "kind"))
	if r == EventsV1 {
		CoreEvent(content)
		r = evidence.Events
	}
	return content, r, ok, nil
}

// EventsV1 are Events of the newer API; both APIs serve the same objects
// (k8s.io/kubernetes:pkg/apis/events/v1/conversion.go).
var EventsV1 = evidence.Resource{Group: openshift.EventsGroup, Name: "events"}

// CoreEvent turns an Event of events.k8s.io into the form of the core group.
func CoreEvent(e map[string]any) {
	move := func(to, from string) {
		if v, ok := e[from]; ok && e[to] == nil {
			e[to] = v
		}
		delete(e, from)
	}
	move("involvedObject", "regarding")
	move("message", "note")
	move("count", "deprecatedCount")
	move("firstTimestamp", "deprecatedFirstTimestamp")
	move("lastTimestamp", "deprecatedLastTimestamp")
	move("source", "deprecatedSource")
	move("reportingComponent", "reportingController")
	e["apiVersion"] = "v1"
}
