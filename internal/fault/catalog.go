package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
)

// Catalog is everything that is known: faults, remedies and refused remedies.
type Catalog struct {
	Faults   []*Fault // sorted by id
	Remedies []*Remedy
	Refused  []*RefusedRemedy
	Messages []*Messages
	Commands []*CommandNotes
	byID     map[string]*Fault
	remedies map[string]*Remedy
}

// Remedy returns the remedy with the id.
func (c *Catalog) Remedy(id string) (*Remedy, bool) { r, ok := c.remedies[id]; return r, ok }

// Fault returns the fault with the id.
func (c *Catalog) Fault(id string) (*Fault, bool) { f, ok := c.byID[id]; return f, ok }

// The bounds of a catalogue; users add their own directories.
const (
	maxEntry   = 256 << 10 // bytes of one file
	maxEntries = 4096      // files of all roots
	maxWalked  = 65536     // files and directories that one root is searched through
	maxDepth   = 8         // directories above a file, below its root
)

// Load reads every *.yaml below the roots; a directory named "remedies" holds remedies,
// one named "refused" refused ones, one named "messages" what programs print, directories
// named "testdata" are passed over. A later root may add entries but not replace one. All
// mistakes are reported together; a root that is beyond the bounds ends the reading.
func Load(roots ...fs.FS) (*Catalog, error) { return loadAll(roots, true) }

// LoadChecks is Load without messages: a diagnosis does not need them, and they are the
// larger half of the catalogue.
func LoadChecks(roots ...fs.FS) (*Catalog, error) { return loadAll(roots, false) }

func loadAll(roots []fs.FS, messages bool) (*Catalog, error) {
	c := &Catalog{byID: map[string]*Fault{}, remedies: map[string]*Remedy{}}
	var wrong []error
	var files []*entryFile
	for _, root := range roots {
		walked := 0
		err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if walked++; walked > maxWalked {
				return fmt.Errorf("more than %d files and directories", maxWalked)
			}
			if d.IsDir() {
				return enter(p)
			}
			if path.Ext(p) != ".yaml" || !messages && slices.Contains([]string{"messages", "commands"}, path.Base(path.Dir(p))) {
				return nil
			}
			if len(files) == maxEntries {
				return fmt.Errorf("more than %d entries", maxEntries)
			}
			files = append(files, &entryFile{root: root, path: p})
			return nil
		})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("walk catalog: %w", err))
		}
	}
	decodeAll(files)
	for _, f := range files {
		if err := c.add(f); err != nil {
			wrong = append(wrong, fmt.Errorf("load catalog entry %s: %w", f.path, err))
		}
	}
	slices.SortFunc(c.Faults, func(a, b *Fault) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Remedies, func(a, b *Remedy) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Refused, func(a, b *RefusedRemedy) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Messages, func(a, b *Messages) int { return strings.Compare(a.Program, b.Program) })
	slices.SortFunc(c.Commands, func(a, b *CommandNotes) int { return strings.Compare(a.Topic, b.Topic) })
	wrong = append(wrong, c.checkLinks()...)
	if messages {
		wrong = append(wrong, c.checkMessages()...)
	}
	return c, errors.Join(wrong...)
}

// entryFile is one file of a catalogue and what it holds.
type entryFile struct {
	root  fs.FS
	path  string
	entry any // *Fault, *Remedy, *RefusedRemedy, *Messages or *CommandNotes
	err   error
}

// decodeAll decodes files side by side.
func decodeAll(files []*entryFile) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		group.Go(func() error {
			f.decode()
			return nil
		})
	}
	_ = group.Wait() // each file has its own error
}

func (f *entryFile) decode() {
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		f.err = err
		return
	}
	switch path.Base(path.Dir(f.path)) {
	case "refused":
		f.entry = &RefusedRemedy{}
	case "remedies":
		f.entry = &Remedy{}
	case "messages":
		f.entry = &Messages{}
	case "commands":
		f.entry = &CommandNotes{}
	default:
		f.entry = &Fault{}
	}
	f.err = decodeStrict(raw, f.entry)
}

// enter decides about a directory of a catalogue.
func enter(p string) error {
	if path.Base(p) == "testdata" {
		return fs.SkipDir
	}
	if strings.Count(p, "/") >= maxDepth {
		return fmt.Errorf("%s: more than %d directories deep", p, maxDepth)
	}
	return nil
}

// readEntry reads a file of a catalogue. Links are followed, as a mounted ConfigMap
// has them, but only to regular files: what a FIFO is opened for never comes, and
// /dev/zero has no end.
func readEntry(root fs.FS, p string) (raw []byte, err error) {
	info, err := fs.Stat(root, p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	f, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err = io.ReadAll(io.LimitReader(f, maxEntry+1)) // a size may lie, as in /proc
	if err != nil {
		return nil, err
	}
	if len(raw) > maxEntry {
		return nil, fmt.Errorf("longer than %d bytes", maxEntry)
	}
	return raw, nil
}

func (c *Catalog) add(file *entryFile) error {
	if file.err != nil {
		return file.err
	}
	switch e := file.entry.(type) {
	case *RefusedRemedy:
		c.Refused = append(c.Refused, e)
		return e.check()
	case *CommandNotes:
		c.Commands = append(c.Commands, e)
		return e.check()
	case *Messages:
		c.Messages = append(c.Messages, e)
		return e.check()
	case *Remedy:
		return c.addRemedy(e, file.path)
	case *Fault:
		return c.addFault(e, file.path)
	}
	return nil
}

func (c *Catalog) addFault(f *Fault, p string) error {
	if _, twice := c.byID[f.ID]; twice {
		return fmt.Errorf("the id %q is taken", f.ID)
	}
	c.byID[f.ID] = f
	c.Faults = append(c.Faults, f)
	if want := f.ID + ".yaml"; path.Base(p) != want {
		return errors.Join(fmt.Errorf("the file of fault %q must be named %s", f.ID, want), f.check())
	}
	return f.check()
}

func (c *Catalog) addRemedy(r *Remedy, p string) error {
	if _, twice := c.remedies[r.ID]; twice {
		return fmt.Errorf("the id %q is taken", r.ID)
	}
	c.remedies[r.ID] = r
	c.Remedies = append(c.Remedies, r)
	if want := r.ID + ".yaml"; path.Base(p) != want {
		return errors.Join(fmt.Errorf("the file of remedy %q must be named %s", r.ID, want), r.check())
	}
	return r.check()
}

// decodeStrict decodes one YAML document and refuses unknown fields. It does not
// use the Kubernetes decoder: that one reads the key "on" as the boolean of YAML 1.1.
func decodeStrict(raw []byte, into any) error {
	var tree map[string]any
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		return err
	}
	asJSON, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(asJSON))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (f *Fault) check() error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !kebab.MatchString(f.ID) {
		fail("id %q is not kebab case", f.ID)
	}
	if f.Title == "" || f.Layer == "" || f.Means == "" {
		fail("title, layer and means are needed")
	}
	if f.TextOnly() && len(f.Given)+len(f.Support)+len(f.Since)+len(f.Refute)+len(f.Next) > 0 {
		fail("without when there is no given, since, refute, support and next")
	}
	for _, a := range f.Aliases {
		if !kebab.MatchString(a) {
			fail("alias %q is not kebab case", a)
		}
	}
	if !slices.Contains(Kinds(), f.For) {
		fail("for: %q is not a kind of subject", f.For)
	}
	if !slices.Contains([]ControlPlane{"", OwnControlPlane, HostedControlPlane, AnyControlPlane, AloneControlPlane}, f.Runs) {
		fail("controlPlane: %q is none of own, hosted, any, alone", f.Runs)
	}
	if f.Severity.Rank() == 0 && f.Severity != Info {
		fail("severity: %q is none of info, warning, error", f.Severity)
	}
	if f.Blocks != "" && !slices.Contains(Stages(), f.Blocks) {
		fail("blocks: %q is not a stage", f.Blocks)
	}
	for _, e := range f.Explains {
		if !slices.Contains(Relations(), e.On) {
			fail("explains %s: on: %q is not a relation", e.Fault, e.On)
		}
		if e.Strength != Certain && e.Strength != LikelyEdge && e.Strength != PossibleEdge {
			fail("explains %s: strength: %q is none of certain, likely, possible", e.Fault, e.Strength)
		}
	}
	if len(f.Refs) == 0 {
		fail("refs: a fault names its source")
	}
	return errors.Join(wrong...)
}

func (r *RefusedRemedy) check() error {
	if !kebab.MatchString(r.ID) || r.Title == "" || r.Happens == "" || r.Instead == "" || r.When == "" || len(r.Advice) == 0 || len(r.Refs) == 0 {
		return fmt.Errorf("refused remedy %q: id, title, advice, happens, when, instead and refs are needed", r.ID)
	}
	for _, p := range r.Commands {
		if len(p.Has) == 0 {
			return fmt.Errorf("refused remedy %q: commands: has is needed", r.ID)
		}
		for _, expr := range slices.Concat(p.Has, p.Not) {
			if _, err := regexp.Compile(expr); err != nil {
				return fmt.Errorf("refused remedy %q: commands: %w", r.ID, err)
			}
		}
	}
	return nil
}

// checkLinks reports edges, remedies and refused remedies that lead nowhere.
func (c *Catalog) checkLinks() []error {
	var wrong []error
	for _, f := range c.Faults {
		for _, e := range f.Explains {
			if _, ok := c.byID[e.Fault]; !ok {
				wrong = append(wrong, fmt.Errorf("fault %s explains %q, which is not in the catalog", f.ID, e.Fault))
			}
		}
		for _, id := range f.Remedies {
			if _, ok := c.Remedy(id); !ok {
				wrong = append(wrong, fmt.Errorf("fault %s lists the remedy %q, which is not in the catalog", f.ID, id))
			}
		}
		for _, id := range f.Refused {
			if !slices.ContainsFunc(c.Refused, func(r *RefusedRemedy) bool { return r.ID == id }) {
				wrong = append(wrong, fmt.Errorf("fault %s refuses %q, which is not in the catalog", f.ID, id))
			}
		}
	}
	return wrong
}

// CheckActions reports remedies that `fix` is to carry out and cannot. The known ids are
// passed in, so that the catalogue does not depend on the repair.
func (c *Catalog) CheckActions(known []string) error {
	var wrong []error
	for _, r := range c.Remedies {
		if r.Fix && !slices.Contains(known, r.ID) {
			wrong = append(wrong, fmt.Errorf("remedy %s: fix: there is no action of this id", r.ID))
		}
	}
	for _, id := range known {
		if r, ok := c.Remedy(id); !ok || !r.Fix {
			wrong = append(wrong, fmt.Errorf("the action %s has no remedy with fix: true", id))
		}
	}
	return errors.Join(wrong...)
}
