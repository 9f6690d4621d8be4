// Package obfuscation recognizes values that a tool replaced before an archive was shared.
// Such a value was not read: what is compared with it is unknown.
package obfuscation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// obfuscations are the forms in which tools that clean an archive write a value that
// they took out. Each is exact: a real name or address has none of them.
var obfuscations = []*regexp.Regexp{
	// openshift/must-gather-clean:pkg/obfuscator/{ip,mac,domain}.go, replacementType
	// Consistent and Static.
	regexp.MustCompile(`(?i)(^|[^a-z0-9])x-(ipv4|ipv6|mac)-[0-9]{10}-x($|[^a-z0-9])`),
	regexp.MustCompile(`(^|[^a-z0-9])domain[0-9]{10}($|[^a-z0-9])`),
	regexp.MustCompile(`(^|[^a-z0-9-])obfuscated\.com($|[^a-z0-9.-])`),
	// openshift/insights-operator:pkg/anonymization/anonymizer.go ClusterBaseDomainPlaceholder;
	// an address outside of the cluster's networks becomes 0.0.0.0.
	regexp.MustCompile(`<CLUSTER_BASE_DOMAIN>`),
	regexp.MustCompile(`^([a-z0-9+.-]+://)?(0\.0\.0\.0|::|\[::\])(:[0-9]+)?(/([^0].*)?)?$`), // 0.0.0.0/0 is the default route
	// sosreport/sos:sos/cleaner/mappings/{hostname,mac,ipv6,username,keyword}_map.py. The
	// host0 that replaces a short name is left: hosts are really called that.
	regexp.MustCompile(`(^|[^a-z0-9])obfuscated(domain|user|word)[0-9]+($|[^a-z0-9])`),
	regexp.MustCompile(`(?i)^53:4f:53(:[0-9a-f]{2}){3,5}$`),
	regexp.MustCompile(`(?i)^534f:[0-9a-f:]+(/[0-9]+)?$`),
	// Addresses of which groups were struck out: 10.0.xx.xx, 00:0c:29:xx:xx:xx.
	regexp.MustCompile(`(?i)^(([0-9]{1,3}|x{1,3})\.){3}x{1,3}(:[0-9]+)?$`),
	regexp.MustCompile(`(?i)^(([0-9a-f]{2}|xx)[:-]){5}xx$`),
}

// maskedLabel is a label, or a part of one between hyphens, of which only x is left.
var maskedLabel = regexp.MustCompile(`^[xX]{3,}(-[xX]+)*$|(^|-)[xX]{5,}($|-)`)

// Found reports whether a name, an address or a URL was replaced by a tool that
// cleans archives before they are shared, in whole or in a part. Such a value was not
// read: two that are equal, or that differ, say nothing about what they replaced.
func Found(v string) bool {
	if !mayBeObfuscated(v) {
		return false
	}
	if slices.ContainsFunc(obfuscations, func(form *regexp.Regexp) bool { return form.MatchString(v) }) {
		return true
	}
	labels := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("./:@,[] ", r) })
	return slices.ContainsFunc(labels, maskedLabel.MatchString)
}

// mayBeObfuscated is a cheap test for characters that all the forms have.
func mayBeObfuscated(v string) bool {
	return strings.ContainsAny(v, "xX") || strings.HasPrefix(v, "::") || strings.HasPrefix(v, "53") ||
		slices.ContainsFunc([]string{"obfuscated", "domain0", "<CLUSTER", "0.0.0.0", "[::]", "://::"},
			func(part string) bool { return strings.Contains(v, part) })
}

// Unavailable is why a comparison has no result: what it compares was obfuscated before the
// archive was shared.
func Unavailable(n evidence.Need, what string) *evidence.Unavailable {
	return &evidence.Unavailable{Need: n, Why: evidence.NotCollected, Detail: what + " was obfuscated", Supply: evidence.Supply{Kind: evidence.SupplyOriginal}}
}
