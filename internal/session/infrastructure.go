package session

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
)

// masterName is the name that openshift-install gives a control-plane Machine: the name of the cluster, five random
// characters that are those of one installation, the pool and a number (openshift/installer:
// pkg/asset/installconfig/clusterid.go generateInfraID, pkg/asset/machines/vsphere/machines.go Machines;
// k8s.io/apimachinery pkg/util/rand String has the characters).
var masterName = regexp.MustCompile(`^([a-z0-9][a-z0-9-]*)-([bcdfghjklmnpqrstvwxz2456789]{5})-master-\d+$`)

// pasted is the kind of a source of texts: internal/source/paste.
const pasted = "text"

// oneInfrastructure refuses files that are of several installations of clusters of one name. An archive of one collector
// is of one cluster, whatever the names in it.
func oneInfrastructure(d *diagnosis.Diagnosis) error {
	if d.Source.Kind != loose.Kind && (d.Source.Kind != pasted || d.Source.More == 0) {
		return nil
	}
	first := map[string][2]string{} // by the name of the cluster: the random part, and a host with it
	for _, h := range d.Hosts {
		name, _, _ := strings.Cut(h.Name, ".")
		m := masterName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		before, ok := first[m[1]]
		switch {
		case !ok:
			first[m[1]] = [2]string{m[2], h.Name}
		case before[0] != m[2]:
			return fmt.Errorf("the files are of two installations and cannot be read as one cluster: host %s is of infrastructure %s-%s, host %s of %s-%s. "+
				"Name those of one installation, each with --from", before[1], m[1], before[0], h.Name, m[1], m[2])
		}
	}
	return nil
}
