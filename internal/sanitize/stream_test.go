package sanitize

import (
	"fmt"
	"strings"
	"testing"
)

// hiddenStreams hold secrets over lines that come one by one.
var hiddenStreams = []struct{ name, text, secret string }{
	{"Secret", "kind: Secret\nmetadata:\n  name: bmc\ndata:\n  user: cm9vdA==\n  word: Y2Fsdmlu\ntype: Opaque", "Y2Fsdmlu"},
	{"Secret, data first", "apiVersion: v1\ndata:\n  word: Y2Fsdmlu0wMDAw==\nkind: Secret", "Y2Fsdmlu"},
	{"Secret, stringData", "kind: Secret\nstringData:\n  word: calvin", "calvin"},
	{"Secret, block", "kind: Secret\nstringData:\n  word: |\n    calvin\n    more calvin", "calvin"},
	{"Secret, JSON over lines", "{\n    \"kind\": \"Secret\",\n    \"data\": {\n        \"word\": \"Y2Fsdmlu\"\n    }\n}", "Y2Fsdmlu"},
	{"Secret, JSON, data first", "{\n  \"apiVersion\": \"v1\",\n  \"data\": {\n    \"word\": \"Y2Fsdmlu0wMDAw==\"\n  },\n  \"kind\": \"Secret\"\n}", "Y2Fsdmlu"},
	{"Secret in a log", "2026-11-20T12:00:00Z stdout F kind: Secret\n2026-11-20T12:00:00Z stdout F data:\n2026-11-20T12:00:00Z stdout F   word: Y2Fsdmlu", "Y2Fsdmlu"},
	{"Secret in a list", "items:\n- apiVersion: v1\n  kind: Secret\n  data:\n    word: Y2Fsdmlu\n", "Y2Fsdmlu"},
	{"Secret in the journal", "Nov 20 12:00:00 control1 bootkube.sh[12]: kind: Secret\nNov 20 12:00:00 control1 bootkube.sh[12]: data:\nNov 20 12:00:00 control1 bootkube.sh[12]:   word: Y2Fsdmlu", "Y2Fsdmlu"},
	{"block scalar", "password: >-\n  calvin\nend: x", "calvin"},
	{"block scalar of the journal", "Nov 20 12:00:00 control1 x[12]: password: |\nNov 20 12:00:00 control1 x[12]:   calvin", "calvin"},
	{"value on the next line of klog", "I1120 12:00:00.123456       1 sync.go:99] adminPassword:\nI1120 12:00:00.123456       1 sync.go:99]   calvin1", "calvin1"},
	{"key with prefixes", "Nov 20 12:00:00 control1 x[12]: -----BEGIN RSA PRIVATE KEY-----\nNov 20 12:00:00 control1 x[12]: MIIEcalvin\nNov 20 12:00:00 control1 x[12]: -----END RSA PRIVATE KEY-----", "calvin"},
	{"key with klog", "I1120 12:00:00.123456       1 sync.go:99] -----BEGIN EC PRIVATE KEY-----\nI1120 12:00:00.123456       1 sync.go:99] MIIEcalvin\n-----END EC PRIVATE KEY-----", "calvin"},
	{"token over lines", "token is\n" + jwtOverLines, "Y2Fsdmlu"},
	{"token over lines of a log", "Nov 20 12:00:00 a b[1]: " + strings.ReplaceAll(jwtOverLines, "\n", "\nNov 20 12:00:00 a b[1]: "), "Y2Fsdmlu"},
	{"client secret", "clientSecret:\n  calvin1x", "calvin1x"},
	{"API key", "api_key: |\n  calvin-calvin-calvin-1", "calvin"},
}

var jwtOverLines = wrap("eyJhbGciOiJSUzI1NiIsImtpZCI6Ing"+strings.Repeat("5", 60)+".eyJpc3MiOiJrdWJlcm5ldGVzIn0."+strings.Repeat("c2lnbmF0dXJl", 9)+"Y2Fsdmlu", "\n")

// keptStreams are lines that stay as they are.
var keptStreams = []string{
	"kind: ConfigMap\ndata:\n  mode: some words\n  level: debug\n  cert: |\n    " + strings.ReplaceAll(strings.TrimSpace(testCert), "\n", "\n    "),
	"apiVersion: v1\ndata:\n  mode: enabled\n  url: https://api.example.com:6443\nkind: ConfigMap\nmetadata:\n  name: x",
	"kind: Secret\nmetadata:\n  name: bmc\nI1120 12:00:00.123456       1 sync.go:99] nothing to do\ndata: none",
	"involvedObject:\n  kind: Secret\n  name: bmc\nmessage: not found",
	"the data:\nI1120 12:00:00.123456       1 sync.go:99] nothing to do",
	"-----BEGIN CERTIFICATE REQUEST-----\nMIIBszCCAVmgAwIBAgIUplanted\n-----END CERTIFICATE REQUEST-----\nnext",
	"tokens:\n  count: 5", "token:\n  expirationSeconds: 3600", "secret:\n  secretName: foo",
}

// TestStreams holds what a stream hides, that the second time changes nothing, and that
// Spans lets through what Line must see.
func TestStreams(t *testing.T) {
	run := func(salt, text string) string {
		s := sanitizer(t, salt).Lines()
		var out []string
		for line := range strings.SplitSeq(text, "\n") {
			spans := s.Spans([]byte(line))
			before, table := *s, fmt.Sprint(*s.table)
			clean := s.Line(line)
			if !spans && (fmt.Sprint(*s.table) != table || before.block != s.block || before.inside != s.inside || before.manifest != s.manifest) {
				t.Errorf("Spans(%q) is false, and Line changes what comes next", line)
			}
			out = append(out, clean)
		}
		return strings.Join(out, "\n")
	}
	for _, tt := range hiddenStreams {
		once := run("a", tt.text)
		if strings.Contains(once, tt.secret) || !strings.Contains(once, redactedPrefix) {
			t.Errorf("%s: %q became %q", tt.name, tt.text, once)
		}
		if twice := run("b", once); twice != once {
			t.Errorf("%s: the second time %q becomes %q", tt.name, once, twice)
		}
		whole := sanitizer(t, "a").Text(tt.text)
		if strings.Contains(whole, tt.secret) {
			t.Errorf("%s, in one text: %q became %q", tt.name, tt.text, whole)
		}
	}
	for _, text := range keptStreams {
		if got := run("a", text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
