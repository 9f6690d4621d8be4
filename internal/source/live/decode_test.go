package live

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/lean"
)

// kindNames are the kinds of what is read as protobuf.
var kindNames = map[evidence.Resource]served{
	evidence.Nodes: {Kind: "Node"}, evidence.Pods: {Kind: "Pod", Namespaced: true}, evidence.Events: {Kind: "Event", Namespaced: true},
	evidence.ConfigMaps: {Kind: "ConfigMap", Namespaced: true}, evidence.Secrets: {Kind: "Secret", Namespaced: true},
	evidence.CSRs: {Kind: "CertificateSigningRequest"}, evidence.Leases: {Kind: "Lease", Namespaced: true},
	evidence.Deployments: {Kind: "Deployment", Namespaced: true}, evidence.ReplicaSets: {Kind: "ReplicaSet", Namespaced: true},
}

// TestWire fills objects of all kinds that are read as protobuf with seeded random values:
// what their protobuf is read of must be what the same object's JSON has in the same
// fields, values and types alike.
func TestWire(t *testing.T) {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
	for _, r := range lean.Kinds() {
		as, ok := kindNames[r]
		if !ok {
			t.Errorf("the test does not know the kind of %s", r)
			continue
		}
		as.Resource, as.Version = r, "v1"
		gvk := as.groupVersion().WithKind(as.Kind)
		seen := map[string]bool{}
		for range 60 {
			o, err := scheme.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			fill.Fill(o)
			setTimes(reflect.ValueOf(o).Elem())
			about, _ := meta.Accessor(o)
			about.SetName("name")
			about.SetNamespace(map[bool]string{true: "namespace"}[as.Namespaced])
			proto := through(t, as, mediaProto, o)
			json := through(t, as, mediaJSON, o)
			if d := cmp.Diff(json, proto); d != "" {
				t.Errorf("%s: protobuf differs from JSON (-json +protobuf):\n%s", gvk, d)
				break
			}
			note(seen, "", proto[0].Content)
		}
		for _, path := range lean.Of(r, "v1").Paths() {
			if !seen[path] && (as.Namespaced || path != ".metadata.namespace") {
				t.Errorf("%s%s was in none of the objects: is there such a field?", r, path)
			}
		}
	}
}

// setTimes sets the times that a filler leaves out.
func setTimes(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		switch {
		case v.Type() == reflect.TypeFor[*metav1.Time]() && v.IsNil():
			v.Set(reflect.ValueOf(&metav1.Time{Time: epoch}))
		case v.Type() == reflect.TypeFor[*metav1.MicroTime]() && v.IsNil():
			v.Set(reflect.ValueOf(&metav1.MicroTime{Time: epoch.Add(1234 * time.Microsecond)}))
		case !v.IsNil():
			setTimes(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			setTimes(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setTimes(v.Field(i))
			}
		}
	}
}

// note adds the paths that an object has.
func note(seen map[string]bool, at string, content map[string]any) {
	for k, v := range content {
		path := at + "." + k
		seen[path] = true
		switch v := v.(type) {
		case map[string]any:
			note(seen, path, v)
		case []any:
			for _, e := range v {
				if o, ok := e.(map[string]any); ok {
					note(seen, path, o)
				}
			}
		}
	}
}

// through encodes a list of one object as a server does and decodes it. JSON is
// made of what protobuf kept: empty slices and maps do not survive protobuf.
func through(t *testing.T, as served, media string, o runtime.Object) []evidence.Object {
	t.Helper()
	gvk := as.groupVersion().WithKind(as.Kind + "List")
	list, err := scheme.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.SetList(list, []runtime.Object{o}); err != nil {
		t.Fatal(err)
	}
	list.GetObjectKind().SetGroupVersionKind(gvk)
	proto, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaProto)
	raw, err := runtime.Encode(proto.Serializer, list)
	if err != nil {
		t.Fatal(err)
	}
	if media == mediaJSON {
		if list, err = runtime.Decode(proto.Serializer, raw); err != nil {
			t.Fatal(err)
		}
		info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaJSON)
		if raw, err = runtime.Encode(info.Serializer, list); err != nil {
			t.Fatal(err)
		}
	}
	p, err := decode(raw, media, as, form{fields: lean.Of(as.Resource, "v1")})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := p.objects(&Source{}, as)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// FuzzDecode: no answer of a server panics, and one that is taken has names.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"b"}}]}`), false)
	f.Add([]byte("k8s\x00\n\r\n\x02v1\x12\aPodList\x12\x00\x1a\x00\"\x00"), true)
	as := served{Resource: evidence.Pods, Version: "v1", Kind: "Pod", Namespaced: true}
	f.Fuzz(func(t *testing.T, raw []byte, proto bool) {
		media := mediaJSON
		if proto {
			media = mediaProto
		}
		p, err := decode(raw, media, as, form{fields: lean.Of(as.Resource, "v1")})
		if err != nil {
			return
		}
		objects, err := p.objects(&Source{}, as)
		if err != nil {
			return
		}
		for _, o := range objects {
			if o.Name == "" || o.Namespace == "" || o.Content["kind"] != "Pod" {
				t.Errorf("took %+v", o)
			}
		}
	})
}
