package live

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/lean"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Media types of requests. Protobuf of which only the fields of kinds are decoded takes
// a tenth of JSON's time on this side (BenchmarkList), and less of the API server's time.
const (
	mediaJSON  = runtime.ContentTypeJSON
	mediaProto = runtime.ContentTypeProtobuf
	asMetadata = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// form is the form in which a list is asked for.
type form struct {
	accept   string
	metadata bool         // the server sends metadata only
	fields   lean.Message // what is kept of an object; nil is everything
}

// formOf chooses the form of a resource's list. There is no fall-back from
// metadata to full objects: a server that cannot leave out the contents of
// Secrets answers 406, and then they are not read.
func (s *Source) formOf(as served, namespace string) form {
	if as.Resource == evidence.Secrets && (namespace == "" || !slices.Contains(s.opts.SecretNamespaces, namespace)) {
		return form{accept: mediaProto + asMetadata + "," + mediaJSON + asMetadata, metadata: true, fields: lean.MetadataOnly}
	}
	if fields := lean.Of(as.Resource, as.Version); fields != nil && !s.opts.Whole {
		return form{accept: mediaProto + "," + mediaJSON + ";q=0.9", fields: fields}
	}
	return form{accept: mediaJSON}
}

// decode reads a page in the media type that the server chose, and refuses one
// that is not the list that was asked for.
func decode(body []byte, contentType string, as served, form form) (page, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return page{}, garbage("content type %q", wire.Clip(contentType))
	}
	switch media {
	case mediaProto:
		return decodeProto(body, as, form)
	case mediaJSON, "":
		return decodeJSON(body, as, form)
	}
	return page{}, garbage("%s: %s", media, wire.Clip(string(body[:min(len(body), 2000)])))
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
	if !ok && !form.metadata && lean.Of(as.Resource, as.Version) == nil {
		ok = got.GroupVersion() == want.GroupVersion() && strings.HasSuffix(got.Kind, "List")
	}
	if !ok {
		return garbage("asked for %s, got %q", want, got.String())
	}
	return nil
}

func decodeProto(body []byte, as served, form form) (page, error) {
	if form.fields == nil {
		return page{}, garbage("%s as protobuf, which was not asked for", as.Resource)
	}
	apiVersion, kind, next, items, err := lean.OpenList(body)
	if err != nil {
		return page{}, garbage("decode %s: %v", as.Resource, err)
	}
	if err := checkList(schema.FromAPIVersionAndKind(apiVersion, kind), as, form); err != nil {
		return page{}, err
	}
	p := page{next: next, items: make([]item, 0, len(items))}
	d := lean.NewDecoder()
	for _, raw := range items {
		p.items = append(p.items, func() (map[string]any, error) {
			content, err := d.Proto(raw, form.fields)
			if err != nil {
				return nil, garbage("decode %s: %v", as.Resource, err)
			}
			mark(content, as, form)
			return content, nil
		})
	}
	return p, nil
}

// mark sets what single objects of a list do not carry themselves.
func mark(content map[string]any, as served, form form) {
	content["apiVersion"], content["kind"] = as.groupVersion().String(), as.Kind
	if form.metadata {
		content[contentKey] = contentMetadata
	}
}

func decodeJSON(body []byte, as served, form form) (page, error) {
	var list map[string]any
	if err := json.Unmarshal(body, &list); err != nil {
		return page{}, garbage("decode %s: %v: %s", as.Resource, err, wire.Clip(string(body[:min(len(body), 200)])))
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
	d := lean.NewDecoder()
	for _, it := range items {
		content, ok := it.(map[string]any)
		if !ok {
			return page{}, garbage("a list of %s with a %T", as.Resource, it)
		}
		p.items = append(p.items, func() (map[string]any, error) {
			if about, ok := content["metadata"].(map[string]any); ok && !sanitize.ManagedFields(as.Resource.Group, as.Resource.Name) {
				delete(about, "managedFields")
			}
			if form.fields != nil {
				content = d.Keep(content, form.fields)
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
