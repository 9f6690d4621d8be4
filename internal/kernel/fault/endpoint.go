package fault

import (
	"maps"
	"slices"
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
	// DNS is what decides where its name does not resolve; empty: what is said of any server.
	DNS string `json:"dns,omitempty"`
	// Faults are the faults that an answer of it shows, by the leaf of the error.
	Faults map[string]string `json:"faults,omitempty"`
}

// check reports what is wrong with an endpoint.
func (e *Endpoint) check(wrong *mistakes, at Where) {
	wrong.need(e.ID, "id", "write lower case words with - between them")
	wrong.need(e.Name, "name", "write its usual name")
	wrong.need(e.Next, "next", "write the command that decides")
	wrong.checkRegexp(append(slices.Clone(at), "hosts"), e.Hosts)
}

// CheckLeaves reports endpoints with a fault for a leaf that is not known. What reads errors
// passes in the leaves that it knows.
func (c *Catalog) CheckLeaves(known []string) (list Problems) {
	for _, file := range c.Messages {
		var wrong mistakes
		for i, e := range file.Endpoints {
			for _, leaf := range slices.Sorted(maps.Keys(e.Faults)) {
				oneOf(&wrong, Where{"endpoints", i, "faults"}, leaf, known)
			}
		}
		list = append(list, c.withoutFollowing(file, wrong)...)
	}
	return list
}
