package fault

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/logline"
)

// Endpoint is a server that errors of any program are about, known by its port, the path of
// a URL, its name or the scheme. Of the endpoints of a catalog the first that fits counts.
type Endpoint struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`              // as a sentence has it: the machine config server
	Ports   []string `json:"ports,omitempty"`   // one of them; empty: any
	Paths   []string `json:"paths,omitempty"`   // beginnings of the path of a URL, one of them; empty: any
	Schemes []string `json:"schemes,omitempty"` // one of them; empty: any
	Hosts   string   `json:"hosts,omitempty"`   // expression for its name or address; empty: any
	Next    string   `json:"next"`              // what decides; {host}, {port} and {scheme} are filled in
	// Faults are the faults that an answer of it shows, by the leaf of the error.
	Faults map[string]string `json:"faults,omitempty"`
}

// Fits reports whether a failure is about this endpoint, but for its name.
func (e *Endpoint) Fits(f logline.Failure) bool {
	one := func(list []string, value string, is func(have, want string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(want string) bool { return is(value, want) })
	}
	same := func(a, b string) bool { return a == b }
	return f.Host != "" && one(e.Ports, f.Port, same) && one(e.Paths, f.Path, strings.HasPrefix) && one(e.Schemes, f.Scheme, same)
}

// Command is what decides, for one failure.
func (e *Endpoint) Command(f logline.Failure) string {
	host := f.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return strings.NewReplacer("{host}", host, "{port}", or(f.Port, "PORT"), "{scheme}", or(f.Scheme, "https")).Replace(e.Next)
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// check reports what is wrong with an endpoint.
func (e *Endpoint) check(wrong *mistakes, at Where) {
	under := func(key string) Where { return append(slices.Clone(at), key) }
	wrong.need(e.ID, "id", "write lower case words with - between them")
	wrong.need(e.Name, "name", "write its usual name")
	wrong.need(e.Next, "next", "write the command that decides")
	wrong.checkRegexp(under("hosts"), e.Hosts)
	for leaf := range e.Faults {
		oneOf(wrong, under("faults"), logline.Leaf(leaf), logline.Leaves())
	}
}
