package diagnose

import (
	"regexp"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// What a pool reports of its degraded nodes: how many they are, and each with its reason
// (openshift/machine-config-operator:pkg/controller/node/status.go calculateStatus).
var (
	reportingNode  = regexp.MustCompile(`\bNode ([a-z0-9][a-z0-9.-]*) is reporting: `)
	reportingCount = regexp.MustCompile(`\b(\d+) nodes are reporting degraded status`)
)

// ofOtherNodes reports whether an effect is the condition of a pool that names the nodes it is about, and the cause is at
// another node of the pool: then this is not its effect.
func ofOtherNodes(cause, effect diagnosis.Finding) bool {
	if cause.Subject.Kind != fault.Host || cause.Subject.Name == fault.Unnamed || effect.Subject.Kind != fault.Pool {
		return false
	}
	named, count := map[string]bool{}, 0
	see := func(text string) {
		for _, m := range reportingNode.FindAllStringSubmatch(text, -1) {
			named[m[1]] = true
		}
		for _, m := range reportingCount.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			count = max(count, n)
		}
	}
	see(effect.Title)
	for _, e := range effect.Evidence {
		see(e.Excerpt)
	}
	whole := len(named) > 0 && len(named) >= count // of a message that was cut the rest is not known
	return whole && !named[cause.Subject.Name]
}
