package reader

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
)

// sharer keeps equal parts of the objects of one list once: labels, owners, conditions, the
// hardware of machines of one model. In a large cluster that is half of the memory of its objects.
// Objects do not change after they are sanitized, so parts can be shared.
type sharer struct {
	seed  maphash.Seed
	known map[uint64][]any // maps and lists, by their hash
}

func newSharer() *sharer { return &sharer{seed: maphash.MakeSeed(), known: map[uint64][]any{}} }

// object replaces the parts of an object by equal ones that were there before.
func (s *sharer) object(content map[string]any) {
	for k, v := range content {
		content[k], _, _ = s.part(v)
	}
}

// part returns the shared value for v, and its hash. ok is false for a value that contains a type
// which no JSON decoder makes: it is not shared.
func (s *sharer) part(v any) (kept any, hash uint64, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		hash, ok = uint64(len(v)), true
		for k, child := range v {
			one, h, known := s.part(child)
			v[k] = one
			hash += mixHash(maphash.String(s.seed, k), h) // in any order
			ok = ok && known
		}
		return s.once(v, hash, ok), hash, ok
	case []any:
		hash, ok = ^uint64(len(v)), true
		for i, child := range v {
			one, h, known := s.part(child)
			v[i] = one
			hash = mixHash(hash, h)
			ok = ok && known
		}
		return s.once(v, hash, ok), hash, ok
	case string:
		return v, maphash.String(s.seed, v), true
	case json.Number:
		return v, maphash.String(s.seed, string(v)), true
	case int64:
		return v, uint64(v), true
	case float64:
		return v, math.Float64bits(v), true
	case bool:
		if v {
			return v, 1, true
		}
		return v, 2, true
	case nil:
		return v, 3, true
	}
	return v, 0, false
}

func mixHash(a, b uint64) uint64 {
	const first, second = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9
	high, low := bits.Mul64(a^first, b^second)
	return high ^ low
}

// maxSameHash bounds the parts of one hash that are compared. By chance there are hardly two; an
// archive can be made to have a million.
const maxSameHash = 4

// once returns an equal map or list that was there before, else v.
func (s *sharer) once(v any, hash uint64, ok bool) any {
	if !ok {
		return v
	}
	for _, have := range s.known[hash] {
		if equalValues(have, v) {
			return have
		}
	}
	if len(s.known[hash]) < maxSameHash {
		s.known[hash] = append(s.known[hash], v)
	}
	return v
}

// equalValues reports whether two maps or lists, of which the parts are shared, are equal.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// same reports whether two parts are one, or equal and neither maps nor lists.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (a == nil) == (b == nil) && (len(a) == 0 || &a[0] == &b[0])
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
