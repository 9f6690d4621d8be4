package onhost

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const parts = "cluster-scoped-resources/rollcall.dev/"

// TestUnread: a file that could not be read, and a name that was obfuscated, are no answers.
func TestUnread(t *testing.T) {
	identity := func(changes string) Identity {
		t.Helper()
		w := factstest.World(t, factstest.Metal, changes)
		return factstest.Fields[Identity](t, w, identityFact, factstest.Host("m1"))
	}
	whole := identity("")
	if !whole.OtherNode.Equal(facts.Known(false)) || !whole.Local.Equal(facts.Known(false)) || !whole.ForeignCA.Equal(facts.Known(false)) || !whole.NeedsNew.Equal(facts.Known(false)) {
		t.Errorf("%+v", whole)
	}
	for name, c := range map[string]struct {
		change string
		field  func(Identity) facts.Field[bool]
	}{
		"a name that was obfuscated":         {"hostname: x-host-xxxxxxx", func(f Identity) facts.Field[bool] { return f.OtherNode }},
		"a server that was obfuscated":       {"kubeconfig: {server: \"https://api-int.domain0000000001:6443\"}", func(f Identity) facts.Field[bool] { return f.Local }},
		"a kubeconfig that was not read":     {"kubeconfig: {error: denied}", func(f Identity) facts.Field[bool] { return f.Local }},
		"authorities that were not read":     {"bootstrapKubeconfig: {error: denied}", func(f Identity) facts.Field[bool] { return f.ForeignCA }},
		"a certificate that was not read":    {"kubeletClient: {error: denied}", func(f Identity) facts.Field[bool] { return f.NeedsNew }},
		"a container with a name of its own": {"hostname: \"\"", func(f Identity) facts.Field[bool] { return f.Nameless }},
	} {
		got := c.field(identity("-- patch:" + parts + "hostidentities/m1.yaml --\n" + c.change + "\n"))
		if _, err := got.Get(); err == nil {
			t.Errorf("%s: it is known to be %v", name, got)
		}
	}
}

// TestConfigUnread: files of the machine-config-daemon that could not be read.
func TestConfigUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "-- patch:"+parts+"hostconfigs/m1.yaml --\nencapsulated: {error: denied}\ncurrent: {error: denied}\nbooted: \"\"\n")
	f := factstest.Fields[config](t, w, configFact, factstest.Host("m1"))
	for name, got := range map[string]facts.Field[bool]{"open": f.Open, "bootedOther": f.BootedOther} {
		if _, err := got.Get(); err == nil {
			t.Errorf("%s is %v", name, got)
		}
	}
	if _, err := f.Damaged.Get(); err == nil {
		t.Errorf("damaged is %v", f.Damaged)
	}
	if !f.Finished.Equal(facts.Known(true)) {
		t.Errorf("finished is %v", f.Finished)
	}
}

// TestContainersUnread: without the runtime's answer no container is known to run; a
// manifest that is none is known anyway.
func TestContainersUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "-- patch:"+parts+"hostcontainers/m1.yaml --\nruntimeError: no socket\nmanifests: [{path: /etc/kubernetes/manifests/a.yaml, exists: true, problem: no pod}]\n")
	f := factstest.Fields[containers](t, w, containersFact, factstest.Host("m1"))
	if _, err := f.Control.Get(); err == nil || !f.RuntimeSilent.Equal(facts.Known(true)) || len(f.Broken.Value()) != 1 {
		t.Errorf("control %v, silent %v, broken %v", f.Control, f.RuntimeSilent, f.Broken)
	}
}

// TestClockUnread: sources that were not read are not none.
func TestClockUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "-- patch:"+parts+"hostclocks/m1.yaml --\nsourcesError: timed out\nrtc: null\n")
	f := factstest.Fields[clock](t, w, clockFact, factstest.Host("m1"))
	if _, err := f.Reachable.Get(); err == nil || !f.Synchronised.Equal(facts.Known(true)) || !f.RTCKnown.Equal(facts.Known(false)) {
		t.Errorf("reachable %v, synchronised %v, hardware clock %v", f.Reachable, f.Synchronised, f.RTCKnown)
	}
}
