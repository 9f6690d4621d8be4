package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// emulator is the part of the Compute Engine API that the provider calls, over HTTP, with the
// names of https://cloud.google.com/compute/docs/reference/rest/v1. Operations are in progress
// for a number of looks, and a request id that it has seen gives the operation that it had.
type emulator struct {
	t  *testing.T
	mu sync.Mutex

	zones     map[string]string // to status
	instances map[string]*computepb.Instance
	rules     map[string]*computepb.Firewall
	ops       map[string]*pending
	requests  map[string]string // id to operation
	image     *computepb.Image
	quotas    []*computepb.Quota
	nat       bool
	may       []string

	slow      int               // looks until an operation is done
	late      bool              // an instance is seen when its operation is done, not before
	exhausted map[string]bool   // zones
	lose      map[string]string // "POST instances" etc. to "before" or "after": once
	refuse    map[string]int    // the same to an HTTP status: always
	raced     func()            // between the read of metadata and its write: once
	seen      []string          // requests that change something
	bodies    []string          // of them
	serial    string
}

// pending is an operation, and what it does when it is done.
type pending struct {
	op   *computepb.Operation
	zone string
	left int
	do   func() *computepb.Error
}

func newEmulator(t *testing.T) (*emulator, *gcp) {
	t.Helper()
	e := &emulator{
		t: t, zones: map[string]string{"europe-west1-b": "UP", "europe-west1-c": "UP"}, instances: map[string]*computepb.Instance{},
		rules: map[string]*computepb.Firewall{}, ops: map[string]*pending{}, requests: map[string]string{}, exhausted: map[string]bool{},
		lose: map[string]string{}, refuse: map[string]int{}, nat: true, may: []string{"compute.subnetworks.use"},
		image: &computepb.Image{Name: proto.String("rhcos"), Status: proto.String("READY"), DiskSizeGb: proto.Int64(16)},
	}
	for metric, limit := range map[string]float64{"N2_CPUS": 100, "CPUS": 100, "INSTANCES": 100, "SSD_TOTAL_GB": 5000} {
		e.quotas = append(e.quotas, &computepb.Quota{Metric: proto.String(metric), Limit: proto.Float64(limit), Usage: proto.Float64(10)})
	}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	c, err := newClients(t.Context(), option.WithEndpoint(server.URL), option.WithoutAuthentication())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return e, &gcp{api: c}
}

// ServeHTTP implements http.Handler.
func (e *emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/compute/v1/projects/"), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.t.Error(err)
	}
	kind := r.Method + " " + kindOf(parts)
	if r.Method != http.MethodGet && !strings.HasSuffix(kind, "wait") && !strings.HasSuffix(kind, "testIamPermissions") {
		e.seen = append(e.seen, r.Method+" "+strings.Join(parts[1:], "/"))
		e.bodies = append(e.bodies, string(body))
	}
	switch lost := e.lose[kind]; lost {
	case "before", "after":
		delete(e.lose, kind)
		if lost == "after" {
			e.answer(httptest.NewRecorder(), r, parts, body)
		}
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			e.t.Error(err)
			return
		}
		_ = c.Close() // as a connection that breaks
		return
	}
	if code := e.refuse[kind]; code != 0 {
		fail(w, code, "refused by the test")
		return
	}
	e.answer(w, r, parts, body)
}

// kindOf is the collection of a path, with its verb.
func kindOf(parts []string) string {
	known := map[string]bool{"instances": true, "zones": true, "operations": true, "firewalls": true, "images": true, "subnetworks": true, "machineTypes": true, "routers": true, "regions": true}
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
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": why, "errors": []any{map[string]any{"message": why, "domain": "global", "reason": "test"}}}})
}

func (e *emulator) give(w http.ResponseWriter, m proto.Message) {
	raw, err := protojson.Marshal(m)
	if err != nil {
		e.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

func (e *emulator) answer(w http.ResponseWriter, r *http.Request, parts []string, body []byte) {
	switch {
	case parts[1] == "zones" && len(parts) >= 3:
		e.zone(w, r, parts[2], parts[3:], body)
	case parts[1] == "regions" && len(parts) == 3:
		e.give(w, &computepb.Region{Quotas: e.quotas})
	case parts[1] == "regions":
		e.region(w, parts[3:])
	case parts[1] == "aggregated":
		e.aggregated(w, r.URL.Query().Get("filter"))
	case parts[1] == "global" && parts[2] == "images":
		if parts[4-1] != e.image.GetName() {
			fail(w, http.StatusNotFound, "no such image")
			return
		}
		e.give(w, e.image)
	case parts[1] == "global" && parts[2] == "firewalls":
		e.firewall(w, r, parts[3:], body)
	case parts[1] == "global" && parts[2] == "operations":
		e.operation(w, parts[3])
	default:
		e.t.Errorf("the emulator has no %s %s", r.Method, r.URL.Path)
		fail(w, http.StatusNotImplemented, "not emulated")
	}
}

func (e *emulator) region(w http.ResponseWriter, rest []string) {
	switch {
	case rest[0] == "subnetworks" && len(rest) == 2:
		e.give(w, &computepb.Subnetwork{Name: proto.String(rest[1]), IpCidrRange: proto.String("10.8.0.0/24"), Network: proto.String("https://www.googleapis.com/compute/v1/projects/project1/global/networks/default")})
	case rest[0] == "subnetworks":
		e.give(w, &computepb.TestPermissionsResponse{Permissions: e.may})
	case rest[0] == "routers":
		list := &computepb.RouterList{}
		if e.nat {
			list.Items = []*computepb.Router{{Name: proto.String("r"), Network: proto.String("projects/project1/global/networks/default"), Nats: []*computepb.RouterNat{{Name: proto.String("n")}}}}
		}
		e.give(w, list)
	}
}

func (e *emulator) zone(w http.ResponseWriter, r *http.Request, zone string, rest []string, body []byte) {
	state := e.zones[zone]
	switch {
	case state == "":
		fail(w, http.StatusNotFound, "The resource 'projects/project1/zones/"+zone+"' was not found")
	case len(rest) == 0:
		e.give(w, &computepb.Zone{Name: &zone, Status: &state})
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

// operation answers a look at an operation, which brings it forward.
func (e *emulator) operation(w http.ResponseWriter, name string) {
	p := e.ops[name]
	if p == nil {
		fail(w, http.StatusNotFound, "no such operation")
		return
	}
	if p.left--; p.left <= 0 && p.op.GetStatus() != computepb.Operation_DONE {
		p.op.Status = computepb.Operation_DONE.Enum()
		if p.do != nil {
			if p.op.Error = p.do(); p.op.Error != nil {
				p.op.HttpErrorStatusCode = proto.Int32(http.StatusServiceUnavailable)
			}
		}
	}
	e.give(w, p.op)
}

// begin starts an operation, or returns the one that the request id has started.
func (e *emulator) begin(w http.ResponseWriter, r *http.Request, zone, target string, start func() (int, string), do func() *computepb.Error) {
	id := r.URL.Query().Get("requestId")
	if id == "" {
		e.t.Errorf("%s %s has no request id", r.Method, r.URL.Path)
	}
	if name, again := e.requests[id]; again {
		e.give(w, e.ops[name].op)
		return
	}
	if code, why := start(); code != 0 {
		fail(w, code, why)
		return
	}
	name := fmt.Sprintf("operation-%d", len(e.ops))
	e.requests[id] = name
	e.ops[name] = &pending{zone: zone, left: e.slow, do: do, op: &computepb.Operation{
		Name: &name, Status: computepb.Operation_RUNNING.Enum(), TargetLink: proto.String("https://www.googleapis.com/compute/v1/projects/project1/" + target),
	}}
	e.give(w, e.ops[name].op)
}

func (e *emulator) instance(w http.ResponseWriter, r *http.Request, zone string, rest []string, body []byte) {
	if len(rest) == 0 {
		i := &computepb.Instance{}
		if err := protojson.Unmarshal(body, i); err != nil {
			e.t.Error(err)
		}
		key := zone + "/" + i.GetName()
		place := func() {
			i.Id = proto.Uint64(uint64(len(e.requests) + 100))
			i.Metadata.Fingerprint = proto.String("f0")
			i.NetworkInterfaces[0].NetworkIP = proto.String(fmt.Sprintf("10.8.0.%d", len(e.instances)+2))
			e.instances[key] = i
		}
		e.begin(w, r, zone, "zones/"+zone+"/instances/"+i.GetName(), func() (int, string) {
			if e.instances[key] != nil {
				return http.StatusConflict, "already exists"
			}
			if !e.late && !e.exhausted[zone] {
				place()
			}
			return 0, ""
		}, func() *computepb.Error {
			if e.exhausted[zone] {
				return &computepb.Error{Errors: []*computepb.Errors{{Code: proto.String("ZONE_RESOURCE_POOL_EXHAUSTED"), Message: proto.String("no room")}}}
			}
			if e.late {
				place()
			}
			return nil
		})
		return
	}
	key := zone + "/" + rest[0]
	i := e.instances[key]
	if i == nil {
		fail(w, http.StatusNotFound, "no such instance")
		return
	}
	target := "zones/" + zone + "/instances/" + rest[0]
	switch {
	case r.Method == http.MethodDelete:
		e.begin(w, r, zone, target, func() (int, string) { return 0, "" }, func() *computepb.Error { delete(e.instances, key); return nil })
	case len(rest) == 1:
		e.give(w, i)
	case rest[1] == "serialPort":
		e.give(w, &computepb.SerialPortOutput{Contents: &e.serial})
	case rest[1] == "setMetadata":
		if e.raced != nil {
			e.raced()
			e.raced = nil
		}
		m := &computepb.Metadata{}
		if err := protojson.Unmarshal(body, m); err != nil {
			e.t.Error(err)
		}
		e.begin(w, r, zone, target, func() (int, string) {
			if m.GetFingerprint() != i.GetMetadata().GetFingerprint() {
				return http.StatusPreconditionFailed, "the fingerprint is another"
			}
			return 0, ""
		}, func() *computepb.Error {
			m.Fingerprint = proto.String(i.GetMetadata().GetFingerprint() + "x")
			i.Metadata = m
			return nil
		})
	}
}

func (e *emulator) aggregated(w http.ResponseWriter, filter string) {
	list := &computepb.InstanceAggregatedList{Items: map[string]*computepb.InstancesScopedList{}}
	key, value, _ := strings.Cut(strings.TrimPrefix(filter, "labels."), " = ")
	for at, i := range e.instances {
		zone, _, _ := strings.Cut(at, "/")
		if fmt.Sprintf("%q", i.GetLabels()[key]) == value {
			list.Items["zones/"+zone] = &computepb.InstancesScopedList{Instances: []*computepb.Instance{i}}
		}
	}
	e.give(w, list)
}

func (e *emulator) firewall(w http.ResponseWriter, r *http.Request, rest []string, body []byte) {
	switch {
	case len(rest) == 0 && r.Method == http.MethodGet:
		list := &computepb.FirewallList{}
		for _, f := range e.rules {
			list.Items = append(list.Items, f)
		}
		e.give(w, list)
	case len(rest) == 0:
		f := &computepb.Firewall{}
		if err := protojson.Unmarshal(body, f); err != nil {
			e.t.Error(err)
		}
		e.begin(w, r, "", "global/firewalls/"+f.GetName(), func() (int, string) {
			if e.rules[f.GetName()] != nil {
				return http.StatusConflict, "already exists"
			}
			e.rules[f.GetName()] = f
			return 0, ""
		}, nil)
	case e.rules[rest[0]] == nil:
		fail(w, http.StatusNotFound, "no such rule")
	case r.Method == http.MethodDelete:
		e.begin(w, r, "", "global/firewalls/"+rest[0], func() (int, string) { return 0, "" }, func() *computepb.Error { delete(e.rules, rest[0]); return nil })
	case r.Method == http.MethodGet:
		e.give(w, e.rules[rest[0]])
	default:
		e.t.Errorf("a rule is edited: %s %s", r.Method, r.URL.Path)
	}
}
