// Package imagepull is why a host cannot pull the images that the host itself needs: that
// of the machine-config-daemon at its first boot, and that of its OS.
//
// Invariants:
//   - An error counts while it lasts: what a daemon that continued has left is no error.
//   - First boot and daemon are read alike, see internal/facts/pullerror.
package imagepull

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/firstboot"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/facts/pullerror"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// pull is the pull that a host does not get done.
type pull struct {
	Cause      facts.Field[string]    `cel:"cause"`      // a pullerror.Cause, "" where none fails
	Registry   facts.Field[string]    `cel:"registry"`   // the host at which it fails, or "its registry"
	FirstBoot  facts.Field[bool]      `cel:"firstBoot"`  // it fails at the first boot, else in the daemon of a node
	Said       facts.Field[string]    `cel:"said"`       // the part of it that says the cause
	Lookup     facts.Field[string]    `cel:"lookup"`     // how the name server failed, "" for another cause
	Server     facts.Field[string]    `cel:"server"`     // the address of the name server that failed, "" where the error does not say
	Silent     facts.Field[bool]      `cel:"silent"`     // that name server was not reached or did not answer
	OnPremises facts.Field[bool]      `cel:"onPremises"` // each host has its own CoreDNS; unknown where no name failed to resolve
	Since      facts.Field[time.Time] `cel:"since"`      // of the first of these errors, where it says
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact} }

var fact = facts.Define("host-image-pull", fault.Host, "why the host cannot pull its machine-config-daemon or its OS image",
	needs(), read)

func needs() []evidence.Need {
	list := []evidence.Need{evidence.Objects(evidence.Infrastructures, ""),
		evidence.Texts(pools.DaemonLogs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace)}
	for _, f := range firstboot.Facts() {
		list = append(list, f.Needs...)
	}
	return list
}

// minFailures is how many tries may fail before it counts.
const minFailures = 3

func read(ctx context.Context, w *facts.World, s fault.Subject) (pull, error) {
	p, err := readPull(ctx, w, s)
	if err != nil || p.Cause.Value() != string(pullerror.DNS) {
		return p, err
	}
	return p, p.premises(ctx, w, s)
}

// onPremises are the platforms whose hosts run CoreDNS, as Infrastructure names them
// (openshift/machine-config-operator:pkg/controller/template/render.go onPremPlatform).
var onPremises = []string{"BareMetal", "oVirt", "OpenStack", "VSphere", "Nutanix"}

// clouds are what providerID begins with where a cloud runs the machine. Such a host is on no
// platform of onPremises (kubernetes/kubernetes:staging/src/k8s.io/api/core/v1/types.go NodeSpec.ProviderID).
var clouds = []string{"aws://", "azure://", "gce://", "ibm://"}

// premises reads whether the hosts run CoreDNS. Where the platform was not read, the Node of a
// machine in a cloud shows that they do not.
func (p *pull) premises(ctx context.Context, w *facts.World, s fault.Subject) error {
	kind, err := platform.Type(ctx, w)
	if err == nil {
		p.OnPremises.Set(slices.Contains(onPremises, kind.Text), kind.Item())
		return nil
	}
	node, joined, nodeErr := inventory.Joined(ctx, w, s.Name)
	id := evidence.String(node.Content, "spec", "providerID")
	if nodeErr == nil && joined && slices.ContainsFunc(clouds, func(c string) bool { return strings.HasPrefix(id, c) }) {
		p.OnPremises.Set(false, node.Shows("spec.providerID", id, time.Time{}))
		return nil
	}
	return facts.Miss(err, &p.OnPremises)
}

func readPull(ctx context.Context, w *facts.World, s fault.Subject) (pull, error) {
	var p pull
	node, joined, nodeErr := inventory.Joined(ctx, w, s.Name)
	if _, unavailable := evidence.AsUnavailable(nodeErr); nodeErr != nil && !unavailable {
		return p, nodeErr
	}
	if joined {
		if done, err := p.daemon(ctx, w, node); done || err != nil {
			return p, err
		}
	}
	boot, err := firstboot.Read(ctx, w, s)
	if errors.Is(err, facts.ErrNotApplicable) {
		_, _, shown := pools.Complaint(node)
		p.set(pullerror.Error{}, time.Time{}, shown)
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := p.boot(boot); err != nil {
		return p, err
	}
	if p.Cause.Value() == "" && nodeErr != nil { // its daemon may fail
		if boot.OnDisk.Value() {
			return pull{}, facts.NotApplicable("the first boot of %s is over by its disk; what its daemon pulls since then only the Node tells", s.Name)
		}
		return pull{}, nodeErr
	}
	return p, nil
}

// daemon reads what the daemon of a node reports. done is false where its first boot may
// have more to say.
func (p *pull) daemon(ctx context.Context, w *facts.World, node evidence.Object) (done bool, err error) {
	state, reason, shown := pools.Complaint(node)
	switch state {
	case "Degraded":
		e, ok := pullerror.Parse(reason)
		if !ok {
			e = pullerror.Error{}
		}
		p.set(e, time.Time{}, shown)
		return true, nil
	case "Working":
		count, line, item, since, err := pools.OSRetries(ctx, w, node.Name)
		if _, unavailable := evidence.AsUnavailable(err); err != nil {
			if !unavailable {
				return true, err
			}
			return true, facts.Miss(err, &p.Cause, &p.Registry, &p.FirstBoot, &p.Said, &p.Lookup, &p.Server, &p.Silent, &p.Since)
		}
		e, ok := pullerror.Parse(line)
		if count <= minFailures || !ok {
			return false, nil
		}
		p.set(e, since, item)
		return true, nil
	}
	return false, nil
}

// boot reads how the first boot fails.
func (p *pull) boot(boot firstboot.FirstBoot) error {
	failures, err := boot.Failures.Get()
	if err != nil {
		return facts.Miss(err, &p.Cause, &p.Registry, &p.FirstBoot, &p.Said, &p.Lookup, &p.Server, &p.Silent, &p.Since)
	}
	proof := boot.Failures.Proof()
	if boot.Done.Value() || failures == 0 || failures <= minFailures && boot.Waiting.Value() == "" {
		p.set(pullerror.Error{}, time.Time{}, proof...)
		return nil
	}
	p.set(pullerror.Error{
		Cause: pullerror.Cause(boot.Class.Value()),
		Host:  boot.Registry.Value(),
		Said:  boot.Said.Value(),
	}, boot.Since.Value(), proof...)
	p.FirstBoot.Set(true)
	return nil
}

func (p *pull) set(e pullerror.Error, since time.Time, shown ...evidence.Item) {
	registry := e.Host
	if registry == "" || obfuscation.Found(registry) {
		registry = "its registry"
	}
	var l pullerror.Lookup
	if e.Cause == pullerror.DNS {
		l = pullerror.LookupOf(e.Said)
	}
	if obfuscation.Found(l.Server) {
		l.Server = ""
	}
	p.Lookup.Set(l.Words, shown...)
	p.Server.Set(l.Server, shown...)
	p.Silent.Set(l.Silent, shown...)
	p.Cause.Set(string(e.Cause), shown...)
	p.Registry.Set(registry, shown...)
	p.Said.Set(e.Said, shown...)
	p.Since.Set(since, shown...)
	p.FirstBoot.Set(false, shown...)
}
