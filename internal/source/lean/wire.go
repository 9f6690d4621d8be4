package lean

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// kind is how a field's value is on the wire, and what its JSON decodes to.
type kind uint8

const (
	text       kind = iota // string
	number                 // int32 or int64: int64
	boolean                // bool
	binary                 // []byte: base64
	moment                 // metav1.Time: RFC 3339 in seconds
	microtime              // metav1.MicroTime: RFC 3339 in microseconds
	object                 // a message: map[string]any
	texts                  // map[string]string
	binaries               // map[string][]byte
	quantities             // map[string]resource.Quantity: a message with one string
	manyTexts              // []string
	manyObject             // a list of messages
)

// field is one field of a message that is kept.
type field struct {
	name   string
	kind   kind
	of     Message // of an object or a list of them
	always bool    // its zero value is written, too; of a pointer: wherever it is on the wire
}

// Message are the fields of a kind that are kept, by their number on the wire. All others
// are skipped without being looked at.
type Message map[protowire.Number]field

// errWire is an answer that is not protobuf of the kind that was asked for.
var errWire = errors.New("malformed protobuf")

// envelope is what comes before every protobuf of the API
// (kubernetes/apimachinery:pkg/runtime/serializer/protobuf/protobuf.go protoEncodingPrefix).
var envelope = []byte{'k', '8', 's', 0}

// The numbers of runtime.Unknown, of its TypeMeta, of all lists and of their ListMeta
// (kubernetes/apimachinery:pkg/runtime/generated.proto, pkg/apis/meta/v1/generated.proto).
const (
	unknownType, unknownRaw   = 1, 2
	typeAPIVersion, typeKind  = 1, 2
	listMeta, listItem        = 1, 2
	metaContinue              = 3
	timeSeconds, timeNanos    = 1, 2
	mapKey, mapValue          = 1, 2
	secondsMicro              = "2006-01-02T15:04:05.000000Z07:00"
	firstSecond, behindSecond = -62135596800, 253402300800 // of the years 1 to 9999
)

// OpenList reads the envelope of a list: its kind, the token of its next page and where
// its objects are.
func OpenList(body []byte) (apiVersion, kind, next string, items [][]byte, err error) {
	raw, ok := bytes.CutPrefix(body, envelope)
	if !ok {
		return "", "", "", nil, fmt.Errorf("%w: no %q before it", errWire, envelope[:3])
	}
	var list []byte
	err = eachField(raw, func(t token) error {
		switch t.n {
		case unknownType:
			return eachField(t.bytes, func(t token) error {
				switch t.n {
				case typeAPIVersion:
					apiVersion = string(t.bytes)
				case typeKind:
					kind = string(t.bytes)
				}
				return nil
			})
		case unknownRaw:
			list = t.bytes
		}
		return nil
	})
	if err != nil {
		return "", "", "", nil, err
	}
	err = eachField(list, func(t token) error {
		switch t.n {
		case listMeta:
			return eachField(t.bytes, func(t token) error {
				if t.n == metaContinue {
					next = string(t.bytes)
				}
				return nil
			})
		case listItem:
			items = append(items, t.bytes)
		}
		return nil
	})
	return apiVersion, kind, next, items, err
}

// token is one field on the wire: bytes, or else a number.
type token struct {
	n       protowire.Number
	isBytes bool
	number  uint64
	bytes   []byte
}

// eachField calls f with each field of a message that has a number or bytes.
func eachField(raw []byte, f func(token) error) error {
	for len(raw) > 0 {
		n, kind, size := protowire.ConsumeTag(raw)
		if size < 0 {
			return errWire
		}
		raw = raw[size:]
		t := token{n: n, isBytes: kind == protowire.BytesType}
		switch kind {
		case protowire.VarintType:
			t.number, size = protowire.ConsumeVarint(raw)
		case protowire.BytesType:
			t.bytes, size = protowire.ConsumeBytes(raw)
		default: // no kind that is read here has others
			return errWire
		}
		if size < 0 {
			return errWire
		}
		raw = raw[size:]
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// Proto decodes a message into what the same object's JSON decodes to, as far as its
// fields are kept.
func (d *Decoder) Proto(raw []byte, m Message) (map[string]any, error) {
	out := make(map[string]any, min(len(m), 8))
	err := eachField(raw, func(t token) error {
		f, ok := m[t.n]
		if !ok {
			return nil
		}
		if t.isBytes == (f.kind == number || f.kind == boolean) {
			return errWire
		}
		v, err := d.value(out[f.name], t.number, t.bytes, f)
		if v != nil {
			out[f.name] = v
		}
		return err
	})
	return out, err
}

// value decodes one field; nil is one that JSON leaves out, or has as null. have is what
// was there before: lists and maps come an element at a time.
func (d *Decoder) value(have any, n uint64, raw []byte, f field) (any, error) {
	switch f.kind {
	case text:
		if len(raw) == 0 && !f.always {
			return nil, nil
		}
		return d.text(raw), nil
	case number:
		if n == 0 && !f.always {
			return nil, nil
		}
		return int64(n), nil
	case boolean:
		if n == 0 && !f.always {
			return nil, nil
		}
		return n != 0, nil
	case binary:
		if len(raw) == 0 && !f.always {
			return nil, nil
		}
		return base64.StdEncoding.EncodeToString(raw), nil
	case moment:
		return d.time(raw, time.RFC3339)
	case microtime:
		return d.time(raw, secondsMicro)
	case object:
		return d.Proto(raw, f.of)
	case manyTexts:
		list, _ := have.([]any)
		return append(list, d.text(raw)), nil
	case manyObject:
		list, _ := have.([]any)
		o, err := d.Proto(raw, f.of)
		return append(list, o), err
	}
	return d.entry(have, raw, f.kind)
}

// entry adds one entry to a map.
func (d *Decoder) entry(have any, raw []byte, k kind) (any, error) {
	out, ok := have.(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	var key, value []byte
	err := eachField(raw, func(t token) error {
		switch t.n {
		case mapKey:
			key = t.bytes
		case mapValue:
			value = t.bytes
		}
		return nil
	})
	switch k {
	case binaries:
		out[d.name(key)] = base64.StdEncoding.EncodeToString(value)
	case quantities:
		q, broken := d.Proto(value, quantity)
		out[d.name(key)], err = q["string"], errors.Join(err, broken)
	default:
		out[d.name(key)] = d.text(value)
	}
	return out, err
}

// time decodes a time; without a second it is none.
func (d *Decoder) time(raw []byte, layout string) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var seconds, nanos int64
	err := eachField(raw, func(t token) error {
		switch t.n {
		case timeSeconds:
			seconds = int64(t.number)
		case timeNanos:
			nanos = int64(t.number)
		}
		return nil
	})
	if err != nil || seconds < firstSecond || seconds >= behindSecond || nanos < 0 || nanos >= int64(time.Second) {
		return nil, errors.Join(errWire, err)
	}
	var room [40]byte
	return d.text(time.Unix(seconds, nanos).UTC().AppendFormat(room[:0], layout)), nil
}
