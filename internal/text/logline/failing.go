package logline

import (
	"bytes"
	"slices"
)

// Leaf is what is behind the last colon of a chain of errors: what the operating system, TLS,
// DNS or a server answered.
type Leaf string

// The leaves. Each stands for every wording of it in Go, curl, Python and shells.
const (
	Refused       Leaf = "refused"       // nothing listens there
	Timeout       Leaf = "timeout"       // no answer came
	NoRoute       Leaf = "no-route"      // no route to host, network is unreachable
	Closed        Leaf = "closed"        // reset, EOF, broken pipe
	NameUnknown   Leaf = "name-unknown"  // DNS has no such name
	NameServer    Leaf = "name-server"   // the name server fails or does not answer
	Untrusted     Leaf = "untrusted"     // unknown CA
	Expired       Leaf = "expired"       // outside of its validity
	OtherName     Leaf = "other-name"    // the certificate has other names
	Handshake     Leaf = "handshake"     // TLS does not come about
	PlainHTTP     Leaf = "plain-http"    // HTTP where TLS is expected
	Unauthorized  Leaf = "unauthorized"  // HTTP 401
	Forbidden     Leaf = "forbidden"     // HTTP 403, RBAC
	NotFound      Leaf = "not-found"     // HTTP 404
	ServerError   Leaf = "server-error"  // HTTP 5xx
	TooMany       Leaf = "too-many"      // HTTP 429
	Deadline      Leaf = "deadline"      // a step was not done in its time
	NoSpace       Leaf = "no-space"      //
	ReadOnly      Leaf = "read-only"     //
	NoFile        Leaf = "no-file"       //
	NoCommand     Leaf = "no-command"    //
	NoPermission  Leaf = "no-permission" //
	ExecFormat    Leaf = "exec-format"   // a program for another processor
	NoMemory      Leaf = "no-memory"     //
	Busy          Leaf = "busy"          //
	AddressInUse  Leaf = "address-in-use"
	Quota         Leaf = "quota"
	InputOutput   Leaf = "input-output" // a disk
	TooManyFiles  Leaf = "too-many-files"
	NotRegistered Leaf = "no-kind" // the API does not know the kind

	Invalid       Leaf = "invalid"        // the API refuses the value of a field
	Missing       Leaf = "missing"        // the API does not have the object
	NotAllowed    Leaf = "not-allowed"    // RBAC does not allow it to the user
	CloudDenied   Leaf = "cloud-denied"   // the cloud does not allow it to the account
	CloudQuota    Leaf = "cloud-quota"    // a limit of the account is reached
	CloudCapacity Leaf = "cloud-capacity" // the cloud has no such machine left

	CloudCredential Leaf = "cloud-credential" // the cloud does not accept the credential
	CloudExists     Leaf = "cloud-exists"     // the cloud has a resource of that name already

	CloudInvalid     Leaf = "cloud-invalid"     // the cloud does not accept a value, or does not have what it names
	CloudFailed      Leaf = "cloud-failed"      // the cloud failed by itself
	CloudUnsupported Leaf = "cloud-unsupported" // the cloud cannot do that with the object
	NoUnit           Leaf = "no-unit"           // systemd does not have the unit

	Cut Leaf = "cut" // the line ends behind the URL: what came of the request was cut off
)

// Leaves are all leaves that a message can have, by name: the catalog is checked against them.
func Leaves() []string {
	var list []string
	for _, x := range leaves {
		list = append(list, string(x.leaf))
	}
	for _, leaf := range statuses {
		list = append(list, string(leaf))
	}
	for _, r := range refusals {
		list = append(list, string(r.leaf))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// leaves are the wordings, in lower case, of which the last one in a message counts.
var leaves = []struct {
	words []byte
	leaf  Leaf
}{
	{[]byte("connection refused"), Refused}, {[]byte(" was refused - did you specify"), Refused},
	{[]byte("i/o timeout"), Timeout}, {[]byte("connection timed out"), Timeout},
	{[]byte("operation timed out"), Timeout}, {[]byte("timed out waiting"), Deadline}, {[]byte("client.timeout exceeded"), Timeout},
	{[]byte("tls handshake timeout"), Handshake}, {[]byte("no route to host"), NoRoute}, {[]byte("network is unreachable"), NoRoute},
	{[]byte("host is unreachable"), NoRoute}, {[]byte("connection reset by peer"), Closed}, {[]byte("broken pipe"), Closed},
	{[]byte("server sent goaway"), Closed}, {[]byte("unexpected eof"), Closed}, {[]byte(": eof"), Closed}, {[]byte("empty reply from server"), Closed},
	{[]byte("no such host"), NameUnknown}, {[]byte("could not resolve host"), NameUnknown}, {[]byte("name or service not known"), NameUnknown},
	{[]byte("nxdomain"), NameUnknown}, {[]byte("server misbehaving"), NameServer}, {[]byte("temporary failure in name resolution"), NameServer},
	{[]byte("servfail"), NameServer}, {[]byte("signed by unknown"), Untrusted}, {[]byte("self-signed certificate"), Untrusted},
	{[]byte("self signed certificate"), Untrusted}, {[]byte("unable to get local issuer certificate"), Untrusted},
	{[]byte("certificate has expired"), Expired}, {[]byte("certificate is not yet valid"), Expired}, {[]byte("certificate is valid for "), OtherName},
	{[]byte("doesn't contain any ip sans"), OtherName}, {[]byte("no alternative certificate subject name matches"), OtherName},
	{[]byte("remote error: tls"), Handshake}, {[]byte("handshake failure"), Handshake}, {[]byte("gave http response to https client"), PlainHTTP},
	{[]byte("first record does not look like a tls handshake"), PlainHTTP}, {[]byte("wrong version number"), PlainHTTP},
	{[]byte("exceeded quota"), Quota}, {[]byte("is forbidden: user"), Forbidden}, {[]byte("context deadline exceeded"), Deadline},
	{[]byte("no space left on device"), NoSpace}, {[]byte("read-only file system"), ReadOnly}, {[]byte("no such file or directory"), NoFile},
	{[]byte("command not found"), NoCommand}, {[]byte("executable file not found"), NoCommand}, {[]byte("permission denied"), NoPermission},
	{[]byte("operation not permitted"), NoPermission}, {[]byte("exec format error"), ExecFormat}, {[]byte("cannot allocate memory"), NoMemory},
	{[]byte("device or resource busy"), Busy}, {[]byte("text file busy"), Busy}, {[]byte("address already in use"), AddressInUse},
	{[]byte("input/output error"), InputOutput}, {[]byte("too many open files"), TooManyFiles},
	{[]byte("the server could not find the requested resource"), NotRegistered}, {[]byte("no matches for kind"), NotRegistered},
}

// statuses are the answers of an HTTP server, by their number.
var statuses = map[string]Leaf{
	"401": Unauthorized, "403": Forbidden, "404": NotFound, "429": TooMany, "500": ServerError, "502": ServerError, "503": ServerError, "504": ServerError,
}

// statusWords are what is before or behind the number of a status, in lower case.
var statusWords = [][]byte{[]byte("status code: "), []byte("status code "), []byte("statuscode: "), []byte("http status: "), []byte("status: "),
	[]byte("returned error: "), []byte("returned code "), []byte("(status "), []byte("http error "), []byte("http "), []byte("http/1.1 "), []byte("http/2 ")}

// statusTexts are the texts of a status, which Go's servers and clients print alone.
var statusTexts = []struct {
	words []byte
	leaf  Leaf
}{
	{[]byte("internal server error"), ServerError}, {[]byte("bad gateway"), ServerError}, {[]byte("service unavailable"), ServerError},
	{[]byte("gateway timeout"), ServerError}, {[]byte("gateway time-out"), ServerError}, {[]byte("401 unauthorized"), Unauthorized},
	{[]byte("403 forbidden"), Forbidden}, {[]byte("404 not found"), NotFound}, {[]byte("too many requests"), TooMany},
}

// Failure is the grammar of an error: what was done with which object, and what came of it.
type Failure struct {
	Leaf   Leaf
	Host   string // name or address of the endpoint, "" without one
	Port   string
	Path   string // of a URL
	Scheme string
	Client string // address of the client that a server lost; Host and Port are then the server's own
	Object string // a file, a command, or an object of an API with its kind or user; "" without one
	Field  string // of Invalid: the field; of NotAllowed: the verb and the resource

	NoNetwork bool // of NoRoute: the host that asks has no way there at all (ENETUNREACH)

	Resolver string    // the name server that was asked for Host, "" where the line names none
	Proxy    ProxyPart // what a proxy has to do with it
	To       string    // of ProxyFailed: the server behind the proxy, with its port; "" where the line has none
	Says     string    // of ProxyAnswered: the words of the proxy
}

// maxFailing bounds how much of a message the grammar reads: the end, where its leaf is.
const maxFailing = 4 << 10

// Failing reads the grammar of an error out of a message: the last leaf in it and the
// endpoint that goes with it. False where it has no leaf that is known.
func Failing(message []byte) (Failure, bool) {
	m := message[max(0, len(message)-maxFailing):]
	lower := lowered(make([]byte, 0, len(m)), m)
	f, at := Failure{}, -1
	for _, x := range leaves {
		if i := bytes.LastIndex(lower, x.words); i > at {
			f.Leaf, at = x.leaf, i
		}
	}
	if leaf, i := status(lower); i > at {
		f.Leaf, at = leaf, i
	}
	if refused, i := refusal(m, lower); i > at || i >= 0 && refused.Leaf == CloudInvalid || i >= 0 && overrules[f.Leaf] ||
		i >= 0 && (refused.Leaf == CloudDenied && f.Leaf == NoPermission || refused.Leaf == CloudFailed && f.Leaf == ServerError) {
		return refused, true
	}
	if answered, ok := answeredByProxy(m); ok {
		return answered, true
	}
	if at < 0 {
		if leaf, i := cutLeaf(lower); i >= 0 {
			f.Leaf, at = leaf, i
		} else {
			return cutRequest(m)
		}
	}
	if end := lookUp(lower[:at]); end > 0 && ofResolver[f.Leaf] {
		f.Leaf, at = NameServer, end
	}
	f.endpoint(string(m), at)
	f.throughProxy(string(m), at)
	f.NoNetwork = f.Leaf == NoRoute && bytes.HasPrefix(lower[at:], []byte("network is unreachable"))
	if f.Leaf == NameUnknown || f.Leaf == NameServer {
		f.Resolver = resolver(string(m))
	}
	switch f.Leaf {
	case NoFile, NoCommand, NoPermission, ExecFormat, NoSpace, ReadOnly, Busy:
		if f.Object = objectBefore(string(m[:at])); f.Scheme == "unix" {
			f.Object = f.Path
		}
	}
	return f, true
}

// shortestCut is how much of the words of a leaf is there at least, where a line was cut within them.
const shortestCut = 10

// cutLeaf finds the words of a leaf that a line ends within, because it was cut at the right edge: they are behind a
// colon, and only one leaf begins so.
func cutLeaf(lower []byte) (leaf Leaf, at int) {
	i := bytes.LastIndex(lower, []byte(": ")) + 2
	if i < 2 {
		return "", -1
	}
	end := bytes.TrimRight(lower[i:], " \"\r\n")
	if len(end) < shortestCut {
		return "", -1
	}
	at = -1
	for _, x := range leaves {
		switch {
		case !bytes.HasPrefix(x.words, end):
		case at >= 0 && x.leaf != leaf:
			return "", -1
		default:
			leaf, at = x.leaf, i
		}
	}
	return leaf, at
}

// ofResolver are the leaves that are about the name server where a name was looked up.
var ofResolver = map[Leaf]bool{Refused: true, Timeout: true, NoRoute: true, Closed: true, Deadline: true}

// lookUp returns where the name ends that Go looked up at a name server, if nothing else was done behind
// it: what follows came of the name server and not of the name
// (golang/go:src/net/net.go DNSError.Error: "lookup NAME on SERVER: ERROR"). 0 otherwise.
func lookUp(before []byte) int {
	words := []byte("lookup ")
	i := bytes.LastIndex(before, words)
	if i < 0 {
		return 0
	}
	i += len(words)
	name, rest, _ := bytes.Cut(before[i:], []byte(" on "))
	_, _, colon := bytes.Cut(rest, []byte(": "))
	if !colon || len(name) == 0 || bytes.ContainsAny(name, " :") || bytes.Contains(rest, []byte("dial tcp ")) {
		return 0
	}
	return i + len(name)
}

// overrules are leaves that only repeat what the refusal of an API says in the same message.
var overrules = map[Leaf]bool{Forbidden: true, NotFound: true, Quota: true}

// status finds the last status of an HTTP server in a message.
func status(lower []byte) (leaf Leaf, at int) {
	at = -1
	for _, words := range statusWords {
		for i := 0; ; {
			j := bytes.Index(lower[i:], words)
			if j < 0 {
				break
			}
			i += j + len(words)
			if i+3 > len(lower) || i+3 < len(lower) && digit(lower[i+3]) {
				continue
			}
			if known := statuses[string(lower[i:i+3])]; known != "" && i > at {
				leaf, at = known, i
			}
		}
	}
	for _, x := range statusTexts {
		if i := bytes.LastIndex(lower, x.words); i > at {
			leaf, at = x.leaf, i
		}
	}
	return leaf, at
}

// longestEnd is how much of the end of a message is looked at for how it ends.
const longestEnd = 48

// ends are the leaves with which a line that has no level ends, where it reports a failure.
var ends = [][]byte{
	[]byte("connection refused"), []byte("i/o timeout"), []byte("no route to host"), []byte("no such host"), []byte("network is unreachable"),
	[]byte("unknown authority"), []byte("command not found"), []byte("no such file or directory"), []byte("no space left on device"),
	[]byte("connection timed out"), []byte("exec format error"), []byte("permission denied"), []byte("context deadline exceeded"),
	[]byte("name or service not known"), []byte("connection reset by peer"), []byte("tls handshake timeout"), []byte("read-only file system"),
}

// EndsInFailure reports whether a message without a level ends as a chain of errors does.
func EndsInFailure(message []byte) bool {
	if bytes.Contains(message, []byte("x509: certificate ")) {
		return true
	}
	m := bytes.TrimRight(message, " .\"')]}")
	if len(m) < longestEnd/4 {
		return false
	}
	var buffer [longestEnd]byte
	lower := lowered(buffer[:0], m[max(0, len(m)-longestEnd):])
	switch lower[len(lower)-1] {
	case 'd', 't', 'y', 'e', 'r', 'm', 'n': // the last letters of ends
		for _, words := range ends {
			if bytes.HasSuffix(lower, words) {
				return true
			}
		}
	}
	return false
}

// Refusal reports whether a line is the status of an HTTP server that refuses, as curl -I
// and curl -v print it. That a registry asks for a credential is no refusal.
func Refusal(message, command []byte) bool {
	m := bytes.TrimPrefix(message, []byte("< "))
	if !bytes.HasPrefix(m, []byte("HTTP/")) {
		return false
	}
	_, code, _ := bytes.Cut(m, []byte(" "))
	if len(code) < 3 || code[0] != '4' && code[0] != '5' {
		return false
	}
	return string(code[:3]) != "401" || !bytes.Contains(command, []byte("/v2"))
}
