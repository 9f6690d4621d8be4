package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxVersion is the newest microversion that is offered. The operator asks for
// at most 1.95 then, the one that brought disable_power_off
// (metal3-io/baremetal-operator:pkg/provisioner/ironic/clients/features.go).
const maxVersion = "1.95"

const maxBody = 1 << 20

func (i *Ironic) routes() http.Handler {
	mux := http.NewServeMux()
	version := map[string]any{"id": "v1", "status": "CURRENT", "min_version": "1.1", "version": maxVersion, "links": []any{}}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"name": "OpenStack Ironic API", "versions": []any{version}, "default_version": version})
	})
	for _, path := range []string{"GET /v1", "GET /v1/{$}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, map[string]any{"id": "v1", "version": version})
		})
	}
	mux.HandleFunc("GET /v1/drivers", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"drivers": []any{map[string]any{"name": "redfish", "hosts": []string{"localhost"}}}})
	})
	mux.HandleFunc("POST /v1/nodes", i.create)
	mux.HandleFunc("GET /v1/nodes", i.list)
	mux.HandleFunc("GET /v1/nodes/{id}", i.withNode(func(w http.ResponseWriter, _ *http.Request, n *node) { answer(w, 200, n.wire()) }))
	mux.HandleFunc("PATCH /v1/nodes/{id}", i.withNode(i.update))
	mux.HandleFunc("DELETE /v1/nodes/{id}", i.withNode(i.remove))
	mux.HandleFunc("GET /v1/nodes/{id}/validate", i.withNode(validate))
	mux.HandleFunc("PUT /v1/nodes/{id}/states/provision", i.withNode(i.provision))
	mux.HandleFunc("PUT /v1/nodes/{id}/states/power", i.withNode(i.setPower))
	mux.HandleFunc("PUT /v1/nodes/{id}/states/raid", i.withNode(func(w http.ResponseWriter, _ *http.Request, _ *node) { w.WriteHeader(204) }))
	mux.HandleFunc("PUT /v1/nodes/{id}/maintenance", i.withNode(maintain(true)))
	mux.HandleFunc("DELETE /v1/nodes/{id}/maintenance", i.withNode(maintain(false)))
	mux.HandleFunc("GET /v1/nodes/{id}/inventory", i.withNode(inventory))
	mux.HandleFunc("GET /v1/nodes/{id}/bios", i.withNode(func(w http.ResponseWriter, _ *http.Request,
		_ *node) {
		answer(w, 200, map[string]any{"bios": []any{}})
	}))
	mux.HandleFunc("GET /v1/nodes/{id}/firmware", i.withNode(func(w http.ResponseWriter, _ *http.Request, _ *node) {
		answer(w, 200, map[string]any{"firmware": []any{}})
	}))
	mux.HandleFunc("GET /v1/ports", i.listPorts)
	mux.HandleFunc("POST /v1/ports", i.createPort)
	mux.HandleFunc("GET /v1/lookup", i.lookup)
	mux.HandleFunc("POST /v1/continue_inspection", i.continueInspection)
	mux.HandleFunc("POST /v1/heartbeat/{id}", i.heartbeat)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-OpenStack-Ironic-API-Minimum-Version", "1.1")
		w.Header().Set("X-OpenStack-Ironic-API-Maximum-Version", maxVersion)
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	})
}

// withNode finds a node by UUID or name and calls do with the database locked.
func (i *Ironic) withNode(do func(http.ResponseWriter, *http.Request, *node)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		id := r.PathValue("id")
		n := i.nodes[id]
		for _, other := range i.nodes {
			if n == nil && other.name == id {
				n = other
			}
		}
		if n == nil {
			fail(w, 404, "Node %s could not be found.", id)
			return
		}
		do(w, r, n)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) //nolint:errcheck // who asked has gone
}

// fail answers as openstack/ironic:ironic/api/middleware/parsable_error.py does.
func fail(w http.ResponseWriter, status int, format string, args ...any) {
	answer(w, status, map[string]any{"error_message": map[string]any{"faultcode": "Client", "faultstring": fmt.Sprintf(format, args...), "debuginfo": nil}})
}

func locked(w http.ResponseWriter, n *node) bool {
	if n.reservation == "" {
		return false
	}
	fail(w, 409, "Node %s is locked by host %s, please retry after the current operation is completed.", n.uuid, n.reservation)
	return true
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		fail(w, 400, "Invalid JSON body: %v", err)
		return false
	}
	return true
}

func (i *Ironic) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if !decode(w, r, &body) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, other := range i.nodes {
		if other.name != "" && other.name == text(body, "name") {
			fail(w, 409, "A node with name %s already exists.", other.name)
			return
		}
	}
	if text(body, "driver") != "redfish" {
		fail(w, 400, "No valid host was found. Reason: No conductor service registered which supports driver %s.", text(body, "driver"))
		return
	}
	now := time.Now().UTC()
	n := &node{uuid: newUUID(), driver: "redfish", state: enroll, automatedClean: true, interfaces: map[string]string{}, created: now, updated: now}
	for key, otherwise := range interfaceNames {
		n.interfaces[key] = otherwise
	}
	for key, value := range body {
		if key == "driver" {
			continue
		}
		if err := n.patch("add", "/"+key, value); err != nil {
			fail(w, 400, "%v", err)
			return
		}
	}
	i.nodes[n.uuid] = n
	answer(w, 201, n.wire())
}

func (i *Ironic) list(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := []any{}
	for _, n := range i.nodes {
		out = append(out, n.wire())
	}
	answer(w, 200, map[string]any{"nodes": out})
}

func (i *Ironic) update(w http.ResponseWriter, r *http.Request, n *node) {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if locked(w, n) || !decode(w, r, &ops) {
		return
	}
	for _, op := range ops {
		if err := n.patch(op.Op, op.Path, op.Value); err != nil {
			fail(w, 400, "%v", err)
			return
		}
	}
	n.updated = time.Now().UTC()
	answer(w, 200, n.wire())
}

// remove deletes a node: in the states in which ironic allows it, and in any
// while it is in maintenance (openstack/ironic:ironic/conductor/manager.py destroy_node).
func (i *Ironic) remove(w http.ResponseWriter, _ *http.Request, n *node) {
	if locked(w, n) {
		return
	}
	if !n.maintenance && !slices.Contains([]string{enroll, manageable, available, inspectFail, cleanFail, adoptFail}, n.state) {
		fail(w, 400, "The requested action \"delete\" can not be performed on node \"%s\" while it is in state \"%s\".", n.uuid, n.state)
		return
	}
	delete(i.nodes, n.uuid)
	i.ports = slices.DeleteFunc(i.ports, func(p port) bool { return p.NodeUUID == n.uuid })
	w.WriteHeader(204)
}

func validate(w http.ResponseWriter, _ *http.Request, n *node) {
	out := map[string]any{}
	for name := range interfaceNames {
		out[strings.TrimSuffix(name, "_interface")] = map[string]any{"result": true}
	}
	if text(n.driverInfo, "redfish_address") == "" {
		out["power"] = map[string]any{"result": false, "reason": fmt.Sprintf("Missing the following Redfish properties in node %s driver_info: "+
			"['redfish_address']", n.uuid)}
	}
	answer(w, 200, out)
}

func maintain(on bool) func(http.ResponseWriter, *http.Request, *node) {
	return func(w http.ResponseWriter, r *http.Request, n *node) {
		n.maintenance, n.maintenanceReason = on, ""
		if on {
			var body map[string]any
			if !decode(w, r, &body) {
				return
			}
			n.maintenanceReason = text(body, "reason")
		}
		if !on {
			n.fault = ""
		}
		w.WriteHeader(202)
	}
}

func inventory(w http.ResponseWriter, _ *http.Request, n *node) {
	if n.inventory == nil {
		fail(w, 404, "Inspection inventory is not available for node %s", n.uuid)
		return
	}
	answer(w, 200, map[string]any{"inventory": n.inventory, "plugin_data": map[string]any{}})
}

func (i *Ironic) listPorts(w http.ResponseWriter, r *http.Request) {
	address, of := r.FormValue("address"), r.FormValue("node")
	i.mu.Lock()
	defer i.mu.Unlock()
	out := []port{}
	for _, p := range i.ports {
		if (address == "" || strings.EqualFold(p.Address, address)) && (of == "" || p.NodeUUID == of) &&
			(r.FormValue("node_uuid") == "" || p.NodeUUID == r.FormValue("node_uuid")) {
			out = append(out, p)
		}
	}
	answer(w, 200, map[string]any{"ports": out})
}

func (i *Ironic) createPort(w http.ResponseWriter, r *http.Request) {
	var p port
	if !decode(w, r, &p) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.nodes[p.NodeUUID] == nil {
		fail(w, 400, "Node %s could not be found.", p.NodeUUID)
		return
	}
	if slices.ContainsFunc(i.ports, func(q port) bool { return strings.EqualFold(q.Address, p.Address) }) {
		fail(w, 409, "A port with MAC address %s already exists.", p.Address)
		return
	}
	p.UUID, p.Address = newUUID(), strings.ToLower(p.Address)
	i.ports = append(i.ports, p)
	answer(w, 201, p)
}
