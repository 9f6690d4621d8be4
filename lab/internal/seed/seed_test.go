package seed

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
)

func TestManifestsRender(t *testing.T) {
	net := plan.Net{X: 100, Y: 1}
	certs, err := pki.NewCluster(pki.Hosts{API: []string{net.API()}, MCS: []string{net.API()}, Etcd: []string{net.Etcd()}})
	if err != nil {
		t.Fatal(err)
	}
	v := NewValues(net, certs, time.Unix(0, 0))
	names, err := Names()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		data, err := v.YAML(name)
		if err != nil {
			t.Fatal(err)
		}
		objs, err := Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(objs) == 0 {
			t.Errorf("%s holds no object", name)
		}
		for _, o := range objs {
			id := strings.Join([]string{o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName()}, "/")
			if seen[id] {
				t.Errorf("%s: %s appears twice", name, id)
			}
			seen[id] = true
		}
	}
	if !seen["config.openshift.io/v1/Infrastructure//cluster"] || !seen["metal3.io/v1alpha1/BareMetalHost/openshift-machine-api/control2"] {
		t.Errorf("objects missing: %v", seen)
	}
}

func TestPointer(t *testing.T) {
	net := plan.Net{X: 100, Y: 1}
	v := Values{Net: net, PKI: &pki.Cluster{Root: pki.Pair{Cert: []byte("CERT")}}}
	text, err := v.Pointer("master")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Ignition struct {
			Config struct {
				Merge []struct{ Source string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("pointer is no JSON: %v\n%s", err, text)
	}
	if want := "https://127.100.1.5:22623/config/master"; len(got.Ignition.Config.Merge) != 1 || got.Ignition.Config.Merge[0].Source != want {
		t.Fatalf("pointer merges %+v, want %s", got.Ignition.Config.Merge, want)
	}
}
