package sanitize

import "strings"

// Errors stand behind the name of a secret as its value does: failed to read password: exit status 1.

// errorStarts are how errors begin, and what a program tells about a password instead of it.
var errorStarts = lazily(`^(?i:(?:timeout|timed out) (?:after|while|waiting|awaiting)|exit (?:status|code) \d|signal: |context (?:deadline|canceled)|` +
	`connection (?:refused|reset|timed)|permission denied|access (?:is )?denied|no such |unexpected (?:eof|end|status|response|token)|i/o timeout|` +
	`dial tcp|http/?[\d.]* ?[45]\d\d |` +
	`eof(?:$|[ ,;:])|at (?:least|most) \d|too (?:short|long|weak|old|many|simple)|` +
	`must (?:be|have|not|contain|match)|not (?:found|set|given|allowed|valid|available|read)|` +
	`cannot |could not |unable to |failed to |(?:login|logon) (?:of|failed|refused)|` +
	`(?:done|succeeded|completed|finished|skipped|started) (?:in|after|at|for|with|\()|` +
	`(?:open|read|write|stat|lstat|fork/exec|exec|access) /[^ ]*: |(?:get|post|put|head|patch|delete) \\*"?https?://|lookup [\w.-]+|` +
	`\d+ (?:characters|chars|letters|digits|bytes|words|days|attempts|tries|of \d)|` +
	`(?:crypto/\w+|x509|tls|https?|json|yaml|cipher|asn1|pem|base64|rpc error|net/http|remote error|strconv\.\w+): )`)

// reasonWords begin the names of reasons: InvalidPassword, of which a sentence is the message and not the value.
var reasonWords = lazily(`^(?:Invalid|Wrong|Bad|Incorrect|Missing|Expired|Weak|Unknown|Failed|Unable|` +
	`Forbidden|Unauthorized|Rejected|Empty|Mismatched|Unsupported|Forgotten)[A-Z]`)

// leastMessage is how many words make a message behind the name of a reason.
const leastMessage = 3

// tellsError reports whether what stands behind a name and its colon is an error or a message, and no value.
func (d *decoder) tellsError(from, end, sign int) bool {
	at := skip(d.t, sign, " \t")
	if at == sign || at >= len(d.t) || d.t[sign-1] != ':' || d.quote(at) {
		return false
	}
	text := d.t[at:min(len(d.t), at+maxNear)]
	if n := strings.IndexAny(text, "\n\""); n >= 0 && (text[n] == '\n' || strings.IndexByte(text[:n], ' ') < 0) {
		text = text[:n]
	}
	if errorStarts.get().MatchString(text) {
		return true
	}
	return reasonWords.get().MatchString(d.t[from:end]) && len(strings.Fields(text)) >= leastMessage && strings.IndexFunc(text, isAtom) < 0
}
