package sanitize

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// keyBody returns a private key in PEM with random contents: its head is that of the format.
func keyBody(r *rand.Rand, kind string) string {
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	}
	head, size, title, width := "", 1190, "RSA PRIVATE KEY", 64
	switch kind {
	case "rsa":
		head = "\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01\x00"
	case "pkcs8":
		head, size, title = "\x30\x82\x04\xbe\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x04\x82\x04\xa8", 1200, "PRIVATE KEY"
	case "ec":
		head, size, title = "\x30\x77\x02\x01\x01\x04\x20", 114, "EC PRIVATE KEY"
	case "ed25519":
		head, size, title = "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 32, "PRIVATE KEY"
	case "openssh":
		head, size, title, width = "openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none\x00\x00\x00\x00\x00\x00\x00\x01", 360, "OPENSSH PRIVATE KEY", 70
	case "encrypted":
		head, size, title = "\x30\x82\x05\x00\x30\x5f\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d", 1280, "ENCRYPTED PRIVATE KEY"
	}
	body := base64.StdEncoding.EncodeToString([]byte(head + random(size)))
	var b strings.Builder
	b.WriteString("-----BEGIN " + title + "-----\n")
	for len(body) > 0 {
		n := min(width, len(body))
		b.WriteString(body[:n] + "\n")
		body = body[n:]
	}
	return b.String() + "-----END " + title + "-----"
}

// pemForms are how a program prints the lines of a key.
var pemForms = map[string]func(lines []string) string{
	"plain":        joined("", "", "\n"),
	"error":        joined("error: ", "", "\n"),
	"cut bar":      joined("| ", "", "\n"),
	"table":        joined("| ", " |", "\n"),
	"box":          joined("│ ", " │", "\n"),
	"list":         joined("  - ", "", "\n"),
	"quoted list":  joined("  - \"", "\"", "\n"),
	"indented":     joined("      ", "", "\n"),
	"tabs":         joined("\t\t", "", "\n"),
	"comment":      joined("# ", "", "\n"),
	"slashes":      joined("// ", "", "\n"),
	"mail":         joined("> ", "", "\n"),
	"added":        joined("+", "", "\n"),
	"removed":      joined("-    ", "", "\n"),
	"journal":      joined("Nov 27 10:00:01 m0 cloud-init[9]: ", "", "\n"),
	"iso":          joined("2026-11-27T10:00:01.123456+00:00 m0 x[9]: ", "", "\n"),
	"cri":          joined("2026-11-27T10:00:01.123456789Z stdout F ", "", "\n"),
	"klog":         joined("E1127 10:00:00.000000       1 x.go:1] ", "", "\n"),
	"python":       joined("2026-11-27 10:00:01,123 ERROR ironic.x [-] ", "", "\n"),
	"kernel":       joined("[   12.345678] ", "", "\n"),
	"syslog":       joined("<30>Nov 27 10:00:01 m0 x: ", "", "\n"),
	"go log":       joined("2026/11/27 10:00:01 ", "", "\n"),
	"level":        joined("level=error msg=\"", "\"", "\n"),
	"json lines":   joined("{\"msg\":\"", "\"}", "\n"),
	"pod":          joined("[pod/etcd-m0/etcd] ", "", "\n"),
	"compose":      joined("etcd-1  | ", "", "\n"),
	"trailing":     joined("", "  \\", "\n"),
	"concatenated": joined("\"", "\\n\" +", "\n"),
	"go slice":     joined("\"", "\",", "\n"),
	"python list":  func(l []string) string { return "['" + strings.Join(l, "', '") + "']" },
	"json list":    func(l []string) string { return "[\"" + strings.Join(l, "\",\"") + "\"]" },
	"escaped":      func(l []string) string { return "key=\"" + strings.Join(l, `\n`) + `\n"` },
	"escaped json": func(l []string) string { return `{"x":"` + strings.Join(l, `\n`) + `\n"}` },
	"twice":        func(l []string) string { return `{"m":"{\"x\":\"` + strings.Join(l, `\\n`) + `\\n\"}"}` },
	"crlf":         func(l []string) string { return "x: " + strings.Join(l, "\r\n") },
	"escaped crlf": func(l []string) string { return "x: " + strings.Join(l, `\r\n`) },
	"one line":     func(l []string) string { return "x " + strings.Join(l, " ") },
	"no ends":      func(l []string) string { return "x " + strings.Join(l, "") },
	"commas":       func(l []string) string { return "x " + strings.Join(l, ",") },
	"bars":         func(l []string) string { return "x " + strings.Join(l, "|") },
	"html":         func(l []string) string { return "<pre>" + strings.Join(l, "<br>") + "</pre>" },
	"xml entity":   func(l []string) string { return "<x>" + strings.Join(l, "&#10;") + "</x>" },
	"url":          func(l []string) string { return "x=" + url.QueryEscape(strings.Join(l, "\n")) },
	"path escape":  func(l []string) string { return "x/" + url.PathEscape(strings.Join(l, "\n")) },
	"numbered":     numberedLines("%6d\t%s"),
	"grep":         numberedLines("server.key:%d:%s"),
	"go print":     func(l []string) string { return "&{Key:" + strings.Join(l, "\n") + "}" },
	"yaml block":   func(l []string) string { return "a:\n  x: |\n    " + strings.Join(l, "\n    ") },
	"log block": func(l []string) string {
		return "I1127 10:00:00.000000       1 x.go:1] wrote\n" + strings.Join(l, "\n")
	},
	"describe": func(l []string) string { return "x:\n----\n" + strings.Join(l, "\n") + "\n" },
	"base64": func(l []string) string {
		return "x: " + base64.StdEncoding.EncodeToString([]byte(strings.Join(l, "\n")))
	},
	"colors":      joined("\x1b[31m", "\x1b[0m", "\n"),
	"bytes":       func(l []string) string { return fmt.Sprint([]byte(strings.Join(l, "\n"))) },
	"hexadecimal": func(l []string) string { return fmt.Sprintf("x %x", strings.Join(l, "\n")) },
}

func joined(before, behind, with string) func([]string) string {
	return func(l []string) string {
		out := make([]string, len(l))
		for i, line := range l {
			out[i] = before + line + behind
		}
		return strings.Join(out, with)
	}
}

func numberedLines(format string) func([]string) string {
	return func(l []string) string {
		out := make([]string, len(l))
		for i, line := range l {
			out[i] = fmt.Sprintf(format, i+1, line)
		}
		return strings.Join(out, "\n")
	}
}

// pemCuts are what a log has of the lines of a key.
var pemCuts = map[string]func(l []string) []string{
	"whole":         func(l []string) []string { return l },
	"without head":  func(l []string) []string { return l[1:] },
	"without foot":  func(l []string) []string { return l[:len(l)-1] },
	"only the body": func(l []string) []string { return l[1 : len(l)-1] },
	"cut in a line": func(l []string) []string { return append([]string{l[1][20:]}, l[2:]...) },
	"cut behind":    func(l []string) []string { return l[:max(2, len(l)-3)] },
}

// leakedLine returns a line of a key of which ten characters in a row are left.
func leakedLine(clean string, lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "-----") {
			continue
		}
		for i := 0; i+16 <= len(line); i++ {
			if strings.Contains(clean, line[i:i+16]) {
				return line
			}
		}
		if len(line) < 16 && len(line) > 3 && strings.Contains(clean, line) {
			return line
		}
	}
	return ""
}

// TestKeyBodies: whatever a program prints in front of the lines of a private key, and whatever of it a log has, none is left.
func TestKeyBodies(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	r := rand.New(rand.NewPCG(3, 4))
	left, of := 0, 0
	for _, name := range slices.Sorted(maps.Keys(pemForms)) {
		form := pemForms[name]
		for _, cut := range slices.Sorted(maps.Keys(pemCuts)) {
			take := pemCuts[cut]
			for _, kind := range []string{"rsa", "pkcs8", "ec", "ed25519", "openssh", "encrypted"} {
				switch {
				case kind == "ed25519" && strings.HasPrefix(cut, "cut"),
					(name == "bytes" || name == "hexadecimal") && cut != "whole" && cut != "without foot", // nothing tells what the numbers are
					name == "path escape" && strings.Contains(cut, "head"),
					name == "no ends" && cut == "cut in a line": // nor base64 without a beginning and without lines
					continue
				}
				lines := take(strings.Split(keyBody(r, kind), "\n"))
				text := form(lines)
				for how, clean := range ways {
					of++
					got := clean(text)
					if again := clean(got); again != got {
						t.Errorf("%s, %s, %s, %s: not the same twice", name, cut, kind, how)
					}
					seen := lines
					if how == "lines" && cut == "cut in a line" {
						seen = lines[1:] // what is before the first whole line is a word of that line
					}
					if line := leakedLine(got, seen); line != "" || name == "bytes" && got == text || name == "hexadecimal" && got == text {
						left++
						t.Logf("%s, %s, %s, %s: %q is left", name, cut, kind, how, line)
					}
				}
			}
		}
	}
	t.Logf("%d of %d left", left, of)
	if left > of*maxLeaked/2000 { // a part of a line may have no form of its own
		t.Errorf("%d of %d keys are left", left, of)
	}
}
