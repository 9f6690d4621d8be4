package fault

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Catalog is everything that is known: faults, remedies and refused remedies.
type Catalog struct {
	Faults   []*Fault // sorted by id
	Refused  []*RefusedRemedy
	Messages []*Messages
	Commands []*CommandNotes
	byID     map[string]*Fault
	remedies map[string]storedRemedy
	read     map[string]*Messages // by the ids of messages
	files    map[any]*entryFile   // of the entries but for remedies
	reported map[string][]Reported
}

// storedRemedy is a remedy of the catalog and its file. decode returns it; that of a
// checkedRoot is read then.
type storedRemedy struct {
	file   *entryFile
	decode func() *Remedy
}

// Remedy returns the remedy with the id.
func (c *Catalog) Remedy(id string) (*Remedy, bool) {
	r, ok := c.remedies[id]
	if !ok {
		return nil, false
	}
	return r.decode(), true
}

// hasRemedy reports whether there is a remedy with the id, and does not decode it.
func (c *Catalog) hasRemedy(id string) bool { _, ok := c.remedies[id]; return ok }

// Remedies returns all remedies, sorted by id. It decodes those that nothing has asked for
// yet; a command that needs a few asks for them by id.
func (c *Catalog) Remedies() []*Remedy {
	var list []*Remedy
	for _, id := range slices.Sorted(maps.Keys(c.remedies)) {
		list = append(list, c.remedies[id].decode())
	}
	return list
}

// Fault returns the fault with the id.
func (c *Catalog) Fault(id string) (*Fault, bool) { f, ok := c.byID[id]; return f, ok }

// The bounds of a catalog; users add their own directories.
const (
	maxEntry   = 256 << 10 // bytes of one file
	maxEntries = 4096      // files of all roots
	maxWalked  = 65536     // files and directories that one root is searched through
	maxDepth   = 8         // directories above a file, below its root
)

// Load reads every *.yaml below the roots; a directory named "remedies" holds remedies,
// one named "refused" refused ones, one named "messages" what programs print, directories
// named "testdata" are passed over. A later root may add entries but not replace one. All
// mistakes are reported together, as Problems; a root that is beyond the bounds is not read
// to its end.
func Load(roots ...fs.FS) (*Catalog, error) { return loadAll(roots, true) }

// LoadChecks is Load with no other messages than those that facts read: a diagnosis does not
// need the others.
func LoadChecks(roots ...fs.FS) (*Catalog, error) { return loadAll(roots, false) }

func loadAll(roots []fs.FS, messages bool) (*Catalog, error) {
	c := &Catalog{byID: map[string]*Fault{}, read: map[string]*Messages{}, remedies: map[string]storedRemedy{}, files: map[any]*entryFile{}}
	var wrong Problems
	var files []*entryFile
	for i, root := range roots {
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
			if path.Ext(p) != ".yaml" || !messages && path.Base(path.Dir(p)) == "commands" {
				return nil
			}
			if len(files) == maxEntries {
				return fmt.Errorf("more than %d entries", maxEntries)
			}
			files = append(files, &entryFile{root: root, rootIndex: i, path: p, onlyRead: !messages, checked: isChecked(root)})
			return nil
		})
		if err != nil {
			wrong = append(wrong, &Problem{File: (&entryFile{root: root}).name(), Message: "walk catalog: " + err.Error()})
		}
	}
	decodeAll(files)
	for _, f := range files {
		wrong = append(wrong, f.problems(c.add(f))...)
	}
	slices.SortFunc(c.Faults, func(a, b *Fault) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Refused, func(a, b *RefusedRemedy) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Messages, func(a, b *Messages) int { return strings.Compare(a.Program, b.Program) })
	slices.SortFunc(c.Commands, func(a, b *CommandNotes) int { return strings.Compare(a.Topic, b.Topic) })
	wrong = append(wrong, c.checkLinks()...)
	c.shareEdges()
	if messages {
		wrong = append(wrong, c.shareCauses()...)
		wrong = append(wrong, c.shareReported()...)
		wrong = append(wrong, c.checkMessages()...)
	}
	return c, wrong.Sorted().Err()
}

// shareEdges gives the faults that explain one an edge to those that say that they are explained
// in the same way (ExplainedLike, ExplainedUpTo).
func (c *Catalog) shareEdges() {
	for _, f := range c.Faults {
		written := len(f.Explains)
		for _, to := range c.Faults {
			if f == to {
				continue
			}
			for _, e := range f.Explains[:written] {
				if slices.Contains(to.ExplainedLike, e.Fault) {
					f.Explains = append(f.Explains, Edge{Fault: to.ID, On: e.On, Strength: e.Strength, When: e.When})
				}
			}
			if on, ok := toHosts[f.For]; ok && f.blocksUpTo(to.ExplainedUpTo) {
				f.Explains = append(f.Explains, Edge{Fault: to.ID, On: on, Strength: Certain, upTo: true})
			}
		}
	}
}

// toHosts leads from the subject of a fault to the hosts that it blocks.
var toHosts = map[Kind]Relation{Host: Same, Pool: HostsOfPool, CSR: HostOfCSR, Cluster: AllHosts}

// blocksUpTo reports whether a fault blocks a host at a step or before; "" is no step.
func (f *Fault) blocksUpTo(s Stage) bool {
	at := slices.Index(Stages(), f.Blocks)
	return at >= 0 && at <= slices.Index(Stages(), s)
}

// add adds an entry, and returns what is wrong with it.
func (c *Catalog) add(file *entryFile) mistakes {
	if file.later() {
		return c.addRemedy(strings.TrimSuffix(path.Base(file.path), ".yaml"), storedRemedy{file, sync.OnceValue(file.remedy)})
	}
	if file.entry == nil {
		return file.wrong
	}
	if _, ok := file.entry.(*Remedy); !ok {
		c.files[file.entry] = file
	}
	var wrong mistakes
	var check func() mistakes
	switch e := file.entry.(type) {
	case *RefusedRemedy:
		c.Refused = append(c.Refused, e)
		check = e.check
	case *CommandNotes:
		c.Commands = append(c.Commands, e)
		check = e.check
	case *Messages:
		c.Messages = append(c.Messages, e)
		check = e.check
		wrong = c.readBy(e)
		if file.onlyRead {
			e.onlyRead()
		}
	case *Remedy:
		if wrong := c.addRemedy(e.ID, storedRemedy{file, func() *Remedy { return e }}); wrong != nil {
			return append(file.wrong, wrong...)
		}
		check = func() mistakes { return append(named(e.ID, file.path), e.check()...) }
	case *Fault:
		if have, twice := c.byID[e.ID]; twice {
			return append(file.wrong, duplicateID(e.ID, c.files[have]))
		}
		c.byID[e.ID] = e
		c.Faults = append(c.Faults, e)
		check = func() mistakes { return append(named(e.ID, file.path), e.check()...) }
	}
	if !file.checked {
		wrong = append(check(), wrong...)
	}
	return append(file.wrong, slices.DeleteFunc(wrong, file.follows)...)
}

// addRemedy adds a remedy, and returns the mistake where its id is taken.
func (c *Catalog) addRemedy(id string, r storedRemedy) mistakes {
	if have, twice := c.remedies[id]; twice {
		return mistakes{duplicateID(id, have.file)}
	}
	c.remedies[id] = r
	return nil
}

// duplicateID is the mistake of an id that another entry has.
func duplicateID(id string, by *entryFile) mistake {
	return mistake{at: Where{"id"}, text: fmt.Sprintf("the id %q is taken by %s", id, by.name()), hint: "choose another; an entry cannot replace one"}
}

// readBy notes the ids of messages, and returns those that are taken.
func (c *Catalog) readBy(m *Messages) (wrong mistakes) {
	for i := range m.Messages {
		id := m.Messages[i].ID
		if id == "" {
			continue
		}
		if by, twice := c.read[id]; twice {
			wrong.add(Where{"messages", i, "id"}, "choose another", "the id %q is taken by %s", id, c.files[by].name())
		}
		c.read[id] = m
	}
	return wrong
}
