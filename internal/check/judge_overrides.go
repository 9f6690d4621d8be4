package check

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// overrides judge the fields with which an operator is told to leave its own rules.
var overrides = []Judgment{{
	ID: "unsupported-override", Commands: "oc patch with unsupportedConfigOverrides", Matches: func(c *shellcommand.Call) bool {
		return c.Is("oc", "patch") && has(c, `unsupportedConfigOverrides|useUnsupportedUnsafeNonHANonProductionUnstable`)
	},
	Decide: decideOverride,
	Sources: []fault.Ref{
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/ceohelpers/unsupported_override.go", Symbol: "IsUnsupportedUnsafeEtcd"},
		{Repo: "openshift/openshift-docs", Path: "modules/restore-replace-stopped-etcd-member.adoc"},
		{Repo: "openshift/library-go", Path: "pkg/operator/unsupportedconfigoverridescontroller/unsupportedconfigoverrides_controller.go"},
	},
}}

func decideOverride(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	off := `oc patch etcd/cluster --type merge -p '{"spec":{"unsupportedConfigOverrides":null}}'`
	etcd := has(c, `useUnsupportedUnsafeNonHANonProductionUnstableEtcd`)
	switch {
	case has(c, `unsupportedConfigOverrides"?\s*:\s*(null|\{\s*\})`):
		return &decision{verdict: Safe, why: "it takes the overrides away: the operator keeps its own rules again", undo: "set the old value again",
			lost: "what was overridden"}, nil
	case !etcd:
		return &decision{verdict: Unsafe, why: "what is set in unsupportedConfigOverrides is supported by no one, and the operator lets no update of the " +
			"minor version begin while it is there", undo: "the same with null in place of the value"}, nil
	case !has(c, `UnstableEtcd"?\s*:\s*"?true`):
		return &decision{verdict: Safe, why: "the guard of the quorum is on again", undo: "none needed", lost: "nothing"}, nil
	}
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return nil, hostedEtcd(err)
	}
	d := &decision{verdict: Unsafe, evidence: s.evidence, undo: off,
		lost:    "the guard of the quorum: the operator then rolls out etcd with too few members, and one more that stops takes the API with it",
		instead: []string{"find why a member is missing: rollcall diagnose", "rollcall explain replace-control-plane-node"},
		verify:  []string{"oc get etcd cluster -o jsonpath='{.spec.unsupportedConfigOverrides}'"}}
	if len(s.unhealthy) > 0 {
		d.verdict = Person
		d.why = fmt.Sprintf("%d of %d members are healthy: it is right only as a step of a replacement, after the unhealthy member was removed, "+
			"and it is taken back at the end", s.healthy, s.members)
		return d, nil
	}
	d.why = fmt.Sprintf("it switches the guard of the quorum off, and it adds no member (%d of %d are healthy)", s.healthy, s.members)
	return d, nil
}

// secretOutput is what only reads, and prints secrets.
var secretOutput = []Judgment{{
	ID: "print-secrets", Commands: "curl of a config of the machine config server, oc get secret -o yaml", Local: true,
	Matches: func(c *shellcommand.Call) bool { return printsConfig(c) || printsSecrets(c) },
	Decide: func(_ context.Context, _ *look, c *shellcommand.Call) (*decision, error) {
		if printsConfig(c) {
			return &decision{verdict: Reads, why: "it changes nothing, but it prints the whole Ignition config, with the pull secret and a token " +
				"with which hosts join: do not paste or attach the output", instead: []string{
				"only the status: curl -skI -H 'Accept: application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1' https://API_INT:22623/config/POOL"}}, nil
		}
		return &decision{verdict: Reads, why: "it changes nothing, but it prints keys, tokens or passwords; base64 hides nothing: do not paste or attach " +
			"the output", instead: []string{"rollcall collect: a collection has no secret in it"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/server/cluster_server.go", Symbol: "GetConfig"}},
}}

// printsConfig reports a request for a config that prints its body.
func printsConfig(c *shellcommand.Call) bool {
	if c.Program != "curl" || c.Effect != shellcommand.Reads || !has(c, `:2262[34]/config/`) {
		return false
	}
	for _, f := range []string{"-I", "--head", "-skI", "-sI", "-kI", "-ksI", "-Ik", "-Isk"} {
		if _, head := c.Flag(f); head {
			return false
		}
	}
	to, saved := c.Flag("-o", "--output")
	return !saved || to != "/dev/null"
}

// printsSecrets reports oc get of Secrets with their contents.
func printsSecrets(c *shellcommand.Call) bool {
	out := c.Value("-o", "--output")
	return is("secret", "get")(c) && (out == "yaml" || out == "json" || matches(out, `^(jsonpath|go-template|custom-columns).*data`)) ||
		c.Is("oc", "extract") && len(c.Args) > 1 && singular(targetKind(c.Args[1])) == "secret"
}

func targetKind(arg string) string { return targets([]string{arg})[0].kind }
