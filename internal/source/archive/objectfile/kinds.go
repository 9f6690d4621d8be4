package objectfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

var topLevel = regexp.MustCompile(`(?m)^(?:apiVersion|kind|items):|^\s*\{`)

// Likely reports whether the first bytes of a file may be those of objects.
func Likely(head []byte) bool { return topLevel.Match(head) }

// Kinds returns the resources of which a file holds objects; true where a List has them.
func Kinds(raw []byte) (map[evidence.Resource]bool, error) {
	kinds := map[evidence.Resource]bool{}
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
func addKinds(doc []byte, kinds map[evidence.Resource]bool) {
	add := func(apiVersion, kind string, list bool) {
		if r, ok := ResourceOf(apiVersion, kind); ok && len(kinds) <= maxKinds {
			kinds[r] = kinds[r] || list
		}
	}
	if doc = bytes.TrimSpace(doc); bytes.HasPrefix(doc, []byte("{")) {
		var m typeMeta
		if json.Unmarshal(doc, &m) == nil {
			if !isList(m.Kind) {
				add(m.APIVersion, m.Kind, false)
				return
			}
			add(m.APIVersion, itemKind(m.Kind), true)
			for _, item := range m.Items.list {
				var i struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
				}
				if json.Unmarshal(item, &i) == nil {
					add(i.APIVersion, i.Kind, true)
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
	items, _ := splitItems(doc[h.items:])
	for _, item := range items {
		i := scanHeader(unindent(item))
		add(i.apiVersion, i.kind, true)
	}
}

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
