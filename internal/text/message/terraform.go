package message

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// terraform follows what Terraform reports through openshift-install, which logs each line of a
// report as an error: its warnings, too, and the place in the file. Up to 4.16, and longer where
// a platform is not yet installed by Cluster API (hashicorp/terraform
// internal/command/format/diagnostic.go).
type terraform struct {
	seen    bool // the text has a report
	warning bool // the lines are those of a warning
}

var terraformPlace = regexp.MustCompile(`^(?:on \S+(?: line \d+, in |$)|with [\w.\[\]]+,|\d+: )`)

// terraformWords are how Terraform explained at the end of each report that it undoes nothing, one line after the other.
var terraformWords = [][]byte{
	[]byte("Terraform does not automatically rollback in the face of errors"), []byte("Instead, your Terraform state file has been partially"),
	[]byte("any resources that successfully completed. Please address the"), []byte("above and apply again to incrementally change your"),
}

// passes reports whether a line is no error of its own: part of a warning, or the place of an error.
func (t *terraform) passes(l logline.Line) bool {
	if l.Level != logline.Error || l.Program != nil || l.Module != nil {
		t.warning = false
		return false
	}
	m := bytes.TrimSpace(l.Message)
	switch {
	case bytes.HasPrefix(m, []byte("Warning: ")):
		t.warning = true
	case bytes.HasPrefix(m, []byte("Error: ")):
		t.warning = false
	case slices.ContainsFunc(terraformWords, func(words []byte) bool { return bytes.HasPrefix(m, words) }):
		t.seen = true
		return true
	case terraformPlace.Match(m):
		t.seen = t.seen || bytes.Contains(m, []byte(".tf line "))
		return true
	}
	return t.warning
}
