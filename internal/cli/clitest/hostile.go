// Package clitest has what tests of commands share: an API server in memory, a kubeconfig that
// leads to it, and text that a hostile source would send.
package clitest

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Object is an object of the API as JSON has it.
type Object = map[string]any

// Hostile is text that moves the cursor, sets the window's title, begins a line of
// its own and turns the reading direction.
const Hostile = "control0\n\x1b[2K\x1b[1Acsr-real\t1m\tclient\tcontrol0\tpending\tyes\tok\u202e\x1b]0;pwn\x07\u009b31m"

// Harmless fails where output could do more than be read, or holds a forged line.
func Harmless(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == '\u202e' {
			t.Errorf("%s prints %U: %q", what, r, text)
			return
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "csr-real") || strings.HasPrefix(line, "fake") {
			t.Errorf("%s prints a line of the stranger: %q", what, text)
		}
	}
}

// WriteKubeconfig writes a kubeconfig that leads to a server, without a credential.
func WriteKubeconfig(path, url string) error { return writeKubeconfig(path, "server: '"+url+"'", "{}") }

// WritePluginKubeconfig writes one that leads to a server with TLS, whose credential comes from a plugin: a script of sh.
// client-go runs none without TLS.
func WritePluginKubeconfig(path string, server *httptest.Server, script string) error {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return writeKubeconfig(path, "server: '"+server.URL+"', certificate-authority-data: "+base64.StdEncoding.EncodeToString(ca),
		fmt.Sprintf("{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, %q], interactiveMode: IfAvailable}}", script))
}

func writeKubeconfig(path, cluster, user string) error {
	return os.WriteFile(path, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {"+cluster+"}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: "+user+"}]\ncurrent-context: x\n"), 0o600)
}
