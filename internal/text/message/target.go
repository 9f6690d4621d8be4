package message

import (
	"net"
	"net/netip"
	"regexp"
	"strings"
)

// asking are the programs that ask one server or name, and whose output does not repeat it.
var asking = set("curl", "openssl", "dig", "host", "nslookup", "ping", "nc", "ncat", "getent", "ipmitool")

var (
	connects = regexp.MustCompile(`-connect[ =]\[?([\w.:-]+?)\]?:(\d+)`)
	asksURL  = regexp.MustCompile(`https?://([^\s/'"]+)`)
	asksBMC  = regexp.MustCompile(`-H\s*([\w.:-]+)`)
)

// targetOf is the server or the name that a command asks, "" where it names none.
func targetOf(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 || !asking[words[0]] {
		return ""
	}
	if m := connects.FindStringSubmatch(command); m != nil {
		return net.JoinHostPort(m[1], m[2])
	}
	if m := asksURL.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	if m := asksBMC.FindStringSubmatch(command); m != nil && words[0] == "ipmitool" {
		return m[1]
	}
	for i, w := range words[1:] {
		if !isHost(w) {
			continue
		}
		if rest := words[i+2:]; strings.HasPrefix(words[0], "nc") && len(rest) > 0 && isPort.MatchString(rest[0]) {
			return net.JoinHostPort(w, rest[0])
		}
		return w
	}
	return ""
}

var isPort = regexp.MustCompile(`^\d{1,5}$`)

// isHost reports whether a word of a command is a name with a domain, or an address.
func isHost(w string) bool {
	if _, err := netip.ParseAddr(w); err == nil {
		return true
	}
	return hostWord.MatchString(w)
}

var hostWord = regexp.MustCompile(`^[a-zA-Z0-9*][\w*-]*(?:\.[\w-]+)+\.?$`)

// ofTarget puts what a command asked behind what its output shows.
func ofTarget(words string, l Line) string {
	if l.target == "" || strings.Contains(words, l.target) {
		return words
	}
	return words + ": " + l.target
}
