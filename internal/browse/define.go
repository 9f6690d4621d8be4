package browse

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// definitionFields are what is read of a CustomResourceDefinition: most of it is a schema. The API
// v1beta1 had columns for all versions together.
var definitionFields = objectfile.FieldsOf(append(slices.Clone(always),
	"spec.group", "spec.names", "spec.scope", "spec.additionalPrinterColumns",
	"spec.versions.name", "spec.versions.served", "spec.versions.storage", "spec.versions.additionalPrinterColumns")...)

// defined completes a kind from its definition, where the archive has one.
func (a *Archive) defined(ctx context.Context, k Kind) (Kind, error) {
	if k.Resource.Group == "" {
		return k, nil
	}
	list, _, err := a.list(ctx, crdResource, "", objectfile.Choice{Name: k.Resource.In("").String(), Fields: definitionFields})
	if err != nil || len(list) == 0 {
		return k, err
	}
	of := kindOf(list[0].Content)
	of.Resource = k.Resource
	return of, nil
}

// definedAs is the kind whose definition has a word as a name; without a Resource where there is none.
func (a *Archive) definedAs(ctx context.Context, word string) (Kind, error) {
	list, _, err := a.list(ctx, crdResource, "", objectfile.Choice{Fields: definitionFields})
	if err != nil {
		return Kind{}, err
	}
	for _, o := range list {
		if k := kindOf(o.Content); k.named(word) {
			return k, nil
		}
	}
	return Kind{}, nil
}

// kindOf reads a definition.
func kindOf(crd map[string]any) Kind {
	k := Kind{
		Resource: evidence.Resource{Group: evidence.String(crd, "spec", "group"), Name: evidence.String(crd, "spec", "names", "plural")},
		Kind:     evidence.String(crd, "spec", "names", "kind"),
		Cluster:  evidence.String(crd, "spec", "scope") == "Cluster",
		columns:  columnsOf(crd),
	}
	if short, ok := evidence.Field(crd, "spec", "names", "shortNames").([]any); ok {
		for _, s := range short {
			k.Short = append(k.Short, scalar(s))
		}
	}
	return k
}

// columnsOf are the columns of the version that is stored, nil where it has none: NAME and AGE are
// printed then.
func columnsOf(crd map[string]any) []column {
	defined := items(crd, "spec", "additionalPrinterColumns")
	for _, v := range items(crd, "spec", "versions") {
		if stored, _ := v["storage"].(bool); stored {
			if own := items(v, "additionalPrinterColumns"); len(own) > 0 {
				defined = own
			}
		}
	}
	var list []column
	for _, c := range defined {
		path := evidence.String(c, "jsonPath")
		if path == "" {
			path = evidence.String(c, "JSONPath") // v1beta1
		}
		list = append(list, at(strings.ToUpper(evidence.String(c, "name")), path, evidence.Int(c, "priority") > 0, evidence.String(c, "type") == "date"))
	}
	return list
}
