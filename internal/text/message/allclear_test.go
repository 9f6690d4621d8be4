package message

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/text/logline"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// printed are the forms in which programs of OpenShift print an error. %s is the error.
var printed = map[string]string{
	"klog E":              "E0611 07:00:01.123456       1 login.go:187] Error doing it: %s",
	"klog F":              "F0611 07:00:01.123456       1 start.go:31] %s",
	"klog, structured":    `E0611 07:00:01.123456       1 reflector.go:205] "Failed to watch" err="%s" reflector="a/b.go:160" type="*v1.Thing"`,
	"klog in a container": "2026-06-11T07:00:01.123456789Z stderr F E0611 07:00:01.123456       1 controller.go:12] it is not done: %s",
	"klog in a journal":   "Jun 11 07:00:01 m-1 kubenswrapper[2190]: E0611 07:00:01.123456    2190 some_file.go:12] \"Doing it\" err=\"%s\"",
	"logrus":              `time="2026-06-11T07:00:01Z" level=error msg="did not do it: %s" unit=a`,
	"logrus of installer": `level=error msg="%s"`,
	"zap":                 `{"level":"error","ts":"2026-06-11T07:00:01.000Z","logger":"setup","msg":"problem","error":"%s"}`,
	"controller-runtime":  `2026-06-11T07:00:01Z	ERROR	Reconciler error	{"controller": "thing", "error": "%s"}`,
	"zap in a container":  `2026-06-11T07:00:01.123456789Z stderr F {"level":"error","ts":1749625201.5,"msg":"Reconciler error","error":"%s"}`,
	"oslo":                "2026-06-11 07:00:01.123 1 ERROR ironic.conductor.utils [req-1 - - - - -] It failed: %s",
	"capnslog":            "2026-06-11 07:00:01.123456 E | op-cluster: it is not done: %s",
	"journal":             "Jun 11 07:00:01 m-1 bootkube.sh[912]: error: %s",
	"oc":                  "error: %s",
	"oc in capitals":      "Error: %s",
	"installer":           "ERROR %s",
	"installer, fatal":    "FATAL failed to do it: %s",
	"a client of the API": "Unable to connect to the server: %s",
	"a chain alone":       "error: a: b: %s",
	"podman":              "Error: initializing source docker://a.example/b/c:1: %s",
	"fatal":               "fatal: %s",
	"a failure in words":  "Failed to do it: %s",
	"kernel":              "[   12.345678] a-program[312]: error: %s",
}

// about are what an error says before its leaf of which server or object it is about. %s is the leaf.
var about = map[string]string{
	"nothing":         "%s",
	"a request":       `Get "https://idp.example.net/.well-known/openid-configuration": %s`,
	"a port":          `Get "https://ldap.example.net:636/x": %s`,
	"TLS":             `Post "https://hook.ns.svc:9443/validate?timeout=10s": tls: failed to verify certificate: %s`,
	"an address":      "dial tcp 192.0.2.4:8443: %s",
	"a registry":      `pinging container registry mirror.example.net:5000: Get "https://mirror.example.net:5000/v2/": %s`,
	"a proxy":         `Get "https://quay.io/v2/": proxyconnect tcp: %s`,
	"LDAP":            `LDAP Result Code 200 "Network Error": %s`,
	"the API":         `Get "https://api-int.lark.example.net:6443/api/v1/nodes": %s`,
	"the MCS":         `Get "https://api-int.lark.example.net:22623/config/master": %s`,
	"the service":     `Get "https://172.30.0.1:443/api?timeout=32s": %s`,
	"a webhook":       `Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: Post "https://h.n.svc:443/m?timeout=10s": %s`,
	"a file":          "open /etc/kubernetes/thing.yaml: %s",
	"a name":          "lookup thing.example.net on 192.0.2.53:53: %s",
	"a unix socket":   "dial unix /run/thing/thing.sock: connect: %s",
	"a metadata host": `Get "http://169.254.169.254/latest/meta-data": %s`,
}

// endings are one wording of each leaf at least.
var endings = []string{
	"x509: certificate signed by unknown authority", "self-signed certificate in certificate chain", "unable to get local issuer certificate",
	"connection refused", "i/o timeout", "no route to host", "network is unreachable", "connection reset by peer", "EOF", "unexpected EOF",
	"no such host", "server misbehaving", "x509: certificate has expired or is not yet valid: current time 2026-06-11T07:00:00Z is after 2026-06-10T07:00:00Z",
	"x509: certificate is valid for a.example.net, not b.example.net", "x509: cannot validate certificate for 192.0.2.4 because it doesn't contain any IP SANs",
	"remote error: tls: handshake failure", "TLS handshake timeout", "http: server gave HTTP response to HTTPS client", "401 Unauthorized",
	"unexpected status code 403", "404 Not Found", "503 Service Unavailable", "429 Too Many Requests", "context deadline exceeded", "timed out waiting for the condition",
	"no space left on device", "read-only file system", "no such file or directory", "command not found", "permission denied", "exec format error",
	"cannot allocate memory", "device or resource busy", "address already in use", "exceeded quota: q", "input/output error", "too many open files",
	"the server could not find the requested resource", `Thing "a" is invalid: spec.b: Invalid value: "c"`, `things "a" not found`,
	`things "a" is forbidden: User "b" cannot get resource "things" in API group "" in the namespace "n"`, "AccessDenied: no", "QuotaExceeded: no",
	"InsufficientInstanceCapacity: no", "InvalidClientTokenId: no", "ResourceAlreadyExists: no", "InvalidParameterValue: no", "INTERNAL_ERROR: no",
	"The operation is not supported on the object", "Unit thing.service not found.", "something that no list has",
}

// TestErrorsAreNoAllClear: whatever an error ends with, whatever it is about and however its program prints it, the answer
// is never that the text has no sign of trouble: alone, and again and again over minutes.
func TestErrorsAreNoAllClear(t *testing.T) {
	x := builtIn(t)
	leaves := map[logline.Leaf]bool{}
	for _, end := range endings {
		f, _ := logline.Failing([]byte("a: " + end))
		leaves[f.Leaf] = true
	}
	for _, name := range logline.Leaves() {
		if !leaves[logline.Leaf(name)] {
			t.Errorf("no ending of the table has the leaf %s", name)
		}
	}
	for form, print := range printed {
		for of, what := range about {
			for _, end := range endings {
				if !sample.Has(16, form, of, end) {
					continue
				}
				line := strings.Replace(print, "%s", quotedAs(print, strings.Replace(what, "%s", end, 1)), 1) + "\n"
				if r := readText(t, x, line); r.Result == Absent {
					t.Errorf("%s, about %s: no known sign of trouble in %s", form, of, line)
				}
			}
		}
	}
}

// quotedAs is an error as it stands within the quotes of a structured line.
func quotedAs(print, text string) string {
	if strings.Contains(print, `"%s"`) {
		return strings.ReplaceAll(text, `"`, `\"`)
	}
	return text
}

// TestRepeatedErrorsAreNoAllClear: an error that is printed each minute stays one, with other lines between.
func TestRepeatedErrorsAreNoAllClear(t *testing.T) {
	x := builtIn(t)
	for _, end := range []string{"x509: certificate signed by unknown authority", "connection refused", "something that no list has"} {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "E0611 07:%02d:01.123456       1 login.go:187] Error doing it: %s\n", i, end)
			fmt.Fprintf(&b, "I0611 07:%02d:02.123456       1 wrap.go:42] GET /healthz: (1.2ms) 200\n", i)
		}
		if r := readText(t, x, b.String()); r.Result == Absent {
			t.Errorf("%s: no known sign of trouble", end)
		}
	}
}

// TestConditionsOfMessages: a line that only a message with conditions knows is shown where the text does not meet
// them, in a text that is read whole and in one that is read in parts.
func TestConditionsOfMessages(t *testing.T) {
	x := small(t)
	const line = "level=error msg=\"only beside another\"\n"
	padding := strings.Repeat("level=info msg=\"a line that says nothing\"\n", maxPaste/40)
	for name, c := range map[string]struct {
		text  string
		known bool
	}{
		"alone":                      {line, false},
		"with what it needs":         {line + "the other literal\n", true},
		"in parts, alone":            {padding + line, false},
		"in parts, with its literal": {"the other literal\n" + padding + line, true},
	} {
		r := readText(t, x, c.text)
		unknown := slices.ContainsFunc(r.Errors, func(e UnknownError) bool { return strings.Contains(e.Says, "only beside") })
		if r.Result == Absent || unknown == c.known {
			t.Errorf("%s: %s, %d unknown lines %+v", name, r.Result, r.ErrorLines, r.Errors)
		}
	}
}
