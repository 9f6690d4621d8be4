package logline

import "bytes"

// opening is how a message begins that its program calls an error in words, in lower case.
var opening = [][]byte{
	[]byte("error:"), []byte("error "), []byte("errors "), []byte("fatal:"), []byte("fatal error"), []byte("panic:"),
	[]byte("failed to "), []byte("failed:"), []byte("failed - "), []byte("failure:"),
	[]byte("failure "), []byte("unable to "), []byte("could not "), []byte("couldn't "),
	[]byte("cannot "), []byte("can't "), []byte("traceback (most recent call last)"), []byte("kernel panic"), []byte("oops:"), []byte("bug: "),
	[]byte("dependency failed for "), []byte("e: "), []byte("err: "), []byte("critical:"), []byte("emergency:"),
}

// spokenByName is how a message begins behind the name of its program: "dracut: FATAL: Sorry", "git: error: no".
var spokenByName = [][]byte{[]byte("error:"), []byte("error "), []byte("fatal:"), []byte("panic:")}

// named is how the tools of a shell report an error behind their name: "curl: (7) Failed".
var named = [][]byte{
	[]byte("command not found"), []byte("no such file or directory"), []byte("permission denied"), []byte("connection refused"),
	[]byte("exec format error"), []byte("no route to host"), []byte("not permitted"), []byte("read-only file system"), []byte("syntax error"),
	[]byte("unbound variable"), []byte("no space left on device"), []byte("invalid option"), []byte("unrecognized option"),
	[]byte("name or service not known"), []byte("temporary failure in name resolution"), []byte("could not resolve"),
	[]byte("device or resource busy"), []byte("input/output error"),
}

// longestOpening bounds how much of a message is looked at for how it begins.
const longestOpening = 40

// spoken is the level that a message without a level of its own gives itself in words.
func spoken(l *Line) Level {
	m := l.Message
	var buffer [longestOpening]byte
	lower := lowered(buffer[:0], m[:min(len(m), longestOpening)])
	for _, words := range opening {
		if bytes.HasPrefix(lower, words) && !isThing(lower[len(words):]) {
			return Error
		}
	}
	if string(l.Program) == "systemd" {
		return unitLevel(m)
	}
	if bytes.HasPrefix(lower, []byte("expected ")) && expectation(m) || bytes.HasPrefix(lower, []byte("the ")) && refusedObject(m) {
		return Error
	}
	if program, rest, ok := cutProcess(m); ok && len(program) < longestOpening {
		if string(program) == "curl" && (bytes.HasPrefix(rest, []byte("(")) || bytes.Contains(rest, []byte(" timed out "))) {
			return Error
		}
		var buffer [longestNamed]byte
		if len(rest) <= longestNamed {
			all := lowered(buffer[:0], rest)
			for _, words := range named {
				if bytes.HasSuffix(all, words) {
					return Error
				}
			}
		}
		lower = lowered(buffer[:0], rest[:min(len(rest), longestOpening)])
		for _, words := range spokenByName {
			if bytes.HasPrefix(lower, words) && !isThing(lower[len(words):]) {
				return Error
			}
		}
	}
	return NoLevel
}

// isThing reports whether the next word makes the one before it the name of a thing.
func isThing(rest []byte) bool {
	end := 0
	for end < len(rest) && rest[end] >= 'a' && rest[end] <= 'z' {
		end++
	}
	return (end == len(rest) || rest[end] != ':') && Thing(string(rest[:end]))
}

// expectation reports whether a message says what was expected and what came: "Expected one
// file, found: a b", "expected A, got B", "expected A but B".
func expectation(m []byte) bool {
	for _, words := range [][]byte{[]byte(" found"), []byte(" got"), []byte(" but ")} {
		if bytes.Contains(m, words) {
			return true
		}
	}
	return false
}

// refusedObject reports whether a message is how oc and kubectl print that the API refuses an object: The KIND "NAME" is
// invalid, and a colon (kubernetes/kubectl:pkg/cmd/util/helpers.go; apimachinery:pkg/api/errors/errors.go NewInvalid).
func refusedObject(m []byte) bool {
	_, rest, ok := bytes.Cut(m, []byte(`" is invalid:`))
	return ok && bytes.Count(m[:len(m)-len(rest)], []byte(`"`)) == 2
}

// longestNamed bounds a line of a shell's tool.
const longestNamed = 300

// lowered appends the lower case of ASCII letters.
func lowered(to, text []byte) []byte {
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// isEmptyField reports whether a line is a field of describe without a value: "Error Message:".
func isEmptyField(m []byte) bool {
	key, ok := bytes.CutSuffix(m, []byte(":"))
	if !ok || bytes.IndexByte(key, ' ') < 0 || len(key) > longestOpening {
		return false
	}
	for word := range bytes.SplitSeq(key, []byte(" ")) {
		if len(word) == 0 || word[0] < 'A' || word[0] > 'Z' {
			return false
		}
		for _, c := range word {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				return false
			}
		}
	}
	return true
}

// isKey reports whether a line without the header of a log is a key of an object or of
// describe, with its value.
func isKey(m []byte) bool {
	key, rest, ok := bytes.Cut(bytes.TrimPrefix(m, []byte("- ")), []byte(":"))
	if !ok || len(key) == 0 || len(key) > 63 || len(rest) > 0 && rest[0] != ' ' {
		return false
	}
	for i, c := range key {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', digit(c), c == '.', c == '/', c == '-', c == '_':
		case c == ' ' && i > 0 && key[i-1] != ' ' && len(rest) > 2 && rest[1] == ' ': // "Start Time:   Mon ..."
		case c == '"' && (i == 0 || i == len(key)-1):
		default:
			return false
		}
	}
	return len(rest) == 0 || len(rest) > 2 && rest[1] == ' ' || yamlKey(key)
}

// yamlKey reports whether a key is written as the API writes them: it begins small and has
// no blank, or is quoted.
func yamlKey(key []byte) bool {
	c := key[0]
	return (c >= 'a' && c <= 'z' || c == '"') && !bytes.ContainsAny(key, " -") && string(key) != "error" && string(key) != "panic" && string(key) != "fatal"
}

// columns reports whether a line has at least three cells with two blanks or more between them.
func columns(m []byte) bool {
	gaps := 0
	for i := 2; i < len(m); i++ {
		if m[i] != ' ' && m[i-1] == ' ' && m[i-2] == ' ' || m[i] != '\t' && m[i-1] == '\t' {
			gaps++
		}
	}
	return gaps >= 2
}
