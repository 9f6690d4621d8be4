package logline

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// endpoint finds the address that a failure is about: the last URL, "dial tcp" or "lookup"
// before the leaf, else the first behind it.
func (f *Failure) endpoint(m string, at int) {
	before := m[:at]
	if f.socket(before) || f.served(before) {
		return
	}
	dial, dialAt := after(before, "dial tcp ", "dial udp ", "connect to ", "Failed to connect to ", "connect: ")
	name, nameAt := after(before, "lookup ", "resolve host: ", "resolve host ")
	if f.Leaf == NameUnknown && name == "" {
		name, nameAt = after(m, "resolve host: ", "resolve host ")
	}
	raw, rawAt := lastURL(before)
	if raw == "" {
		raw, _ = lastURL(m)
	}
	if u, err := url.Parse(raw); err == nil && raw != "" {
		f.Scheme, f.Host, f.Port, f.Path = u.Scheme, u.Hostname(), u.Port(), u.Path
		if f.Port == "" {
			f.Port = defaultPort[u.Scheme]
		}
	}
	if pool, poolAt := after(m, "ConnectionPool(host='"); poolAt > rawAt { // urllib3 of Python
		f.Scheme, f.Path = "http", ""
		if strings.Contains(m, "HTTPSConnectionPool") {
			f.Scheme = "https"
		}
		f.Host, pool, _ = strings.Cut(pool, "'")
		if port, ok := strings.CutPrefix(pool, ", port="); ok {
			f.Port, _, _ = strings.Cut(port, ")")
		}
		if path, at := after(pool, "with url: "); at >= 0 {
			f.Path = word(path)
		}
	}
	switch {
	case nameAt > dialAt && nameAt > rawAt && f.Host == "":
		f.Host = strings.TrimRight(word(name), ":,")
	case f.Host == "" || dialAt > rawAt && f.Path == "" && f.Port == "":
		first, rest, _ := strings.Cut(dial, " ")
		if host, port, err := net.SplitHostPort(strings.TrimRight(first, ":,")); err == nil && number(port) {
			f.Host, f.Port = host, port
		} else if port, ok := strings.CutPrefix(rest, "port "); ok && number(word(strings.TrimRight(port, ":,"))) { // curl
			f.Host, f.Port = first, word(port)
		}
	}
	if f.Host == "" {
		f.hostPort(before)
	}
}

// connection is how Go names a connection: the own address, and the other one.
var connection = regexp.MustCompile(`\b(?:read|write) tcp (\S+)->(\S+): `)

// served takes the two addresses of a connection that a server has lost: its own port is one that
// is listened to, and the other one is a port of a client.
func (f *Failure) served(before string) bool {
	m := connection.FindStringSubmatch(before)
	if m == nil {
		return false
	}
	own, ownPort, err := net.SplitHostPort(m[1])
	client, clientPort, errClient := net.SplitHostPort(m[2])
	if err != nil || errClient != nil || !ephemeral(clientPort) || ephemeral(ownPort) {
		return false
	}
	f.Host, f.Port, f.Client = own, ownPort, client
	return true
}

// ephemeral reports whether a port is one that Linux gives to clients
// (net.ipv4.ip_local_port_range, 32768 and above).
func ephemeral(port string) bool {
	n, err := strconv.Atoi(port)
	return err != nil || n >= 32768
}

var defaultPort = map[string]string{"https": "443", "http": "80", "docker": "443"}

// hostPort takes the last HOST:PORT that is a word of its own.
func (f *Failure) hostPort(text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\"'(),;=<>", r) })
	for i := len(words) - 1; i >= 0; i-- {
		host, port, err := net.SplitHostPort(strings.TrimRight(words[i], ":."))
		isHost := (strings.ContainsAny(host, ".:") || host == "localhost") && !strings.HasSuffix(host, ".go")
		if err == nil && number(port) && len(port) > 1 && isHost {
			f.Host, f.Port = host, port
			return
		}
	}
}

func number(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= len("65535")
}

// after returns what is behind the last of some words, and where that begins; -1 without.
func after(text string, words ...string) (rest string, at int) {
	at = -1
	for _, w := range words {
		if i := strings.LastIndex(text, w); i >= 0 && i+len(w) > at {
			at = i + len(w)
		}
	}
	if at < 0 {
		return "", -1
	}
	return text[at:], at
}

// word is the first word of a text.
func word(text string) string {
	if i := strings.IndexAny(text, " \t\""); i >= 0 {
		return text[:i]
	}
	return text
}

// lastURL returns the last URL of a text and where it begins; -1 without.
func lastURL(text string) (string, int) {
	i := strings.LastIndex(text, "://")
	if i <= 0 {
		return "", -1
	}
	from := i
	for from > 0 && (text[from-1] >= 'a' && text[from-1] <= 'z' || text[from-1] >= 'A' && text[from-1] <= 'Z') {
		from--
	}
	raw := text[from:]
	if end := strings.IndexAny(raw, " \t\"'<>`\\"); end >= 0 {
		raw = raw[:end]
	}
	return strings.TrimRight(raw, ":,.;)]"), from
}

// objectBefore is the file or command that a leaf is about: the last piece before it that is a
// path, else the last one between colons, as in "open /etc/x: no such file or directory".
func objectBefore(text string) string {
	text = strings.TrimRight(text, ": ")
	pieces := strings.Split(text, ": ")
	last := strings.Trim(pieces[len(pieces)-1], `"' `)
	words := strings.Fields(last)
	for i := len(words) - 1; i >= 0; i-- {
		if w := strings.Trim(words[i], `"'(),`); strings.HasPrefix(w, "/") {
			return w
		}
	}
	if len(words) > 0 {
		return strings.Trim(words[len(words)-1], `"'(),`)
	}
	return ""
}
