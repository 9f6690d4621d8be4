package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/protobuf/proto"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

const secret = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.1/ignition","httpHeaders":[{"name":"Authorization","value":"Bearer cGxhbnRlZC10b2tlbg=="}]}]}}}`

func TestMain(m *testing.M) {
	retryPause = gax.Backoff{Initial: time.Millisecond, Max: 2 * time.Millisecond}
	m.Run()
}

func order(name string, index int) provider.Order {
	return provider.Order{
		Run: "w-0123456789", Hosted: "clusters/guest", NodePool: "guest", Worker: provider.Worker{Name: name}, Index: index, Attempt: 1,
		Options: map[string]string{"project": "project1", "zones": "europe-west1-b,europe-west1-c", "subnetwork": "workers", "image": "rhcos"},
	}
}

// neighbors are machines and a rule of others with names and labels that are nearly the run's.
func (e *emulator) neighbors() {
	other := labels(order("", 0))
	other[labelRun] = "w-9876543210"
	named := func(name string, l map[string]string, about string) *computepb.Instance {
		return &computepb.Instance{Name: &name, Labels: l, Description: &about, Metadata: &computepb.Metadata{Fingerprint: proto.String("f"), Items: []*computepb.Items{{Key: proto.String("user-data"), Value: proto.String("theirs")}}}}
	}
	e.Instances["europe-west1-b/guest-10"] = named("guest-10", other, description(order("", 0)))
	e.Instances["europe-west1-c/guest-1-old"] = named("guest-1-old", labels(order("", 0)), description(order("", 0)))
	e.Instances["europe-west1-c/theirs"] = named("theirs", labels(order("", 0)), "copied from another machine")
	e.Rules["allow-all"] = &computepb.Firewall{Name: proto.String("allow-all"), Network: proto.String("projects/project1/global/networks/default"), Direction: proto.String("INGRESS"), SourceRanges: []string{"0.0.0.0/0"}, Allowed: []*computepb.Allowed{{IPProtocol: proto.String("tcp"), Ports: []string{"22"}}}}
}

// left are the names of machines and rules.
func (e *emulator) left() []string {
	var all map[string]bool
	e.Do(func() { all = merge(e.Instances, e.Rules) })
	return slices.Sorted(maps.Keys(all))
}

func merge(a map[string]*computepb.Instance, b map[string]*computepb.Firewall) map[string]bool {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all["rule "+k] = true
	}
	return all
}

// TestLife makes a machine, looks at it, removes its user-data and deletes it, with slow
// operations, and leaves what is of others as it was.
func TestLife(t *testing.T) {
	e, g := newEmulator(t)
	e.neighbors()
	e.Slow, e.Serial = 3, "ignition[1]: GET result: OK"
	before := e.left()
	o := order("guest-1", 1)
	o.Options["firewall"] = "create"
	m, err := g.Create(t.Context(), o, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	i := e.Instances["europe-west1-c/guest-1"] // the second zone for the second worker
	switch {
	case i == nil || m.ID != "projects/project1/zones/europe-west1-c/instances/guest-1" || len(m.IPs) != 1 || !strings.HasPrefix(m.IPs[0], "10.8.0."):
		t.Fatalf("%+v, %v", m, i)
	case len(i.GetNetworkInterfaces()) != 1 || len(i.GetNetworkInterfaces()[0].GetAccessConfigs()) > 0:
		t.Errorf("it has an external address: %v", i.GetNetworkInterfaces())
	case len(i.GetServiceAccounts()) > 0:
		t.Errorf("it has a service account: %v", i.GetServiceAccounts())
	case !i.GetShieldedInstanceConfig().GetEnableSecureBoot() || !i.GetShieldedInstanceConfig().GetEnableVtpm():
		t.Errorf("it is not shielded: %v", i.GetShieldedInstanceConfig())
	case !i.GetDisks()[0].GetAutoDelete():
		t.Error("its disk would stay")
	}
	data := i.GetMetadata().GetItems()[0]
	if data.GetKey() != "user-data" || !strings.Contains(data.GetValue(), "/etc/hostname") || !strings.Contains(data.GetValue(), "guest-1%0A") || !strings.Contains(data.GetValue(), "cGxhbnRlZC10b2tlbg") {
		t.Errorf("its user-data: %s", data)
	}
	rule := e.Rules[ruleName(o)]
	if rule == nil || len(rule.GetSourceRanges()) > 0 || !slices.Equal(rule.GetSourceTags(), rule.GetTargetTags()) || !slices.Contains(i.GetTags().GetItems(), rule.GetTargetTags()[0]) {
		t.Errorf("the rule: %v", rule)
	}
	if again, err := g.Create(t.Context(), o, []byte(secret)); err != nil || again.ID != m.ID {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if text, err := g.Console(t.Context(), o); err != nil || string(text) != e.Serial {
		t.Errorf("console: %s, %v", text, err)
	}
	// Somebody changes the metadata between the look and the write.
	e.Raced = func() {
		i.Metadata.Items = append(i.Metadata.Items, &computepb.Items{Key: proto.String("theirs"), Value: proto.String("stays")})
		i.Metadata.Fingerprint = proto.String("f1")
	}
	for range 2 {
		if err := g.Clean(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprint(e.Instances["europe-west1-c/guest-1"].GetMetadata())
	if strings.Contains(text, "cGxhbnRlZC10b2tlbg") || strings.Contains(text, "user-data") || !strings.Contains(text, "stays") {
		t.Errorf("the metadata after Clean: %s", text)
	}
	for range 2 {
		if err := g.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Find(t.Context(), o); !errors.Is(err, provider.ErrNone) {
		t.Errorf("Find: %v", err)
	}
	// guest-1-old has all the marks of this hosted cluster: the rule stays for it.
	if got, want := e.left(), append(slices.Clone(before), "rule "+ruleName(o)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("left: %v, want %v", got, want)
	}
	delete(e.Instances, "europe-west1-c/guest-1-old")
	delete(e.Instances, "europe-west1-b/guest-10")
	delete(e.Instances, "europe-west1-c/theirs")
	if err := g.Delete(t.Context(), o); err != nil || e.Rules[ruleName(o)] != nil || e.Rules["allow-all"] == nil {
		t.Errorf("with the last machine goes the rule: %v, %v", err, e.left())
	}
	for _, s := range e.Seen {
		if strings.Contains(s, "guest-10") || strings.Contains(s, "guest-1-old") || strings.Contains(s, "theirs") || strings.Contains(s, "allow-all") {
			t.Errorf("what is of others was touched: %s", s)
		}
	}
}

// TestLost: whichever answer of a run is lost, and whether the request was carried out or not,
// there is one machine afterwards, and none after Delete.
func TestLost(t *testing.T) {
	for _, request := range []string{"POST instances", "GET operations", "GET instances", "POST firewalls", "DELETE instances", "POST instances setMetadata", "DELETE firewalls"} {
		for _, when := range []string{"before", "after"} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s late=%v", request, when, late), func(t *testing.T) {
					e, g := newEmulator(t)
					e.Slow, e.Late = 2, late
					o := order("guest-1", 0)
					o.Options["firewall"] = "create"
					step := func(what string, do func() error) {
						if !e.has(request, what) {
							if err := do(); err != nil {
								t.Fatalf("%s: %v", what, err)
							}
							return
						}
						e.Do(func() { e.Lose[request] = when })
						if err := do(); err != nil { // the program exited; a next one does it again
							e.Do(func() { delete(e.Lose, request) })
							o.Attempt++
							if err := do(); err != nil {
								t.Fatalf("%s, again: %v", what, err)
							}
						}
					}
					step("create", func() error { _, err := g.Create(t.Context(), o, []byte(secret)); return err })
					if got := e.left(); !slices.Equal(got, []string{"europe-west1-b/guest-1", "rule " + ruleName(o)}) {
						t.Fatalf("made: %v", got)
					}
					step("clean", func() error { return g.Clean(t.Context(), o) })
					e.Do(func() {
						if strings.Contains(fmt.Sprint(e.Instances), "cGxhbnRlZC10b2tlbg") {
							t.Error("the token is still in the metadata")
						}
					})
					step("delete", func() error { return g.Delete(t.Context(), o) })
					if got := e.left(); len(got) > 0 {
						t.Errorf("left: %v", got)
					}
					begun := func(target string) (n int) { e.Do(func() { n = e.Begun(target) }); return n }
					for target, want := range map[string]int{"instances/guest-1": 3, "firewalls/" + ruleName(o): 2} {
						if n := begun(target); n != want {
							t.Errorf("%d operations on %s, want %d: something was done twice", n, target, want)
						}
					}
				})
			}
		}
	}
}

// has reports whether a request belongs to a step.
func (e *emulator) has(request, step string) bool {
	return map[string]string{
		"POST instances": "create", "POST firewalls": "create", "GET operations": "create", "GET instances": "create",
		"DELETE instances": "delete", "DELETE firewalls": "delete", "POST instances setMetadata": "clean",
	}[request] == step
}

// TestKilledInsert: a run that is killed while the machine is being made finds it, although
// nothing shows it yet, and makes no second one, in no zone.
func TestKilledInsert(t *testing.T) {
	e, g := newEmulator(t)
	e.Slow, e.Late = 50, true
	o := order("guest-1", 0)
	ctx, kill := contextFor(t)
	go func() {
		for e.count("POST") == 0 {
			time.Sleep(time.Millisecond)
		}
		kill()
	}()
	if _, err := g.Create(ctx, o, []byte(secret)); err == nil {
		t.Fatal("it was not killed")
	}
	if len(e.left()) > 0 {
		t.Fatal("it is there already: the test shows nothing")
	}
	o.Attempt++
	if _, err := g.Create(t.Context(), o, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	if n := e.count("POST zones"); n != 1 || len(e.left()) != 1 {
		t.Errorf("%d requests, %v", n, e.left())
	}
}

func (e *emulator) count(prefix string) int {
	n := 0
	e.Do(func() {
		for _, s := range e.Seen {
			if strings.HasPrefix(s, prefix) {
				n++
			}
		}
	})
	return n
}

// TestRefused: a machine of somebody else, a full zone, a zone that is gone, a refusal.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *emulator)
		where  string
		want   string
	}{
		{"a machine of somebody else", func(e *emulator) {
			e.Instances["europe-west1-c/guest-1"] = &computepb.Instance{Name: proto.String("guest-1")}
		}, "", "somebody else's"},
		{"a copy with all labels", func(e *emulator) {
			e.Instances["europe-west1-b/guest-1"] = &computepb.Instance{Name: proto.String("guest-1"), Labels: labels(order("", 0)), Description: proto.String("a copy")}
		}, "", "somebody else's"},
		{"the marks of another run", func(e *emulator) {
			l := labels(order("", 0))
			l[labelRun] = "w-9999999999"
			e.Instances["europe-west1-b/guest-1"] = &computepb.Instance{Name: proto.String("guest-1"), Labels: l, Description: proto.String(description(order("", 0)))}
		}, "", "somebody else's"},
		{"a zone is full", func(e *emulator) { e.Exhausted["europe-west1-b"] = true }, "europe-west1-c", ""},
		{"a zone is gone", func(e *emulator) { delete(e.Zones, "europe-west1-b") }, "europe-west1-c", ""},
		{"all zones are full", func(e *emulator) { e.Exhausted["europe-west1-b"], e.Exhausted["europe-west1-c"] = true, true }, "", "no zone has room"},
		{"no permission", func(e *emulator) { e.Refuse["POST instances"] = 403 }, "", "403"},
		{"no permission to look", func(e *emulator) { e.Refuse["GET instances"] = 403 }, "", "look for instance"},
		{"the server fails", func(e *emulator) { e.Refuse["POST instances"] = 503 }, "", "503"},
		{"a rule of somebody else", func(e *emulator) {
			e.Rules[ruleName(order("", 0))] = &computepb.Firewall{Name: proto.String("x"), Description: proto.String("ours")}
		}, "", "not one of rollcall's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, g := newEmulator(t)
			c.change(e)
			before := e.left()
			o := order("guest-1", 0)
			o.Options["firewall"] = "create"
			_, err := g.Create(t.Context(), o, []byte(secret))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "cGxhbnRlZC10b2tlbg") {
					t.Fatalf("Create: %v, want %q", err, c.want)
				}
				if err := g.Delete(t.Context(), o); err != nil && c.name != "no permission to look" && c.name != "a rule of somebody else" {
					t.Errorf("Delete: %v", err)
				}
				if got := e.left(); !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "rule rollcall-") }), slices.DeleteFunc(before, func(s string) bool { return strings.HasPrefix(s, "rule rollcall-") })) {
					t.Errorf("left: %v, was %v", got, before)
				}
				return
			}
			if err != nil || e.Instances[c.where+"/guest-1"] == nil {
				t.Errorf("Create: %v, %v", err, e.left())
			}
		})
	}
}
