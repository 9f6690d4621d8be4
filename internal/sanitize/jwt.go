package sanitize

import "strings"

// The starts of {"alg":, {"typ": and {"kid": in base64, with which tokens begin.
var jwtMarks = []string{"eyjhbgcioi", "eyj0exaioi", "eyjrawqioi"}

// maxToken bounds a token over many lines.
const maxToken = 64 << 10

// wrappedTokens returns where tokens are (RFC 7519), also when their end was cut off, or
// when they continue over lines with what a log writes in front of each.
func wrappedTokens(v string) (found []span) {
	for at := 0; ; {
		i := strings.Index(v[at:], "eyJ")
		if i < 0 {
			return found
		}
		from := at + i
		at = from + 3
		rest := v[at:]
		if !strings.HasPrefix(rest, "hbGciOi") && !strings.HasPrefix(rest, "0eXAiOi") && !strings.HasPrefix(rest, "raWQiOi") {
			continue
		}
		end := tokenEnd(v, from)
		if end-from >= 20 {
			found = append(found, span{from, end})
		}
		at = max(at, end)
		for line := from; strings.Count(v[from:end], ".") < 3 && end-from < maxToken; {
			next, to, whole := nextPart(v, end)
			if end-line < minWrapped || to-next < 4 || !whole && !isPart(v[next:to]) {
				break
			}
			found = append(found, span{next, to})
			if line, end, at = next, to, to; !whole {
				break
			}
		}
	}
}

// minWrapped is how much of a token a line has at least that it goes on behind.
const minWrapped = 16

// isPart reports whether a word may be the rest of a token, with other text behind it.
func isPart(w string) bool { return len(w) >= minWrapped && mixedWord(w) && !nameOfObject(w) }

// endsInToken reports whether a line ends in the beginning of a token.
func endsInToken[T string | []byte](line T) bool {
	end := len(line)
	for end > 0 && strings.IndexByte(" \t\r", line[end-1]) >= 0 {
		end--
	}
	i := end
	for i > 0 && (sixBits[line[i-1]] != 0xff || line[i-1] == '.') {
		i--
	}
	return end-i >= minWrapped && string(line[i:i+3]) == "eyJ"
}

// tokenEnd returns where the last sign of a token is.
func tokenEnd(v string, i int) int {
	for i < len(v) && (sixBits[v[i]] != 0xff || v[i] == '.' || v[i] == '=') {
		i++
	}
	return i
}

// nextPart returns what a token continues with on the next line, and whether that line is nothing
// else.
func nextPart(v string, i int) (from, to int, whole bool) {
	i = skip(v, i, " \t\r")
	if i >= len(v) || v[i] != '\n' {
		return i, i, false
	}
	line := v[i+1 : min(len(v), i+512)]
	from = skip(v, i+1+prefixEnd(line), " \t")
	to = tokenEnd(v, from)
	stop := skip(v, to, " \t\r\"'")
	return from, to, stop >= len(v) || v[stop] == '\n'
}
