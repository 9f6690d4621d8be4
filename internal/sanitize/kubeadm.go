package sanitize

import "strings"

// A token of kubeadm is six small letters and digits, a dot, and 16 more
// (kubernetes/kubernetes:staging/src/k8s.io/cluster-bootstrap/token/api/types.go
// BootstrapTokenPattern), which are random. Where nothing names it, the mix of letters and digits tells
// it from the names of hosts and files.

const (
	tokenID     = 6
	tokenSecret = 16
	tokenLength = tokenID + 1 + tokenSecret
)

// bareToken returns where the next token of kubeadm is from a place on that stands alone, or -1.
func bareToken(v string, from int) int {
	for at := from + tokenID; ; at++ {
		n := strings.IndexByte(v[min(at, len(v)):], '.')
		if n < 0 {
			return -1
		}
		at += n
		i := at - tokenID
		if i+tokenLength > len(v) {
			return -1
		}
		if isBareToken(v[i:i+tokenLength]) && (i == 0 || !partOfName(v[i-1])) && standsAlone(v, i+tokenLength) {
			return i
		}
	}
}

// bareTokens returns where such tokens are.
func bareTokens(v string) (found []span) {
	for i := bareToken(v, 0); i >= 0; i = bareToken(v, i+tokenLength) {
		found = append(found, span{i, i + tokenLength})
	}
	return found
}

// partOfName reports whether a sign next to a word makes it a part of a name, a path or an address.
func partOfName(b byte) bool { return word(b) || strings.IndexByte("-./@", b) >= 0 }

// standsAlone reports whether no name goes on at a place: a dot may end a sentence, and a colon is of a
// host if its port follows.
func standsAlone(v string, i int) bool {
	switch {
	case i == len(v):
		return true
	case v[i] == '.':
		return closes(v, i)
	case v[i] == ':':
		return i+1 == len(v) || classOf(v[i+1]) != '0'
	}
	return !partOfName(v[i])
}

// isBareToken reports whether a text is random in the form of a token. A number in hexadecimal behind the dot
// is of an event.
func isBareToken(v string) bool {
	random := v[tokenID+1:]
	for i := range len(v) {
		if class := classOf(v[i]); i != tokenID && class != 'a' && class != '0' {
			return false
		}
	}
	return strings.Trim(random, "0123456789abcdef") != "" && strings.ContainsAny(v, "0123456789") && strangeness(v) > 1
}

// strangeness counts what few names of words and numbers have: letters alone or in pairs between digits, three or four
// of them without a vowel, rare letters, and five consonants in a row.
func strangeness(v string) (n int) {
	letters, consonants := 0, 0
	for i := 0; i <= len(v); i++ {
		if i < len(v) && classOf(v[i]) == 'a' {
			letters++
			if strings.IndexByte("jqz", v[i]) >= 0 {
				n++
			}
			if strings.IndexByte("aeiouy", v[i]) < 0 {
				consonants++
			} else {
				consonants = 0
			}
			if consonants == 5 {
				n++
			}
			continue
		}
		if letters > 0 && (letters < 3 || letters < 5 && consonants == letters) {
			n++
		}
		letters, consonants = 0, 0
	}
	return n
}
