package sanitize

import (
	"strings"
)

// A command line is written in a sentence, in a script, as a JSON or YAML list, and as
// Go or Python print a list. In all of them a flag follows a separator, and its
// value behind "=", blanks, or the quotes and the comma between two elements.

// commandMarks are the programs with secrets in short flags, and parts of long flags.
var commandMarks = func() []string {
	marks := append([]string{" -p", "oc login", "az login", "from-literal"}, decodeMarks...)
	for program := range programFlags {
		if len(program) > 2 {
			marks = append(marks, program)
		}
	}
	return marks
}()

// commandLines returns where the secrets of command lines are.
func commandLines(v string) []span {
	found, _ := commandSpans(command{}, v)
	return found
}

// commandSpans is commandLines for a text that goes on with the words of a command. It returns what is known of that at the
// end of the text.
func commandSpans(c command, v string) (found []span, last command) {
	start := true // of a word
	for i := 0; i < len(v); {
		b := v[i]
		switch {
		case b == '|' || b == ';' || b == '\n' && !continues(v, i):
			c, start = command{}, true
			i++
		case separates(b):
			start = true
			i++
		case !start:
			i++
		case b == '-' && i+1 < len(v) && (letter(v[i+1]) || v[i+1] == '-' || c.isSwitch(v[i+1])):
			end := flagEnd(v, i)
			if at, ok := c.flag(v, i, end); ok {
				found = append(found, at)
				end = at.to
			} else if at, ok := c.pair(v, i, end); ok {
				found = append(found, at)
			}
			i, start = max(end, i+1), false
		default:
			end := wordEnd(v, i)
			if c.words > 0 {
				if c.words--; c.words == 0 && end > i {
					found = append(found, span{i, end})
				}
			}
			c.word(v[i:end])
			i, start = max(end, i+1), false
		}
	}
	return found, c
}

// pipeMarks are in every text that a pipe or a here-string hands a secret in.
var pipeMarks = []string{"passwd", "cryptsetup", "kinit", "<<<", "<(echo", "<(printf", "read -", "-stdin", "/dev/stdin", "passw", "secret",
	"sudo -", "sudo  -"}

// shellWord is a word of a shell, in quotes or not; the last group is what it holds.
const shellWord = `(?:\\*"((?:[^"\\|\r\n` + atomClass + `]|\\[^"|\r\n])+)|` +
	`\\*'([^'|\r\n` + atomClass + `]*[^'|\r\n\\` + atomClass + `])|([^\s"'|\\;)` + atomClass + `]+))`

// atomClass are the runes that stand for secrets that were hidden, see masked.
const atomClass = `\x{100000}-\x{10fffd}`

// piped are the secrets that a shell writes into a program: echo x | passwd --stdin core,
// echo core:x | chpasswd, sudo -S <<< x.
var piped = []form{
	{"|", lazily(`\b(?:echo|printf|print|yes|cat[ \t]*<<<)[ \t]*(?:(?:-[neE]+|--|'%s(?:\\+n)?'|"%s(?:\\+n)?"|%s)[ \t]+)*\$?` + shellWord +
		`(?:\\+n)?(?:\\*["'])?(?:[ \t]*;[^|\r\n]{0,100})?[ \t]*[)}]?[ \t]*\|[^\r\n;]{0,200}?` +
		`(?:passwd\b|/dev/stdin\b|\bcryptsetup\b|\bkinit\b|--?(?:password-)?stdin\b|` +
		`\bsudo(?:[ \t]+(?:-[A-Za-z]+(?:[ \t]+[^\s|;-][^\s|;]*)?|--[\w-]+(?:=\S*)?)){0,4}?[ \t]+(?:-[A-Za-z]*S|--stdin))`)},
	{"chpasswd", lazily(`\b(?:echo|printf|cat[ \t]*<<<)[ \t]+(?:-[neE]+[ \t]+)?\$?(?:\\*["'])?[^\s"':|]+:([^"'|\\\r\n]+)(?:\\*["'])?` +
		`[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:\S*/)?chpasswd\b`)},
	{"chpasswd", lazily(`\bprintf[ \t]+(?:--[ \t]+)?(?:"[^"\r\n]*%[^"\r\n]*"|'[^'\r\n]*%[^'\r\n]*')[ \t]+([^|\r\n]*[^|\s])[ \t]*` +
		`\|[ \t]*(?:sudo[ \t]+)?(?:\S*/)?chpasswd\b`)}, // with the users, which are the other arguments
	{"chpasswd", lazily(`\bchpasswd\b[^\r\n|;<]*<<<?[ \t]*(?:-?[ \t]*["']?[A-Z]+["']?(?:\r?\n|\\+n))?\$?(?:\\*["'])?[^\s"':|\\]+:([^\s"'|\\]+)`)},
	{">", lazily(`\b(?:echo|printf)[ \t]+(?:(?:-[neE]+|'%s(?:\\+n)?'|"%s(?:\\+n)?")[ \t]+)*` + shellWord +
		`(?:\\*["'])?[ \t]*>>?[ \t]*\S{0,80}(?i:passw|secret|token|creds)`)},
	{"<(", lazily(`(?i)(?:pass\w*|secret|token|key)[^\r\n|;]{0,80}<\([ \t]*(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|'%s'[ \t]+)*` + shellWord)},
	{"<<<", lazily(`\b(?:(?:sudo|su|passwd|kinit|cryptsetup|read[ \t]+-[a-z]*s[a-z]*)\b|--?(?:password-)?stdin\b)[^\r\n|;<]*<<<[ \t]*\$?` + shellWord)},
}

// positionMarks are in every text that positions finds something in.
var positionMarks = []string{"identified", "set password", "password", "vault login", "vault  login", "net use", "net  use", "net.exe",
	"net1 use", "vault\tlogin", "sqlplus", "send \"", "send \\\"", "securestring",
	"nmcli", "wpa_passphrase", "requirepass", "masterauth", "jdbc:oracle", "auth_pass",
	"snmp-server", "key 7 ", "key-string 7", "secret 7 ", "private-mac", "private-hash", "smcipmitool", "passwd", "passphrase", "_pass", "_psk ", "_pw "}

// positioned are secrets that only their place in a command or statement tells.
var positioned = []form{
	{"~identified", lazily(`(?i)\bidentified(?:[ \t]+(?:with|via)[ \t]+\S+)?[ \t]+(?:by|as|using)(?:[ \t]+password)?[ \t]+\\*["']([^"'\s\\]{4,})`)},
	{"~identified", lazily(`(?i)\b(?:(?:create|alter)[ \t]+(?:user|role|login|(?:(?:public|shared)[ \t]+)*database[ \t]+link)|` +
		`set[ \t]+role|grant[ \t]+\w+)\b[^\r\n;]{1,160}?` +
		`\bidentified[ \t]+by[ \t]+([^\s"';,()\\]{4,})`)}, // of Oracle
	{"~identified", lazily(`(?i)\bidentified[ \t]+by[ \t]+(?:\\*"[^"\r\n]+"|\S+)[ \t]+replace[ \t]+(?:\\*")?([^\s"';,()\\]{4,})`)},
	{"'", lazily(`(?i)\bpassword(?:[ \t]*=[ \t]*|[ \t]*\([ \t]*|[ \t]+)(?:e|n|u&)?\\*'([^'\r\n\\]{4,})\\*'`)},
	{"password", lazily(`\buser[ \t]+set[ \t]+password[ \t]+\S+[ \t]+` + shellWord)}, // ipmitool
	{"assword", lazily(`(?i)\bset[ \t]+[\w.]+\.password[ \t]+` + shellWord)},         // racadm
	{"vault", lazily(`\bvault[ \t]+login[ \t]+(?:-[\w-]+(?:=\S+)?[ \t]+)*(?:token=)?(?:\\*["'])?([^\s"'\\=-][^\s"'\\]{7,})`)},
	// PowerShell: flags in any order and shortened, the value with -String, or without.
	{"~securestring", lazily(`(?i)\bConvertTo-SecureString(?:[ \t]|\x60[ \t]*\r?\n)+(?:-(?:a|f)\w*(?:[ \t]|\x60[ \t]*\r?\n)+)*(?:-s\w*(?::|[ \t]+))?` +
		`(?:\\*"([^"\r\n\\]+)|\\*'([^'\r\n\\]+)|([^\s"'$(|;)\x60-][^\s"'|;)]*))`)},
	{"~securestring", lazily(`(?i)["']([^"'\s|]{6,})\\*["'][ \t]*\|[ \t]*ConvertTo-SecureString\b`)},
	{"~sqlplus", lazily(`(?i)\bsqlplus[ \t]+(?:-\w+[ \t]+)*["']?[^\s/"']+/(?:\\*"([^"\r\n\\]+)\\*"|([^\s@"']+))@`)},
	{"~/user:", lazily(`(?i)\bnet1?(?:\.exe)?[ \t]+use\b[^\r\n]{0,200}/user:(?:\\*"[^"\r\n]+"|[^\s"]+)[ \t]+` +
		`(?:\\*"([^"\r\n\\]{4,})\\*"|([^\s"'\\/][^\s"'\\]{3,}))`)},
	// net use Z: \\host\share PASSWORD
	{`\`, lazily(`(?i)\bnet1?(?:\.exe)?[ \t]+use[ \t]+(?:(?:[a-z]:|\*)[ \t]+)?(?:\\*"\\+[^"\r\n]+"|\\+\S+)[ \t]+` +
		`(?:\\*"([^"\r\n\\]{4,})\\*"|([^\s"'\\/*][^\s"'\\]{3,}))(?:[ \t]+/[a-z]|["'\\]|[ \t\r]*(?:\n|$))`)},
	{"~net user|net  user|net.exe|net1|net\tuser", lazily(`(?i)\bnet1?(?:\.exe)?[ \t]+user[ \t]+` +
		`(?:/\w+[ \t]+)*(?:\\*"[^"\r\n]+"|[^\s"]+)[ \t]+(?:/\w+[ \t]+)*` +
		`(?:\\*"([^"\r\n\\]{4,})\\*"|([^\s"'\\/][^\s"'\\]{3,}))`)},
	{"nmcli", lazily(`\bnmcli\b[^\r\n|;]{0,100}?[ \t]w(?:ifi)?[ \t][^\r\n|;]{0,160}?[ \t]password[ \t]+` + shellWord)},
	{"nmcli", lazily(`\bnmcli\b[^\r\n|;]{0,100}?[ \t](?:m(?:od(?:ify)?)?|add)[ \t][^\r\n|;]{0,160}?[ \t]` +
		`(?:[\w-]+\.(?:[\w-]*psk|[\w-]*password|wep-key\d|pin)|password)[ \t]+` + shellWord)},
	{"wpa_passphrase", lazily(`\bwpa_passphrase[ \t]+(?:"[^"\r\n]+"|'[^'\r\n]+'|[^\s"']+)[ \t]+` + shellWord)},
	{"set-user-password", lazily(`\bset-user-password[ \t]+[^\s-]\S*[ \t]+\S+[ \t]+` + shellWord)},                                          // virsh
	{"~requirepass|masterauth", lazily(`(?i)\bconfig\\*"?[ \t]+\\*"?set\\*"?[ \t]+\\*"?(?:requirepass|masterauth)\\*"?[ \t]+` + shellWord)}, // redis-cli
	{"jdbc:oracle:", lazily(`\bjdbc:oracle:\w{1,16}:[^\s/@:"'\\]{1,128}/(?:\\*")?([^\s"'@\\]+)(?:\\*")?@`)},
	{"snmp-server", lazily(`\bsnmp-server[ \t]+community[ \t]+(?:\d[ \t]+)?(?:\\*["'])?([^\s"'<>\\]{4,})(?:\\*["'])?[ \t]+(?i:ro|rw|view|ipv6)\b`)}, // switches
	{typeSeven, lazily(`(?:\bkey|\bkey-string|\bpassword|\bsecret)[ \t]+7[ \t]+([0-5]\d(?:[0-9A-F]{2}){3,62})(?:["'\s]|$)`)},
	{"Private-", lazily(`\bPrivate-(?:MAC|Hash):[ \t]*([0-9a-fA-F]{40,64})\b`)}, // PuTTY
	{"SMCIPMITool", lazily(`\bSMCIPMITool(?:\.\w+)?[ \t]+[\w.:\[\]-]+[ \t]+[^\s-]\S*[ \t]+` + shellWord)},
	{"set", lazily(`\bset(?:env)?[ \t]+(?:(?:-[gUlxpa]+|--(?:global|export|universal|local|path))[ \t]+)+` +
		`\w*(?i:password|passwd|passphrase|_pass|_psk|_pw)[ \t]+` + shellWord)}, // fish
	{"setenv", lazily(`\bsetenv[ \t]+\w*(?i:password|passwd|passphrase|_pass|_psk|_pw)[ \t]+` + shellWord)}, // csh
	{"auth_pass", lazily(`\bauth_pass[ \t]+([^\s"'\\:=,;)]{4,})`)},                                          // of keepalived, also where it tells of a line
	{"send", lazily(`\bsend[ \t]+(?:--[ \t]+)?\\*"([^"\s\\]{6,})\\+r`)},                                     // expect
}

// positions returns where such secrets are.
func positions(v string) (found []span) {
	for _, f := range positioned {
		for _, m := range f.findAll(v) {
			from, to := lastGroup(m)
			if value := v[from:to]; noFlag(value) && f.takes(value) && (f.literal != "send" && f.literal != "vault" || chosen(value, true)) {
				found = append(found, span{from, concatenated(v, shellEnd(v, from, to), func(i int) int { return quotedEnd(v, i) })})
			}
		}
	}
	return found
}

// takes reports whether a value is no number of a sentence, and nothing that a shell runs.
func (f form) takes(value string) bool {
	switch f.literal {
	case typeSeven:
		return len(value) > len("20261130") || strings.ContainsAny(value, "ABCDEF")
	case "set", "setenv":
		return value[0] != '('
	}
	return true
}

// typeSeven stands in front of a password that Cisco encodes.
const typeSeven = " 7 "

// pipes returns where the secrets are that a shell hands to a program.
func pipes(v string) (found []span) {
	for _, f := range piped {
		for _, m := range f.findAll(v) {
			from, to := lastGroup(m)
			if value := v[from:to]; reference(value) || from > 0 && v[from-1] == '$' && reference("$"+value) {
				continue // of a variable
			}
			found = append(found, span{from, to})
		}
	}
	return found
}

// flag returns where the secret of a flag is that begins at from.
func (c *command) flag(v string, from, end int) (span, bool) {
	flag := v[from:end]
	use := c.use(flag)
	quoted := len(flag) == 2 && end < len(v) && (v[end] == '"' || v[end] == '\'') && (from == 0 || v[from-1] != v[end])
	glued := len(flag) == 2 && end < len(v) && strings.IndexByte("!@#$%^*+/~?", v[end]) >= 0 // -p!X
	if flag[1] != '-' && (quoted || glued || use == noSecret && len(flag) > 2) {             // -pX, -p'X'
		if i, behind := c.short(flag, glued || quoted, v[from:min(len(v), end+1)]); behind != noSecret {
			return attached(v, from+i, behind)
		}
		if use = c.lastOf(flag); use == noSecret || quoted || glued {
			return span{}, false
		}
	}
	if next := skip(v, end, " \t"); use == noSecret || next > end && next+1 < len(v) && strings.IndexByte("=:", v[next]) >= 0 && v[next+1] == ' ' {
		return span{}, false // -name = value of a diff
	}
	at := argument(v, end)
	lo, hi := use.secretOf(v[at.from:at.to])
	return span{at.from + lo, at.from + hi}, lo < hi
}

// pair returns where the value is that a flag has of its own whose name another one has: --name /x/db-password --value X, in
// any order.
func (c *command) pair(v string, from, end int) (at span, ok bool) {
	switch v[from:end] {
	case "--name", "--key", "--secret-id":
		at := argument(v, end)
		name := v[at.from:at.to]
		if c.secret = kindOfKey(name[strings.LastIndexAny(name, "/.")+1:]); c.secret >= secretKey {
			return c.value, c.value.from < c.value.to
		}
	case "--value", "--body", "--secret-string", "--secret-value":
		if at = argument(v, end); at.from >= at.to || !noFlag(v[at.from:at.to]) || at.to-at.from < minOpen {
			return span{}, false
		}
		c.value = at
		return at, c.secret >= secretKey
	}
	return span{}, false
}

// short returns where the value is that is attached to a short flag, and what it is: behind its letter, in front of
// which only switches may stand. more is the flag and the character behind it.
func (c *command) short(flag string, value bool, more string) (int, flagUse) {
	for i := 1; i < len(flag) && i < maxCluster; i++ {
		last := i+1 == len(flag)
		use := c.own("-" + flag[i:i+1])
		if u := programFlags[c.program]["-"+flag[i:i+1]+"…"]; u != noSecret {
			use = u
		}
		if use == userColon && i > 1 && strings.IndexByte(more, ':') <= i+1 {
			use = noSecret // -kuUSER:X
		}
		if use != noSecret && (!last || value) {
			return i + 1, use
		}
		if use == noSecret && !c.isSwitch(flag[i]) && (i > 1 || programFlags[c.program]["-u"] != userColon) {
			break
		}
	}
	return 0, noSecret
}

// lastOf returns what the next word is behind switches and a short flag: -xw X.
func (c *command) lastOf(flag string) flagUse {
	n := len(flag)
	if n < 3 || n > maxCluster {
		return noSecret
	}
	for i := 1; i+1 < n; i++ {
		if !c.isSwitch(flag[i]) {
			return noSecret
		}
	}
	return c.own("-" + flag[n-1:])
}

// attached returns where the secret is of a value that begins at from.
func attached(v string, from int, use flagUse) (span, bool) {
	if from < len(v) && v[from] == '=' {
		from++
	}
	if from < len(v) && (v[from] == '"' || v[from] == '\'') {
		from++
		end := shellEnd(v, from, quotedEnd(v, from))
		lo, hi := use.secretOf(v[from:end])
		return span{from + lo, from + hi}, lo < hi
	}
	to := unquotedEnd(v, from, false)
	lo, hi := use.secretOf(v[from:to])
	return span{from + lo, from + hi}, lo < hi
}

// argument returns where the value of a flag is that ends at i.
func argument(v string, i int) span {
	j := slashRun(v, i)
	apart := true
	switch {
	case j < len(v) && (v[j] == '"' || v[j] == '\''): // "--password", "x"
		j = skip(v, j+1, " \t\r\n,")
		if strings.HasPrefix(v[j:], "- ") {
			j = skip(v, j+1, " ")
		}
	case i < len(v) && v[i] == '=':
		j, apart = i+1, false
	case i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == ',' || v[i] == '\n'):
		j = skip(v, i, " \t,")
		if strings.HasPrefix(v[j:], "\\\n") { // of a script
			j = skip(v, j+2, " \t")
		} else if next := skip(v, j, "\r\n \t"); next > j && strings.HasPrefix(v[next:], "- ") { // of a list in YAML
			j = skip(v, next+1, " ")
		}
	default:
		return span{i, i}
	}
	if q := slashRun(v, j); q < len(v) && (v[q] == '"' || v[q] == '\'') {
		return span{q + 1, shellEnd(v, q+1, quotedEnd(v, q+1))}
	}
	if apart && j < len(v) && v[j] == '-' {
		return span{i, i}
	}
	end := unquotedEnd(v, j, false)
	if n := strings.IndexByte(v[j:end], ':'); n > 0 && j+n+1 < len(v) && (v[j+n+1] == '"' || v[j+n+1] == '\'') && strings.IndexByte(v[j:j+n], '\'') < 0 {
		return span{j, max(end, shellEnd(v, j+n+2, quotedEnd(v, j+n+2)))} // user:'x y'
	}
	return span{j, end}
}

// continues reports whether a command continues behind the end of a line.
func continues(v string, i int) bool {
	if i > 0 && v[i-1] == '\\' {
		return true
	}
	return strings.HasPrefix(v[skip(v, i+1, " \t"):], "- ")
}

// skip returns the first place from i on with none of these characters.
func skip(v string, i int, chars string) int {
	for i < len(v) && strings.IndexByte(chars, v[i]) >= 0 {
		i++
	}
	return i
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// separates reports whether a word may begin behind a character.
func separates(b byte) bool { return strings.IndexByte(" \t\r\n\"'`,[](){}=\\&", b) >= 0 }

// flagEnd returns where the name of a flag ends.
func flagEnd(v string, i int) int {
	for i < len(v) && (letter(v[i]) || v[i] >= '0' && v[i] <= '9' || v[i] == '-' || v[i] == '_' || v[i] == '.') {
		i++
	}
	return i
}

// wordEnd returns where a word ends, as far as one may be the name of a program.
func wordEnd(v string, i int) int {
	for end := min(len(v), i+256); i < end && !separates(v[i]) && v[i] != '|' && v[i] != ';'; {
		i++
	}
	return i
}
