// Package demo holds small archives of clusters, embedded in the program: the
// incidents that Rollcall was made for, captured from the real servers of the lab.
//
// A demo is answered by the code that answers `diagnose --from` on the same bytes;
// nothing here knows what the answer is.
package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed archives
var embedded embed.FS

// Demo is one example.
type Demo struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	About string `json:"about"`
}

// Set is a list of examples with their archives; the first is the default.
type Set struct {
	Demos []Demo `json:"demos"`
	files fs.FS
}

// Embedded returns the examples that the program carries.
func Embedded() (*Set, error) {
	files, err := fs.Sub(embedded, "archives")
	if err != nil {
		return nil, fmt.Errorf("open the embedded examples: %w", err)
	}
	return Load(files)
}

// Load reads index.yaml of a directory of examples.
func Load(files fs.FS) (*Set, error) {
	raw, err := fs.ReadFile(files, "index.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the list of examples: %w", err)
	}
	s := &Set{files: files}
	if err := yaml.UnmarshalStrict(raw, s); err != nil {
		return nil, fmt.Errorf("read the list of examples: %w", err)
	}
	return s, nil
}

// Find returns the example of a name, the default one for "".
func (s *Set) Find(name string) (Demo, error) {
	if len(s.Demos) == 0 {
		return Demo{}, fmt.Errorf("this build carries no examples")
	}
	if name == "" {
		return s.Demos[0], nil
	}
	i := slices.IndexFunc(s.Demos, func(d Demo) bool { return d.Name == name })
	if i < 0 {
		return Demo{}, fmt.Errorf("there is no example %q; there are: %s", name, strings.Join(s.Names(), ", "))
	}
	return s.Demos[i], nil
}

// Names lists the examples in their order.
func (s *Set) Names() []string {
	var names []string
	for _, d := range s.Demos {
		names = append(names, d.Name)
	}
	return names
}

// Archive returns the bytes of an example: a gzipped tar.
func (s *Set) Archive(d Demo) ([]byte, error) {
	raw, err := fs.ReadFile(s.files, d.File)
	if err != nil {
		return nil, fmt.Errorf("read the archive of example %s: %w", d.Name, err)
	}
	return raw, nil
}
