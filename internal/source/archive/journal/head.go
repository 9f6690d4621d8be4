package journal

import (
	"bytes"
	"unicode"
)

// Head reads the head of a line of journalctl: the host that it names and what
// wrote it. The forms are short ("Nov 12 10:11:12 host unit[1]: "), short-precise, and
// short-iso with or without fractions ("2026-11-12T10:11:12.123456+0000 host unit[1]: ").
// ok is false for any other line (systemd/systemd:src/shared/logs-show.c
// output_short).
func Head(line []byte) (host, identifier []byte, ok bool) {
	n := journalStamp(line)
	if n == 0 {
		return nil, nil, false
	}
	rest := line[n+1:]
	i := bytes.IndexByte(rest, ' ')
	if i <= 0 {
		return nil, nil, false
	}
	host, rest = rest[:i], rest[i+1:]
	end := bytes.IndexAny(rest, "[: ")
	if end <= 0 || rest[end] == ' ' || isKlog(host) || !bytes.ContainsFunc(rest[:end], unicode.IsLetter) {
		return nil, nil, false
	}
	return host, rest[:end], true
}

// isKlog reports whether a word is the beginning of klog's header, I1006: a log of a container
// with its time before it has no host.
func isKlog(word []byte) bool {
	return len(word) == len("I0102") && bytes.IndexByte([]byte("IWEF"), word[0]) >= 0 &&
		!bytes.ContainsFunc(word[1:], func(r rune) bool { return r < '0' || r > '9' })
}

// journalStamp returns the length of the time that a line of a journal begins with, 0
// where it begins with none. Logs of containers begin with times in Z, journals do not.
func journalStamp(line []byte) int {
	n := 0
	switch {
	case len(line) > 16 && line[3] == ' ' && line[6] == ' ' && line[9] == ':' && line[12] == ':':
		n = fraction(line, 15)
	case len(line) > 25 && line[4] == '-' && line[7] == '-' && line[10] == 'T' && line[13] == ':' && line[16] == ':':
		n = fraction(line, 19)
		if n >= len(line) || line[n] != '+' && line[n] != '-' {
			return 0
		}
		for n++; n < len(line) && (isDigit(line[n]) || line[n] == ':'); n++ {
		}
	}
	if n == 0 || n >= len(line) || line[n] != ' ' {
		return 0
	}
	return n
}

// fraction returns where the fraction of a second ends that may begin at n.
func fraction(line []byte, n int) int {
	if n < len(line) && (line[n] == '.' || line[n] == ',') {
		for n++; n < len(line) && isDigit(line[n]); n++ {
		}
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
