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
			next, to := nextPart(v, end)
			if end-line < minBlob || to-next < 4 {
				break
			}
			found = append(found, span{next, to})
			line, end, at = next, to, to
		}
	}
}

// tokenEnd returns where the last sign of a token is.
func tokenEnd(v string, i int) int {
	for i < len(v) && (sixBits[v[i]] != 0xff || v[i] == '.' || v[i] == '=') {
		i++
	}
	return i
}

// nextPart returns what a token continues with on the next line, if that line is nothing
// else.
func nextPart(v string, i int) (from, to int) {
	i = skip(v, i, " \t\r")
	if i >= len(v) || v[i] != '\n' {
		return i, i
	}
	line := v[i+1 : min(len(v), i+512)]
	i += 1 + prefixEnd(line)
	from = skip(v, i, " \t")
	to = tokenEnd(v, from)
	if stop := skip(v, to, " \t\r\"'"); stop < len(v) && v[stop] != '\n' {
		return from, from
	}
	return from, to
}
