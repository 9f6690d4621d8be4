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

const (
	imageStart = "Apr 24 17:08:46 b1.example.com systemd[1]: Starting Download the OpenShift Release Image...\n"
	imagePull  = "Apr 24 17:08:46 b1.example.com release-image-download.sh[16]: Pulling reg.example.com/ocp/release@sha256:0a...\n"
	imageYear  = "Apr 24 17:08:47 b1.example.com podman[17]: 2020-04-24 17:08:47.307961668 +0000 UTC m=+1.119 system refresh\n"
	imageError = "Apr 24 17:08:49 b1.example.com release-image-download.sh[16]: Error: initializing source docker://reg.example.com/ocp/release@sha256:0a: denied\n"
	imageAgain = "Apr 24 17:08:49 b1.example.com release-image-download.sh[16]: Pull failed. Retrying reg.example.com/ocp/release@sha256:0a...\n"
	imageLater = "Apr 24 17:08:58 b1.example.com release-image-download.sh[16]: 5f1b\nApr 24 17:08:58 b1.example.com systemd[1]: "
	osImage    = "Apr 24 17:09:00 b1.example.com node-image-pull.sh[20]: "
)

// TestOneshotJournals: where a bundle has no records, the journals of the services before bootkube give them.
func TestOneshotJournals(t *testing.T) {
	const dir = "-- log-bundle-1/bootstrap/journals/"
	const denied = " Error: initializing source docker://reg.example.com/ocp/release@sha256:0a: denied"
	for name, c := range map[string]struct {
		tree string
		want []string // service: phase stage result, with the error
	}{
		"cut after the error": {dir + "release-image.log --\n" + imageStart + imagePull + imageYear + imageError, []string{
			"release-image: service start", "release-image: stage start pull-release-image", "release-image: stage end pull-release-image failure" + denied}},
		"it tries again": {dir + "release-image.log --\n" + imageStart + imagePull + imageYear + imageError + imageAgain, []string{
			"release-image: service start", "release-image: stage start pull-release-image", "release-image: stage end pull-release-image failure" + denied,
			"release-image: stage start pull-release-image"}},
		"its error is not there": {dir + "release-image.log --\n" + imageYear + imageAgain + imageAgain, []string{"release-image: service start",
			"release-image: stage end pull-release-image failure Pull failed. Retrying reg.example.com/ocp/release@sha256:0a...",
			"release-image: stage start pull-release-image",
			"release-image: stage end pull-release-image failure Pull failed. Retrying reg.example.com/ocp/release@sha256:0a...",
			"release-image: stage start pull-release-image"}},
		"then it succeeds": {dir + "release-image.log --\n" + imageStart + imagePull + imageYear + imageError + imageAgain + imageLater +
			"Started Download the OpenShift Release Image.\n", []string{"release-image: service start", "release-image: stage start pull-release-image",
			"release-image: stage end pull-release-image failure" + denied, "release-image: stage start pull-release-image", "release-image: service end success"}},
		"as newer systemd prints it": {dir + "release-image.log --\n" + imageStart + imagePull + imageYear + imageLater +
			"Finished release-image.service - Download the OpenShift Release Image.\n", []string{"release-image: service start",
			"release-image: stage start pull-release-image", "release-image: service end success"}},
		"bootkube began afterwards": {dir + "release-image.log --\n" + imageYear + imageAgain + dir + "bootkube.log --\n" +
			"Apr 24 17:20:00 b1.example.com bootkube.sh[30]: Rendering MCO manifests...\n", []string{"bootkube: service start",
			"bootkube: stage start mco-bootstrap", "release-image: service start",
			"release-image: stage end pull-release-image failure Pull failed. Retrying reg.example.com/ocp/release@sha256:0a...",
			"release-image: stage start pull-release-image", "release-image: service end success"}},
		"the image of the host": {dir + "node-image-pull.log --\n" + imageYear + osImage + "Pulling reg.example.com/ocp/os@sha256:0b\n" + osImage +
			"error: Importing: Unencapsulating base: denied\n" + osImage + "Failed to fetch release image; retrying...\n", []string{
			"node-image-pull: service start", "node-image-pull: service end failure error: Importing: Unencapsulating base: denied"}},
		"the unit fails": {dir + "crio-configure.log --\n" + imageYear + "Apr 24 17:09:00 b1.example.com crio-configure.sh[20]: mkdir: no space\n" +
			"Apr 24 17:09:00 b1.example.com systemd[1]: crio-configure.service: Failed with result 'exit-code'.\n", []string{
			"crio-configure: service start", "crio-configure: service end failure mkdir: no space"}},
	} {
		list, err := layouttest.Open(t, c.tree).List(t.Context(), evidence.BootstrapServices, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, o := range list {
			if ofJournal, _ := evidence.Field(o.Content, "journal").(bool); !ofJournal {
				t.Errorf("%s: the records of %s are not marked as those of a journal", name, o.Name)
			}
			records, _ := evidence.Field(o.Content, "records").([]any)
			for _, raw := range records {
				m, _ := raw.(map[string]any)
				words := []string{o.Name + ":"}
				for _, k := range []string{"phase", "stage", "result", "errorMessage"} {
					if v := evidence.String(m, k); v != "" {
						words = append(words, v)
					}
				}
				got = append(got, strings.Join(words, " "))
				if at := evidence.String(m, "timestamp"); !strings.HasPrefix(at, "2020-04-24T17:") {
					t.Errorf("%s: a record of %q", name, at)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	for name, tree := range map[string]string{
		"no entries":         dir + "release-image.log --\n-- Logs begin at Fri 2020-04-24 17:08:15 UTC, end at Fri 2020-04-24 17:33:16 UTC. --\n-- No entries --\n",
		"bootkube has ended": dir + "release-image.log --\n" + imageYear + imageAgain + dir + "bootkube.log --\n" + bootkubeEnds,
	} {
		if list, err := layouttest.Open(t, tree).List(t.Context(), evidence.BootstrapServices, ""); err == nil {
			t.Errorf("%s: %v", name, list)
		}
	}
}
