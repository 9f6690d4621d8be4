package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// element returns a name as one element of a path. Names come from an API server
// or an archive: what cannot be an element, or would be too long for a file
// system, gets a digest instead.
func element(name string) string {
	const longest = 200 // file systems take 255 bytes; a suffix follows
	if name == "" || name[0] == '.' || len(name) > longest || strings.ContainsAny(name, "/\\") ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		sum := sha256.Sum256([]byte(name))
		return "name-" + hex.EncodeToString(sum[:8])
	}
	return name
}

func group(r evidence.Resource) string {
	if r.Group == "" {
		return "core"
	}
	return element(r.Group)
}

// cluster is the directory of what was read in another cluster than the one that was
// looked at.
func cluster(name string) string {
	if name == "" {
		return ""
	}
	return element(name)
}

// objectFile is where a must-gather keeps an object.
func objectFile(r evidence.Resource, namespace, name string) string {
	file, top := element(name)+".yaml", cluster(r.Cluster)
	switch {
	case namespace == "":
		return path.Join(top, "cluster-scoped-resources", group(r), element(r.Name), file)
	case r.In("") == evidence.Pods:
		return path.Join(top, "namespaces", element(namespace), "pods", element(name), file)
	}
	return path.Join(top, "namespaces", element(namespace), group(r), element(r.Name), file)
}

var logName = regexp.MustCompile(`^(?:current|previous)(?:\.insecure)?\.log$`)

// textFile is where a must-gather keeps a text.
func textFile(t evidence.Text) string {
	switch {
	case t.Kind == evidence.ContainerLog:
		c := element(t.Container)
		return path.Join(cluster(t.Cluster), "namespaces", element(t.Namespace), "pods", element(t.Pod), c, c, "logs", containerLog(t))
	case t.Kind == evidence.Journal && t.Host == "":
		return path.Join("host_service_logs", "masters", element(t.Unit)+"_service.log")
	case t.Kind == evidence.Journal:
		h := element(t.Host)
		return path.Join("nodes", h, h+"_logs_"+element(t.Unit))
	case t.Kind == evidence.Installer:
		return path.Join("install", ".openshift_install.log")
	}
	return path.Join("consoles", element(t.Host)+".log")
}

func containerLog(t evidence.Text) string {
	dir, base := path.Split(t.Path)
	switch {
	case logName.MatchString(base):
		return base
	case strings.HasSuffix(dir, "/rotated/"):
		return path.Join("rotated", element(strings.TrimSuffix(base, ".gz")))
	case t.Previous:
		return "previous.log"
	}
	return "current.log"
}
