package answer

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

const schemaFile = "../../docs/schema/diagnosis.v1alpha1.json"

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOutputFollowsTheSchema(t *testing.T) {
	schema := compileSchema(t)
	logOnly := samples[0]
	logOnly.name, logOnly.make = "only the installer's log", func() *diagnosis.Diagnosis {
		d := answertest.Unreadable()
		d.Cluster.Installer = &diagnosis.Installer{Ended: "complete", At: answertest.Noon, Locator: "DIR/.openshift_install.log:7"}
		return d
	}
	for _, s := range append(slices.Clone(samples), logOnly) {
		var asJSON, asYAML bytes.Buffer
		if err := JSON(&asJSON, s.make(), Options{}); err != nil {
			t.Fatal(err)
		}
		if err := YAML(&asYAML, s.make(), Options{}); err != nil {
			t.Fatal(err)
		}
		back, err := yaml.YAMLToJSON(asYAML.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for format, raw := range map[string][]byte{"json": asJSON.Bytes(), "yaml": back} {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s as %s: %v", s.name, format, err)
			}
		}
	}
}

// TestSchemaRefuses proves that the schema can fail.
func TestSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	for name, change := range map[string]func(map[string]any){
		"a field more":   func(d map[string]any) { d["colour"] = "red" },
		"a field less":   func(d map[string]any) { delete(d, "roots") },
		"a null list":    func(d map[string]any) { d["hosts"] = nil },
		"another class":  func(d map[string]any) { d["verdict"].(map[string]any)["class"] = "fine" },
		"no RFC 3339":    func(d map[string]any) { d["now"] = "yesterday" },
		"a fifth result": func(d map[string]any) { d["findings"].([]any)[0].(map[string]any)["outcome"] = "maybe" },
	} {
		var raw bytes.Buffer
		if err := JSON(&raw, answertest.DesyncProven(), Options{}); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&raw)
		if err != nil {
			t.Fatal(err)
		}
		change(v.(map[string]any))
		if schema.Validate(v) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSchemaNamesEveryField compares the schema with the struct, both ways.
func TestSchemaNamesEveryField(t *testing.T) {
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	compare(t, "diagnosis", reflect.TypeFor[document](), schema, schema["$defs"].(map[string]any))
}

func compare(t *testing.T, at string, typ reflect.Type, schema, defs map[string]any) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return
	case typ.Kind() == reflect.Slice:
		compare(t, at+"[]", typ.Elem(), schema["items"].(map[string]any), defs)
		return
	case typ.Kind() != reflect.Struct:
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s: additionalProperties is not false", at)
	}
	props, _ := schema["properties"].(map[string]any)
	required := map[string]bool{}
	for _, r := range schema["required"].([]any) {
		required[r.(string)] = true
	}
	seen := map[string]bool{}
	for name, f := range fields(typ) {
		seen[name] = true
		prop, ok := props[name].(map[string]any)
		if !ok {
			t.Errorf("%s.%s is not in the schema", at, name)
			continue
		}
		optional := strings.Contains(f.Tag.Get("json"), "omit")
		if optional == required[name] {
			t.Errorf("%s.%s: omitted when empty: %v, required: %v", at, name, optional, required[name])
		}
		compare(t, at+"."+name, f.Type, prop, defs)
	}
	for name := range props {
		if !seen[name] {
			t.Errorf("%s.%s is in the schema and not in the struct", at, name)
		}
	}
}

// fields are the JSON names of a struct's fields, those of embedded structs included.
func fields(typ reflect.Type) map[string]reflect.StructField {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	all := map[string]reflect.StructField{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for n, inner := range fields(f.Type) {
				all[n] = inner
			}
		case name != "-" && f.IsExported():
			all[name] = f
		}
	}
	return all
}
