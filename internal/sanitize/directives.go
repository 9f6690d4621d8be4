package sanitize

import (
	"strings"
	"unicode/utf8"
)

// directives are the first words of lines whose second word is a secret, each with the
// program whose file it is of.
var directives = map[string]bool{
	"auth_pass":    true, // keepalived.conf
	"requirepass":  true, // redis.conf
	"masterauth":   true, // redis.conf
	"bindpw":       true, // nslcd.conf
	"rootbindpw":   true, // ldap.conf
	"rootpw":       true, // slapd.conf, Kickstart
	"rocommunity":  true, // snmpd.conf
	"rwcommunity":  true, // snmpd.conf
	"trapsess":     true, // snmptrapd.conf
	"radiussecret": true, // raddb
	"sharedsecret": true, // raddb
	"password":     true, // .netrc over several lines: the value must look like one
	"passwd":       true, // the same
}

var directiveMarks = []string{"auth_pass", "requirepass", "masterauth", "bindpw", "rootpw", "community", "trapsess", "secret", "password", "passwd",
	"machine ", "hex:", "ascii:", " md5 ", " sha1 ", " sha256 ", " sha512 ", " aes", "stats auth", ":5432:", "hmac(", "(aes)", "aead "}

// directiveForms are lines whose secret is behind more than one word. may is a quick look
// for lines that the expression is tried on.
var directiveForms = []struct {
	may  func(line string) bool
	find *expression
}{
	// A line of chrony's keyfile (chrony.keys(5)): number, type, key.
	{startsWithDigit, lazily(`^\s*\d{1,10}\s+(?:(?:MD5|SHA1|SHA224|SHA256|SHA384|SHA512|AES128|AES256|SHA3-\d+|TIGER|WHIRLPOOL)\s+(?:(?:HEX|` +
		`ASCII):)?|(?:HEX|ASCII):)(\S+)\s*$`)},
	// An entry of netrc(5) on one line.
	{func(line string) bool { return strings.Contains(line, "password") },
		lazily(`(?:\bmachine\s+\S+|\bdefault)\s+(?:login|account)\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?:"([^"]+)"|(\S+))`)},
	// haproxy.cfg.
	{func(line string) bool { return strings.Contains(line, "stats") }, lazily(`\bstats\s+auth\s+[^\s:]+:(\S+)`)},
	// NTP, snmpd and the configurations of switches.
	{startsLikeSpoken, lazily(`(?i)^\s*(?:enable\s+(?:secret|password)(?:\s+\d)?|snmp-server\s+community|authenticator\s+password|` +
		`com2sec\s+\S+\s+\S+)\s+(\S+)`)},
	// ip xfrm state.
	{func(line string) bool { return strings.Contains(line, " 0x") }, lazily(`\b(?:auth|auth-trunc|enc|aead)\s+\S+\s+(0x[0-9a-fA-F]{16,})`)},
	// HOST:PORT:DATABASE:USER:PASSWORD of PostgreSQL.
	{func(line string) bool { return strings.Count(line, ":") >= 4 }, lazily(`^\s*[^\s:#]+:(?:\d{4,5}|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.)+)`)},
}

// blanks are what \s of an expression stands for.
const blanks = "\t\n\f\r "

func startsWithDigit(line string) bool {
	i := skip(line, 0, blanks)
	return i < len(line) && line[i] >= '0' && line[i] <= '9'
}

// startsLikeSpoken compares the first letter with those of the words; \u017f is an s in
// capitals, too.
func startsLikeSpoken(line string) bool {
	i := skip(line, 0, blanks)
	return i < len(line) && (strings.IndexByte("esac", line[i]|0x20) >= 0 || line[i] >= utf8.RuneSelf)
}

// directiveLines returns where the secrets of files are whose fields are apart by
// blanks.
func directiveLines(v string) (found []span) {
	for at := 0; at < len(v); {
		end := strings.IndexByte(v[at:], '\n')
		if end < 0 {
			end = len(v)
		} else {
			end += at
		}
		line := v[at:end]
		if s, ok := directive(line); ok {
			found = append(found, span{at + s.from, at + s.to})
		}
		for _, d := range directiveForms {
			if len(line) < maxValue && d.may(line) {
				if m := d.find.get().FindStringSubmatchIndex(line); m != nil {
					from, to := lastGroup(m)
					if !noFlag(line[from:to]) {
						continue
					}
					found = append(found, span{at + from, at + to})
				}
			}
		}
		at = end + 1
	}
	return found
}

// directive reads one line.
func directive(line string) (span, bool) {
	from := skip(line, prefixEnd(line), " \t")
	end := from
	for end < len(line) && word(line[end]) {
		end++
	}
	key := line[from:end]
	at := skip(line, end, " \t")
	if at == end || end-from > 16 || !directives[strings.ToLower(key)] {
		return span{}, false
	}
	for strings.HasPrefix(line[at:], "--") { // rootpw --plaintext x
		next := strings.IndexByte(line[at:], ' ')
		if next < 0 {
			return span{}, false
		}
		at = skip(line, at+next, " \t")
	}
	value := strings.TrimRight(line[at:], " \t\r")
	switch first, _, more := strings.Cut(value, " "); {
	case value == "" || strings.IndexByte("=:(", value[0]) >= 0 || !noFlag(value):
		return span{}, false
	case strings.HasPrefix(strings.ToLower(key), "pass") && (more || !likelySecret(value)):
		return span{}, false
	default:
		if value[0] == '"' || value[0] == '\'' {
			return span{at + 1, quotedEnd(line, at+1)}, true
		}
		return span{at, at + len(first)}, true
	}
}
