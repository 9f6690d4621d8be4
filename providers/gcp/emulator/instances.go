package emulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// userDataKey is where a machine finds its user-data in its metadata.
const userDataKey = "user-data"

// operation answers a look at an operation, which brings it forward.
func (e *Emulator) operation(w http.ResponseWriter, name string) {
	p := e.ops[name]
	if p == nil {
		fail(w, http.StatusNotFound, "no such operation")
		return
	}
	if p.left--; p.left <= 0 && !p.busy && p.op.GetStatus() != computepb.Operation_DONE {
		p.op.Status = computepb.Operation_DONE.Enum()
		switch {
		case p.failed != nil:
			p.op.Error = &computepb.Error{Errors: []*computepb.Errors{{Code: proto.String("INTERNAL_ERROR"), Message: proto.String(p.failed.Error())}}}
		case p.do != nil:
			p.op.Error = p.do()
		}
		if p.op.Error != nil {
			p.op.HttpErrorStatusCode = proto.Int32(http.StatusServiceUnavailable)
		}
	}
	e.give(w, p.op)
}

// begin starts an operation and returns it, or answers with the one that the request id has
// started, or with why it is refused.
func (e *Emulator) begin(w http.ResponseWriter, r *http.Request, zone, target string, start func() (int, string), do func() *computepb.Error) (*pending, bool) {
	id := r.URL.Query().Get("requestId")
	if id == "" {
		e.wrong("%s %s has no request id", r.Method, r.URL.Path)
	}
	if name, again := e.requests[id]; again {
		e.give(w, e.ops[name].op)
		return nil, false
	}
	if code, why := start(); code != 0 {
		fail(w, code, why)
		return nil, false
	}
	name := fmt.Sprintf("operation-%d", len(e.ops))
	p := &pending{zone: zone, left: e.Slow, do: do, op: &computepb.Operation{
		Name: &name, Status: computepb.Operation_RUNNING.Enum(), TargetLink: proto.String("https://www.googleapis.com/compute/v1/projects/project1/" + target),
	}}
	e.requests[id], e.ops[name] = name, p
	e.give(w, p.op)
	return p, true
}

// run does something with the machine of an instance, after what was begun with it before. The
// operation is in progress until it is done.
func (e *Emulator) run(p *pending, name string, do func(context.Context) error) {
	if e.Machines == nil {
		return
	}
	before, mine := e.turns[name], make(chan struct{})
	e.turns[name], p.busy = mine, true
	go func() {
		defer close(mine)
		if before != nil {
			<-before
		}
		err := do(context.Background())
		e.Do(func() { p.busy, p.failed = false, err })
	}()
}

func (e *Emulator) instance(w http.ResponseWriter, r *http.Request, zone string, rest []string, body []byte) {
	if len(rest) == 0 {
		e.insert(w, r, zone, body)
		return
	}
	key, name := zone+"/"+rest[0], rest[0]
	i := e.Instances[key]
	if i == nil {
		fail(w, http.StatusNotFound, "no such instance")
		return
	}
	target := "zones/" + zone + "/instances/" + name
	switch {
	case r.Method == http.MethodDelete:
		p, begun := e.begin(w, r, zone, target, func() (int, string) { return 0, "" }, func() *computepb.Error { delete(e.Instances, key); return nil })
		if begun {
			e.run(p, name, func(ctx context.Context) error { return e.Machines.Stop(ctx, name) })
		}
	case len(rest) == 1:
		e.give(w, i)
	case rest[1] == "serialPort":
		text := e.Serial
		if e.Machines != nil {
			raw, err := e.Machines.Console(r.Context(), name)
			if err != nil {
				fail(w, http.StatusInternalServerError, err.Error())
				return
			}
			text = string(raw)
		}
		e.give(w, &computepb.SerialPortOutput{Contents: &text})
	case rest[1] == "setMetadata":
		e.setMetadata(w, r, zone, i, body)
	}
}

func (e *Emulator) insert(w http.ResponseWriter, r *http.Request, zone string, body []byte) {
	i := &computepb.Instance{}
	if err := protojson.Unmarshal(body, i); err != nil {
		e.wrong("%v", err)
	}
	key, name := zone+"/"+i.GetName(), i.GetName()
	place := func() {
		i.Id = proto.Uint64(uint64(len(e.requests) + 100))
		i.Metadata.Fingerprint = proto.String("f0")
		if i.NetworkInterfaces[0].NetworkIP == nil {
			i.NetworkInterfaces[0].NetworkIP = proto.String(fmt.Sprintf("10.8.0.%d", len(e.Instances)+2))
		}
		e.Instances[key] = i
	}
	full := e.Exhausted[zone]
	p, begun := e.begin(w, r, zone, "zones/"+zone+"/instances/"+name, func() (int, string) {
		if e.Instances[key] != nil {
			return http.StatusConflict, "already exists"
		}
		if !e.Late && !full {
			place()
		}
		return 0, ""
	}, func() *computepb.Error {
		if e.Exhausted[zone] {
			return &computepb.Error{Errors: []*computepb.Errors{{Code: proto.String("ZONE_RESOURCE_POOL_EXHAUSTED"), Message: proto.String("no room")}}}
		}
		if e.Instances[key] == nil {
			place()
		}
		return nil
	})
	if !begun || full {
		return
	}
	at := slices.IndexFunc(i.GetMetadata().GetItems(), func(x *computepb.Items) bool { return x.GetKey() == userDataKey })
	if at < 0 {
		return // a machine without a config of ours has no part here
	}
	userData := []byte(i.GetMetadata().GetItems()[at].GetValue())
	e.run(p, name, func(ctx context.Context) error {
		ip, err := e.Machines.Start(ctx, name, userData)
		e.Do(func() {
			if ip != "" {
				i.NetworkInterfaces[0].NetworkIP = &ip
			}
		})
		return err
	})
}

func (e *Emulator) setMetadata(w http.ResponseWriter, r *http.Request, zone string, i *computepb.Instance, body []byte) {
	if e.Raced != nil {
		e.Raced()
		e.Raced = nil
	}
	m := &computepb.Metadata{}
	if err := protojson.Unmarshal(body, m); err != nil {
		e.wrong("%v", err)
	}
	name := i.GetName()
	p, begun := e.begin(w, r, zone, "zones/"+zone+"/instances/"+name, func() (int, string) {
		if m.GetFingerprint() != i.GetMetadata().GetFingerprint() {
			return http.StatusPreconditionFailed, "the fingerprint is another"
		}
		return 0, ""
	}, func() *computepb.Error {
		m.Fingerprint = proto.String(i.GetMetadata().GetFingerprint() + "x")
		i.Metadata = m
		return nil
	})
	if begun && !slices.ContainsFunc(m.GetItems(), func(x *computepb.Items) bool { return x.GetKey() == userDataKey }) {
		e.run(p, name, func(ctx context.Context) error { return e.Machines.Forget(ctx, name) })
	}
}
