package sanitize

import (
	"regexp"
	"strings"
)

// Files of one key and one value on a line.
var (
	// keyLine is a whole line of an INI file, a keyfile, an environment file or YAML.
	keyLine = regexp.MustCompile(`^([ \t]*(?:export[ \t]+|-[ \t]+)?([A-Za-z][\w.-]*)[ \t]*(?:=|:[ \t])[ \t]*)(\S.*?)[ \t]*\r?$`)
	// anotherKey tells a line of several fields from a value with blanks.
	anotherKey = regexp.MustCompile(`[ \t,;&][A-Za-z_][\w.-]*[=:]`)
	// spoken is a directive whose value follows after a blank: Redis, nslcd and PAM's ldap.conf,
	// NTP's and VRRP's, network gear, netrc.
	spoken = regexp.MustCompile(`(?i)^[ \t]*(?:requirepass|masterauth|bindpw|rootpw|rootbindpw|auth_pass|authenticator[ \t]+password|enable[ \t]+(?:secret|password)(?:[ \t]+[0-9])?|snmp-server[ \t]+community|rocommunity6?|rwcommunity6?|com2sec[ \t]+\S+[ \t]+\S+)[ \t]+(\S+)`)
	netrc  = regexp.MustCompile(`(?i)(?:\b(?:machine[ \t]+\S+|default)[ \t]+|^[ \t]*)(?:login[ \t]+\S+[ \t]+)?password[ \t]+(\S+)(?:[ \t]+(?:account|macdef)[ \t]+\S+)?[ \t]*$`)
	// chronyKey is a line of chrony's and NTP's keys (chrony.conf(5) keyfile).
	chronyKey = regexp.MustCompile(`(?i)^[ \t]*\d{1,10}[ \t]+(?:MD5|SHA1|SHA256|SHA384|SHA512|SHA3-\d{3}|TIGER|WHIRLPOOL|AES128|AES256|M|S|A|N)[ \t]+(?:(?:HEX|ASCII):)?(\S{6,})`)
	pgpass    = regexp.MustCompile(`^[^\s:#]+:(?:\d{4,5}|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.)+)`)
	tableCell = regexp.MustCompile(`(?i)(?:^|\|)[ \t]*((?:[\w-]+[ \t])?[\w-]+)[ \t]*\|[ \t]*([^|\s][^|\r\n]*?)[ \t]*(?:\||\r?$)`)
	dotted    = regexp.MustCompile(`(?i)^[ \t]*((?:[\w-]+[ \t])?[\w-]+)[ \t]*\.{2,}[ \t]*:?[ \t]*(\S.*?)[ \t]*\r?$`)
)

// keyMarks are in every line that keyfiles finds something in.
var keyMarks = []string{"pass", "psk", "secret", "wep-key", "wep_key", "authtok", "api.key", "bindpw", "rootpw", "bindcredential", "masterauth", "auth_pass", "community", "com2sec",
	"md5 ", "sha1 ", "sha256 ", "sha384 ", "sha512 ", "aes128 ", "aes256 ", ":5432:"}

// keyfiles finds the values of lines that are one key and one value.
func keyfiles(v string) (spans [][2]int) {
	for at := 0; at <= len(v); {
		end := strings.IndexByte(v[at:], '\n')
		if end < 0 {
			end = len(v) - at
		}
		for _, s := range keyfileLine(v[at : at+end]) {
			spans = append(spans, [2]int{at + s[0], at + s[1]})
		}
		at += end + 1
	}
	return spans
}

func keyfileLine(line string) [][2]int {
	if len(line) > maxValue {
		return nil
	}
	if m := keyLine.FindStringSubmatchIndex(line); m != nil {
		value := strings.TrimRight(line[m[6]:m[7]], `,;])}"'`+"\x60")
		if value == "" {
			return nil
		}
		quoted := strings.IndexByte("\"'\\", value[0]) >= 0
		kind := kindOfKey(strings.TrimRight(line[m[4]:m[5]], "0123456789"))
		if !quoted && (kind == deepKey || kind == secretKey && noPath(value)) && noFlag(value) && !refusal.MatchString(value) && !structure(value) && !anotherKey.MatchString(value) {
			return [][2]int{{m[6], m[6] + len(value)}}
		}
		if kind == deepKey && value[0] == '{' && strings.Contains(value, "value") { // {value: x}
			return [][2]int{{m[6], m[7]}}
		}
	}
	for _, one := range []*regexp.Regexp{spoken, netrc, chronyKey, pgpass} {
		m := one.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		if one == netrc && m[0] == 0 && !strings.Contains(line[:m[2]], "login") && !likelySecret(line[m[2]:m[3]]) {
			continue // the word behind "password" at the beginning of a sentence
		}
		return [][2]int{{m[2], m[3]}}
	}
	for _, one := range []*regexp.Regexp{tableCell, dotted} {
		if m := one.FindStringSubmatchIndex(line); m != nil && kindOfKey(line[m[2]:m[3]]) >= secretKey && likelySecret(line[m[4]:m[5]]) {
			return [][2]int{{m[4], m[5]}}
		}
	}
	return nil
}

// structure reports a value that is not the secret itself: an object, a list, a block, a
// reference or an expression.
func structure(v string) bool {
	return strings.ContainsAny(v[:1], "{[|>&*!$<(") || isAtom([]rune(v)[0])
}
