package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScore(t *testing.T) {
	cases := `{"id":"a","confidence":"confirmed","acceptable":["config-drift"],"evidence":"content mismatch for file \"/etc/x\""}
{"id":"b","confidence":"confirmed","acceptable":["none"],"evidence":"content mismatch for file \"/etc/x\""}

{"id":"c","confidence":"likely","acceptable":["none"],"evidence":"all is well"}
{"id":"d","confidence":"likely","acceptable":["disk-full"],"evidence":"all is well"}
{"id":"e","confidence":"likely","acceptable":["disk-full"],"evidence":"kubelet has disk pressure"}
{"id":"f","confidence":"likely","acceptable":["disk-full"],"evidence":"out of scope","in_scope":false}
`
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(path, []byte(cases), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), &out, []string{path}, true); err != nil {
		t.Fatal(err)
	}
	want := `b confirmed wrong: config-drift, want one of none
d likely evasive: absent, want one of disk-full
confirmed    1 of   2 right (50 %), 1 wrong, 0 evasive
likely       2 of   3 right (66 %), 0 wrong, 1 evasive
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if err := run(t.Context(), &out, []string{"nothere"}, false); err == nil {
		t.Error("a file that is not there was scored")
	}
}
