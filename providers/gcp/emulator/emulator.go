// Package emulator is the part of the Compute Engine API that the provider calls, over HTTP, with
// the names of https://cloud.google.com/compute/docs/reference/rest/v1. Tests talk to it with
// the library of Google; cmd/gcp-emulator serves it to the programs of a lab.
//
// Invariants:
//   - An operation is in progress for a number of looks, and for as long as the machine behind
//     the instance needs.
//   - A request id that it has seen gives the operation that it had.
package emulator

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Emulator is one project. Its fields are what it has and how it behaves; they are changed
// before it serves, or within Do.
type Emulator struct {
	mu sync.Mutex

	Wrong    func(what string) // is called with what the real API would not take
	Machines Machines          // behind the instances; nil: none

	Zones     map[string]string              // to status
	Instances map[string]*computepb.Instance // by ZONE/NAME
	Rules     map[string]*computepb.Firewall
	Lacks     map[string]string // zone to a machine type that it does not have
	Image     *computepb.Image
	Quotas    []*computepb.Quota
	NAT       bool
	May       []string // permissions on subnetworks

	Slow      int               // looks until an operation is done
	Late      bool              // an instance is seen when its operation is done, not before
	Exhausted map[string]bool   // zones
	Lose      map[string]string // "POST instances" etc. to "before" or "after": once
	Refuse    map[string]int    // the same to an HTTP status: always
	Raced     func()            // between the read of metadata and its write: once
	Seen      []string          // requests that change something
	Bodies    []string          // of them
	Serial    string

	ops      map[string]*pending
	requests map[string]string        // id to operation
	turns    map[string]chan struct{} // machine to the end of what was begun with it last
}

// pending is an operation, and what it does when it is done.
type pending struct {
	op     *computepb.Operation
	zone   string
	left   int
	do     func() *computepb.Error
	busy   bool  // the machine behind the instance is not done
	failed error // of the machine
}

// New returns a project with two zones of one region, an image and room.
func New() *Emulator {
	e := &Emulator{
		Wrong: func(string) {},
		Zones: map[string]string{"europe-west1-b": "UP", "europe-west1-c": "UP"}, Instances: map[string]*computepb.Instance{},
		Rules: map[string]*computepb.Firewall{}, Exhausted: map[string]bool{}, Lose: map[string]string{}, Refuse: map[string]int{},
		NAT: true, May: []string{"compute.subnetworks.use"},
		Image: &computepb.Image{Name: proto.String("rhcos"), Status: proto.String("READY"), DiskSizeGb: proto.Int64(16)},
		ops:   map[string]*pending{}, requests: map[string]string{}, turns: map[string]chan struct{}{},
	}
	for metric, limit := range map[string]float64{"N2_CPUS": 100, "CPUS": 100, "INSTANCES": 100, "SSD_TOTAL_GB": 5000} {
		e.Quotas = append(e.Quotas, &computepb.Quota{Metric: proto.String(metric), Limit: proto.Float64(limit), Usage: proto.Float64(10)})
	}
	return e
}

// Do changes it or looks at it while it serves: also a connection that was cut is still being
// served.
func (e *Emulator) Do(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
}

// Begun counts the operations on something, by the end of its name. The caller is in Do.
func (e *Emulator) Begun(target string) int {
	n := 0
	for _, p := range e.ops {
		if strings.HasSuffix(p.op.GetTargetLink(), target) {
			n++
		}
	}
	return n
}

func (e *Emulator) wrong(format string, args ...any) { e.Wrong(fmt.Sprintf(format, args...)) }

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/compute/v1/projects/"), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.wrong("%v", err)
	}
	kind := r.Method + " " + kindOf(parts)
	if r.Method != http.MethodGet && !strings.HasSuffix(kind, "wait") && !strings.HasSuffix(kind, "testIamPermissions") {
		e.Seen = append(e.Seen, r.Method+" "+strings.Join(parts[1:], "/"))
		e.Bodies = append(e.Bodies, string(body))
	}
	switch lost := e.Lose[kind]; lost {
	case "before", "after":
		delete(e.Lose, kind)
		if lost == "after" {
			e.answer(httptest.NewRecorder(), r, parts, body)
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			e.wrong("%v", err)
			return
		}
		_ = c.Close() // as a connection that breaks
		return
	}
	if code := e.Refuse[kind]; code != 0 {
		fail(w, code, "refused by the test")
		return
	}
	e.answer(w, r, parts, body)
}

// kindOf is the collection of a path, with its verb.
func kindOf(parts []string) string {
	known := map[string]bool{"instances": true, "zones": true, "operations": true, "firewalls": true, "images": true, "subnetworks": true,
		"machineTypes": true, "routers": true, "regions": true}
	kind := ""
	for i, p := range parts {
		if known[p] && (i == 1 || i == 2 || i == 3) {
			kind = p
		}
	}
	if last := parts[len(parts)-1]; last == "setMetadata" || last == "wait" || last == "testIamPermissions" || last == "serialPort" {
		kind += " " + last
	}
	return kind
}

func fail(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": why,
		"errors": []any{map[string]any{"message": why, "domain": "global", "reason": "test"}}}})
}

func (e *Emulator) give(w http.ResponseWriter, m proto.Message) {
	raw, err := protojson.Marshal(m)
	if err != nil {
		e.wrong("%v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

func (e *Emulator) answer(w http.ResponseWriter, r *http.Request, parts []string, body []byte) {
	switch {
	case parts[1] == "zones" && len(parts) >= 3:
		e.zone(w, r, parts[2], parts[3:], body)
	case parts[1] == "regions" && len(parts) == 3:
		e.give(w, &computepb.Region{Quotas: e.Quotas})
	case parts[1] == "regions":
		e.region(w, parts[3:])
	case parts[1] == "aggregated":
		e.aggregated(w, r.URL.Query().Get("filter"))
	case parts[1] == "global" && parts[2] == "images":
		if parts[4-1] != e.Image.GetName() {
			fail(w, http.StatusNotFound, "no such image")
			return
		}
		e.give(w, e.Image)
	case parts[1] == "global" && parts[2] == "firewalls":
		e.firewall(w, r, parts[3:], body)
	case parts[1] == "global" && parts[2] == "operations":
		e.operation(w, parts[3])
	default:
		e.wrong("the emulator has no %s %s", r.Method, r.URL.Path)
		fail(w, http.StatusNotImplemented, "not emulated")
	}
}

func (e *Emulator) region(w http.ResponseWriter, rest []string) {
	switch {
	case rest[0] == "subnetworks" && len(rest) == 2:
		e.give(w, &computepb.Subnetwork{Name: proto.String(rest[1]), IpCidrRange: proto.String("10.8.0.0/24"),
			Network: proto.String("https://www.googleapis.com/compute/v1/projects/project1/global/networks/default")})
	case rest[0] == "subnetworks":
		e.give(w, &computepb.TestPermissionsResponse{Permissions: e.May})
	case rest[0] == "routers":
		list := &computepb.RouterList{}
		if e.NAT {
			list.Items = []*computepb.Router{{Name: proto.String("r"), Network: proto.String("projects/project1/global/networks/default"),
				Nats: []*computepb.RouterNat{{Name: proto.String("n")}}}}
		}
		e.give(w, list)
	}
}

func (e *Emulator) zone(w http.ResponseWriter, r *http.Request, zone string, rest []string, body []byte) {
	state := e.Zones[zone]
	switch {
	case state == "":
		fail(w, http.StatusNotFound, "The resource 'projects/project1/zones/"+zone+"' was not found")
	case len(rest) == 0:
		e.give(w, &computepb.Zone{Name: &zone, Status: &state})
	case rest[0] == "machineTypes" && rest[1] == e.Lacks[zone]:
		fail(w, http.StatusNotFound, "The resource 'projects/project1/zones/"+zone+"/machineTypes/"+rest[1]+"' was not found")
	case rest[0] == "machineTypes":
		e.give(w, &computepb.MachineType{Name: &rest[1], GuestCpus: proto.Int32(4)})
	case rest[0] == "operations" && len(rest) == 1:
		list := &computepb.OperationList{}
		for _, p := range e.ops {
			if p.zone == zone && p.op.GetStatus() != computepb.Operation_DONE {
				list.Items = append(list.Items, p.op)
			}
		}
		e.give(w, list)
	case rest[0] == "operations":
		e.operation(w, rest[1])
	case rest[0] == "instances":
		e.instance(w, r, zone, rest[1:], body)
	}
}

func (e *Emulator) aggregated(w http.ResponseWriter, filter string) {
	list := &computepb.InstanceAggregatedList{Items: map[string]*computepb.InstancesScopedList{}}
	key, value, _ := strings.Cut(strings.TrimPrefix(filter, "labels."), " = ")
	for at, i := range e.Instances {
		zone, _, _ := strings.Cut(at, "/")
		if fmt.Sprintf("%q", i.GetLabels()[key]) == value {
			list.Items["zones/"+zone] = &computepb.InstancesScopedList{Instances: []*computepb.Instance{i}}
		}
	}
	e.give(w, list)
}

func (e *Emulator) firewall(w http.ResponseWriter, r *http.Request, rest []string, body []byte) {
	switch {
	case len(rest) == 0 && r.Method == http.MethodGet:
		list := &computepb.FirewallList{}
		for _, f := range e.Rules {
			list.Items = append(list.Items, f)
		}
		e.give(w, list)
	case len(rest) == 0:
		f := &computepb.Firewall{}
		if err := protojson.Unmarshal(body, f); err != nil {
			e.wrong("%v", err)
		}
		e.begin(w, r, "", "global/firewalls/"+f.GetName(), func() (int, string) {
			if e.Rules[f.GetName()] != nil {
				return http.StatusConflict, "already exists"
			}
			e.Rules[f.GetName()] = f
			return 0, ""
		}, nil)
	case e.Rules[rest[0]] == nil:
		fail(w, http.StatusNotFound, "no such rule")
	case r.Method == http.MethodDelete:
		e.begin(w, r, "", "global/firewalls/"+rest[0], func() (int, string) { return 0, "" }, func() *computepb.Error { delete(e.Rules, rest[0]); return nil })
	case r.Method == http.MethodGet:
		e.give(w, e.Rules[rest[0]])
	default:
		e.wrong("a rule is edited: %s %s", r.Method, r.URL.Path)
	}
}
