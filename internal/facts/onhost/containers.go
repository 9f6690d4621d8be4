package onhost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// containers is the fact host-containers.
type containers struct {
	RuntimeSilent facts.Field[bool]      `cel:"runtimeSilent"` // the container runtime does not answer
	Infra         facts.Field[[]string]  `cel:"infra"`         // containers of the on-prem static pods that do not run
	InfraSince    facts.Field[time.Time] `cel:"infraSince"`
	Control       facts.Field[[]string]  `cel:"control"` // containers of the control plane's static pods that do not run
	ControlSince  facts.Field[time.Time] `cel:"controlSince"`
	Manifests     facts.Field[int64]     `cel:"manifests"`
	Broken        facts.Field[[]string]  `cel:"broken"` // manifests that are no pods
}

var containersFact = facts.Define("host-containers", fault.Host,
	"the static pods on the machine's disk, and whether their containers run as the container runtime says",
	needs(evidence.HostContainers), readContainers)

// infraSuffix ends the namespaces of the on-prem static pods: openshift-kni-infra,
// openshift-vsphere-infra and so on (openshift/machine-config-operator:manifests/on-prem).
const infraSuffix = "-infra"

func readContainers(ctx context.Context, w *facts.World, s fault.Subject) (containers, error) {
	var f containers
	c, loc, err := readPart[onhost.Containers](ctx, w, evidence.HostContainers, s)
	if err != nil {
		return f, err
	}
	const runtime, manifests = "crictl ps -a", "/etc/kubernetes/manifests"
	found := shows(loc, manifests, fmt.Sprintf("%d static pods", len(c.Manifests)), c.At)
	f.Manifests.Set(int64(len(c.Manifests)), found)
	f.Broken.Set(nil, found)
	if c.ManifestError != "" {
		unread(evidence.HostContainers, manifests, c.ManifestError, &f.Infra, &f.InfraSince, &f.Control, &f.ControlSince, &f.Manifests, &f.Broken)
	}
	if c.RuntimeError != "" {
		f.RuntimeSilent.Set(true, shows(loc, runtime, c.RuntimeError, c.At))
		unread(evidence.HostContainers, runtime, c.RuntimeError, &f.Infra, &f.InfraSince, &f.Control, &f.ControlSince)
	} else {
		f.RuntimeSilent.Set(false, shows(loc, runtime, fmt.Sprintf("%d containers, %d static pods", len(c.Containers), len(c.Manifests)), c.At))
	}
	if c.ManifestError != "" {
		return f, nil
	}
	var control, infra stopped
	for _, m := range c.Manifests {
		if m.Error != "" || m.Problem != "" {
			facts.Append(&f.Broken, m.Path, shows(loc, m.Path, m.Error+m.Problem, m.Modified))
			continue
		}
		list := &control
		if strings.HasSuffix(m.Namespace, infraSuffix) {
			list = &infra
		}
		list.add(c.Containers, m, loc)
	}
	if c.RuntimeError == "" {
		whole := f.RuntimeSilent.Proof()
		f.Control.Set(control.names, append(control.proof, whole...)...)
		f.ControlSince.Set(control.since, append(control.proof, whole...)...)
		f.Infra.Set(infra.names, append(infra.proof, whole...)...)
		f.InfraSince.Set(infra.since, append(infra.proof, whole...)...)
	}
	return f, nil
}

// stopped are containers of static pods that do not run.
type stopped struct {
	names []string
	since time.Time
	proof []evidence.Item
}

// add adds those of a manifest.
func (s *stopped) add(list []onhost.Container, m onhost.Manifest, loc evidence.Locator) {
	for _, name := range m.Containers {
		last, runs := newest(list, m, name)
		if runs {
			continue
		}
		began, said := m.Modified, "it was never made"
		if last != nil {
			began, said = last.Created, fmt.Sprintf("%s, attempt %d of %s", last.State, last.Attempt, excerpt.Time(last.Created))
		}
		s.names = append(s.names, m.Pod+"/"+name)
		if s.since.IsZero() || began.Before(s.since) {
			s.since = began
		}
		s.proof = append(s.proof, shows(loc, "crictl ps -a --name "+name, fmt.Sprintf("container %s of the static pod in %s does not run: %s", name,
			m.Path, said), began))
	}
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
