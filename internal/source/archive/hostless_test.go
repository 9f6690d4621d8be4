package archive

import (
	"testing"
	"testing/fstest"
	"time"
)

// TestHostless: an archive with nothing of a host needs no time that is in it; one with a host does.
func TestHostless(t *testing.T) {
	clock := time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)
	proxy := &fstest.MapFile{Data: []byte("apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata: {name: cluster}\n")}
	node := &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Node\nmetadata: {name: w7}\n")}
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  time.Time
	}{
		"nothing of a host": {fstest.MapFS{"cluster-scoped-resources/config.openshift.io/proxies/cluster.yaml": proxy}, clock},
		"a host":            {fstest.MapFS{"cluster-scoped-resources/core/nodes/w7.yaml": node}, time.Time{}},
	} {
		s, err := FS(tt.files, "x")
		if err != nil {
			t.Fatal(err)
		}
		s.WithClock(clock)
		if d, err := s.Describe(t.Context()); err != nil || !d.Now.Equal(tt.want) {
			t.Errorf("%s: now is %s, %v; want %s", name, d.Now, err, tt.want)
		}
	}
}
