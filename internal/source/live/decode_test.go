package live

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

// TestConversionOfEveryBuiltInKind fills objects of all kinds that are read as
// protobuf with seeded random values: what protobuf is converted to must be what
// the same object's JSON decodes to, values and types alike.
func TestConversionOfEveryBuiltInKind(t *testing.T) {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
	kinds := []served{
		{Resource: evidence.Nodes, Kind: "Node"}, {Resource: evidence.Pods, Kind: "Pod", Namespaced: true},
		{Resource: evidence.Events, Kind: "Event", Namespaced: true}, {Resource: evidence.ConfigMaps, Kind: "ConfigMap", Namespaced: true},
		{Resource: evidence.Secrets, Kind: "Secret", Namespaced: true}, {Resource: evidence.Namespaces, Kind: "Namespace"},
		{Resource: evidence.CSRs, Kind: "CertificateSigningRequest"},
	}
	for _, as := range kinds {
		as.Version = "v1"
		gvk := as.groupVersion().WithKind(as.Kind)
		if !scheme.Recognizes(gvk.GroupVersion().WithKind(as.Kind + "List")) {
			t.Errorf("%s is not read as protobuf", gvk)
			continue
		}
		for range 40 {
			o, err := scheme.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			fill.Fill(o)
			about, _ := meta.Accessor(o)
			about.SetName("name")
			about.SetNamespace(map[bool]string{true: "namespace"}[as.Namespaced])
			proto := through(t, as, mediaProto, o)
			json := through(t, as, mediaJSON, o)
			if d := cmp.Diff(json, proto); d != "" {
				t.Errorf("%s: protobuf differs from JSON (-json +protobuf):\n%s", gvk, d)
				break
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
	p, err := decode(raw, media, as, form{})
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
		p, err := decode(raw, media, as, form{})
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
