package archive

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// What a source shares that reads objects and lines outside of an archive.

// Object decodes one object of YAML or JSON as it is decoded from an archive, and says of
// which resource it is; false where it is no object of an API.
func Object(raw []byte) (map[string]any, evidence.Resource, bool, error) {
	content, err := decode(raw)
	if err != nil {
		return nil, evidence.Resource{}, false, err
	}
	r, ok := resourceOf(evidence.String(content, "apiVersion"), evidence.String(content, "kind"))
	if r == eventsV1 {
		coreEvent(content)
		r = evidence.Events
	}
	return content, r, ok, nil
}

// UnitOf is the unit whose lines in a journal call themselves by an identifier.
func UnitOf(identifier string) string {
	for unit := range identifiers {
		if ofUnit(unit, identifier) {
			return unit
		}
	}
	return identifier
}
