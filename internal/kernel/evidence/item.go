package evidence

import (
	"strconv"
	"strings"
	"time"
)

// Locator says where exactly a piece of evidence can be looked up again.
type Locator struct {
	Source  string `json:"source"`            // the source's name: "live", an archive's base name, "console:control0"
	Cluster string `json:"cluster,omitempty"` // Management, or "" for the cluster that is looked at
	Path    string `json:"path"`              // "nodes/control1", or the file inside the archive
	Field   string `json:"field,omitempty"`   // field of the object, as `oc explain` spells it
	Line    int    `json:"line,omitempty"`    // 1-based line of a text
	Column  int    `json:"column,omitempty"`  // 1-based column of the line, of files that people write
}

// String renders the locator on one line, without its source.
func (l Locator) String() string {
	var b strings.Builder
	if l.Cluster != "" {
		b.WriteString(l.Cluster + ": ")
	}
	b.WriteString(l.Path)
	if l.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(l.Line))
		if l.Column > 0 {
			b.WriteString(":" + strconv.Itoa(l.Column))
		}
	}
	if l.Field != "" {
		b.WriteByte(' ')
		b.WriteString(l.Field)
	}
	return b.String()
}

// At returns the locator of a field of the same object.
func (l Locator) At(field string) Locator { l.Field = field; return l }

// Item is one piece of proof: what was seen, where, and for a probe from where.
type Item struct {
	Locator Locator   `json:"locator"`
	Excerpt string    `json:"excerpt"`
	From    string    `json:"from,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	// List is set where a whole list shows it: that something is not among its objects, or
	// how many they are. One object that is lost makes it untrue. It is behind a pointer
	// because few items have one, and a large cluster has a million items.
	List *Need `json:"-"`
	// Dangling says that another object refers to the one that is not in the List.
	Dangling bool `json:"-"`
}

// Listed returns what a whole list of objects shows. It is located as `oc get` spells it.
func Listed(r Resource, namespace, excerpt string) Item {
	path := r.Name
	if namespace != "" {
		path += " -n " + namespace
	}
	list := Objects(r, namespace)
	return Item{Locator: Locator{Path: path, Cluster: r.Cluster}, Excerpt: excerpt, List: &list}
}

// Dangling is what a whole list shows where it lacks an object that another one refers to.
func Dangling(r Resource, namespace, excerpt string) Item {
	item := Listed(r, namespace, excerpt)
	item.Dangling = true
	return item
}
