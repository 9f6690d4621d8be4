package sanitize

import (
	"strings"
)

// Headers of HTTP, as curl -v, Go's maps, Python's dicts and JSON print them.
var headerMarks = []string{"authorization"}

var (
	headerName = lazily(`(?i)\b(?:proxy-)?authorization` +
		quote + `[ \t]*[:=][ \t]*\[?(?:\\*["'])?`)
	// scheme is one of the IANA registry of HTTP authentication schemes, or common.
	scheme     = lazily(`(?i)^(?:basic|bearer|digest|negotiate|ntlm|token|apikey|hawk|oauth|splunk|aws4-hmac-sha256|hoba|mutual|vapid|scram-sha-\d+)[ \t]+`)
	parameters = lazily(`^[A-Za-z_-]+=\\*"`)
	kubeWSok   = lazily(`base64url\.bearer\.authorization\.k8s\.io\.([A-Za-z0-9_-]+)`)
)

// headerNames finds the names of headers, where one of them can be.
func headerNames(v string) [][]int {
	if indexFold(v, "authorization", 0) >= 0 {
		return headerName.get().FindAllStringIndex(v, -1)
	}
	return nil
}

// headers returns where the credentials of headers are.
func headers(v string) (found []span) {
	for _, m := range headerNames(v) {
		from := m[1]
		if known := scheme.get().FindString(v[from:min(len(v), from+40)]); known != "" {
			from += len(known)
			to := headerEnd(v, from, strings.EqualFold(strings.TrimSpace(known), "digest") || parameters.get().MatchString(v[from:min(len(v), from+40)]))
			if from < to && noFlag(v[from:to]) {
				found = append(found, span{from, to})
			}
			continue
		}
		if to := headerEnd(v, from, false); to-from >= 8 {
			found = append(found, span{from, to})
		}
	}
	for _, m := range kubeWSok.get().FindAllStringSubmatchIndex(v, -1) {
		found = append(found, span{m[2], m[3]})
	}
	return found
}

// headerEnd returns where the value of a header ends; of one with parameters at the end
// of the line.
func headerEnd(v string, i int, parameters bool) int {
	for end := min(len(v), i+maxValue); i < end; i++ {
		c := v[i]
		if c == '\n' || c == '\r' || !parameters && strings.IndexByte(" \t\"'],;}`\\\x1b", c) >= 0 {
			return i
		}
	}
	return i
}
