package live

import (
	"fmt"
	"net/http"
	goruntime "runtime"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// BenchmarkList lists 10,000 pods in pages of 500 from pages that were encoded
// before, so that what is measured is this side: transport, decoding, conversion.
func BenchmarkList(b *testing.B) {
	for _, media := range []string{mediaProto, mediaJSON} {
		b.Run(media[len("application/"):], func(b *testing.B) {
			f := newFakeAPI()
			pages := encodedPages(b, media, 10_000, 500)
			f.handle["/api/v1/pods"] = func(w http.ResponseWriter, r *http.Request) {
				from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
				w.Header().Set("Content-Type", media)
				_, _ = w.Write(pages[from/500])
			}
			s := f.source(b, Options{QPS: 1e6, Burst: 1e6})
			b.ReportAllocs()
			var list []evidence.Object
			empty := heap()
			for b.Loop() {
				var err error
				list, err = s.List(b.Context(), evidence.Pods, "")
				if err != nil || len(list) != 10_000 {
					b.Fatalf("%d pods, %v", len(list), err)
				}
			}
			b.ReportMetric(float64(heap()-empty)/10_000, "heap-B/pod")
			goruntime.KeepAlive(list)
		})
	}
}

// managed are managedFields of the size that a static pod of a control plane has.
func managed() []metav1.ManagedFieldsEntry {
	fields := `{"f:metadata":{"f:annotations":{".":{},"f:kubernetes.io/config.hash":{}},"f:labels":{".":{},"f:app":{},"f:revision":{}}},"f:spec":{`
	for i := range 4 {
		fields += fmt.Sprintf(`"f:c%d":{"k:{\"name\":\"c%d\"}":{".":{},"f:command":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},`+
			`"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{".":{},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}},`, i, i)
	}
	fields += `"f:x":{}}}`
	var list []metav1.ManagedFieldsEntry
	for _, who := range []string{"cluster-etcd-operator", "kubelet", "ovnkube"} {
		list = append(list, metav1.ManagedFieldsEntry{Manager: who, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}})
	}
	return list
}

// heap is what is alive.
func heap() uint64 {
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

func encodedPages(b *testing.B, media string, n, size int) [][]byte {
	b.Helper()
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	var pages [][]byte
	var bytes int
	for from := 0; from < n; from += size {
		kind := richPod(0).GroupVersionKind()
		kind.Version, kind.Kind = "v1", "PodList"
		list, err := scheme.New(kind)
		if err != nil {
			b.Fatal(err)
		}
		items := make([]runtime.Object, 0, size)
		for i := from; i < min(from+size, n); i++ {
			p := richPod(i)
			p.ManagedFields = append(p.ManagedFields, managed()...)
			items = append(items, p)
		}
		if err := meta.SetList(list, items); err != nil {
			b.Fatal(err)
		}
		about, _ := meta.ListAccessor(list)
		about.SetContinue(nextToken(from+size, n))
		list.GetObjectKind().SetGroupVersionKind(kind)
		raw, err := runtime.Encode(info.Serializer, list)
		if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, raw)
		bytes += len(raw)
	}
	b.Logf("%s: %d bytes a pod", media, bytes/n)
	return pages
}
