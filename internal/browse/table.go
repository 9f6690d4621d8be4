package browse

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// table are the columns of a kind behind its name.
func (k Kind) table(wide bool) []column {
	columns := k.columns
	if len(columns) == 0 {
		columns = []column{age()}
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.wide && !wide })
}

// columns are those of a query: of its kind, behind namespace and name, or its own.
func (q Query) columns() ([]column, error) {
	if q.Columns != "" {
		return columnsFrom(q.Columns)
	}
	list := q.Kind.table(q.Wide)
	if q.ShowLabels {
		list = append(list, labelsColumn())
	}
	return list, nil
}

// Cell is a column of one object.
type Cell struct{ Name, Value string }

// Row are the columns that oc get prints of an object behind its name; none of a kind that is not known.
func Row(r evidence.Resource, o evidence.Object, now time.Time) []Cell {
	var row []Cell
	for _, k := range Kinds() {
		if k.Resource.Name != r.Name || k.Resource.Group != r.Group {
			continue
		}
		for _, c := range k.table(false) {
			row = append(row, Cell{c.name, c.cell(object{o.Content, now})})
		}
	}
	return row
}

// Print prints a table, as oc prints it. clean makes a cell harmless for the terminal; headers says
// whether there is a line with the names of the columns.
func (a *Archive) Print(w io.Writer, f Found, headers bool, clean func(string) string) error {
	spaces := f.Query.Namespace == "" && slices.ContainsFunc(f.Objects, func(o evidence.Object) bool { return o.Namespace != "" })
	var page bytes.Buffer
	t := tabwriter.NewWriter(&page, 0, 0, 3, ' ', 0)
	row := func(namespace, name string, cell func(column) string) error {
		cells := []string{name}
		if spaces {
			cells = []string{namespace, name}
		}
		switch {
		case f.Query.Columns != "":
			cells = nil
		case f.Query.Kind.Resource.In("") == evidence.Events:
			cells = cells[:len(cells)-1] // oc has the time first, and the name only in other formats
		}
		for _, c := range f.columns {
			cells = append(cells, clean(cell(c)))
		}
		_, err := fmt.Fprintln(t, strings.Join(cells, "\t"))
		return err
	}
	if headers {
		if err := row("NAMESPACE", "NAME", func(c column) string { return c.name }); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
	}
	for _, o := range f.Objects {
		of := object{o.Content, a.now}
		if err := row(clean(o.Namespace), clean(o.Name), func(c column) string { return c.cell(of) }); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
	}
	err := t.Flush()
	for line := range bytes.Lines(page.Bytes()) {
		if err == nil {
			_, err = w.Write(append(bytes.TrimRight(line, " \n"), '\n'))
		}
	}
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// ID is how -o name writes an object: pod/NAME, machine.machine.openshift.io/NAME.
func (k Kind) ID(name string) string {
	word := strings.ToLower(k.Kind)
	if word == "" {
		word = k.Resource.Name
	}
	if k.Resource.Group != "" {
		word += "." + k.Resource.Group
	}
	return word + "/" + name
}

// Document is what -o json and -o yaml print: the object that was asked for, else a List.
func Document(found ...Found) any {
	if len(found) == 1 && found[0].Query.Name != "" && len(found[0].Objects) == 1 {
		return found[0].Objects[0].Content
	}
	list := []any{}
	for _, f := range found {
		for _, o := range f.Objects {
			list = append(list, o.Content)
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": list}
}
