package serve

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func writtenHub(t *testing.T, h Hub) string {
	t.Helper()
	var out bytes.Buffer
	if err := h.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHub(t *testing.T) {
	golden(t, "hub.yaml", writtenHub(t, Hub{Monitoring: UserWorkload}))
}

// namesIn are the series of a list in the ConfigMap that is written, and the ConfigMap.
func namesIn(t *testing.T, text, key string) (names []string, data map[string]string) {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n---\n")
	var o struct {
		Data map[string]string `json:"data"`
	}
	if err := yaml.Unmarshal([]byte(first), &o); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Names []string `json:"names"`
	}
	if err := yaml.Unmarshal([]byte(o.Data[key]), &list); err != nil {
		t.Fatal(err)
	}
	return list.Names, o.Data
}

// TestAllowListStays: the hub has one list for all: nothing that is in it goes, whatever its keys are, and writing twice changes nothing.
func TestAllowListStays(t *testing.T) {
	const have = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"observability-metrics-custom-allowlist",` +
		`"namespace":"open-cluster-management-observability","resourceVersion":"7","uid":"u","labels":{"team":"x"}},"data":{` +
		`"metrics_list.yaml":"names:\n- etcd_server_is_leader\nmatches:\n- __name__=\"up\"\nrecording_rules:\n- record: a:b\n  expr: c\n",` +
		`"uwl_metrics_list.yaml":"names:\n- mine_total\n"}}`
	for _, c := range []struct {
		monitoring          Monitoring
		key, first          string
		other, otherContent string
	}{
		{UserWorkload, userList, "mine_total", platformList, "etcd_server_is_leader"},
		{Platform, platformList, "etcd_server_is_leader", userList, "mine_total"},
	} {
		text := writtenHub(t, Hub{Monitoring: c.monitoring, AllowList: []byte(have)})
		names, data := namesIn(t, text, c.key)
		if len(names) != 6 || names[0] != c.first {
			t.Errorf("%s: %v", c.monitoring, names)
		}
		if !strings.Contains(data[c.other], c.otherContent) || strings.Contains(data[c.other], "rollcall") {
			t.Errorf("%s: the other list is %q", c.monitoring, data[c.other])
		}
		for _, stays := range []string{`__name__="up"`, "record: a:b"} {
			if !strings.Contains(data[platformList], stays) {
				t.Errorf("%s: %s is gone from %q", c.monitoring, stays, data[platformList])
			}
		}
		if !strings.Contains(text, "team: x") || strings.Contains(text, "resourceVersion") || strings.Contains(text, "uid: u") {
			t.Errorf("%s: the labels stay, and what the server wrote does not: %s", c.monitoring, text)
		}
		first, _, _ := strings.Cut(text, "\n---\n")
		if again := writtenHub(t, Hub{Monitoring: c.monitoring, AllowList: []byte(first)}); again != text {
			t.Errorf("%s: written again it differs", c.monitoring)
		}
	}
}

// TestAllowListMistakes: what is not the list is refused, and nothing is written.
func TestAllowListMistakes(t *testing.T) {
	const meta = `"metadata":{"name":"observability-metrics-custom-allowlist","namespace":"open-cluster-management-observability"}`
	for have, want := range map[string]string{
		"":  "--allowlist is",
		"{": "read --allowlist",
		`{"kind":"ConfigMap","metadata":{"name":"other","namespace":"open-cluster-management-observability"}}`: "other",
		`{"kind":"List","items":[]}`: "--allowlist is List",
		`{"kind":"ConfigMap",` + meta + `,"data":{"uwl_metrics_list.yaml":"names: x"}}`: "names is not a list",
		`{"kind":"ConfigMap",` + meta + `,"data":{"uwl_metrics_list.yaml":"{"}}`:        "uwl_metrics_list.yaml",
	} {
		var out bytes.Buffer
		err := Hub{Monitoring: UserWorkload, AllowList: []byte(have)}.Write(&out)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%q: %v", have, err)
		}
	}
}
