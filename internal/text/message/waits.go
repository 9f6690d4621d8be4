package message

import (
	"bytes"
	"slices"
)

// lastingReasons are reasons of a wait that do not pass by themselves: a name server that fails, a name
// or a certificate that is wrong, a proxy that refuses (Go net.DNSError, crypto/x509, net/http).
var lastingReasons = [][]byte{
	[]byte("server misbehaving"), []byte("no such host"), []byte("x509: "), []byte("proxyconnect tcp"),
}

// lastingReason reports whether a line in lower case gives such a reason: its wait is then not normal.
func lastingReason(line []byte) bool {
	return slices.ContainsFunc(lastingReasons, func(r []byte) bool { return bytes.Contains(line, r) })
}
