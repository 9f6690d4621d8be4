package main

import (
	"context"
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/proto"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
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
		{"all is there", func(e *emulator) { e.Rules["internal"] = internal }, nil, provider.Passed, "let the workers reach each other"},
		{"another subnetwork's rule", func(e *emulator) {
			r := proto.Clone(internal).(*computepb.Firewall)
			r.SourceRanges = []string{"192.168.0.0/16"}
			e.Rules["internal"] = r
		}, nil, provider.Warning, "6081 (Geneve"},
		{"no rule", func(*emulator) {}, nil, provider.Warning, "6081 (Geneve"},
		{"a rule will be made", func(*emulator) {}, map[string]string{"firewall": "create"}, provider.Passed, "will be made"},
		{"the world", func(e *emulator) {
			r := proto.Clone(internal).(*computepb.Firewall)
			r.Name, r.SourceRanges = proto.String("open"), []string{"0.0.0.0/0"}
			e.Rules["open"] = r
		}, nil, provider.Warning, "open opens the workers to all addresses"},
		{"quota", func(e *emulator) {
			for _, q := range e.Quotas {
				q.Limit = proto.Float64(12)
			}
		}, nil, provider.Failed, "quota N2_CPUS of region europe-west1: 12 needed, 10 of 12 used"},
		{"no entry", func(*emulator) {}, map[string]string{"machine-type": "z9-standard-4"}, provider.Unknown, "Z9_CPUS"},
		{"no permission for quotas", func(e *emulator) { e.Refuse["GET regions"] = 403 }, nil, provider.Unknown, "no permission"},
		{"no image", func(*emulator) {}, map[string]string{"image": "nosuch"}, provider.Failed, "does not exist"},
		{"old image", func(e *emulator) { e.Image.Deprecated = &computepb.DeprecationStatus{State: proto.String("OBSOLETE")} }, nil, provider.Failed, "OBSOLETE"},
		{"disk too small", func(e *emulator) { e.Image.DiskSizeGb = proto.Int64(100) }, nil, provider.Failed, "needs a disk of 100 GB"},
		{"zone gone", func(e *emulator) { delete(e.Zones, "europe-west1-c") }, nil, provider.Warning, "europe-west1-c does not exist"},
		{"the first zone gone", func(e *emulator) { delete(e.Zones, "europe-west1-b") }, nil, provider.Passed, "N2_CPUS 90 of 100 left"},
		{"no such machine type in a zone", func(e *emulator) { e.Lacks = map[string]string{"europe-west1-b": "n2-standard-4"} }, nil, provider.Failed, "does not exist in europe-west1-b: leave"},
		{"zones down", func(e *emulator) { e.Zones["europe-west1-b"], e.Zones["europe-west1-c"] = "DOWN", "DOWN" }, nil, provider.Failed, "europe-west1-b is down"},
		{"may not use the subnetwork", func(e *emulator) { e.May = nil }, nil, provider.Failed, "compute.subnetworks.use"},
		{"no way out", func(e *emulator) { e.NAT = false }, nil, provider.Warning, "no Cloud NAT"},
		{"unknown option", func(*emulator) {}, map[string]string{"zone": "a"}, provider.Failed, "no such option"},
		{"two regions", func(*emulator) {}, map[string]string{"zones": "europe-west1-b,us-east1-b"}, provider.Failed, "two regions"},
		{"an endpoint that is not Google's", func(*emulator) {}, map[string]string{"endpoint": "https://192.0.2.1"}, provider.Failed, "want https://HOST.googleapis.com"},
		{"a name that ends as Google's does", func(*emulator) {}, map[string]string{"endpoint": "https://evilgoogleapis.com"}, provider.Failed, "want https://HOST.googleapis.com"},
		{"an emulator elsewhere", func(*emulator) {}, map[string]string{"endpoint": "http://192.0.2.1:1"}, provider.Failed, "loopback"},
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
					if len(e.Seen) > 0 {
						t.Errorf("a check changed something: %v", e.Seen)
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
