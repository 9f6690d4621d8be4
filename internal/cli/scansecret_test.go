package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestScanTable: a pasted table with a secret in a column, and error lines beside it: nothing of it is shown, by
// any door.
func TestScanTable(t *testing.T) {
	const secret = "aeGh4chohn7oosh"
	text := "NAME   PASSWORD\nm0     " + secret + "\nm0 kubelet[1]: E0204 08:00:01.000001 900 widget.go:10] \"Failed to turn\" err=\"the widget is stuck\"\n" +
		"| host | state | password |\n| --- | --- | --- |\n| m1 | error: it failed | " + secret + " |\n"
	for _, words := range [][]string{{"scan", "-"}, {"diagnose", "--from", "-"}} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), append([]string{"rollcall"}, words...), cmdutil.IO{Cache: shared, In: strings.NewReader(text), Out: &out,
			Err: &errs, Getenv: func(string) string { return "" }, Clock: time.Now})
		if all := out.String() + errs.String(); strings.Contains(all, secret) || strings.Contains(all, "defect") || !strings.Contains(all, "the widget is stuck") {
			t.Errorf("%v: %d\n%s", words, code, all)
		}
	}
}
