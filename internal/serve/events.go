package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/service"
)

// notice is one Event before it is written.
type notice struct {
	warning   bool
	reason    string
	note      string
	regarding map[string]any
}

// writeEvents writes an Event for each change that somebody who looks at an object has to know.
func (k *Keeper) writeEvents(ctx context.Context, p answered) {
	for _, c := range p.changes {
		for _, n := range noticesOf(c) {
			if !k.events.Take(p.at) {
				k.metrics.written.WithLabelValues(kindEvent, resultLeftOut).Inc()
				continue
			}
			e := k.event(n, p.at)
			name := e["metadata"].(map[string]any)["name"].(string)
			r := kube.Ref{Group: openshift.EventsGroup, Version: "v1", Resource: "events", Namespace: service.EventsNamespace, Name: name}
			k.wrote(ctx, kindEvent, name, within(ctx, func(ctx context.Context) error { return k.API.Create(ctx, r, e) }))
		}
	}
}

// What is written, as metrics name it.
const (
	kindEvent  = "event"
	kindRecord = "record"
)

// noticesOf are the Events of one change: causes and symptoms that came or went, hosts that failed or joined.
func noticesOf(c follow.Event) []notice {
	switch c.Type {
	case follow.CauseFound, follow.SymptomFound, follow.CauseCleared, follow.SymptomCleared:
		n := notice{note: c.Text, reason: camel(c.Cause.Fault), regarding: regarding(c.Cause.Key().Subject)}
		n.warning = c.Type == follow.CauseFound || c.Type == follow.SymptomFound
		if !n.warning {
			n.reason += "Over"
		}
		return []notice{n}
	case follow.HostMoved:
		n := notice{note: c.Text, reason: "HostJoined"}
		switch {
		case c.To.State == diagnosis.StageFailed:
			n.reason, n.warning = "HostFailed", true
		case c.To.Stage != fault.ConfigDone || c.To.State != diagnosis.StagePassed:
			return nil
		}
		list := make([]notice, 0, len(c.Hosts))
		for _, h := range c.Hosts {
			n.regarding = regarding(fault.Subject{Kind: fault.Host, Name: h})
			list = append(list, n)
		}
		return list
	}
	return nil
}

// regarding is the object without a namespace that an Event is about; of other subjects it is the cluster's version. A Node
// has its name as its uid, as in the Events of kubelets: `oc describe node` looks for both, and for a Node that
// does not exist there is no other (kubernetes/kubectl:pkg/describe/describe.go NodeDescriber.Describe).
func regarding(s fault.Subject) map[string]any {
	ref := func(version, kind, name string) map[string]any {
		return map[string]any{"apiVersion": version, "kind": kind, "name": name}
	}
	switch {
	case s.Cluster != "" || s.Name == "" || s.Name == fault.Unnamed:
	case s.Kind == fault.Host:
		node := ref("v1", "Node", s.Name)
		node["uid"] = s.Name
		return node
	case s.Kind == fault.Pool:
		return ref("machineconfiguration.openshift.io/v1", "MachineConfigPool", s.Name)
	case s.Kind == fault.CSR:
		return ref("certificates.k8s.io/v1", "CertificateSigningRequest", s.Name)
	case s.Kind == fault.Operator:
		return ref("config.openshift.io/v1", "ClusterOperator", s.Name)
	}
	return ref("config.openshift.io/v1", "ClusterVersion", "version")
}

// camel makes "mcs-tls-expired" the reason McsTlsExpired.
func camel(id string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// event is the object. Its name is the same for the same change of the same minute, by whichever replica: the
// server refuses a second one.
func (k *Keeper) event(n notice, at time.Time) map[string]any {
	about := n.regarding["kind"].(string) + " " + n.regarding["name"].(string)
	sum := sha256.Sum256([]byte(about + " " + n.reason + " " + at.UTC().Format("2006-01-02T15:04")))
	return service.Event{Name: "rollcall-" + hex.EncodeToString(sum[:])[:20], At: at, Warning: n.warning, Reason: n.reason, Action: "Diagnose",
		Note: k.Clean(n.note), Controller: "rollcall.dev/serve", Instance: k.Identity, Regarding: n.regarding}.Object()
}
