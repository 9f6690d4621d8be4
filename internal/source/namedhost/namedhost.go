// Package namedhost is the source of what the user says of hosts: --expect NAME=ADDRESS puts
// a host on the host list, and --console HOST=FILE names the host whose text it is, --ssh one
// that was asked and did not answer.
//
// Invariants:
//   - It holds names and addresses only. What was named is expected, and nothing more is
//     known of it: the source never makes a host healthier.
package namedhost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Host is a host that somebody or something names.
type Host struct {
	Name      string   `json:"-"`
	Addresses []string `json:"addresses,omitempty"`
	Role      string   `json:"role,omitempty"` // Bootstrap, or "" where nothing tells
	// By is what names it: one of the words below.
	By string `json:"by"`
	// Console: text of the host's console was given.
	Console bool `json:"console,omitempty"`
	// Seen is the first line of the host in its journal, Kubelet the first one of its kubelet.
	Seen    *Line `json:"seen,omitempty"`
	Kubelet *Line `json:"kubelet,omitempty"`
	// Other is the system of a machine that is no host of a cluster: it is not on the host list.
	Other *System `json:"other,omitempty"`
	// Cluster: a line is of a program that runs on the hosts of clusters only.
	Cluster bool `json:"-"`
}

// Line is the header of a line: its time, host and program, without the message.
type Line struct {
	Number int    `json:"line"`
	Head   string `json:"head"`
}

// What names a host.
const (
	Expect  = "--expect"
	SSH     = "--ssh"
	Console = "--console"
	Journal = "journal"
	Bundle  = "log bundle"
)

// Expected reports whether the user's own word makes the host one that is expected.
func Expected(h Host) bool { return h.By == Expect || h.By == SSH }

// Bootstrap is the role of the machine that starts an installation. It does not join.
const Bootstrap = "bootstrap"

// IsBootstrap reports whether a name is one that the installer gives to the bootstrap
// host: the infrastructure's name with this role behind it
// (openshift/installer:data/data/libvirt/bootstrap, pkg/infrastructure/baremetal/bootstrap.go).
func IsBootstrap(name string) bool {
	label, _, _ := strings.Cut(strings.ToLower(name), ".")
	return label == Bootstrap || strings.HasSuffix(label, "-"+Bootstrap)
}

// Join adds what another text shows of the host.
func (h *Host) Join(more Host) {
	h.Cluster = h.Cluster || more.Cluster
	if h.Kubelet == nil && more.Kubelet == nil && h.Other == nil {
		h.Other = more.Other
	}
	if h.Cluster {
		h.Other = nil
	}
}

// Object returns a host as an object of evidence.NamedHosts.
func Object(h Host, loc evidence.Locator) (evidence.Object, error) {
	raw, err := json.Marshal(h)
	if err != nil {
		return evidence.Object{}, fmt.Errorf("encode the host %s: %w", h.Name, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return evidence.Object{}, fmt.Errorf("decode the host %s: %w", h.Name, err)
	}
	content["apiVersion"], content["kind"], content["metadata"] = evidence.ProbeGroup+"/v1alpha1", "NamedHost", map[string]any{"name": h.Name}
	return evidence.Object{Resource: evidence.NamedHosts, Name: h.Name, Content: content, Loc: loc}, nil
}

// Of reads an object of evidence.NamedHosts.
func Of(o evidence.Object) (Host, error) {
	h, err := evidence.Decode[Host](o)
	h.Name = o.Name
	return h, err
}

// Source is the hosts that the user named.
type Source struct{ list []Host }

var _ evidence.Source = (*Source)(nil)

// New returns the source of the hosts. A host that is named twice has the addresses of
// both, and --expect counts.
func New(hosts ...Host) *Source {
	s := &Source{}
	for _, h := range hosts {
		i := slices.IndexFunc(s.list, func(o Host) bool { return strings.EqualFold(o.Name, h.Name) })
		if i < 0 {
			s.list = append(s.list, h)
			continue
		}
		for _, a := range h.Addresses {
			if !slices.Contains(s.list[i].Addresses, a) {
				s.list[i].Addresses = append(slices.Clone(s.list[i].Addresses), a)
			}
		}
		s.list[i].Console = s.list[i].Console || h.Console
		if Expected(h) {
			s.list[i].By = h.By
		}
	}
	return s
}

// Describe implements evidence.Source.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "named hosts", Name: "the hosts that you named"}, nil
}

// List implements evidence.Source for evidence.NamedHosts.
func (s *Source) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r != evidence.NamedHosts {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "a name holds no objects"}
	}
	var list []evidence.Object
	for _, h := range s.list {
		o, err := Object(h, evidence.Locator{Source: h.By, Path: strings.TrimSpace(h.By + " " + h.Name)})
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// Texts implements evidence.Source: a name has no texts.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "a name has no texts"}
}
