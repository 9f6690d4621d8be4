package onhost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// worthMention is how far a clock is off before a summary has it: etcd warns from one second on
// (etcd-io/etcd:server/etcdserver/api/rafthttp/probing_status.go, statusMonitorClockDifference).
const worthMention = time.Second

// Summary is one line about a machine on which rollcall-host ran: its kubelet, its control plane, its clock. What it
// could not read it calls unknown. It proves nothing: the faults do.
func Summary(ctx context.Context, w *facts.World, host string) (string, error) {
	s := fault.Subject{Kind: fault.Host, Name: host}
	var parts []string
	for _, part := range []func(context.Context, *facts.World, fault.Subject) (string, error){firstBootInShort, kubeletInShort, controlInShort, clockInShort} {
		said, err := part(ctx, w, s)
		if err != nil {
			return "", err
		}
		if said != "" {
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, "; "), nil
}

// unknownPart makes an answer that could not be read a word; other errors stay.
func unknownPart(what string, err error) (string, error) {
	if _, missing := evidence.AsUnavailable(err); missing {
		return what + " unknown", nil
	}
	return "", err
}

func firstBootInShort(ctx context.Context, w *facts.World, s fault.Subject) (string, error) {
	c, _, err := readPart[onhost.Config](ctx, w, evidence.HostConfigs, s)
	switch {
	case err != nil:
		return unknownPart("first boot", err)
	case c.Encapsulated.Exists && c.Encapsulated.Error == "":
		return "first boot not finished", nil
	}
	return "", nil
}

func kubeletInShort(ctx context.Context, w *facts.World, s fault.Subject) (string, error) {
	var said []string
	v, loc, err := readPart[onhost.Units](ctx, w, evidence.HostUnits, s)
	if err != nil {
		why, err := unknownPart("kubelet", err)
		if err != nil {
			return "", err
		}
		said = append(said, why)
	} else if k, _ := (unitList{v.Units, loc}).unit("kubelet.service"); k.Active == "active" {
		said = append(said, "kubelet runs")
	} else {
		said = append(said, "kubelet does not run ("+state(k)+")")
	}
	id, err := readIdentity(ctx, w, s)
	if err != nil {
		why, err := unknownPart("its client certificate", err)
		return join(said, why), err
	}
	found, missing := id.CertFound.Get()
	expired, _ := id.Expired.Get()
	switch usable, unknown := id.CertUsable.Get(); {
	case missing != nil:
		return join(said, "its client certificate unknown"), nil
	case !found:
		return join(said, "no client certificate"), nil
	case expired:
		return join(said, fmt.Sprintf("its client certificate expired at %s", id.NotAfter.Value().UTC().Format(time.RFC3339))), nil
	case unknown == nil && !usable:
		return join(said, "its client certificate cannot be used"), nil
	}
	return join(said), nil
}

func join(said []string, more ...string) string { return strings.Join(append(said, more...), ", ") }

// controlPlane are the containers of the control plane's static pods that a person asks for first.
var controlPlane = []string{"etcd", openshift.APIServer}

func controlInShort(ctx context.Context, w *facts.World, s fault.Subject) (string, error) {
	c, _, err := readPart[onhost.Containers](ctx, w, evidence.HostContainers, s)
	switch {
	case err != nil:
		return unknownPart("containers", err)
	case c.RuntimeError != "":
		return "containers unknown (CRI-O does not answer)", nil
	}
	var said []string
	for _, name := range controlPlane {
		for _, m := range c.Manifests {
			if m.Namespace != "openshift-"+name {
				continue
			}
			if _, runs := newest(c.Containers, m, name); runs {
				said = append(said, name+" runs")
			} else {
				said = append(said, name+" does not run")
			}
			break
		}
	}
	return join(said), nil
}

func clockInShort(ctx context.Context, w *facts.World, s fault.Subject) (string, error) {
	c, _, err := readPart[onhost.Clock](ctx, w, evidence.HostClocks, s)
	if err != nil {
		return unknownPart("chrony", err)
	}
	off := time.Duration(min(c.Offset, 1e9) * float64(time.Second))
	switch {
	case !c.Synchronised:
		return "clock not synchronized", nil
	case off >= worthMention:
		return "clock " + span(off) + " off", nil
	}
	return "", nil
}
