package main

import (
	"context"
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/proto"

	"github.com/rollcall-project/rollcall/internal/worker/provider"
)

func contextFor(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func TestCheck(t *testing.T) {
	internal := &computepb.Firewall{Name: proto.String("internal"), Network: proto.String("projects/project1/global/networks/default"), Direction: proto.String("INGRESS"), SourceRanges: []string{"10.8.0.0/16"}, Allowed: []*computepb.Allowed{{IPProtocol: proto.String("all")}}}
	for _, c := range []struct {
		name    string
		change  func(e *emulator)
		options map[string]string
		want    provider.Outcome
		text    string
	}{
		{"all is there", func(e *emulator) { e.rules["internal"] = internal }, nil, provider.Passed, "let the workers reach each other"},
		{"another subnetwork's rule", func(e *emulator) {
			r := proto.Clone(internal).(*computepb.Firewall)
			r.SourceRanges = []string{"192.168.0.0/16"}
			e.rules["internal"] = r
		}, nil, provider.Warning, "6081 (Geneve"},
		{"no rule", func(*emulator) {}, nil, provider.Warning, "6081 (Geneve"},
		{"a rule will be made", func(*emulator) {}, map[string]string{"firewall": "create"}, provider.Passed, "will be made"},
		{"the world", func(e *emulator) {
			r := proto.Clone(internal).(*computepb.Firewall)
			r.Name, r.SourceRanges = proto.String("open"), []string{"0.0.0.0/0"}
			e.rules["open"] = r
		}, nil, provider.Warning, "open opens the workers to all addresses"},
		{"quota", func(e *emulator) {
			for _, q := range e.quotas {
				q.Limit = proto.Float64(12)
			}
		}, nil, provider.Failed, "quota N2_CPUS of region europe-west1: 12 needed, 10 of 12 used"},
		{"no entry", func(*emulator) {}, map[string]string{"machine-type": "z9-standard-4"}, provider.Unknown, "Z9_CPUS"},
		{"no permission for quotas", func(e *emulator) { e.refuse["GET regions"] = 403 }, nil, provider.Unknown, "no permission"},
		{"no image", func(*emulator) {}, map[string]string{"image": "nosuch"}, provider.Failed, "does not exist"},
		{"old image", func(e *emulator) { e.image.Deprecated = &computepb.DeprecationStatus{State: proto.String("OBSOLETE")} }, nil, provider.Failed, "OBSOLETE"},
		{"disk too small", func(e *emulator) { e.image.DiskSizeGb = proto.Int64(100) }, nil, provider.Failed, "needs a disk of 100 GB"},
		{"zone gone", func(e *emulator) { delete(e.zones, "europe-west1-c") }, nil, provider.Warning, "europe-west1-c does not exist"},
		{"zones down", func(e *emulator) { e.zones["europe-west1-b"], e.zones["europe-west1-c"] = "DOWN", "DOWN" }, nil, provider.Failed, "europe-west1-b is down"},
		{"may not use the subnetwork", func(e *emulator) { e.may = nil }, nil, provider.Failed, "compute.subnetworks.use"},
		{"no way out", func(e *emulator) { e.nat = false }, nil, provider.Warning, "no Cloud NAT"},
		{"unknown option", func(*emulator) {}, map[string]string{"zone": "a"}, provider.Failed, "no such option"},
		{"two regions", func(*emulator) {}, map[string]string{"zones": "europe-west1-b,us-east1-b"}, provider.Failed, "two regions"},
		{"no subnetwork", func(*emulator) {}, map[string]string{"subnetwork": ""}, provider.Failed, "subnetwork=NAME is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, g := newEmulator(t)
			c.change(e)
			o := order("", 0)
			for k, v := range c.options {
				o.Options[k] = v
			}
			list, err := g.Check(t.Context(), o, []provider.Worker{{Name: "guest-1"}, {Name: "guest-2"}, {Name: "guest-3"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list {
				if f.Outcome == c.want && strings.Contains(f.Text, c.text) {
					if len(e.seen) > 0 {
						t.Errorf("a check changed something: %v", e.seen)
					}
					return
				}
			}
			t.Errorf("want %s %q in %v", c.want, c.text, list)
		})
	}
}

func TestLabelValue(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"clusters/guest", "clusters.guest", "clusters_guest", strings.Repeat("a", 70), strings.Repeat("a", 71), "Ä"} {
		v := labelValue(text)
		if len(v) > 63 || strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%q is no value of a label", v)
		}
		if other, is := seen[v]; is {
			t.Errorf("%q and %q have the value %s", text, other, v)
		}
		seen[v] = text
	}
}
