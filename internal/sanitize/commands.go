package sanitize

import (
	"slices"
	"strings"
)

// tool is a program whose command line carries a secret in a form that nothing but the
// program gives away: `-p` is a port for one and a password for another.
type tool struct {
	names []string
	// next are flags whose next word, or what follows "=", is a secret. Of one letter they
	// may end a group of flags, as in -sku.
	next []string
	// glued are flags of one letter whose secret follows without a blank.
	glued []string
	// pairs are flags whose value is USER:SECRET; pairSign is what is between the two.
	pairs []string
	// last: with one of these flags the last word is the secret.
	last []string
}

// tools are the programs that work with BMCs, registries, databases and directories, and
// those of the cluster itself. The flags are those of their manual pages.
var tools = []tool{
	{names: []string{"ipmitool"}, next: []string{"-P", "-k", "-y"}, glued: []string{"-P"}},
	{names: []string{"sshpass"}, next: []string{"-p"}, glued: []string{"-p"}},
	{names: []string{"curl"}, pairs: []string{"-u", "-U", "--user", "--proxy-user"}, next: []string{"--pass", "--proxy-pass", "--oauth2-bearer"}},
	{names: []string{"podman", "docker", "buildah", "skopeo", "oc", "kubectl", "helm", "nerdctl", "crictl", "oras"}, pairs: []string{"--creds", "--src-creds", "--dest-creds"}},
	{names: []string{"login"}, next: []string{"-p"}, pairs: []string{"--creds"}}, // of podman, oc, helm, az; elsewhere -p is a port
	{names: []string{"mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "mariadb-admin"}, glued: []string{"-p"}},
	{names: []string{"htpasswd"}, last: []string{"-b", "-bB", "-bc", "-Bb", "-cb", "-cbB", "-bcB", "-cBb", "-nb", "-nbB", "-Bbn", "-bn", "-bnB", "-Bbc"}},
	{names: []string{"ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete", "ldappasswd"}, next: []string{"-w", "-s", "-a"}},
	{names: []string{"racadm", "hponcfg", "ilorest", "az", "onecli"}, next: []string{"-p"}},
	{names: []string{"govc"}, pairs: []string{"-u"}},
	{names: []string{"redis-cli"}, next: []string{"-a"}},
	{names: []string{"sqlcmd"}, next: []string{"-P"}},
	{names: []string{"snmpget", "snmpwalk", "snmpset"}, next: []string{"-A", "-X", "-c"}},
	{names: []string{"secret-set-value"}, next: []string{"--base64"}},
	{names: []string{"openssl"}, next: []string{"-pass", "-passin", "-passout", "-k", "-K"}},
	{names: []string{"smbclient", "mount.cifs"}, next: []string{"--password"}},
	{names: []string{"kinit", "adcli"}, next: []string{"--stdin-password"}},
}

var toolOf = func() map[string]*tool {
	m := map[string]*tool{}
	for i := range tools {
		for _, n := range tools[i].names {
			m[n] = &tools[i]
		}
	}
	return m
}()

// toolMarks are the names: a text that has none of them has no such command line.
var toolMarks = func() (list []string) {
	for _, t := range tools {
		for _, n := range t.names {
			if len(n) > 2 {
				list = append(list, n)
			}
		}
	}
	return append(list, "passwd", "--stdin", "--password", "-password", "-token", "--token", "secret", "-pass")
}()

// maxWords bounds how many words of a line are looked at behind a program's name.
const maxWords = 256

// word is a word of a command line without its quotes.
type word struct{ from, to int }

// commandLines finds the secrets in command lines, also in those that are printed as a
// list: ["ipmitool", "-P", "x"], ['ipmitool', '-P', 'x'] and []string{"ipmitool", "-P", "x"}.
func commandLines(v string) (spans [][2]int) {
	if !flagged(v) {
		return nil
	}
	for at := 0; at < len(v); {
		end := strings.IndexByte(v[at:], '\n')
		if end < 0 {
			end = len(v) - at
		}
		spans = append(spans, commandLine(v, at, at+end)...)
		at += end + 1
	}
	return spans
}

// flagged reports whether a text may hold a flag.
func flagged(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i] == '-' && strings.IndexByte(" \t\"'", v[i-1]) >= 0 {
			return true
		}
	}
	return false
}

func commandLine(v string, from, to int) (spans [][2]int) {
	words := wordsOf(v, from, to)
	var t *tool
	begin := 0 // the word behind the tool's name
	for i, w := range words {
		text := v[w.from:w.to]
		if strings.HasPrefix(text, "--stdin") && i > 0 {
			spans = append(spans, echoed(v, words[:i])...)
		}
		name := text
		if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
			name = name[slash+1:]
		}
		if found := toolOf[strings.TrimRight(name, ":")]; found != nil {
			t, begin = found, i+1
			continue
		}
		if i+1 < len(words) && strings.HasPrefix(text, "--") && !strings.Contains(text, "=") {
			next := words[i+1]
			value, kind := v[next.from:next.to], kindOfKey(text)
			if kind != plainKey && !strings.HasPrefix(value, "-") && (likelySecret(value) || kind == deepKey && noFlag(value)) {
				spans = append(spans, [2]int{next.from, next.to})
				continue
			}
		}
		if t == nil || len(text) < 2 || text[0] != '-' || i-begin > maxWords {
			continue
		}
		spans = append(spans, t.secret(v, words, begin, i)...)
	}
	return spans
}

// secret returns where the secret is that the flag at words[i] gives.
func (t *tool) secret(v string, words []word, begin, i int) [][2]int {
	w := words[i]
	text := v[w.from:w.to]
	flag, value, cut := strings.Cut(text, "=")
	valueAt := w.to - len(value)
	switch {
	case slices.Contains(t.last, text):
		last := len(words) - 1
		for last > i && strings.IndexAny(v[words[last].from:words[last].to], "|;&<>") == 0 {
			last--
		}
		if last-i >= 3 { // FILE USER PASSWORD
			return [][2]int{{words[i+3].from, words[i+3].to}}
		}
		if last > i {
			return [][2]int{{words[last].from, words[last].to}}
		}
	case slices.Contains(t.next, flag) && cut:
		return [][2]int{{valueAt, w.to}}
	case slices.Contains(t.next, text) && i+1 < len(words):
		next := words[i+1]
		if s := v[next.from:next.to]; strings.HasPrefix(s, "pass:") {
			next.from += len("pass:")
		} else if strings.HasPrefix(s, "--") || strings.HasPrefix(s, "env:") || strings.HasPrefix(s, "file:") {
			return nil
		}
		return [][2]int{{next.from, next.to}}
	case slices.Contains(t.pairs, flag) && cut:
		return pair(v, valueAt, w.to)
	case t.endsIn(text) && i+1 < len(words):
		return pair(v, words[i+1].from, words[i+1].to)
	}
	for _, g := range t.glued {
		if len(text) > len(g) && strings.HasPrefix(text, g) && text[1] != '-' && !slices.Contains(t.next, text) {
			return [][2]int{{w.from + len(g), w.to}}
		}
	}
	for _, p := range t.pairs {
		if len(p) == 2 && len(text) > 3 && strings.HasPrefix(text, p) {
			return pair(v, w.from+2, w.to)
		}
	}
	return nil
}

// endsIn reports a flag whose next word is a pair, also at the end of a group of flags.
func (t *tool) endsIn(text string) bool {
	return slices.ContainsFunc(t.pairs, func(p string) bool {
		return text == p || len(p) == 2 && len(text) <= 8 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, p[1:])
	})
}

// pair returns where the secret is in USER:SECRET.
func pair(v string, from, to int) [][2]int {
	colon := strings.IndexByte(v[from:to], ':')
	if colon < 0 || strings.HasPrefix(v[from+colon:to], "://") {
		return nil
	}
	return [][2]int{{from + colon + 1, to}}
}

// echoed returns what a shell writes into passwd --stdin.
func echoed(v string, words []word) [][2]int {
	for i := 0; i+1 < len(words); i++ {
		if w := words[i]; v[w.from:w.to] != "echo" {
			continue
		}
		next := words[i+1]
		if v[next.from:next.to] == "-n" && i+2 < len(words) {
			next = words[i+2]
		}
		return [][2]int{{next.from, next.to}}
	}
	return nil
}

// wordsOf splits a line into words at blanks and at the signs of printed lists. What is in
// quotes is one word.
func wordsOf(v string, from, to int) (words []word) {
	for i := from; i < to && len(words) < 4*maxWords; {
		switch c := v[i]; {
		case c == ' ' || c == '\t' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '(' || c == ')' || c == '\r':
			i++
		case c == '"' || c == '\'':
			end := min(quotedEnd(v[:to], i+1), to)
			words = append(words, word{i + 1, end})
			i = end + 1
		case c == '\\' && i+1 < to && (v[i+1] == '"' || v[i+1] == '\''):
			end := min(quotedEnd(v[:to], i+2), to)
			words = append(words, word{i + 2, end})
			i = end + 2
		default:
			end := i
			for end < to && !strings.ContainsRune(" \t,\r]})", rune(v[end])) && !listBegins(v[end:to]) {
				if (v[end] == '"' || v[end] == '\'') && end > i && v[end-1] == '=' {
					end = min(quotedEnd(v[:to], end+1), to)
				}
				end++
			}
			end = min(max(end, i+1), to)
			words = append(words, word{i, end})
			i = end
		}
	}
	return words
}

// listBegins reports whether a list of words in quotes begins: ["a", []string{"a".
func listBegins(v string) bool {
	if len(v) < 2 || strings.IndexByte("[{(", v[0]) < 0 {
		return false
	}
	return strings.IndexByte("\"'\\]", v[1]) >= 0
}
