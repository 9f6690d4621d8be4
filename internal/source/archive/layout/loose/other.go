package loose

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// otherKernel is the first line of a kernel of a distribution that OpenShift does not run on: it names the package that
// compiled it (torvalds/linux:init/version.c linux_proc_banner, scripts/mkcompile_h LINUX_COMPILER). That of RHEL, RHCOS and
// Fedora CoreOS names Red Hat.
var otherKernel = regexp.MustCompile(`\bLinux version (\S+) \(.*\((Ubuntu|Debian|SUSE Linux|Alpine|Raspbian) `)

// clusterPrograms run on each host of a cluster, from its first boot on: one line of any shows that it is one, whatever
// its kernel is (openshift/machine-config-operator:templates/common, coreos/ignition, coreos/rpm-ostree).
var clusterPrograms = []string{
	"kubelet", "crio", "ignition", "rpm-ostree", "ostree-prepare-root", openshift.MachineConfigDaemon, "coreos-installer", "microshift",
}

// ostreeBoot is in the kernel's command line of a host whose system is an OSTree deployment.
var ostreeBoot = []byte("ostree=/ostree/boot")

// otherSystems tells of the hosts of a journal which are of another system.
type otherSystems struct {
	kernels map[string]*namedhost.System
	cluster []string // hosts with a sign of OpenShift
}

func (s *otherSystems) line(host, id string, at evidence.Locator, line []byte) {
	if slices.Contains(s.cluster, host) {
		return
	}
	if slices.Contains(clusterPrograms, journal.UnitOf(id)) || id == "kernel" && bytes.Contains(line, ostreeBoot) {
		s.cluster = append(s.cluster, host)
		return
	}
	if id != "kernel" || s.kernels[host] != nil || !bytes.Contains(line, []byte("Linux version ")) {
		return
	}
	if m := otherKernel.FindSubmatch(line); m != nil {
		if s.kernels == nil {
			s.kernels = map[string]*namedhost.System{}
		}
		s.kernels[host] = &namedhost.System{Name: string(m[2]), Kernel: string(m[1]), Path: at.Path, Line: at.Line}
	}
}

// mark notes of each host whether it is one of a cluster, or the system of another one.
func (s *otherSystems) mark(list []namedhost.Host) {
	for i, h := range list {
		if list[i].Cluster = slices.Contains(s.cluster, h.Name); !list[i].Cluster {
			list[i].Other = s.kernels[h.Name]
		}
	}
}
