package message

import (
	"strings"
	"testing"
)

// TestTelling: what says what is wrong survives that a line is shortened, wherever it is in the line.
func TestTelling(t *testing.T) {
	x := builtIn(t)
	noise := strings.Repeat(`"a field of no meaning":"kite and lark and gizmo",`, 8)
	for text, want := range map[string]string{
		`{"level":"error","ts":1749625201.5,"logger":"gizmo","msg":"it is not added",` + noise + `"stdout":"","stderr":"  Cannot use /dev/gz0: it is odd\n",` +
			noise + `"error":"exit status 5","stacktrace":"a.b\n\t/c.go:1"}`: "it is not added: Cannot use /dev/gz0: it is odd: exit status 5",
		`fatal: [m-1]: FAILED! => {` + noise + `"content": "{\"error\":{\"@Message.ExtendedInfo\":[{\"Message\":\"The method is not for this.\",\"MessageId\":\"GIZ.1\"}]}}",` +
			noise + `"date": "today"`: "The method is not for this.",
		`E0611 07:00:01.123456       1 x.go:12] template "msg"="it is not loaded" ` + strings.ReplaceAll(noise, ",", " ") + `"error"="the gizmo is green"` +
			strings.Repeat(` "more"="kites"`, 30): "it is not loaded: the gizmo is green",
		"Failed Units: 1\n  kite-pivot.service\n":         "banner shows: kite-pivot",
		"Failed Units: 2\n  kite.service\n  lark.mount\n": "banner shows: kite",
		"DNS server failed: 192.0.2.53:53 did it\n ---> System.Net.Sockets.SocketException (110): Connection timed out\n": "192.0.2.53",
	} {
		r := readText(t, x, text+"\n")
		says := ""
		for _, e := range r.Errors {
			says += e.Says + "\n" + e.Lines[0].Text + "\n"
		}
		for _, m := range r.Symptoms {
			says += m.Failure + "\n"
		}
		if !strings.Contains(says, want) {
			t.Errorf("%s: %q, want %q", text, says, want)
		}
	}
	const short = `{"level":"error","msg":"it is short","error":"so it stays"}`
	if got := telling(short); got != short {
		t.Errorf("a short line became %q", got)
	}
}
