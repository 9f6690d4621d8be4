package chrony

import (
	"encoding/base64"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestMachineConfig(t *testing.T) {
	raw, err := MachineConfig("worker", []string{"ntp1.example.com", "192.0.2.1", "2001:db8::1"})
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Kind     string
		Metadata struct {
			Name   string
			Labels map[string]string
		}
		Spec struct {
			Config struct {
				Ignition struct{ Version string }
				Storage  struct {
					Files []struct {
						Path      string
						Mode      int
						Overwrite bool
						Contents  struct{ Source string }
					}
				}
			}
		}
	}
	if err := yaml.UnmarshalStrict(raw, &o); err == nil {
		t.Error("apiVersion is missing in this test's type and must be an unknown field")
	}
	if err := yaml.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	if o.Kind != "MachineConfig" || o.Metadata.Name != "99-worker-rollcall-chrony" || o.Metadata.Labels["machineconfiguration.openshift.io/role"] != "worker" || o.Spec.Config.Ignition.Version != "3.2.0" {
		t.Errorf("%s", raw)
	}
	f := o.Spec.Config.Storage.Files
	if len(f) != 1 || f[0].Path != "/etc/chrony.conf" || f[0].Mode != 420 || !f[0].Overwrite {
		t.Fatalf("%s", raw)
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(f[0].Contents.Source, "data:text/plain;charset=utf-8;base64,"))
	if err != nil || !strings.HasPrefix(string(text), "server ntp1.example.com iburst\nserver 192.0.2.1 iburst\nserver 2001:db8::1 iburst\ndriftfile ") {
		t.Errorf("%v %s", err, text)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		pool    string
		servers []string
	}{
		"no server":     {"worker", nil},
		"too many":      {"worker", strings.Split("a,b,c,d,e,f,g,h,i", ",")},
		"twice":         {"worker", []string{"a", "a"}},
		"two words":     {"worker", []string{"a iburst"}},
		"a second line": {"worker", []string{"a\nallow"}},
		"pool":          {"Worker", []string{"a"}},
		"no pool":       {"", []string{"a"}},
	} {
		if raw, err := MachineConfig(c.pool, c.servers); err == nil {
			t.Errorf("%s: %s", name, raw)
		}
	}
}
