package live

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
	manyTexts              // []string
	manyObject             // a list of messages
)

// field is one field of a message that is kept.
type field struct {
	name   string
	kind   kind
	of     message // of an object or a list of them
	always bool    // its zero value is written, too; of a pointer: wherever it is on the wire
}

// message are the fields of a kind that are kept, by their number on the wire. All others
// are skipped without being looked at.
type message map[protowire.Number]field

// errWire is an answer that is not protobuf of the kind that was asked for.
var errWire = errors.New("malformed protobuf")

// envelope is what comes before every protobuf of the API
// (kubernetes/apimachinery:pkg/runtime/serializer/protobuf/protobuf.go protoEncodingPrefix).
var envelope = []byte{'k', '8', 's', 0}

// wireReader decodes the objects of one page. Strings that come again and again (namespaces,
// nodes, labels, times) are kept once: it is not for concurrent use.
type wireReader struct {
	known map[string]string
}

// The numbers of runtime.Unknown, of its TypeMeta, of all lists and of their ListMeta
// (kubernetes/apimachinery:pkg/runtime/generated.proto, pkg/apis/meta/v1/generated.proto).
const (
	unknownType, unknownRaw   = 1, 2
	typeAPIVersion, typeKind  = 1, 2
	listMeta, listItem        = 1, 2
	metaContinue              = 3
	timeSeconds, timeNanos    = 1, 2
	mapKey, mapValue          = 1, 2
	longestKnown, mostKnown   = 80, 1 << 14
	secondsMicro              = "2006-01-02T15:04:05.000000Z07:00"
	firstSecond, behindSecond = -62135596800, 253402300800 // of the years 1 to 9999
)

// openList reads the envelope of a list: its kind, the token of its next page and where
// its objects are.
func openList(body []byte) (apiVersion, kind, next string, items [][]byte, err error) {
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

// object decodes a message into what the same object's JSON decodes to, as far as its
// fields are kept.
func (w *wireReader) object(raw []byte, m message) (map[string]any, error) {
	out := make(map[string]any, min(len(m), 8))
	err := eachField(raw, func(t token) error {
		f, ok := m[t.n]
		if !ok {
			return nil
		}
		if t.isBytes == (f.kind == number || f.kind == boolean) {
			return errWire
		}
		v, err := w.value(out[f.name], t.number, t.bytes, f)
		if v != nil {
			out[f.name] = v
		}
		return err
	})
	return out, err
}

// value decodes one field; nil is one that JSON leaves out, or has as null. have is what
// was there before: lists and maps come an element at a time.
func (w *wireReader) value(have any, n uint64, raw []byte, f field) (any, error) {
	switch f.kind {
	case text:
		if len(raw) == 0 && !f.always {
			return nil, nil
		}
		return w.text(raw), nil
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
		return w.time(raw, time.RFC3339)
	case microtime:
		return w.time(raw, secondsMicro)
	case object:
		return w.object(raw, f.of)
	case manyTexts:
		list, _ := have.([]any)
		return append(list, w.text(raw)), nil
	case manyObject:
		list, _ := have.([]any)
		o, err := w.object(raw, f.of)
		return append(list, o), err
	}
	return w.entry(have, raw, f.kind)
}

// entry adds one entry to a map.
func (w *wireReader) entry(have any, raw []byte, k kind) (any, error) {
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
	if k == binaries {
		out[w.text(key)] = base64.StdEncoding.EncodeToString(value)
	} else {
		out[w.text(key)] = w.text(value)
	}
	return out, err
}

// text returns a string, of short ones the same one each time.
func (w *wireReader) text(raw []byte) string {
	if len(raw) > longestKnown {
		return string(raw)
	}
	if s, ok := w.known[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(w.known) < mostKnown {
		w.known[s] = s
	}
	return s
}

// time decodes a time; without a second it is none.
func (w *wireReader) time(raw []byte, layout string) (any, error) {
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
	return w.text(time.Unix(seconds, nanos).UTC().AppendFormat(room[:0], layout)), nil
}

// keep drops of an object that was read as JSON what its protobuf is not read of.
func keep(content map[string]any, m message) map[string]any {
	out := make(map[string]any, min(len(m), len(content)))
	for _, f := range m {
		v, ok := content[f.name]
		if !ok || v == nil {
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			if f.kind == object {
				out[f.name] = keep(v, f.of)
				continue
			}
		case []any:
			if f.kind == manyObject {
				out[f.name] = keepAll(v, f.of)
				continue
			}
		}
		out[f.name] = v
	}
	return out
}

func keepAll(list []any, m message) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
		if o, ok := v.(map[string]any); ok {
			out[i] = keep(o, m)
		}
	}
	return out
}
