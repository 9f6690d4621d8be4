package logline

import (
	"bytes"
	"net"
	"regexp"
	"strings"
)

// ProxyPart is what a proxy has to do with a failure.
type ProxyPart string

// The parts of a proxy.
const (
	NoProxy       ProxyPart = ""
	ProxyFailed   ProxyPart = "failed"   // the way to the proxy failed: Host and Port are the proxy's own
	ProxyAnswered ProxyPart = "answered" // the proxy answered instead of Host
)

// connecting is what Go puts before an error of the way to a proxy
// (golang/go:src/net/http/transport.go wrapErr).
const connecting = "proxyconnect tcp: "

// throughProxy takes the address of a proxy that was not reached, and keeps that of the server behind it.
func (f *Failure) throughProxy(m string, at int) {
	i := strings.LastIndex(m[:at], connecting)
	if i < 0 {
		return
	}
	i += len(connecting)
	behind := Failure{Leaf: f.Leaf}
	behind.endpoint(m[i:], at-i)
	f.Proxy, f.To = ProxyFailed, f.Host
	if f.To != "" && f.Port != "" {
		f.To = net.JoinHostPort(f.Host, f.Port)
	}
	f.Scheme, f.Host, f.Port, f.Path = "", behind.Host, behind.Port, ""
}

// ofConnect is how Go prints that a proxy refused the CONNECT of a request: the bare text of its
// status right behind the URL. The answer of a server has its number there, or the words of a client
// (golang/go:src/net/http/transport.go dialConn).
var ofConnect = regexp.MustCompile(`(?i)\b(?:get|post|put|patch|delete|head) "?(https://[^"\s]+?)"?: ` +
	`(service unavailable|bad gateway|gateway time-?out|forbidden|proxy authentication required|internal server error|not found|method not allowed)"?[\s.]*$`)

// connectStatus are the leaves of what a proxy answers.
var connectStatus = map[string]Leaf{
	"forbidden": Forbidden, "method not allowed": Forbidden, "proxy authentication required": Unauthorized, "not found": NotFound,
}

// answeredByProxy reads an error in which a proxy answered a CONNECT.
func answeredByProxy(m []byte) (Failure, bool) {
	if !bytes.Contains(m, []byte(`https://`)) {
		return Failure{}, false
	}
	at := ofConnect.FindSubmatchIndex(m)
	if at == nil {
		return Failure{}, false
	}
	says := string(m[at[4]:at[5]])
	f := Failure{Leaf: connectStatus[strings.ToLower(says)], Proxy: ProxyAnswered, Says: says}
	if f.Leaf == "" {
		f.Leaf = ServerError
	}
	f.endpoint(string(m), at[4])
	return f, true
}

// cutBehind is a request whose error ends with its URL: what came of it was cut off.
var cutBehind = regexp.MustCompile(`\b(?:Get|Post|Put|Patch|Delete|Head) (?:"https?://[^"\s]+":|https?://[^"\s]+:)\s*$`)

// cutRequest reads an error that was cut behind its URL.
func cutRequest(m []byte) (Failure, bool) {
	if !bytes.Contains(m, []byte("://")) || !cutBehind.Match(m) {
		return Failure{}, false
	}
	f := Failure{Leaf: Cut}
	f.endpoint(string(m), len(m))
	return f, f.Host != ""
}

// asked is the name server that Go asked for a name (golang/go:src/net/net.go DNSError.Error).
var asked = regexp.MustCompile(`\blookup \S+ on (\S+):53: `)

// resolver is the name server that was asked last before a leaf, "" where the text names none.
func resolver(before string) string {
	all := asked.FindAllStringSubmatch(before, -1)
	if len(all) == 0 {
		return ""
	}
	return strings.Trim(all[len(all)-1][1], "[]")
}
