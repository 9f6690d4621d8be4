package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"
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
}

// storedRemedy is a remedy of the catalog and its file. decode returns it; that of a
// CheckedRoot is read then.
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
	if messages {
		wrong = append(wrong, c.checkMessages()...)
	}
	return c, wrong.Sorted().Err()
}

// CheckedRoot is a root of which tests have checked the entries. Load reports what cannot be
// decoded, does not check the rest again, and leaves the remedies to Catalog.Remedy: they
// take as long to decode as the faults, and a diagnosis shows few of them.
type CheckedRoot interface {
	fs.FS
	Checked()
}

func isChecked(root fs.FS) bool {
	if named, ok := root.(namedRoot); ok {
		root = named.FS
	}
	_, ok := root.(CheckedRoot)
	return ok
}

// entryFile is one file of a catalog and what it holds.
type entryFile struct {
	root      fs.FS
	rootIndex int // of the roots that are loaded
	path      string
	onlyRead  bool // of messages only those that facts read
	checked   bool // it is of a CheckedRoot
	entry     any  // *Fault, *Remedy, *RefusedRemedy, *Messages or *CommandNotes; nil where nothing could be decoded
	wrong     mistakes
}

// later reports whether it is a remedy that is decoded when it is asked for first.
func (f *entryFile) later() bool { return f.checked && path.Base(path.Dir(f.path)) == "remedies" }

// decodeAll decodes files side by side, but for those that are decoded later.
func decodeAll(files []*entryFile) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		if f.later() {
			continue
		}
		group.Go(func() error {
			f.decode()
			return nil
		})
	}
	_ = group.Wait() // each file has its own mistakes
}

func (f *entryFile) decode() {
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		f.wrong.add(nil, "", "%s", err.Error())
		return
	}
	switch path.Base(path.Dir(f.path)) {
	case "refused":
		f.entry = &RefusedRemedy{}
	case "remedies":
		f.entry = &Remedy{}
	case "messages":
		if f.onlyRead && !bytes.Contains(raw, []byte("id:")) {
			return // none of them has an id: half of the time is saved
		}
		f.entry = &Messages{}
	case "commands":
		f.entry = &CommandNotes{}
	default:
		f.entry = &Fault{}
	}
	var decoded bool
	if f.wrong, decoded = decodeEntry(raw, f.entry); !decoded {
		f.entry = nil
	}
}

// enter decides about a directory of a catalog.
func enter(p string) error {
	if path.Base(p) == "testdata" {
		return fs.SkipDir
	}
	if strings.Count(p, "/") >= maxDepth {
		return fmt.Errorf("%s: more than %d directories deep", p, maxDepth)
	}
	return nil
}

// readEntry reads a file of a catalog. Links are followed, as a mounted ConfigMap
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

// remedy decodes a remedy of a CheckedRoot. It panics where it cannot: tests have checked the
// entry, so that is a defect of the program.
func (f *entryFile) remedy() *Remedy {
	r := &Remedy{}
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		panic(fmt.Sprintf("read the remedy %s: %v", f.name(), err))
	}
	if f.wrong, _ = decodeEntry(raw, r); len(f.wrong) > 0 {
		panic(f.problems(f.wrong).Error())
	}
	return r
}

// follows reports whether a mistake is there because something was removed that could not
// be decoded.
func (f *entryFile) follows(m mistake) bool {
	return slices.ContainsFunc(f.wrong, func(have mistake) bool {
		return len(have.at) > 0 && len(m.at) > 0 && (m.at.below(have.at) || have.at.below(m.at))
	})
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

// named holds that a file has the name of its entry.
func named(id, p string) (wrong mistakes) {
	if want := id + ".yaml"; id != "" && path.Base(p) != want {
		wrong.add(Where{"id"}, "rename the file, or write id: "+strings.TrimSuffix(path.Base(p), ".yaml"), "the file of %q must be named %s", id, want)
	}
	return wrong
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkID holds that an id can be typed and searched for.
func (m *mistakes) checkID(at Where, id string) {
	switch {
	case id == "":
		m.add(at, "write the name of the file without .yaml", "is missing")
	case !kebab.MatchString(id):
		m.add(at, "write lower-case words with dashes, as pool-config-empty", "%q is not kebab case", id)
	}
}

func (f *Fault) check() (wrong mistakes) {
	wrong.checkID(Where{"id"}, f.ID)
	wrong.need(f.Title, "title", "write one sentence that names the thing and the value")
	if strings.ContainsAny(f.General, "{}<>") {
		wrong.add(Where{"general"}, "", "it is the title where no value is known: write it without braces")
	}
	wrong.need(f.Layer, "layer", "write a word for people, as network")
	wrong.need(f.Means, "means", "write what happens, why, and what a person should know")
	if f.TextOnly() && len(f.Given)+len(f.Support)+len(f.Since)+len(f.Refute)+len(f.Next) > 0 {
		wrong.add(Where{"when"}, "write the expression that is true when the fault is present",
			"is missing; without when there is no given, since, refute, support and next")
	}
	for i, a := range f.Aliases {
		wrong.checkID(Where{"aliases", i}, a)
	}
	if slices.Contains([]Kind{"node", "machine", "baremetalhost"}, Kind(strings.ToLower(string(f.For)))) {
		wrong.add(Where{"for"}, "write host: that is a machine with its Node, Machine and BareMetalHost", "%q is not one of %s", f.For, join(Kinds()))
	} else {
		oneOf(&wrong, Where{"for"}, f.For, Kinds())
	}
	if f.Runs != "" {
		oneOf(&wrong, Where{"controlPlane"}, f.Runs, []ControlPlane{OwnControlPlane, HostedControlPlane, AnyControlPlane, AloneControlPlane})
	}
	oneOf(&wrong, Where{"severity"}, f.Severity, []Severity{Info, Warning, Error})
	if f.Blocks != "" {
		oneOf(&wrong, Where{"blocks"}, f.Blocks, Stages())
	}
	if f.NoRemedy != "" && (len(f.Remedies) > 0 || f.Severity == Error) {
		wrong.add(Where{"noRemedy"}, "leave it out, or write a remedy", "it is for a warning or info without remedies")
	}
	if f.Settles != nil && f.Settles.Within.Duration <= 0 {
		wrong.add(Where{"settles", "within"}, "write how long the condition is normal, as 30m", "is missing")
	}
	wrong.checkVersions(f.Versions)
	for i, e := range f.Explains {
		oneOf(&wrong, Where{"explains", i, "on"}, e.On, Relations())
		oneOf(&wrong, Where{"explains", i, "strength"}, e.Strength, []Strength{Certain, LikelyEdge, PossibleEdge})
	}
	if len(f.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: a fault names its source")
	}
	return wrong
}

// checkVersions holds that a range of releases can be read: what cannot would exclude nothing.
func (m *mistakes) checkVersions(text string) {
	if _, err := semver.NewConstraint(text); text != "" && err != nil {
		m.add(Where{"versions"}, `write a range, as ">=4.14" or ">=4.14 <4.18"`, "%q is not a range of versions (%v)", text, err)
	}
}

func (r *RefusedRemedy) check() (wrong mistakes) {
	wrong.checkID(Where{"id"}, r.ID)
	for _, f := range []struct{ key, value string }{{"title", r.Title}, {"happens", r.Happens}, {"when", r.When}, {"instead", r.Instead}} {
		wrong.need(f.value, f.key, "a refused remedy has title, advice, happens, when, instead and refs")
	}
	if len(r.Advice) == 0 {
		wrong.add(Where{"advice"}, "write the phrases in which people give it", "is missing")
	}
	if len(r.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: a refused remedy names its source")
	}
	for i, p := range r.Commands {
		if len(p.Has) == 0 {
			wrong.add(Where{"commands", i, "has"}, "write the expressions that the command matches", "is missing")
		}
		for _, list := range []struct {
			key   string
			exprs []string
		}{{"has", p.Has}, {"not", p.Not}} {
			for j, expr := range list.exprs {
				wrong.checkRegexp(Where{"commands", i, list.key, j}, expr)
			}
		}
	}
	return wrong
}

func (m *mistakes) checkRegexp(at Where, expr string) {
	if _, err := regexp.Compile(expr); err != nil {
		m.add(at, "write an RE2 expression; a backslash goes before a literal ( ) [ ] . * + ?", "%v", err)
	}
}

// checkLinks reports edges, remedies and refused remedies that lead nowhere.
func (c *Catalog) checkLinks() (list Problems) {
	remedies := slices.Sorted(maps.Keys(c.remedies))
	var faults, refused []string
	for _, f := range c.Faults {
		faults = append(faults, f.ID)
	}
	for _, r := range c.Refused {
		refused = append(refused, r.ID)
	}
	for _, f := range c.Faults {
		var wrong mistakes
		for i, e := range f.Explains {
			if _, ok := c.byID[e.Fault]; !ok {
				wrong.add(Where{"explains", i, "fault"}, meant(e.Fault, faults), "the fault %q is not in the catalog", e.Fault)
			}
		}
		for i, id := range f.Remedies {
			if !c.hasRemedy(id) {
				wrong.add(Where{"remedies", i}, meant(id, remedies), "the remedy %q is not in the catalog", id)
			}
		}
		for i, id := range f.Refused {
			if !slices.Contains(refused, id) {
				wrong.add(Where{"refused", i}, meant(id, refused), "the refused remedy %q is not in the catalog", id)
			}
		}
		list = append(list, c.withoutFollowing(f, wrong)...)
	}
	return list
}

// withoutFollowing returns the problems of an entry without those of a value that could not
// be decoded.
func (c *Catalog) withoutFollowing(entry any, list mistakes) Problems {
	if f := c.files[entry]; f != nil {
		list = slices.DeleteFunc(list, f.follows)
	}
	return c.problems(entry, list)
}

// CheckPreflight reports pages of checks that preflight does not have, and checks without a
// page. The known ids are passed in, so that the catalog does not depend on preflight.
func (c *Catalog) CheckPreflight(known []string) error {
	var list Problems
	for _, f := range c.Faults {
		if Preflight(f) && !slices.Contains(known, f.ID) {
			list = append(list, c.ProblemAt(f, Where{"when"}, "is missing, and preflight has no check of this id", "write the expression that is true when the fault is present"))
		}
	}
	for _, id := range known {
		if f, ok := c.Fault(id); !ok || !Preflight(f) {
			list = append(list, &Problem{File: "catalog", Message: fmt.Sprintf("the check %s of preflight has no page", id)})
		}
	}
	return list.Err()
}

// CheckActions reports remedies that `fix` is to carry out and cannot. The known ids are
// passed in, so that the catalog does not depend on the repair.
func (c *Catalog) CheckActions(known []string) error {
	var list Problems
	for _, r := range c.Remedies() {
		if r.Fix && !slices.Contains(known, r.ID) {
			list = append(list, c.ProblemAt(r, Where{"fix"}, "there is no action of this id", "leave fix out: only the program's own actions have it"))
		}
	}
	for _, id := range known {
		if r, ok := c.Remedy(id); !ok || !r.Fix {
			list = append(list, &Problem{File: "catalog", Message: fmt.Sprintf("the action %s has no remedy with fix: true", id)})
		}
	}
	return list.Err()
}
