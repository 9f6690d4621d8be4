package certs

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestDomainOf(t *testing.T) {
	const good = "baseDomain: example.com\nmetadata: {name: a}\ncontrolPlane: {replicas: 3}\n"
	tests := []struct{ name, text, domain, broken string }{
		{"good", good, "a.example.com", ""},
		{"trailing dot", strings.Replace(good, ".com", ".com.", 1), "a.example.com", ""},
		{"empty", "", "", "it has no install-config"},
		{"no YAML", "a: [", "", "its install-config is not YAML"},
		{"no name", "baseDomain: example.com\n", "", "its install-config has no name or no base domain"},
		{"no replicas", "baseDomain: example.com\nmetadata: {name: a}\n", "a.example.com", "its install-config has no controlPlane.replicas"},
	}
	for _, tt := range tests {
		if domain, broken := domainOf(tt.text); domain != tt.domain || broken != tt.broken {
			t.Errorf("%s: %q, %q; want %q, %q", tt.name, domain, broken, tt.domain, tt.broken)
		}
	}
}

func TestInputsUnread(t *testing.T) {
	tests := []struct {
		without evidence.Need
		fields  []string
	}{
		{evidence.Objects(evidence.ConfigMaps, "kube-system"), []string{"configGone", "configBroken", "wrongAddress"}},
		{evidence.Objects(evidence.ControllerConfigs, ""), []string{"rootDiffers"}},
		{evidence.Objects(evidence.Infrastructures, ""), []string{"wrongAddress"}},
	}
	for _, tt := range tests {
		v := factstest.World(t, factstest.Metal, "", tt.without).Compute(t.Context(), inputsFact(), factstest.Cluster())
		for _, f := range tt.fields {
			if v.Why(f) == nil {
				t.Errorf("without %s %s is known", tt.without, f)
			}
		}
	}
	v := factstest.World(t, factstest.Metal, "").Compute(t.Context(), inputsFact(), factstest.Cluster())
	for _, f := range []string{"rootDiffers", "configGone", "configBroken", "wrongAddress"} {
		if err := v.Why(f); err != nil {
			t.Errorf("healthy: %s: %v", f, err)
		}
	}
}
