package ssh

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// user is who logs in where the target names nobody: RHCOS, the live ISO and the bootstrap host have no other
// (coreos/fedora-coreos-config:overlay.d/05core/usr/lib/ignition/base.d/00-core.ign).
const user = "core"

// Target is a host that is asked.
type Target struct {
	Name string // what the user calls it; "": what its address is
	User string
	Host string // name or IP address; also a Host of the user's ssh configuration
	Port int    // 0: the one of the user's ssh configuration, or 22
}

// ParseTarget reads [NAME=][USER@]HOST[:PORT]. What could be taken for an option or a command by ssh, or by a
// ProxyCommand that names the host, is refused.
func ParseTarget(text string) (Target, error) {
	wrong := func(why string) (Target, error) {
		return Target{}, fmt.Errorf("%q: %s; write it as [NAME=][USER@]HOST[:PORT], such as core@192.0.2.21", text, why)
	}
	t := Target{User: user}
	rest := text
	if name, after, ok := strings.Cut(rest, "="); ok {
		if t.Name, rest = name, after; !plain(t.Name, "-.") {
			return wrong("the name of the host is missing or has other signs than letters, digits, - and .")
		}
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		if t.User, rest = rest[:i], rest[i+1:]; !plain(t.User, "-._") {
			return wrong("the user is missing or has other signs than letters, digits, -, . and _")
		}
	}
	t.Host = strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]")
	if host, port, err := net.SplitHostPort(rest); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return wrong(fmt.Sprintf("%q is not a port", port))
		}
		t.Host, t.Port = host, int(n)
	}
	if net.ParseIP(t.Host) == nil && !plain(t.Host, "-._") {
		return wrong("the host is missing or has other signs than those of a name or an IP address")
	}
	return t, nil
}

// plain reports whether a word has letters, digits and some other signs only, and does not begin with one of these.
func plain(s, others string) bool {
	ok := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' }
	return s != "" && ok(rune(s[0])) && !strings.ContainsFunc(s, func(r rune) bool { return !ok(r) && !strings.ContainsRune(others, r) })
}

// Label is what the host is called before it has told its name.
func (t Target) Label() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Port != 0: // several hosts may be behind one address
		return net.JoinHostPort(t.Host, strconv.Itoa(t.Port))
	}
	return t.Host
}

// file is the name of the file for what the host collected.
func (t Target) file() string {
	return strings.NewReplacer(":", "-", "[", "", "]", "").Replace(t.Label())
}

// Login is how a person connects to the host.
func (t Target) Login() string {
	if t.Port != 0 {
		return fmt.Sprintf("ssh -p %d %s@%s", t.Port, t.User, t.Host)
	}
	return fmt.Sprintf("ssh %s@%s", t.User, t.Host)
}

// known is how known_hosts calls the host.
func (t Target) known() string {
	if t.Port != 0 && t.Port != 22 {
		return fmt.Sprintf("[%s]:%d", t.Host, t.Port)
	}
	return t.Host
}
