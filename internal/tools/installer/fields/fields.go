// Package fields lists the fields that openshift-install reads from its files, and what a
// value of each has to be. It reads them from the Go types that the installer decodes the files
// into. The result is the generated file internal/preflight/checks/installerfields.go.
//
// Invariants:
//   - No field is typed here. What preflight knows of other releases is a table of its own there.
//   - The same types give the same text.
package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hiveext "github.com/openshift/assisted-service/api/hiveextension/v1beta1"
	aiv1beta1 "github.com/openshift/assisted-service/api/v1beta1"
	hivev1 "github.com/openshift/hive/apis/hive/v1"
	"github.com/openshift/installer/pkg/types"
	"github.com/openshift/installer/pkg/types/agent"
)

// document is a file of the installer and the type that it is decoded into.
type document struct {
	file string
	path string // where its fields are below the root of the file, "" for the root
	of   reflect.Type
}

// documents are the files whose fields preflight knows: install-config.yaml, agent-config.yaml and
// those of cluster-manifests, which the installer reads in pkg/asset/agent/manifests.
var documents = []document{
	{"install-config.yaml", "", reflect.TypeFor[types.InstallConfig]()},
	{"agent-config.yaml", "", reflect.TypeFor[agent.Config]()},
	{"agent-cluster-install.yaml", "", reflect.TypeFor[hiveext.AgentClusterInstall]()},
	{"cluster-deployment.yaml", "", reflect.TypeFor[hivev1.ClusterDeployment]()},
	{"cluster-image-set.yaml", "", reflect.TypeFor[hivev1.ClusterImageSet]()},
	{"infraenv.yaml", "", reflect.TypeFor[aiv1beta1.InfraEnv]()},
	{"pull-secret.yaml", "", reflect.TypeFor[corev1.Secret]()},
	{"nmstateconfig.yaml", "documents.*", reflect.TypeFor[aiv1beta1.NMStateConfig]()},
}

// metal are the platforms whose fields preflight knows, by their names in a block of platforms.
// It leaves those of clouds to the installer.
var metal = []string{"baremetal", "none", "agentBareMetal"}

// growing are blocks that later releases add fields to: preflight accepts others there, too. So do
// the blocks below them, but for types that are also somewhere else in the document: a reference
// in the status has the fields of one in the spec.
var growing = []string{"status", "ovnKubernetesConfig", "fencing"}

// Signs behind the name of a field (internal/preflight/checks: keys.go).
const (
	text     = ""
	word     = "!"
	boolean  = "?"
	number   = "#"
	moment   = "@"
	duration = "~"
	list     = "[]"
	anyBlock = "{}"
	texts    = "{text}"
	anything = "+"
)

// read lists the fields of a document, a line for each block.
func (d document) read() ([]string, error) {
	r := reader{closed: map[reflect.Type]bool{}}
	if err := r.block(d.of, d.path, false); err != nil {
		return nil, fmt.Errorf("read the fields of %s: %w", d.file, err)
	}
	return r.lines, nil
}

// reader walks through a type.
type reader struct {
	lines  []string
	above  []reflect.Type
	closed map[reflect.Type]bool // types of blocks outside of those that grow
}

// block adds the fields of a struct at a path, and those below them. Of a block that grows,
// other fields are accepted.
func (r *reader) block(of reflect.Type, path string, grows bool) error {
	if slices.Contains(r.above, of) {
		return fmt.Errorf("%s: %s has itself as a field", path, of)
	}
	r.above = append(r.above, of)
	defer func() { r.above = r.above[:len(r.above)-1] }()

	name := path[strings.LastIndexByte(path, '.')+1:]
	platforms := strings.HasPrefix(name, "platform") && path != "platform"
	grows = grows && !r.closed[of] || slices.Contains(growing, name)
	if !grows {
		r.closed[of] = true
	}
	at := len(r.lines)
	r.lines = append(r.lines, "")
	var names []string
	for _, f := range fieldsOf(of) {
		below := strings.TrimPrefix(path+"."+f.name, ".")
		sign, elem, err := signOf(f)
		if err != nil {
			return fmt.Errorf("%s: %w", below, err)
		}
		if strings.HasPrefix(name, "platform") && !slices.Contains(metal, f.name) {
			sign, elem = anything, nil
		}
		names = append(names, f.name+sign)
		if elem == nil {
			continue
		}
		if elem != value(f.of) {
			below += ".*"
		}
		if err := r.block(elem, below, grows); err != nil {
			return err
		}
	}
	mark := ""
	if grows || platforms {
		mark = "+"
	}
	r.lines[at] = fmt.Sprintf("%s%s: %s", path, mark, strings.Join(names, " "))
	return nil
}

// field is a field of a block as JSON names it.
type field struct {
	name string
	of   reflect.Type
	meta bool // of metav1.TypeMeta, which the decoder fills on its own
}

// fieldsOf lists the fields of a struct, with those of embedded ones.
func fieldsOf(of reflect.Type) []field {
	var all []field
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || strings.Contains(options, "inline")):
			for _, below := range fieldsOf(value(f.Type)) {
				below.meta = f.Type == reflect.TypeFor[metav1.TypeMeta]()
				all = append(all, below)
			}
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "": // the decoder takes the name of the field in any letters
			name = strings.ToLower(f.Name)
		}
		all = append(all, field{name: name, of: f.Type})
	}
	return all
}

// signOf is what a value of a field is written as. elem is the struct whose fields are
// known below it or below each element of a list, nil where there are none.
func signOf(f field) (sign string, elem reflect.Type, err error) {
	of := value(f.of)
	switch {
	case f.meta:
		return word, nil, nil
	case of == reflect.TypeFor[metav1.Time]():
		return moment, nil, nil
	case of == reflect.TypeFor[metav1.Duration]():
		return duration, nil, nil
	case of == reflect.TypeFor[apiextensionsv1.JSON]():
		return anyBlock, nil, nil
	case of == reflect.TypeFor[metav1.FieldsV1](), of == reflect.TypeFor[aiv1beta1.NetConfig]():
		return anything, nil, nil
	case reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return text, nil, nil
	}
	switch of.Kind() {
	case reflect.String:
		return text, nil, nil
	case reflect.Bool:
		return boolean, nil, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return number, nil, nil
	case reflect.Map:
		if of.Elem().Kind() == reflect.String {
			return texts, nil, nil
		}
		return anyBlock, nil, nil
	case reflect.Struct:
		if of.NumField() == 0 {
			return anyBlock, nil, nil
		}
		return text, of, nil
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return text, nil, nil
		}
		sign, elem, err := signOf(field{of: of.Elem()})
		switch {
		case err != nil || elem != nil:
			return text, elem, err
		case sign == text:
			return list, nil, nil
		}
	}
	return "", nil, fmt.Errorf("a value of the type %s is not known", of)
}

// value is a type without its pointers.
func value(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of
}
