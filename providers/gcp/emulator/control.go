package emulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Behavior changes an emulator from another program; what is not there stays as it was.
type Behavior struct {
	Slow      *int               `json:"slow,omitempty"`
	Late      *bool              `json:"late,omitempty"`
	NAT       *bool              `json:"nat,omitempty"`
	Zones     map[string]string  `json:"zones,omitempty"`     // to status; "" removes one
	Exhausted map[string]bool    `json:"exhausted,omitempty"` // zones
	Lose      map[string]string  `json:"lose,omitempty"`
	Refuse    map[string]int     `json:"refuse,omitempty"` // 0: no longer
	Limits    map[string]float64 `json:"limits,omitempty"` // of quotas
	Plant     []Planted          `json:"plant,omitempty"`
	Machines  map[string]string  `json:"machines,omitempty"` // options of Providers
}

// Planted is an instance, or without a zone a firewall rule, of somebody else.
type Planted struct {
	Zone        string            `json:"zone"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Description string            `json:"description"`
}

// State is what a project has.
type State struct {
	Instances map[string]json.RawMessage `json:"instances"` // by ZONE/NAME
	Rules     map[string]json.RawMessage `json:"rules"`
	Seen      []string                   `json:"seen"`  // requests that change something
	Begun     map[string]int             `json:"begun"` // operations by their target
	Wrong     []string                   `json:"wrong"` // what the real API would not take
}

// Control serves GET, with a State, and POST, of a Behavior. It is for tests only.
func Control(e *Emulator) http.Handler {
	var wrong []string
	e.Wrong = func(what string) { wrong = append(wrong, what) }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			var s State
			var err error
			e.Do(func() { s, err = e.state(); s.Wrong = append(s.Wrong, wrong...) })
			if err == nil {
				err = json.NewEncoder(w).Encode(s)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			return
		}
		var b Behavior
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&b); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		e.Do(func() { e.behave(b) })
	})
}

func (e *Emulator) behave(b Behavior) {
	if b.Slow != nil {
		e.Slow = *b.Slow
		for _, p := range e.ops { // also of what is in progress
			p.left = min(p.left, e.Slow)
		}
	}
	if b.Late != nil {
		e.Late = *b.Late
	}
	if b.NAT != nil {
		e.NAT = *b.NAT
	}
	maps.Copy(e.Zones, b.Zones)
	maps.DeleteFunc(e.Zones, func(_, status string) bool { return status == "" })
	maps.Copy(e.Exhausted, b.Exhausted)
	maps.Copy(e.Lose, b.Lose)
	maps.Copy(e.Refuse, b.Refuse)
	for _, q := range e.Quotas {
		if limit, is := b.Limits[q.GetMetric()]; is {
			q.Limit = proto.Float64(limit)
		}
	}
	for _, p := range b.Plant {
		if p.Zone == "" {
			e.Rules[p.Name] = &computepb.Firewall{Name: proto.String(p.Name), Description: proto.String(p.Description),
				Network: proto.String("projects/project1/global/networks/default"), Direction: proto.String("INGRESS")}
			continue
		}
		e.Instances[p.Zone+"/"+p.Name] = &computepb.Instance{
			Name: proto.String(p.Name), Labels: p.Labels, Description: proto.String(p.Description),
			Metadata: &computepb.Metadata{Fingerprint: proto.String("f"),
				Items: []*computepb.Items{{Key: proto.String(userDataKey), Value: proto.String("theirs")}}},
		}
	}
	if m, is := e.Machines.(*Providers); is {
		maps.Copy(m.Options, b.Machines)
	}
}

func (e *Emulator) state() (State, error) {
	s := State{Instances: map[string]json.RawMessage{}, Rules: map[string]json.RawMessage{}, Seen: e.Seen, Begun: map[string]int{}}
	for name, i := range e.Instances {
		raw, err := protojson.Marshal(i)
		if err != nil {
			return s, fmt.Errorf("encode instance %s: %w", name, err)
		}
		s.Instances[name] = raw
	}
	for name, f := range e.Rules {
		raw, err := protojson.Marshal(f)
		if err != nil {
			return s, fmt.Errorf("encode rule %s: %w", name, err)
		}
		s.Rules[name] = raw
	}
	for _, p := range e.ops {
		s.Begun[p.op.GetTargetLink()]++
	}
	return s, nil
}
