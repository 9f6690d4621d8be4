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
func commandLines(v string) (found []span) {
	var c command
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
		case b == '-' && i+1 < len(v) && (letter(v[i+1]) || v[i+1] == '-'):
			end := flagEnd(v, i)
			if at, ok := c.flag(v, i, end); ok {
				found = append(found, at)
				end = at.to
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
	return found
}

// pipeMarks are in every text that a pipe or a here-string hands a secret in.
var pipeMarks = []string{"passwd", "cryptsetup", "kinit", "<<<", "-stdin", "sudo -s", "sudo --s"}

// piped are the secrets that a shell writes into a program: echo x | passwd --stdin core,
// echo core:x | chpasswd, sudo -S <<< x.
var piped = []form{
	{"|", lazily(`\b(?:echo|printf|print|cat[ \t]*<<<)[ \t]*(?:(?:-[neE]+|--|'%s(?:\\+n)?'|"%s(?:\\+n)?")[ \t]+)*(?:\\*["'])?([^\s"'|\\]+)` +
		`(?:\\+n)?(?:\\*["'])?[ \t]*\|[^|\r\n;]{0,200}?` +
		`(?:\bpasswd\b|\bcryptsetup\b|\bkinit\b|--?(?:password-)?stdin\b|\bsudo[ \t]+(?:-[A-Za-z]*S|--stdin))`)},
	{"chpasswd", lazily(`\b(?:echo|printf|cat[ \t]*<<<)[ \t]+(?:-[neE]+[ \t]+)?(?:\\*["'])?[^\s"':|]+:([^\s"'|\\]+)(?:\\*["'])?` +
		`[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:\S*/)?chpasswd\b`)},
	{"chpasswd", lazily(`\bchpasswd\b[^\r\n|;<]*<<<?[ \t]*(?:-?[ \t]*["']?[A-Z]+["']?(?:\r?\n|\\+n))?(?:\\*["'])?[^\s"':|\\]+:([^\s"'|\\]+)`)},
	{"<<<", lazily(`\b(?:sudo|passwd|kinit|cryptsetup)\b[^\r\n|;<]*<<<[ \t]*(?:\\*["'])?([^\s"'\\]+)`)},
	{"<<<", lazily(`-stdin\b[^\r\n|;<]*<<<[ \t]*(?:\\*["'])?([^\s"'\\]+)`)},
}

// positionMarks are in every text that positions finds something in.
var positionMarks = []string{"identified", "set password", "password", "vault login", "net user", "send \"", "send \\\"", "securestring"}

// positioned are secrets that only their place in a command or statement tells.
var positioned = []form{
	{"", lazily(`(?i)\bidentified(?:[ \t]+(?:with|via)[ \t]+\S+)?[ \t]+(?:by|as|using)(?:[ \t]+password)?[ \t]+\\*["']([^"'\s\\]{4,})`)},
	{"", lazily(`(?i)\bpassword(?:[ \t]*=[ \t]*|[ \t]*\([ \t]*|[ \t]+)\\*'([^'\r\n\\]{4,})\\*'`)},
	{"set password", lazily(`\buser[ \t]+set[ \t]+password[ \t]+\S+[ \t]+(?:\\*["'])?([^\s"'\\]+)`)}, // ipmitool
	{"assword", lazily(`(?i)\bset[ \t]+[\w.]+\.password[ \t]+(?:\\*["'])?([^\s"'\\]+)`)},             // racadm
	{"vault login", lazily(`\bvault login[ \t]+(?:-[\w-]+(?:=\S+)?[ \t]+)*(?:token=)?([^\s"'\\=-][^\s"'\\]{7,})`)},
	{"SecureString", lazily(`ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?\\*["']([^"'\r\n\\]+)`)}, // PowerShell
	{"net user", lazily(`(?i)\bnet user[ \t]+\S+[ \t]+([^\s"'\\/][^\s"'\\]{3,})`)},
	{"send", lazily(`\bsend[ \t]+(?:--[ \t]+)?\\*"([^"\s\\]{6,})\\+r`)}, // expect
}

// positions returns where such secrets are.
func positions(v string) (found []span) {
	for _, f := range positioned {
		for _, m := range f.findAll(v) {
			if value := v[m[2]:m[3]]; noFlag(value) && (f.literal != "send" && f.literal != "vault login" || chosen(value, true)) {
				found = append(found, span{m[2], m[3]})
			}
		}
	}
	return found
}

// pipes returns where the secrets are that a shell hands to a program.
func pipes(v string) (found []span) {
	for _, f := range piped {
		for _, m := range f.findAll(v) {
			found = append(found, span{m[2], m[3]})
		}
	}
	return found
}

// flag returns where the secret of a flag is that begins at from.
func (c *command) flag(v string, from, end int) (span, bool) {
	flag := v[from:end]
	use := c.use(flag)
	if use == noSecret && len(flag) > 2 && flag[1] != '-' { // -pX
		use = programFlags[c.program][flag[:2]+"…"]
		if u := programFlags[c.program][flag[:2]]; u != noSecret {
			use = u
		}
		end = from + 2
		if use == noSecret {
			return span{}, false
		}
		to := unquotedEnd(v, end, false)
		if lo, hi := use.secretOf(v[end:to]); lo < hi {
			return span{end + lo, end + hi}, true
		}
		return span{}, false
	}
	if use == noSecret {
		return span{}, false
	}
	at := argument(v, end)
	lo, hi := use.secretOf(v[at.from:at.to])
	return span{at.from + lo, at.from + hi}, lo < hi
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
		return span{q + 1, quotedEnd(v, q+1)}
	}
	if apart && j < len(v) && v[j] == '-' {
		return span{i, i}
	}
	return span{j, unquotedEnd(v, j, false)}
}

// continues reports whether a command continues behind the end of a line.
func continues(v string, i int) bool {
	if i > 0 && v[i-1] == '\\' {
		return true
	}
	return strings.HasPrefix(v[skip(v, i+1, " \t"):min(len(v), i+80)], "- ")
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
