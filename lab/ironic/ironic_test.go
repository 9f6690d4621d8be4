package ironic

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
)

const mac = "52:54:00:00:00:01"

type bench struct {
	t      *testing.T
	ironic *Ironic
	bmc    *bmc.BMC
	log    *buffer
	uuid   string
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newBench has one BMC and a node for it; agent says whether the machine behind
// the BMC boots the image and calls.
func newBench(t *testing.T, agent bool, vendor bmc.Vendor, every ...time.Duration) *bench {
	t.Helper()
	return benchWith(t, agent, 300*time.Millisecond, vendor, every...)
}

// benchWith is newBench with how long Ironic waits for the agent's call where none comes.
func benchWith(t *testing.T, agent bool, callTimeout time.Duration, vendor bmc.Vendor, every ...time.Duration) *bench {
	t.Helper()
	interval := time.Hour // between two looks at the power
	if len(every) > 0 {
		interval = every[0]
	}
	if agent {
		callTimeout = time.Hour
	}
	log := &buffer{}
	i, err := Start(Config{
		Address: "127.0.0.1:0", ImageURL: "http://127.0.0.1:6180", Log: log,
		PowerTimeout: 50 * time.Millisecond, CallTimeout: callTimeout, SyncInterval: interval, ConnectRetries: 2, ConnectWait: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	var agents sync.WaitGroup
	t.Cleanup(func() { cancel(); agents.Wait() })
	machine := Machine{Hostname: "w0", Serial: "S1", Vendor: "V", Product: "P", MACs: []string{mac}, Address: "127.0.0.9"}
	b, err := bmc.Start(bmc.Config{
		Name: "w0", Address: "127.0.0.1:0", Vendor: vendor, Serial: "S1", MACs: []string{mac}, User: "admin", Pass: "right",
		PowerChanged: func(on bool, boot bmc.Boot) {
			if agent && on && boot.Target == "Cd" && boot.Image != "" {
				agents.Go(func() { machine.Agent(ctx, i.URL()) }) //nolint:errcheck // ends with the test
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	x := &bench{t: t, ironic: i, bmc: b, log: log}
	x.uuid = x.enroll("openshift-machine-api~w0", "right", false)
	return x
}

func (x *bench) enroll(name, pass string, verify bool) string {
	x.t.Helper()
	var n struct{ UUID string }
	x.must(201, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": name, "driver_info": map[string]any{
		"redfish_address": x.bmc.URL(), "redfish_system_id": x.bmc.SystemPath(), "redfish_username": "admin", "redfish_password": pass, "redfish_verify_ca": verify,
	}}, nil)
	if status, err := post(x.t.Context(), "GET", x.ironic.URL()+"/v1/nodes/"+name, nil, &n); status != 200 || err != nil {
		x.t.Fatal(status, err)
	}
	return n.UUID
}

func (x *bench) must(want int, method, path string, body, into any) {
	x.t.Helper()
	status, err := post(x.t.Context(), method, x.ironic.URL()+path, body, into)
	if err != nil || status != want {
		x.t.Fatalf("%s %s: %d, %v; want %d", method, path, status, err, want)
	}
}

func (x *bench) target(uuid, target string) {
	x.t.Helper()
	for range 500 {
		status, err := post(x.t.Context(), "PUT", x.ironic.URL()+"/v1/nodes/"+uuid+"/states/provision", map[string]any{"target": target}, nil)
		if err != nil || status != 409 { // locked by a look at the power
			if status != 202 {
				x.t.Fatalf("target %s: %d, %v", target, status, err)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
	x.t.Fatalf("target %s: locked", target)
}

type view struct {
	State     string `json:"provision_state"`
	LastError string `json:"last_error"`
	Power     string `json:"power_state"`
	Fault     string
	Info      map[string]any `json:"driver_info"`
}

// until polls a node until ok, and returns it.
func (x *bench) until(uuid string, ok func(view) bool) view {
	x.t.Helper()
	var v view
	for range 3000 {
		v = view{}
		x.must(200, "GET", "/v1/nodes/"+uuid, nil, &v)
		if ok(v) {
			return v
		}
		time.Sleep(10 * time.Millisecond)
	}
	x.t.Fatalf("node stays %+v\n%s", v, x.log)
	return v
}

func in(state string) func(view) bool { return func(v view) bool { return v.State == state } }

// TestLife: a machine is verified, inspected, cleaned and deployed through each
// vendor's BMC, and its image is taken out again.
func TestLife(t *testing.T) {
	for _, vendor := range []bmc.Vendor{bmc.Dell, bmc.HPE, bmc.Lenovo, bmc.Supermicro} {
		t.Run(string(vendor), func(t *testing.T) {
			x := newBench(t, true, vendor)
			x.must(201, "POST", "/v1/ports", map[string]any{"node_uuid": x.uuid, "address": strings.ToUpper(mac), "pxe_enabled": true}, nil)
			x.target(x.uuid, "manage")
			v := x.until(x.uuid, in(manageable))
			if v.Info["redfish_password"] != "******" {
				t.Errorf("the password is given out: %v", v.Info)
			}
			x.must(404, "GET", "/v1/nodes/"+x.uuid+"/inventory", nil, nil)
			x.target(x.uuid, "inspect")
			x.until(x.uuid, in(manageable))
			var inv struct{ Inventory struct{ Hostname string } }
			x.must(200, "GET", "/v1/nodes/"+x.uuid+"/inventory", nil, &inv)
			if inv.Inventory.Hostname != "w0" {
				t.Errorf("inventory %+v", inv)
			}
			x.target(x.uuid, "provide")
			if v := x.until(x.uuid, in(available)); v.Power != powerOff || x.bmc.On() {
				t.Errorf("after cleaning %+v, on %v", v, x.bmc.On())
			}
			x.target(x.uuid, "active")
			if v := x.until(x.uuid, in(active)); v.Power != powerOn || !x.bmc.On() {
				t.Errorf("after deployment %+v, on %v", v, x.bmc.On())
			}
		})
	}
}

// TestErrors: what a BMC does wrong arrives in the words of ironic and sushy.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		trouble bmc.Trouble
		pass    string
		verify  bool
		closed  bool
		want    []string
	}{
		{"wrong password", bmc.Trouble{}, "wrong", false, false, []string{"Failed to get power state for node", "HTTP GET https://127.0.0.1:", "returned code 401. Base.1.8.NoValidSession"}},
		{"account locked", bmc.Trouble{Locked: true}, "right", false, false, []string{"returned code 401"}},
		{"unavailable", bmc.Trouble{Unavailable: true}, "right", false, false, []string{"returned code 503"}},
		{"certificate", bmc.Trouble{}, "right", true, false, []string{"Redfish connection failed for node", "Unable to connect to https://", "CERTIFICATE_VERIFY_FAILED"}},
		{"gone", bmc.Trouble{}, "right", false, true, []string{"Redfish connection failed for node", "Connection refused"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newBench(t, false, bmc.Dell)
			uuid := x.enroll("other", test.pass, test.verify)
			x.bmc.Behave(test.trouble)
			if test.closed {
				x.bmc.Close()
			}
			x.target(uuid, "manage")
			v := x.until(uuid, func(v view) bool { return v.State == enroll && v.LastError != "" })
			for _, want := range test.want {
				if !strings.Contains(v.LastError, want) {
					t.Errorf("%q lacks %q", v.LastError, want)
				}
			}
			if strings.Contains(v.LastError+x.log.String(), test.pass) {
				t.Error("the password is in the words")
			}
		})
	}
}

func TestInspectionTimesOut(t *testing.T) {
	x := newBench(t, false, bmc.Dell)
	x.target(x.uuid, "manage")
	x.until(x.uuid, in(manageable))
	x.target(x.uuid, "inspect")
	v := x.until(x.uuid, in(inspectFail))
	if !strings.HasPrefix(v.LastError, "Timeout reached while inspecting the node.") {
		t.Errorf("last error %q", v.LastError)
	}
}

func TestInspectionIsAborted(t *testing.T) {
	x := benchWith(t, false, time.Hour, bmc.Dell)
	x.target(x.uuid, "manage")
	x.until(x.uuid, in(manageable))
	x.target(x.uuid, "inspect")
	x.until(x.uuid, in(inspectWait))
	x.target(x.uuid, "abort")
	x.until(x.uuid, in(inspectFail))
	x.must(400, "PUT", "/v1/nodes/"+x.uuid+"/states/provision", map[string]any{"target": "abort"}, nil)
}

func TestPowerStaysOff(t *testing.T) {
	x := newBench(t, false, bmc.HPE)
	x.target(x.uuid, "manage")
	x.until(x.uuid, in(manageable))
	x.bmc.Behave(bmc.Trouble{PowerStuck: true})
	x.must(202, "PUT", "/v1/nodes/"+x.uuid+"/states/power", map[string]any{"target": "power on"}, nil)
	v := x.until(x.uuid, func(v view) bool { return v.LastError != "" })
	if v.LastError != "Failed to change power state to 'power on' by 'power on': Failed to set node power state to power on." {
		t.Errorf("last error %q", v.LastError)
	}
}

// TestPowerIsSynced: what somebody does at the button is seen, and a BMC that
// does not answer puts the node into maintenance until it answers again.
func TestPowerIsSynced(t *testing.T) {
	x := newBench(t, false, bmc.Dell, 20*time.Millisecond)
	x.target(x.uuid, "manage")
	x.until(x.uuid, in(manageable))
	x.bmc.SetPower(true)
	x.until(x.uuid, func(v view) bool { return v.Power == powerOn })
	x.bmc.Behave(bmc.Trouble{Unavailable: true})
	v := x.until(x.uuid, func(v view) bool { return v.Fault == "power failure" })
	if !strings.Contains(v.LastError, "During sync_power_state, max retries exceeded for node "+x.uuid) {
		t.Errorf("last error %q", v.LastError)
	}
	x.bmc.Behave(bmc.Trouble{})
	x.until(x.uuid, func(v view) bool { return v.Fault == "" && v.Power == powerOn })
}

func TestRefusals(t *testing.T) {
	x := newBench(t, false, bmc.Dell)
	x.must(201, "POST", "/v1/ports", map[string]any{"node_uuid": x.uuid, "address": mac}, nil)
	for _, test := range []struct {
		status       int
		method, path string
		body         any
	}{
		{409, "POST", "/v1/ports", map[string]any{"node_uuid": x.uuid, "address": strings.ToUpper(mac)}},
		{400, "POST", "/v1/ports", map[string]any{"node_uuid": "nobody", "address": "52:54:00:00:00:02"}},
		{409, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "openshift-machine-api~w0"}},
		{400, "POST", "/v1/nodes", map[string]any{"driver": "ipmi", "name": "x"}},
		{400, "PUT", "/v1/nodes/" + x.uuid + "/states/provision", map[string]any{"target": "inspect"}},
		{400, "PUT", "/v1/nodes/" + x.uuid + "/states/power", map[string]any{"target": "up"}},
		{400, "PATCH", "/v1/nodes/" + x.uuid, []any{map[string]any{"op": "add", "path": "/owner", "value": "me"}}},
		{404, "GET", "/v1/nodes/nobody", nil},
		{404, "GET", "/v1/lookup?addresses=" + mac, nil},
	} {
		t.Run(fmt.Sprintf("%s %s", test.method, test.path), func(t *testing.T) {
			x.must(test.status, test.method, test.path, test.body, nil)
		})
	}
}

// TestBusyNodeIsLocked: while a BMC takes its time, no one changes the node.
func TestBusyNodeIsLocked(t *testing.T) {
	x := newBench(t, false, bmc.Dell)
	x.bmc.Behave(bmc.Trouble{Delay: 200 * time.Millisecond})
	x.target(x.uuid, "manage")
	x.must(409, "PATCH", "/v1/nodes/"+x.uuid, []any{map[string]any{"op": "add", "path": "/name", "value": "new"}}, nil)
	x.until(x.uuid, in(manageable))
	x.must(200, "PATCH", "/v1/nodes/"+x.uuid, []any{map[string]any{"op": "add", "path": "/name", "value": "new"}}, nil)
}

func TestOnlyLoopback(t *testing.T) {
	cfg := Config{Address: "0.0.0.0:0", PowerTimeout: 1, CallTimeout: 1, SyncInterval: 1}
	if i, err := Start(cfg); err == nil {
		i.Close()
		t.Fatal("listens on every address")
	}
	cfg.Address, cfg.CallTimeout = net.JoinHostPort("127.0.0.1", "0"), 0
	if i, err := Start(cfg); err == nil {
		i.Close()
		t.Fatal("a limit of nothing was accepted")
	}
}
