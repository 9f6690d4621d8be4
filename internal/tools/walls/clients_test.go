package walls

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClients: no other room makes a connection or a client.
func TestClients(t *testing.T) {
	lines, err := clientsMade("../../..", "internal", "cmd", "providers")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		t.Error(line)
	}
	for file := range ownClients {
		raw, err := os.ReadFile(filepath.Join("../../..", file))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, raw, parser.SkipObjectResolution)
		if err != nil || len(clientsIn(parsed)) == 0 {
			t.Errorf("%s makes no client any more (%v): take it off the list", file, err)
		}
	}
}

// TestClientsIn: what makes a client is found however it is written, and what only names one is not.
func TestClientsIn(t *testing.T) {
	const head = "package p\nimport (\n\"net\"\n\"net/http\"\n\"crypto/tls\"\nh \"net/http\"\n\"cloud.google.com/go/auth/httptransport\"\n)\n"
	for text, want := range map[string]string{
		"var c = http.Client{}":                         "net/http.Client",
		"var c = &http.Client{}":                        "net/http.Client",
		"var c = &h.Client{}":                           "net/http.Client",
		"var c = new(http.Client)":                      "net/http.Client",
		"var c http.Client":                             "net/http.Client",
		"type T struct{ c http.Client }":                "net/http.Client",
		"var t = &http.Transport{}":                     "net/http.Transport",
		"func f() { http.Get(\"x\") }":                  "net/http.Get",
		"func f() { g := http.Post; g() }":              "net/http.Post",
		"func f() { http.DefaultClient.Do(nil) }":       "net/http.DefaultClient",
		"func f() { net.Dial(\"tcp\", \"x\") }":         "net.Dial",
		"func f() { net.DialTimeout(\"tcp\", x, 1) }":   "net.DialTimeout",
		"var d net.Dialer":                              "net.Dialer",
		"func f() { (&net.Dialer{}).Dial(\"\", \"\") }": "net.Dialer",
		"func f() { net.LookupHost(\"x\") }":            "net.LookupHost",
		"func f() { tls.Dial(\"tcp\", \"x\", nil) }":    "crypto/tls.Dial",
		"var d = tls.Dialer{}":                          "crypto/tls.Dialer",
		"func f() { tls.Client(nil, nil) }":             "crypto/tls.Client",
		"func f() { httptransport.NewClient(nil) }":     "cloud.google.com/go/auth/httptransport.NewClient",

		"type T struct{ c *http.Client }":                   "",
		"func f(c *http.Client) *net.Resolver { return x }": "",
		"var c = http.StatusOK":                             "",
		"var c = x.Client{}":                                "",
		"var l net.Listener":                                "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", head+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(text, err)
		}
		got := clientsIn(file)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %s, want %q", text, strings.Join(got, ", "), want)
		}
	}
}
