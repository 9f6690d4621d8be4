package assisted_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

const (
	savedHost = `{"id": "0b1e", "status": "disconnected", "status_info": "Host has stopped communicating", "requested_hostname": "master-0",
	  "checked_in_at": "2026-03-01T07:10:00Z", "status_updated_at": "2026-03-01T07:13:00Z", "inventory": "{\"hostname\":\"localhost\"}"}`
	savedCluster = `{"id": "c1", "name": "demo", "status": "insufficient", "status_info": "Cluster is not ready for install", "openshift_version": "4.17.3",
	  "pull_secret": "planted-secret", "updated_at": "2026-03-01T07:20:00Z", "install_completed_at": "0001-01-01T00:00:00Z", "image_info": {"expires_at": "2027-03-01T07:20:00Z"}`
	savedEvents = `[{"event_time": "2026-03-01T07:13:00Z", "severity": "critical", "message": "Host master-0:\nfailed"}]`
)

func TestReadSaved(t *testing.T) {
	for name, c := range map[string]struct {
		raw             string
		clusters, hosts int
		whole           bool
		newest, events  string
	}{
		"a cluster with its hosts":    {savedCluster + `, "hosts": [` + savedHost + `]}`, 1, 1, true, "2026-03-01T07:20:00Z", ""},
		"a cluster without its hosts": {"[" + savedCluster + "}]", 1, 0, false, "2026-03-01T07:20:00Z", ""},
		"a cluster of no hosts":       {savedCluster + `, "hosts": []}`, 1, 0, true, "2026-03-01T07:20:00Z", ""},
		"hosts of an InfraEnv":        {"[" + savedHost + "]", 0, 1, false, "2026-03-01T07:13:00Z", ""},
		"one host":                    {savedHost, 0, 1, false, "2026-03-01T07:13:00Z", ""},
		"events": {savedEvents, 0, 0, false, "2026-03-01T07:13:00Z",
			"time=\"2026-03-01T07:13:00Z\" level=error msg=\"Host master-0:\\nfailed\"\n"},
		"no events": {"[]", 0, 0, false, "", ""},
	} {
		s, err := assisted.ReadSaved("answer.json", []byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var newest time.Time
		if c.newest != "" {
			newest, _ = time.Parse(time.RFC3339, c.newest)
		}
		if len(s.Clusters) != c.clusters || len(s.Hosts) != c.hosts || s.Whole != c.whole || !s.Newest.Equal(newest) || string(s.Events) != c.events {
			t.Errorf("%s: %d clusters, %d hosts, whole %t, newest %v, events %q", name, len(s.Clusters), len(s.Hosts), s.Whole, s.Newest, s.Events)
		}
		for _, o := range s.Clusters {
			if o.Content["pull_secret"] != nil {
				t.Errorf("%s: a pull secret is kept", name)
			}
		}
	}
}

func TestReadSavedRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"cut":                 savedCluster + `, "hosts": [`,
		"a host without id":   `{"status_info": "x", "checked_in_at": "2026-03-01T07:10:00Z"}`,
		"something else":      `{"name": "x"}`,
		"a list of numbers":   `[1]`,
		"two kinds, one bad":  "[" + savedHost + `, {"name": "x"}]`,
		"too many clusters":   "[" + strings.Repeat(savedCluster+"},", 9) + savedCluster + "}]",
		"no JSON at all":      "x",
		"an unreadable event": `[{"event_time": "2026-03-01T07:13:00Z", "message": 7}]`,
	} {
		if s, err := assisted.ReadSaved("answer.json", []byte(raw)); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func FuzzReadSaved(f *testing.F) {
	for _, raw := range []string{savedCluster + `, "hosts": [` + savedHost + `]}`, "[" + savedHost + "]", savedEvents} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = assisted.ReadSaved("answer.json", raw)
	})
}
