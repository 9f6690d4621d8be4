package installer

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/installer/pkg/types"
	"github.com/openshift/installer/pkg/types/agent"
)

// otherFields are fields that preflight knows and these types do not have, with the reason.
var otherFields = map[string]string{
	"install-config.imageDigestSources.*.sourcePolicy":                  "came after 4.19",
	"install-config.osImageStream":                                      "came after 4.19",
	"install-config.platform.baremetal.bmcVerifyCA":                     "came after 4.19",
	"install-config.platform.baremetal.bootstrapHostIP":                 "the old name of bootstrapProvisioningIP",
	"install-config.platform.baremetal.dnsRecordsType":                  "came after 4.19",
	"install-config.platform.baremetal.dnsVIP":                          "left before 4.19",
	"install-config.platform.alibabacloud":                              "left before 4.19",
	"install-config.platform.kubevirt":                                  "left before 4.19",
	"install-config.platform.libvirt":                                   "left before 4.19",
	"install-config.platform.powervc":                                   "came after 4.19",
	"install-config.POOL.diskSetup":                                     "came after 4.19",
	"install-config.POOL.management":                                    "came after 4.19",
	"install-config.POOL.fencing.credentials.*.certificateVerification": "came after 4.19",
}

// pool is what all pools of machines are in the list above.
var pool = strings.NewReplacer("install-config.controlPlane.", "install-config.POOL.", "install-config.arbiter.", "install-config.POOL.", "install-config.compute.*.", "install-config.POOL.")

// TestTypes: the fields and forms that preflight knows are those of the types that the installer
// decodes the files into.
func TestTypes(t *testing.T) {
	known := knownFields(t)
	have := map[string]string{}
	walkType(reflect.TypeFor[types.InstallConfig](), "install-config", known, have)
	walkType(reflect.TypeFor[agent.Config](), "agent-config", known, have)
	for _, path := range slices.Sorted(maps.Keys(have)) {
		form, ok := known[path]
		switch {
		case !ok:
			t.Errorf("preflight does not know %s (%s)", path, have[path])
		case form != have[path] && form != "anything" && form != have[path]+", and no number":
			t.Errorf("%s: %q is known, the installer has %q", path, form, have[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if _, ok := have[path]; !ok && !strings.HasSuffix(path, more) && excusedField(path) == "" {
			t.Errorf("the installer has no %s", path)
		}
	}
	for other := range otherFields {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(path string) bool { return pool.Replace(path) == other }) || have[other] != "" {
			t.Errorf("%s needs no reason any more", other)
		}
	}
	t.Logf("%d fields of the installer, %d are known", len(have), len(known))
}

// excusedField is the reason of a field, or of the block that it is in.
func excusedField(path string) string {
	for other, why := range otherFields {
		if path = pool.Replace(path); path == other || strings.HasPrefix(path, other+".") {
			return why
		}
	}
	return ""
}

// more marks the path of a block that has fields which are not listed.
const more = ".…"

// knownFields are those that a test of internal/preflight/checks lists, with their forms; "and more"
// marks a block with fields that are not listed.
func knownFields(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../../preflight/checks/testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		path, form, _ := strings.Cut(strings.TrimSpace(line), ": ")
		form, open := strings.CutSuffix(form, ", and more")
		if known[path] = form; open && (form == "a block of fields" || form == "a list") {
			known[path+more] = form
		}
	}
	return known
}

// walkType lists the fields of a type as JSON names them, as deep as they are known.
func walkType(at reflect.Type, path string, known, to map[string]string) {
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	if formOf(at) == "a list" {
		if e := at.Elem(); formOf(e) == "a block of fields" && known[path+more] == "" {
			to[path+".*"] = formOf(e)
			walkType(e, path+".*", known, to)
		}
		return
	}
	if e := path + ".*"; at.Kind() == reflect.Map && known[e] != "" {
		to[e] = formOf(at.Elem())
	}
	if at.Kind() != reflect.Struct || formOf(at) == "a text" {
		return
	}
	for i := range at.NumField() {
		field := at.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && (name == "" || strings.Contains(options, "inline")) {
			walkType(field.Type, path, known, to)
			continue
		}
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" { // the decoder takes the name of the field in any letters
			name = strings.ToLower(field.Name)
		}
		below := path + "." + name
		if _, listed := known[below]; !listed && known[path+more] != "" {
			continue // of a block with more fields
		}
		to[below] = formOf(field.Type)
		if known[below] != "anything" {
			walkType(field.Type, below, known, to)
		}
	}
}

// formOf is what a value of a type is written as, in the words of preflight.
func formOf(at reflect.Type) string {
	for at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	switch {
	case at == reflect.TypeFor[metav1.Time]():
		return "a time such as 2026-01-02T15:04:05Z"
	case at == reflect.TypeFor[apiextensionsv1.JSON]():
		return "a block of fields"
	case reflect.PointerTo(at).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return "a text"
	}
	switch at.Kind() {
	case reflect.Bool:
		return "true or false without quotes"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a block of fields"
	case reflect.String:
		return "a text"
	default:
		return "a whole number without quotes"
	}
}
