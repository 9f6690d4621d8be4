package fault

import (
	"slices"
	"strings"
)

// Writer is a program that writes errors which no message knows: where the rest of its log is. It is known by
// the name in the journal, or by the file of klog, the module of oslo, the logger of JSON.
// Of the writers of a catalog the first that fits counts.
type Writer struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`                // as a sentence has it: the kubelet
	Names     []string `json:"names,omitempty"`     // names in a journal
	Modules   []string `json:"modules,omitempty"`   // files, modules and loggers; one that ends with a dot stands for all that begin so
	Bootstrap bool     `json:"bootstrap,omitempty"` // it runs on the bootstrap host only
	Next      string   `json:"next"`                // what to look at, imperative
}

// Fits reports whether a line of a program and a module is of this writer.
func (p *Writer) Fits(program, module string) bool {
	if program != "" && slices.Contains(p.Names, program) {
		return true
	}
	return module != "" && slices.ContainsFunc(p.Modules, func(m string) bool {
		return m == module || strings.HasSuffix(m, ".") && strings.HasPrefix(module, m)
	})
}

// check reports what is wrong with a writer.
func (p *Writer) check(wrong *mistakes, at Where) {
	wrong.need(p.ID, "id", "write lower case words with - between them")
	wrong.need(p.Name, "name", "write its usual name, as a sentence has it")
	wrong.need(p.Next, "next", "write where the rest of its log is")
	if len(p.Names)+len(p.Modules) == 0 {
		wrong.add(append(slices.Clone(at), "names"), "write its names in a journal, or modules", "is missing")
	}
}
