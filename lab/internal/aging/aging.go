// Package aging moves what a cluster has recorded into the past, so that a
// trouble of a minute is one that has stood for an hour: no one waits an hour
// for a lab, and a diagnosis rightly calls a trouble of a minute normal.
//
// All recorded times move by the same span: creations, transitions of
// conditions, the lines of logs. What is a promise about the future stays: the
// beginning and end of certificates, and what is renewed all the time (live
// leases, fresh heartbeats), because who renews it is still alive.
//
// Invariant: order and distance of recorded times do not change.
package aging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// fresh is how young a heartbeat is that somebody still sends
// (k8s.io/kubernetes: nodeStatusReportFrequency is five minutes).
const fresh = 6 * time.Minute

// Shift is one move into the past.
type Shift struct {
	By  time.Duration
	Now time.Time
}

// protobufMagic begins what the API server stores in protobuf
// (k8s.io/apimachinery:pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// Object moves the times in an object as the API server stores it. It returns
// nil where there is nothing to move or the kind is not known.
func (s Shift) Object(stored []byte) ([]byte, error) {
	if bytes.HasPrefix(stored, protobufMagic) {
		return s.protobuf(stored)
	}
	var obj map[string]any
	dec := json.NewDecoder(bytes.NewReader(stored))
	dec.UseNumber() // numbers are written as they were read
	if err := dec.Decode(&obj); err != nil {
		return nil, fmt.Errorf("decode stored object: %w", err)
	}
	if !s.object(obj) {
		return nil, nil
	}
	return json.Marshal(obj)
}

func (s Shift) protobuf(stored []byte) ([]byte, error) {
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	obj, kind, err := codec.Decode(stored, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("decode stored object: %w", err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	if !s.object(fields) {
		return nil, nil
	}
	moved, err := scheme.Scheme.New(*kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, moved); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", kind.Kind, err)
	}
	moved.GetObjectKind().SetGroupVersionKind(*kind)
	var out bytes.Buffer
	if err := codec.Encode(moved, &out); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	return out.Bytes(), nil
}

// object moves all times below an object but those that somebody keeps
// renewing.
func (s Shift) object(obj map[string]any) bool {
	keep := map[string]bool{}
	if spec, ok := obj["spec"].(map[string]any); ok && s.alive(spec) {
		keep["renewTime"] = true
	}
	return s.walk(obj, keep)
}

// alive says whether a Lease is being renewed.
func (s Shift) alive(lease map[string]any) bool {
	renewed, ok := parse(lease["renewTime"])
	var seconds float64
	switch n := lease["leaseDurationSeconds"].(type) {
	case int64:
		seconds = float64(n)
	case json.Number:
		seconds, _ = n.Float64() // not a number: not alive
	}
	return ok && s.Now.Sub(renewed) <= time.Duration(seconds)*time.Second
}

// walk moves the times in v, in place, and says whether there were any.
func (s Shift) walk(v any, keep map[string]bool) (moved bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, field := range v {
			t, ok := parse(field)
			switch {
			case !ok:
				moved = s.walk(field, keep) || moved
			case keep[key] || promise(key) || t.After(s.Now.Add(time.Minute)):
			case key == "lastHeartbeatTime" && s.Now.Sub(t) < fresh:
			default:
				v[key], moved = s.format(field.(string), t), true
			}
		}
	case []any:
		for _, item := range v {
			moved = s.walk(item, keep) || moved
		}
	}
	return moved
}

// promise says whether a field is about a certificate's life.
func promise(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", ""))
	return strings.HasSuffix(key, "notbefore") || strings.HasSuffix(key, "notafter")
}

func parse(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok || len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil && t.Year() > 2000
}

// format writes a time with as many digits as it had.
func (s Shift) format(was string, t time.Time) string {
	layout := time.RFC3339
	if _, fraction, ok := strings.Cut(was, "."); ok {
		layout = "2006-01-02T15:04:05." + strings.Repeat("0", len(strings.TrimRight(fraction, "Z"))) + "Z07:00"
	}
	return t.Add(-s.By).UTC().Format(layout)
}
