package checks

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// keys is the tree of fields that the installer knows. A nil tree is open: what is below is
// not judged (other platforms, manifests, nmstate documents, which nmstate itself judges).
type keys struct {
	fields map[string]*keys
	form   form
	open   bool // it has fields that are not listed
}

// form is what a value is decoded into. A word takes a number, too, as the installer's decoder
// does (sigs.k8s.io/yaml: yaml.go convertToJSONableObject), and nothing else becomes another.
type form string

const (
	stringForm   form = "a text"
	strictString form = "a text, and no number" // in a block that the decoder fills on its own (metav1.TypeMeta)
	timeForm     form = "a time such as 2026-01-02T15:04:05Z"
	durationForm form = "a duration such as 8h"
	intForm      form = "a whole number without quotes"
	boolForm     form = "true or false without quotes"
	listForm     form = "a list"
	blockForm    form = "a block of fields"
)

// forms are the signs behind the name of a field.
var forms = map[string]form{"?": boolForm, "#": intForm, "[]": listForm, "{}": blockForm, "!": strictString, "@": timeForm, "~": durationForm}

// textBlock is the sign of a block with fields of any name, all of them words.
const textBlock = "{text}"

// parseKeys reads lines "a.b: c d e+", which give the fields of a block. Behind a field, "+"
// leaves it open, "?" is for true or false, "#" for a number, "[]" for a list of words and "{}"
// for a block with any fields, "{text}" for one of words; "*" is each element of a list. Behind
// a path, "+" says that the block has other fields, too. A block can have more than one line: a later
// one adds fields, and replaces those that are there.
func parseKeys(text string) *keys {
	root := &keys{fields: map[string]*keys{}}
	for line := range strings.Lines(text) {
		path, names, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		at := root
		path, open := strings.CutSuffix(path, "+")
		for part := range strings.SplitSeq(path, ".") {
			if part == "" {
				continue
			}
			if at.form = blockForm; part == "*" {
				at.form = listForm
			}
			if at.fields[part] == nil {
				at.fields[part] = &keys{fields: map[string]*keys{}}
			}
			at = at.fields[part]
		}
		at.form, at.open = blockForm, at.open || open
		for name := range strings.FieldsSeq(names) {
			at.field(name)
		}
	}
	return root
}

func (k *keys) field(name string) {
	if open, is := strings.CutSuffix(name, "+"); is {
		k.fields[open] = nil
		return
	}
	f := &keys{fields: map[string]*keys{}, form: stringForm}
	if bare, is := strings.CutSuffix(name, textBlock); is {
		name, f.form, f.open = bare, blockForm, true
		f.fields["*"] = &keys{form: stringForm}
	}
	for sign, of := range forms {
		if bare, is := strings.CutSuffix(name, sign); is {
			name, f.form, f.open = bare, of, true
		}
	}
	k.fields[name] = f
}

// wrong reports the values that the installer's decoder cannot take: a word where a list has
// to be. Nothing is judged below one.
func (k *keys) wrong(n node, report func(n node, want form)) {
	if k == nil || !n.there() {
		return
	}
	switch v := n.v.(type) {
	case map[string]any:
		if k.form != blockForm {
			report(n, k.form)
			return
		}
		for _, name := range sorted(v) {
			if below, ok := k.below(name); ok {
				below.wrong(n.get(name), report)
			} else if k.fields["*"] != nil {
				k.fields["*"].wrong(n.get(name), report)
			}
		}
	case []any:
		if k.form != listForm {
			report(n, k.form)
			return
		}
		each := k.fields["*"]
		if each == nil {
			each = &keys{form: stringForm}
		}
		for _, item := range n.items() {
			each.wrong(item, report)
		}
	default:
		if !k.form.takes(v) {
			report(n, k.form)
		}
	}
}

func (f form) takes(v any) bool {
	_, isBool := v.(bool)
	text, isText := v.(string)
	switch f {
	case boolForm:
		return isBool
	case intForm:
		f, isFloat := v.(float64)
		_, isInt := v.(int64)
		return isInt || isFloat && f == math.Trunc(f)
	case stringForm:
		return true
	case strictString:
		return isText
	case timeForm:
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil
	case durationForm:
		_, err := time.ParseDuration(text)
		return isText && err == nil
	}
	return false
}

// onlyWords is the tree where no number is taken for a text: the decoder does not know the types
// while it reads YAML.
func (k *keys) onlyWords() *keys {
	if k == nil {
		return nil
	}
	if k.form == stringForm {
		k.form = strictString
	}
	for _, below := range k.fields {
		below.onlyWords()
	}
	return k
}

// below is what is known of a field, in any letters.
func (k *keys) below(name string) (*keys, bool) {
	if below, ok := k.fields[name]; ok {
		return below, true
	}
	known := slices.Sorted(maps.Keys(k.fields))
	i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, name) })
	if i < 0 {
		return nil, false
	}
	return k.fields[known[i]], true
}

// unknown calls report for each field that the tree does not have, with those that it has
// there. The JSON decoder of the installer does not mind the case of letters
// (sigs.k8s.io/yaml): neither does this.
func (k *keys) unknown(n node, report func(n node, siblings []string)) {
	if k == nil || k.open || len(k.fields) == 0 {
		return
	}
	if each := k.fields["*"]; each != nil {
		for _, item := range n.items() {
			each.unknown(item, report)
		}
		return
	}
	m, _ := n.v.(map[string]any)
	for _, name := range sorted(m) {
		below, ok := k.below(name)
		if !ok {
			report(n.get(name), slices.Sorted(maps.Keys(k.fields)))
			continue
		}
		below.unknown(n.get(name), report)
	}
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
