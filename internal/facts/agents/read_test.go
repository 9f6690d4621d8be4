package agents

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// TestUnread: a service's lists that could not be read are not empty.
func TestUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "")
	f := factstest.Fields[host](t, w, hostFact, factstest.Host("m0"))
	if !f.Registered.Equal(facts.Known(true)) || !f.Joined.Equal(facts.Known(true)) || !f.Planned.Equal(facts.Known(true)) || !f.Clock.Equal(facts.Known("")) {
		t.Errorf("%+v", f)
	}
	w = factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.AssistedHosts, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, hostFact, factstest.Host("m0"))); !ok {
		t.Error("without the service's hosts this one is known not to have registered")
	}
	c := factstest.Fields[cluster](t, w, clusterFact, factstest.Cluster())
	if _, err := c.Hosts.Get(); err == nil || !c.Status.Equal(facts.Known("installed")) {
		t.Errorf("hosts %v, status %v", c.Hosts, c.Status)
	}
}
