package sanitize

import "regexp"

var (
	encodedField = regexp.MustCompile(`(?i)((?:[A-Za-z0-9_.-]|%5[bd])+)%(?:25)?3D((?:[^%&\s"'<>\\]|%(?:[013-9a-f][0-9a-f]|2[0-57-9a-f]))+)`)
	// plainProxy is a proxy without a scheme, which curl and Go's ProxyFromEnvironment take.
	plainProxy = regexp.MustCompile(`(?i)proxy[A-Za-z_]*["']?[ \t]*[:=][ \t]*["']?[^\s"'@/:,;]+:([^\s"'@,]+)@[\w.\[-]`)
)

// encodedFields finds fields of a form that were encoded once more.
func encodedFields(v string) (spans [][2]int) {
	for _, m := range encodedField.FindAllStringSubmatchIndex(v, -1) {
		if secretOf(v[m[2]:m[3]], v[m[4]:m[5]]) {
			spans = append(spans, [2]int{m[4], m[5]})
		}
	}
	return spans
}

// plainProxies finds the passwords of proxies without a scheme.
func plainProxies(v string) (spans [][2]int) {
	for _, m := range plainProxy.FindAllStringSubmatchIndex(v, -1) {
		spans = append(spans, [2]int{m[2], m[3]})
	}
	return spans
}
