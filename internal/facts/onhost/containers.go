package onhost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Containers is the fact host-containers.
type Containers struct {
	RuntimeSilent bool      `cel:"runtimeSilent"` // the container runtime does not answer
	Infra         []string  `cel:"infra"`         // containers of the on-prem static pods that do not run
	InfraSince    time.Time `cel:"infraSince"`
	Control       []string  `cel:"control"` // containers of the control plane's static pods that do not run
	ControlSince  time.Time `cel:"controlSince"`
	Manifests     int64     `cel:"manifests"`
	Broken        []string  `cel:"broken"` // manifests that are no pods
}

var containersFact = facts.DefinePlain("host-containers", fault.Host, "the static pods on the machine's disk, and whether their containers run as the container runtime says",
	needs(evidence.HostContainers), readContainers)

// infraSuffix ends the namespaces of the on-prem static pods: openshift-kni-infra,
// openshift-vsphere-infra and so on (openshift/machine-config-operator:manifests/on-prem).
const infraSuffix = "-infra"

func readContainers(ctx context.Context, w *facts.World, s fault.Subject) (Containers, facts.Proof, error) {
	var f Containers
	var p facts.Proof
	c, loc, err := look[onhost.Containers](ctx, w, evidence.HostContainers, s)
	if err != nil {
		return f, p, err
	}
	f.Manifests = int64(len(c.Manifests))
	if c.RuntimeError != "" {
		f.RuntimeSilent = true
		p.Add(at(loc, "crictl ps -a"), c.RuntimeError, c.At, "runtimeSilent")
		unread(&p, evidence.HostContainers, "crictl ps -a", c.RuntimeError, "infra", "infraSince", "control", "controlSince")
		return f, p, nil
	}
	p.Add(at(loc, "crictl ps -a"), fmt.Sprintf("%d containers, %d static pods", len(c.Containers), len(c.Manifests)), c.At, "runtimeSilent", "infra", "control", "manifests")
	if c.ManifestError != "" {
		unread(&p, evidence.HostContainers, "/etc/kubernetes/manifests", c.ManifestError, "infra", "infraSince", "control", "controlSince", "manifests", "broken")
		return f, p, nil
	}
	for _, m := range c.Manifests {
		if m.Error != "" || m.Problem != "" {
			f.Broken = append(f.Broken, m.Path)
			p.Add(at(loc, m.Path), m.Error+m.Problem, m.Modified, "broken")
			continue
		}
		list, since, field := &f.Control, &f.ControlSince, "control"
		if strings.HasSuffix(m.Namespace, infraSuffix) {
			list, since, field = &f.Infra, &f.InfraSince, "infra"
		}
		for _, name := range m.Containers {
			last, runs := newest(c.Containers, m, name)
			if runs {
				continue
			}
			*list = append(*list, m.Pod+"/"+name)
			began, said := m.Modified, "it was never made"
			if last != nil {
				began, said = last.Created, fmt.Sprintf("%s, attempt %d of %s", last.State, last.Attempt, stamp(last.Created))
			}
			if since.IsZero() || began.Before(*since) {
				*since = began
			}
			p.Add(at(loc, "crictl ps -a --name "+name), fmt.Sprintf("container %s of the static pod in %s does not run: %s", name, m.Path, said), began, field, field+"Since")
		}
	}
	return f, p, nil
}

// newest returns the newest container of a static pod's container, and whether one
// of them runs. The pod's name on the machine ends in the node's name
// (kubernetes/kubernetes:pkg/kubelet/config/common.go generatePodName).
func newest(list []onhost.Container, m onhost.Manifest, name string) (*onhost.Container, bool) {
	var last *onhost.Container
	for i := range list {
		c := &list[i]
		if c.Name != name || c.Namespace != m.Namespace || c.Pod != m.Pod && !strings.HasPrefix(c.Pod, m.Pod+"-") {
			continue
		}
		if c.State == "running" {
			return c, true
		}
		if last == nil || c.Created.After(last.Created) {
			last = c
		}
	}
	return last, false
}
