package live

import (
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// scheme has the kinds that are read as protobuf: those of which a cluster has many and
// that are large. Everything else, every custom resource included, is read as JSON.
var scheme = newScheme()

// codecs decode what scheme has.
var codecs = serializer.NewCodecFactory(scheme)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	add := []func(*runtime.Scheme) error{
		metav1.AddMetaToScheme, corev1.AddToScheme, certificatesv1.AddToScheme,
	}
	for _, f := range add {
		if err := f(s); err != nil {
			panic(fmt.Sprintf("live: the scheme of built-in kinds: %v", err)) // a defect of the program, met by every test
		}
	}
	return s
}

// Media types of requests. For built-in kinds as servers send them, with
// managedFields, protobuf takes half to two thirds of JSON's time on this side and
// a third of its allocations (BenchmarkList), and less of the API server's time.
// Without managedFields the two are equal here: conversion to maps then costs what
// parsing of JSON costs.
const (
	mediaJSON  = runtime.ContentTypeJSON
	mediaProto = runtime.ContentTypeProtobuf
	asMetadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// form is the form in which a list is asked for.
type form struct {
	accept   string
	metadata bool // the server sends metadata only
	lean     bool // what no fact reads is dropped
}

// formOf chooses the form of a resource's list. There is no fall-back from
// metadata to full objects: a server that cannot leave out the contents of
// Secrets answers 406, and then they are not read.
func (s *Source) formOf(as served, namespace string) form {
	if as.Resource == evidence.Secrets && (namespace == "" || !slices.Contains(s.opts.SecretNamespaces, namespace)) {
		return form{accept: mediaProto + asMetadata + "," + mediaJSON + asMetadata, metadata: true}
	}
	if scheme.Recognizes(as.groupVersion().WithKind(as.Kind + "List")) {
		return form{accept: mediaProto + "," + mediaJSON + ";q=0.9", lean: !s.opts.Whole && leanable(as.Resource)}
	}
	return form{accept: mediaJSON}
}

// decode reads a page in the media type that the server chose, and refuses one
// that is not the list that was asked for.
func decode(body []byte, contentType string, as served, form form) (page, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return page{}, garbage("content type %q", clip(contentType))
	}
	switch media {
	case mediaProto:
		return decodeTyped(body, as, form)
	case mediaJSON, "":
		return decodeJSON(body, as, form)
	}
	return page{}, garbage("%s: %s", media, clip(string(body[:min(len(body), 2000)])))
}

// checkList refuses a page of another kind than the one that was asked for. Custom
// resources may name their list kind as they like, so for them only its end is known.
func checkList(got schema.GroupVersionKind, as served, form form) error {
	want := as.groupVersion().WithKind(as.Kind + "List")
	if form.metadata {
		want = metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList")
		want.Group = "meta.k8s.io"
	}
	ok := got == want
	if !ok && !form.metadata && !scheme.Recognizes(want) {
		ok = got.GroupVersion() == want.GroupVersion() && strings.HasSuffix(got.Kind, "List")
	}
	if !ok {
		return garbage("asked for %s, got %q", want, got.String())
	}
	return nil
}

func decodeTyped(body []byte, as served, form form) (page, error) {
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaProto)
	list, kind, err := info.Serializer.Decode(body, nil, nil)
	if err != nil {
		return page{}, garbage("decode %s: %v", as.Resource, err)
	}
	if err := checkList(*kind, as, form); err != nil {
		return page{}, err
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return page{}, garbage("decode %s: %v", as.Resource, err)
	}
	p := page{next: about.GetContinue()}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		p.items = append(p.items, func() (map[string]any, error) { return toContent(o, as, form) })
		return nil
	})
	return p, err
}

// toContent converts a typed object to what the same object's JSON decodes to.
func toContent(o runtime.Object, as served, form form) (map[string]any, error) {
	if about, err := meta.Accessor(o); err == nil {
		about.SetManagedFields(nil) // half of an object, and of no use to any fact
	}
	if form.lean {
		Lean(o)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, garbage("convert %s: %v", as.Resource, err)
	}
	content, _ = compact(content).(map[string]any)
	mark(content, as, form)
	return content, nil
}

// compact rebuilds the maps below v that have much more room than entries: the
// converter makes a map as large as the struct has fields, and most are empty.
// Without it the objects of a list take twice the memory.
func compact(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			switch child.(type) {
			case map[string]any, []any:
				v[k] = compact(child)
			}
		}
		tight := make(map[string]any, len(v))
		maps.Copy(tight, v)
		return tight
	case []any:
		for i := range v {
			v[i] = compact(v[i])
		}
	}
	return v
}

// mark sets what single objects of a list do not carry themselves.
func mark(content map[string]any, as served, form form) {
	content["apiVersion"], content["kind"] = as.groupVersion().String(), as.Kind
	if form.metadata {
		content[ContentKey] = ContentMetadata
	}
}

func decodeJSON(body []byte, as served, form form) (page, error) {
	var list map[string]any
	if err := json.Unmarshal(body, &list); err != nil {
		return page{}, garbage("decode %s: %v: %s", as.Resource, err, clip(string(body[:min(len(body), 200)])))
	}
	kind := schema.FromAPIVersionAndKind(evidence.String(list, "apiVersion"), evidence.String(list, "kind"))
	if err := checkList(kind, as, form); err != nil {
		return page{}, err
	}
	items, ok := list["items"].([]any)
	if raw, there := list["items"]; !ok && (!there || raw != nil) {
		return page{}, garbage("a list of %s without items", as.Resource)
	}
	p := page{next: evidence.String(list, "metadata", "continue"), items: make([]item, 0, len(items))}
	for _, it := range items {
		content, ok := it.(map[string]any)
		if !ok {
			return page{}, garbage("a list of %s with a %T", as.Resource, it)
		}
		p.items = append(p.items, func() (map[string]any, error) {
			if about, ok := content["metadata"].(map[string]any); ok && !sanitize.ManagedFields(as.Resource) {
				delete(about, "managedFields")
			}
			mark(content, as, form)
			return content, nil
		})
	}
	return p, nil
}

// hideAnnotations keeps of a Secret's annotations only the names, and the values
// of those that evidence.PlainSecretAnnotation names.
func hideAnnotations(content map[string]any) {
	notes, _ := evidence.Field(content, "metadata", "annotations").(map[string]any)
	for k, v := range notes {
		text, _ := v.(string)
		if sanitize.PlainSecretAnnotation(k) {
			continue
		}
		notes[k] = fmt.Sprintf("[redacted unread, %d bytes]", len(text))
	}
}
