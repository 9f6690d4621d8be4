package session

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

const SubjectForms = "node/NAME, host/NAME, bmh/NAME, machine/NAME, csr/NAME, mcp/NAME, nodepool/NAME, co/NAME"

// ParseSubject reads "node/control0", also "machine.machine.openshift.io/x". A name alone is the
// name of a host.
func ParseSubject(arg string) (fault.Subject, error) {
	kind, name, ok := strings.Cut(arg, "/")
	k, known := fault.KindOf(kind)
	switch {
	case ok && known && name != "":
		return fault.Subject{Kind: k, Name: name}, nil
	case NamedAsArchive(arg) || OnDisk(arg):
		return fault.Subject{}, Usagef("%q is not a subject; did you mean `--from %s`?", arg, shellcommand.Quote(arg))
	case !ok && known:
		return fault.Subject{}, Usagef("%q is a kind and no name: write %s/NAME", arg, arg)
	case !ok && hostName.MatchString(arg):
		return fault.Subject{Kind: fault.Host, Name: arg}, nil
	case !ok:
		return fault.Subject{}, Usagef("%q is not a subject: write it as oc does, one of %s", arg, SubjectForms)
	case name == "":
		return fault.Subject{}, Usagef("%q names no object: write it as oc does, one of %s", arg, SubjectForms)
	}
	return fault.Subject{}, Usagef("%q: this kind is not supported; use one of %s", arg, SubjectForms)
}

// hostName is a name as a Node may have it: a DNS subdomain (kubernetes/apimachinery
// pkg/util/validation IsDNS1123Subdomain).
var hostName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// archiveEndings are how names of archives end.
var archiveEndings = []string{".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".zip", ".gz", ".xz", ".zst"}

// NamedAsArchive reports whether a path ends as the name of an archive does.
func NamedAsArchive(path string) bool {
	return slices.ContainsFunc(archiveEndings, func(e string) bool { return strings.HasSuffix(path, e) })
}

// OnDisk reports whether there is a file or a directory at a path.
func OnDisk(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
