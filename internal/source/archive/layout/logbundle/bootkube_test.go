package logbundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
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
			"May 12 05:10:19 api.x.example.com bootkube.sh[4356]: I0512 05:10:19.084945       1 waitforceo.go:67] waiting on condition EtcdRunningInCluster in " +
			"etcd CR /cluster to be True.\n", []string{
			"service start", "stage start cb-bootstrap", "stage end cb-bootstrap success", "stage start wait-for-ceo"}},
		"what cluster-bootstrap prints last": {"-- bootkube.log --\n" + bootkubeYear + bootkubePods +
			"May 12 05:09:19 api.x.example.com bootkube.sh[4356]: Sending bootstrap-success event.Waiting for remaining assets to be created.\n", []string{
			"service start", "stage start cb-bootstrap", "stage end cb-bootstrap success"}},
		"its beginning and end": {"-- bootkube.log --\n" + bootkubeYear +
			"May 12 05:09:19 api.x.example.com bootkube.sh[4356]: Sending bootstrap-finished event.\n" + bootkubeEnds, []string{
			"service start", "stage start cb-bootstrap", "stage end cb-bootstrap success", "service end success"}},
		"in a bundle": {"-- log-bundle-1/bootstrap/journals/bootkube.log --\n" + bootkubeYear + bootkubeCB, []string{"service start", "stage start cb-bootstrap"}},
		"in ISO": {"-- bootkube.log --\n2025-05-12T04:54:38.123456+0000 x bootkube.sh[1]: Waiting for CEO to finish...\n", []string{"service start",
			"stage start wait-for-ceo"}},
	} {
		list, err := layouttest.Open(t, c.tree).List(t.Context(), evidence.BootstrapServices, "")
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
	const counted = "May 12 04:54:37 x systemd[1]: bootkube.service: Scheduled restart job, restart counter is at 60.\n"
	const refused = "May 12 04:54:40 x bootkube.sh[9]: cp: cannot stat 'y': No such file or directory\n"
	again, err := layouttest.Open(t, "-- bootkube.log --\n"+counted+bootkubeStart+bootkubeYear+refused+bootkubeFails+bootkubeStart).List(t.Context(),
		evidence.BootstrapServices, "")
	if err != nil || len(again) != 1 {
		t.Fatalf("restarted: %v, %v", again, err)
	}
	var restarted []string
	kept, _ := evidence.Field(again[0].Content, "records").([]any)
	for _, raw := range kept {
		m, _ := raw.(map[string]any)
		restarted = append(restarted, evidence.String(m, "timestamp")+" "+evidence.String(m, "phase")+" "+evidence.String(m, "errorMessage"))
	}
	if want := []string{"2025-05-12T04:49:38Z service start ", "2025-05-12T05:14:09Z service end cp: cannot stat 'y': No such file or directory",
		"2025-05-12T04:54:38Z service start "}; !slices.Equal(restarted, want) {
		t.Errorf("restarted 60 times: %q", restarted)
	}
	const records = "-- log-bundle-1/bootstrap/services/bootkube.json --\n[{\"timestamp\":\"2025-05-12T04:54:38Z\",\"phase\":\"service start\"}]\n"
	list, err := layouttest.Open(t, records+"-- log-bundle-1/bootstrap/journals/bootkube.log --\n"+bootkubeYear+bootkubeCB).List(t.Context(),
		evidence.BootstrapServices, "")
	if n, _ := evidence.Field(list[0].Content, "records").([]any); err != nil || len(list) != 1 || len(n) != 1 {
		t.Errorf("records that are there: %v, %v", list, err)
	}
	if _, err := layouttest.Open(t, "-- kubelet.log --\n"+bootkubeYear).List(t.Context(), evidence.BootstrapServices, ""); err == nil {
		t.Error("a journal without a stage gives records")
	}
}
