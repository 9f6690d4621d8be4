package bmc

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCards: a card whose MAC addresses a BMC does not show is no proof that an address is
// on none, and neither is a BMC that lists no cards at all.
func TestCards(t *testing.T) {
	const card = "/redfish/v1/Chassis/1/NetworkAdapters/s"
	listed := []NIC{{ID: "1", MAC: "52:54:00:aa:bb:01"}, {ID: "ToManager", MAC: "0a:8f:c3:a5:8a:71", Link: LinkDown, Internal: true}}
	for _, c := range []struct {
		name   string
		tree   map[string]string
		want   []NIC // besides what the system lists
		unread map[string]Unread
	}{
		{name: "ports that are not shown", tree: map[string]string{card + "/Ports": `{"Members":[]}`}, want: []NIC{{ID: "s", Model: "E810", Firmware: "4.2"}}},
		{name: "a port without an address", tree: map[string]string{card + "/Ports/1": `{"Id":"1","LinkStatus":"LinkUp"}`, card + "/Ports/2": `{"Id":"2"}`},
			want: []NIC{{ID: "s", Model: "E810", Firmware: "4.2"}}},
		{name: "addresses of functions only", tree: map[string]string{
			card:            `{"Id":"s","Model":"E810","NetworkDeviceFunctions":{"@odata.id":"` + card + `/F"}}`,
			card + "/F":     `{"Members":[{"@odata.id":"` + card + `/F/1"}]}`,
			card + "/F/1":   `{"Id":"1","NetDevFuncType":"Ethernet","Ethernet":{"MACAddress":"52:54:00:AA:BB:03"}}`,
			card + "/Ports": `{"Members":[]}`,
		}, want: []NIC{{ID: "s port 1", MAC: "52:54:00:aa:bb:03", Model: "E810"}}},
		{name: "fibre channel", tree: map[string]string{card + "/Ports/1": `{"Id":"1","LinkNetworkTechnology":"FibreChannel"}`, card + "/Ports/2": `{"Id":"2","LinkNetworkTechnology":"FibreChannel"}`}},
		{name: "an empty slot", tree: map[string]string{card: `{"Id":"s","Status":{"State":"Absent"}}`}},
		{name: "no cards", tree: map[string]string{"/redfish/v1/Chassis/1": `{}`},
			unread: map[string]Unread{PartCards: {Failure: Absent, Detail: "no chassis of the system lists network cards"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := emulate(t, nil)
			for path, body := range c.tree {
				e.tree[path] = body
			}
			a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
			if d := cmp.Diff(append(listed[:2:2], c.want...), a.NICs); d != "" {
				t.Errorf("NICs (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.unread, a.Unread); d != "" {
				t.Errorf("unread (-want +got):\n%s", d)
			}
		})
	}
}

// TestProcessorModel: some summaries name a family where the processor has its model.
func TestProcessorModel(t *testing.T) {
	e := emulate(t, nil)
	e.tree["/redfish/v1/Systems/1/Processors/1"] = `{"ProcessorType":"CPU","InstructionSet":"x86-64","TotalThreads":32,"Model":"Xeon Gold 6430"}`
	a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
	if a.System == nil || a.System.CPUModel != "Xeon Gold 6430" {
		t.Errorf("%+v", a.System)
	}
}

// TestRepeatedPassword: what a BMC repeats of the credential is in no answer.
func TestRepeatedPassword(t *testing.T) {
	e := emulate(t, nil)
	e.tree["/redfish/v1/Systems/1"] = strings.Replace(e.tree["/redfish/v1/Systems/1"], `"Model":"SR650"`, `"Model":"for `+goodPass+`"`, 1)
	e.tree["/redfish/v1/Managers/1/VirtualMedia/1"] = `{"Id":"1","MediaTypes":["CD"],"Inserted":true,"ImageName":"https://u:planted-name@h/a.iso"}`
	a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots()})[0]
	if a.System == nil || a.System.Model != "for (hidden)" || a.Media[0].Image != "a.iso" {
		t.Errorf("%+v, %+v", a.System, a.Media)
	}
}

// TestSlots: a drive that shows neither Inserted nor an image is not empty.
func TestSlots(t *testing.T) {
	for body, want := range map[string]Slot{
		`{"Id":"1","Inserted":false}`:                  {ID: "1", Untyped: true},
		`{"Id":"1","Image":null}`:                      {ID: "1", Untyped: true},
		`{"Id":"1","Inserted":null,"Image":"h/a.iso"}`: {ID: "1", Untyped: true, Inserted: true, Image: "a.iso"},
		`{"Id":"1","Inserted":null}`:                   {ID: "1", Untyped: true, Hidden: true},
	} {
		n := node{}
		if err := json.Unmarshal([]byte(body), &n); err != nil {
			t.Fatal(err)
		}
		if got := slotOf(n); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

// TestTimeWaited: the time that is named is the one that was waited, also where the time of the
// whole BMC is over before that of one answer.
func TestTimeWaited(t *testing.T) {
	e := emulate(t, func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	a := answers(t, Options{Targets: []Target{e.target("m0")}, Credentials: given(goodUser, goodPass), Roots: e.roots(), AnswerLimit: time.Hour, Limit: 300 * time.Millisecond})[0]
	if a.Failure != Timeout || !strings.HasSuffix(a.Error, "ms") {
		t.Errorf("%s %q, want a time below a second", a.Failure, a.Error)
	}
}
