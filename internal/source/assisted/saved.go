package assisted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// maxEvents bounds the events of one saved answer.
const maxEvents = 100_000

// Saved is an answer of the service that somebody saved with curl or aicli: clusters, hosts, or events.
type Saved struct {
	Clusters []evidence.Object
	Hosts    []evidence.Object
	Whole    bool      // the answer is of clusters with their hosts: there are no others of these clusters
	Events   []byte    // a line for each event, as openshift-install logs it
	Newest   time.Time // at which the service did or saw something
}

// restEvent is the part of models.Event that is read (openshift/assisted-service:models/event.go).
type restEvent struct {
	At       stamp  `json:"event_time"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// times are when the service did or saw something, in a cluster and in a host.
type times struct {
	Updated   stamp `json:"updated_at"`
	Status    stamp `json:"status_updated_at"`
	CheckedIn stamp `json:"checked_in_at"`
}

// ReadSaved reads an answer of GET /v2/clusters, /v2/clusters/ID, /v2/infra-envs/ID/hosts, /v2/infra-envs/ID/hosts/ID
// or /v2/events. name is that of the file. What it has of other kinds is an error: it is no such answer.
func ReadSaved(name string, raw []byte) (Saved, error) {
	list, err := elements(raw)
	if err != nil {
		return Saved{}, err
	}
	s := Saved{Whole: true}
	for i, e := range list {
		if err := s.add(name, e); err != nil {
			return Saved{}, fmt.Errorf("read element %d: %w", i+1, err)
		}
	}
	s.Whole = s.Whole && len(s.Clusters) > 0
	slices.SortFunc(s.Hosts, func(a, b evidence.Object) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// elements are the members of a list, or the one object.
func elements(raw []byte) ([]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if !bytes.HasPrefix(raw, []byte("[")) {
		return []json.RawMessage{raw}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode a list: %w", err)
	}
	if len(list) > maxEvents {
		return nil, fmt.Errorf("it has %d elements, more than %d", len(list), maxEvents)
	}
	return list, nil
}

// add adds a cluster, a host or an event, by the fields that only one of them has.
func (s *Saved) add(name string, raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	switch {
	case fields["event_time"] != nil:
		return s.addEvent(raw)
	case fields["status_info"] == nil:
		return fmt.Errorf("it is not a cluster, host or event of the assisted-service")
	case fields["inventory"] != nil || fields["requested_hostname"] != nil || fields["checked_in_at"] != nil:
		h, err := parseHost(raw)
		if err != nil {
			return err
		}
		s.Whole = false
		s.see(raw)
		return s.addHost(name, h)
	}
	return s.addCluster(name, raw, fields["hosts"] != nil)
}

func (s *Saved) addEvent(raw json.RawMessage) error {
	var e restEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("decode an event: %w", err)
	}
	s.moment(e.At)
	level := e.Severity
	if level == "critical" {
		level = "error" // as openshift-install has no such level
	}
	s.Events = fmt.Appendf(s.Events, "time=%q level=%s msg=%q\n", time.Time(e.At).Format(time.RFC3339), word(level), text(e.Message))
	return nil
}

func (s *Saved) addCluster(name string, raw json.RawMessage, hosts bool) error {
	c, list, err := parseCluster(raw)
	if err != nil {
		return err
	}
	if len(s.Clusters) == maxClusters {
		return fmt.Errorf("it has more than %d clusters: save the one that is meant, GET /v2/clusters/ID", maxClusters)
	}
	s.Whole = s.Whole && hosts && len(list) < maxHosts
	s.see(raw)
	o, err := object(evidence.AssistedClusters, "AssistedCluster", c.ID, name, time.Time{}, c)
	if err != nil {
		return err
	}
	o.Loc.Source, o.Loc.Path = name, name+": clusters/"+c.ID
	s.Clusters = append(s.Clusters, o)
	var members struct {
		Hosts []json.RawMessage `json:"hosts"`
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("decode hosts of a cluster: %w", err)
	}
	for i, h := range list {
		h.ClusterID = c.ID
		s.see(members.Hosts[i])
		if err := s.addHost(name, h); err != nil {
			return err
		}
	}
	return nil
}

func (s *Saved) addHost(name string, h Host) error {
	if len(s.Hosts) == maxHosts {
		return fmt.Errorf("it has more than %d hosts", maxHosts)
	}
	o, err := object(evidence.AssistedHosts, "AssistedHost", h.ID, name, time.Time{}, h)
	if err != nil {
		return err
	}
	o.Loc.Source, o.Loc.Path = name, name+": hosts/"+h.ID
	s.Hosts = append(s.Hosts, o)
	return nil
}

// see keeps the newest time of a cluster or host.
func (s *Saved) see(raw json.RawMessage) {
	var t times
	if json.Unmarshal(raw, &t) == nil {
		s.moment(t.Updated, t.Status, t.CheckedIn)
	}
}

func (s *Saved) moment(list ...stamp) {
	for _, t := range list {
		if time.Time(t).After(s.Newest) {
			s.Newest = time.Time(t)
		}
	}
}
