package archive

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const (
	bootkubeStart = "May 12 04:54:38 localhost.localdomain systemd[1]: Started Bootstrap a Kubernetes cluster.\n"
	bootkubeMCO   = "May 12 04:55:02 localhost.localdomain bootkube.sh[4356]: Rendering MCO manifests...\n"
	bootkubeCB    = "May 12 04:58:00 api.x.example.com bootkube.sh[4356]: Starting cluster-bootstrap...\n"
	bootkubeError = "May 12 05:19:09 api.x.example.com bootkube.sh[4356]: Error: error while checking pod status: timed out waiting for the condition\n"
	bootkubeFails = "May 12 05:19:09 api.x.example.com systemd[1]: bootkube.service: Failed with result 'exit-code'.\n"
	bootkubePods  = "May 12 05:07:19 api.x.example.com bootkube.sh[4356]:         Pod Status:openshift-kube-apiserver/kube-apiserver        DoesNotExist\n" +
		"May 12 05:07:19 api.x.example.com bootkube.sh[4356]:         Pod Status:openshift-cluster-version/cluster-version-operator        Pending\n" +
		"May 12 05:08:19 api.x.example.com bootkube.sh[4356]:         Pod Status:openshift-cluster-version/cluster-version-operator        Ready\n"
	bootkubeEnds = "May 12 05:30:00 api.x.example.com bootkube.sh[4356]: bootkube.service complete\n"
	bootkubeYear = "May 12 04:54:38 localhost.localdomain podman[2568]: 2025-05-12 04:54:38.931736502 +0000 UTC m=+0.029 container create\n"
)

// TestBootkubeJournal: where there are no records of bootkube, its journal gives them.
func TestBootkubeJournal(t *testing.T) {
	for name, c := range map[string]struct {
		tree string
		want []string // phase stage result, with the error
	}{
		"by itself": {"-- bootkube.log --\n" + bootkubeStart + bootkubeYear + bootkubeMCO + bootkubeCB + bootkubeError + bootkubeFails, []string{
			"service start", "stage start mco-bootstrap", "stage end mco-bootstrap success", "stage start cb-bootstrap",
			"stage end cb-bootstrap failure Error: error while checking pod status: timed out waiting for the condition",
			"service end failure Error: error while checking pod status: timed out waiting for the condition"}},
		"it waits for pods": {"-- bootkube.log --\n" + bootkubeYear + bootkubeCB + bootkubePods + bootkubeError + bootkubeFails, []string{
			"service start", "stage start cb-bootstrap",
			"stage end cb-bootstrap failure Error: not Ready: kube-apiserver DoesNotExist; error while checking pod status: timed out waiting for the condition",
			"service end failure Error: not Ready: kube-apiserver DoesNotExist; error while checking pod status: timed out waiting for the condition"}},
		"its beginning is not there": {"-- bootkube.log --\n" + bootkubeYear + bootkubeCB, []string{"service start", "stage start cb-bootstrap"}},
		"it has ended": {"-- bootkube.log --\n" + bootkubeStart + bootkubeYear + bootkubeCB + bootkubeEnds, []string{
			"service start", "stage start cb-bootstrap", "stage end cb-bootstrap success", "service end success"}},
		"only what its stages print": {"-- bootkube.log --\n" + bootkubeYear + bootkubePods +
			"May 12 05:09:19 api.x.example.com bootkube.sh[4356]: All self-hosted control plane components successfully started\n" +
			"May 12 05:10:19 api.x.example.com bootkube.sh[4356]: I0512 05:10:19.084945       1 waitforceo.go:67] waiting on condition EtcdRunningInCluster in etcd CR /cluster to be True.\n", []string{
			"service start", "stage start cb-bootstrap", "stage end cb-bootstrap success", "stage start wait-for-ceo"}},
		"in a bundle": {"-- log-bundle-1/bootstrap/journals/bootkube.log --\n" + bootkubeYear + bootkubeCB, []string{"service start", "stage start cb-bootstrap"}},
		"in ISO":      {"-- bootkube.log --\n2025-05-12T04:54:38.123456+0000 x bootkube.sh[1]: Waiting for CEO to finish...\n", []string{"service start", "stage start wait-for-ceo"}},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.BootstrapServices, "")
		if err != nil || len(list) != 1 || list[0].Name != "bootkube" {
			t.Errorf("%s: %v, %v", name, list, err)
			continue
		}
		var got []string
		records, _ := evidence.Field(list[0].Content, "records").([]any)
		for _, raw := range records {
			m, _ := raw.(map[string]any)
			words := []string{}
			for _, k := range []string{"phase", "stage", "result", "errorMessage"} {
				if v := evidence.String(m, k); v != "" {
					words = append(words, v)
				}
			}
			got = append(got, strings.Join(words, " "))
			if at := evidence.String(m, "timestamp"); !strings.HasPrefix(at, "2025-05-12T0") {
				t.Errorf("%s: a record of %q", name, at)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	const records = "-- log-bundle-1/bootstrap/services/bootkube.json --\n[{\"timestamp\":\"2025-05-12T04:54:38Z\",\"phase\":\"service start\"}]\n"
	list, err := open(t, records+"-- log-bundle-1/bootstrap/journals/bootkube.log --\n"+bootkubeYear+bootkubeCB).List(t.Context(), evidence.BootstrapServices, "")
	if n, _ := evidence.Field(list[0].Content, "records").([]any); err != nil || len(list) != 1 || len(n) != 1 {
		t.Errorf("records that are there: %v, %v", list, err)
	}
	if _, err := open(t, "-- kubelet.log --\n"+bootkubeYear).List(t.Context(), evidence.BootstrapServices, ""); err == nil {
		t.Error("a journal without a stage gives records")
	}
}

// TestNamedByJournals: a journal by itself names its hosts; the bootstrap host is one.
func TestNamedByJournals(t *testing.T) {
	kubelet := func(host string) string {
		return "Nov 12 03:04:05 " + host + " kubenswrapper[123]: I1112 03:04:05.1 123 x.go:1] y\n"
	}
	for name, c := range map[string]struct{ tree, want string }{
		"one":                 {"-- kubelet.log --\n" + kubelet("localhost") + kubelet("w1.example.com"), "w1.example.com/"},
		"several":             {"-- kubelet.log --\n" + kubelet("W1") + kubelet("m0") + kubelet("w1"), "w1/ m0/"},
		"in ISO":              {"-- kubelet.log --\n2026-11-12T03:04:05.123456+0000 w1 kubenswrapper[1]: x\n", "w1/"},
		"no name yet":         {"-- kubelet.log --\n" + kubelet("localhost"), ""},
		"of the bootstrap":    {"-- bootkube.log --\n" + bootkubeStart + bootkubeCB, "bootstrap/bootstrap"},
		"a bundle's":          {"-- log-bundle-1/bootstrap/journals/kubelet.log --\n" + kubelet("x"), "bootstrap/bootstrap"},
		"of a must-gather":    {"-- mg/host_service_logs/masters/kubelet_service.log --\n" + kubelet("m0"), ""},
		"an object, no lines": {clusterA, ""},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.NamedHosts, "")
		var got []string
		for _, o := range list {
			got = append(got, o.Name+"/"+evidence.String(o.Content, "role"))
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestGathered: an Insights archive that holds fewer objects than Insights gathered is not
// the whole, as is one in which a function failed.
func TestGathered(t *testing.T) {
	const node = "-- config/version.json --\n{\"apiVersion\":\"config.openshift.io/v1\",\"kind\":\"ClusterVersion\",\"metadata\":{\"name\":\"version\"}}\n" +
		"-- config/node/w1.json --\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"w1\"}}\n"
	report := func(more string) string {
		return "-- insights-operator/gathers.json --\n{\"status_reports\":[{\"name\":\"clusterconfig/nodes\"," + more + "}]}\n"
	}
	for name, c := range map[string]struct{ tree, want string }{
		"all":            {node + report(`"records_count":1`), ""},
		"fewer":          {node + report(`"records_count":6`), "Insights gathered 6 nodes, and 1 of them are in the archive"},
		"an error":       {node + report(`"records_count":1,"errors":["timed out"]`), "could not gather all nodes: timed out"},
		"it panicked":    {node + report(`"records_count":1,"panic":"nil map"`), "could not gather all nodes: nil map"},
		"it is not said": {node, ""},
	} {
		list, err := open(t, c.tree).List(t.Context(), evidence.Nodes, "")
		u, unavailable := evidence.AsUnavailable(err)
		if len(list) != 1 || unavailable != (c.want != "") || unavailable && !strings.Contains(u.Detail, c.want) {
			t.Errorf("%s: %d nodes, %v, want %q", name, len(list), err, c.want)
		}
	}
}
