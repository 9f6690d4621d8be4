package live

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// scheme has the API's own types of what is read as protobuf, and codecs encode them as
// an API server does.
var (
	scheme = newScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	for _, f := range []func(*runtime.Scheme) error{
		metav1.AddMetaToScheme, corev1.AddToScheme, certificatesv1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme,
	} {
		if err := f(s); err != nil {
			panic(fmt.Sprintf("the scheme of built-in kinds: %v", err))
		}
	}
	return s
}
