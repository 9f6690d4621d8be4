package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/sortby"
)

// List implements evidence.Source. In addition to objects it may return an
// *evidence.Unavailable with Damaged: these objects are whole, others could not
// be read.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	if s.manifest != nil {
		return s.replayObjects(ctx, need)
	}
	if r == evidence.NamedHosts {
		return s.listNamed(ctx)
	}
	c := listing{need: need, at: map[[2]string]int{}, keep: s.keep()}
	for _, e := range s.inOrder(s.entries(r)) {
		if namespace != "" && e.namespace != "" && e.namespace != namespace {
			continue
		}
		if e.part != "" && e.of.layout == Insights {
			c.part = []string{e.part} // what is missing would read as absent
			continue
		}
		if err := s.readEntry(ctx, e, &c); err != nil {
			return nil, err
		}
	}
	if why := s.ungathered(r, len(c.found)); why != "" && namespace == "" {
		c.part = append(c.part, why)
	}
	if r == evidence.BootstrapServices {
		if err := s.readBootkube(ctx, &c); err != nil {
			return nil, err
		}
	}
	if r == evidence.ClusterOperators {
		if err := s.readOperatorLogs(ctx, &c); err != nil {
			return nil, err
		}
	}
	for _, g := range s.hidden(need) {
		c.damage(g.path, errors.New(g.why))
	}
	if s.cut != "" {
		c.damaged.add(s.cut)
	}
	sortby.Func(c.found, func(a, b found) int {
		return cmp.Or(strings.Compare(a.object.Namespace, b.object.Namespace), strings.Compare(a.object.Name, b.object.Name))
	})
	objects := make([]evidence.Object, len(c.found))
	for i, f := range c.found {
		objects[i] = f.object
		objects[i].Alone = !c.listed
	}
	switch {
	case c.damaged.count > 0:
		return objects, &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: c.damaged.String(), Supply: supply(need)}
	case len(objects) == 0 && !c.looked && len(c.part) == 0 && s.lookedFor(need):
		return nil, nil
	case len(objects) == 0 && !c.looked && len(c.part) == 0:
		return nil, s.notCollected(need)
	case len(c.part) > 0:
		return objects, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: few(c.part), Supply: s.supply(need),
			Fields: slices.Contains(c.part, onlyLogged)}
	}
	return objects, nil
}

// entries are the files of a resource. Events lie in two groups.
func (s *Source) entries(r evidence.Resource) []entry {
	if r == evidence.Events && len(s.objects[eventsV1]) > 0 {
		return slices.Concat(s.objects[r], s.objects[eventsV1])
	}
	return s.objects[r]
}

// listing is the state of one List.
type listing struct {
	need    evidence.Need
	found   []found
	at      map[[2]string]int
	looked  bool // a whole List file without items was there
	listed  bool // a List was there
	damaged damages
	part    []string // why they are not all
	keep    Keep     // nil: objects stay whole
	cost    spending
}

type found struct {
	object evidence.Object
	list   bool
}

func (c *listing) damage(path string, err error) {
	if c.damaged.count < namedDamages {
		c.damaged.add(fmt.Sprintf("%s: %v", path, err))
		return
	}
	c.damaged.count++
}

// damages is what could not be read: how much, and the first of it. An archive may
// have more damage than there is memory to tell of it.
type damages struct {
	count int
	first []string
}

const namedDamages = 3

func (d *damages) add(what string) {
	if d.count++; len(d.first) < namedDamages {
		d.first = append(d.first, what)
	}
}

func (d *damages) String() string {
	s := strings.Join(d.first, "; ")
	if more := d.count - len(d.first); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// readEntry adds the objects of one file. Only a canceled context is an error.
func (s *Source) readEntry(ctx context.Context, e entry, c *listing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.part != "" && !slices.Contains(c.part, e.part) {
		c.part = append(c.part, e.part)
	}
	if e.machine != nil {
		return s.readMachine(ctx, e, c)
	}
	raw, err := s.read(ctx, e.file, maxObjectFile)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		c.damage(e.file.path, err)
		return nil
	}
	if e.resource == evidence.BootstrapServices && e.answer != "" {
		s.readServiceRecords(e, raw, c)
		return nil
	}
	if e.answer != "" {
		s.readAnswer(e, raw, c)
		return nil
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		c.damage(e.file.path, errors.New("the file is empty"))
		return nil
	}
	n := 0
	for doc := range documents(raw) {
		if n++; n > maxObjects {
			c.damage(e.file.path, fmt.Errorf("more than %d documents", maxObjects))
			break
		}
		s.readDocument(e, doc, c)
	}
	return nil
}

func (s *Source) readDocument(e entry, doc []byte, c *listing) {
	if text := bytes.TrimSpace(doc); text[0] == '{' && s.readJSON(e, text, c) {
		return
	}
	h := scanHeader(doc)
	switch {
	case h.noItems:
		if h.kind == "" {
			c.damage(e.file.path, errors.New("the List is cut off"))
			return
		}
		c.look(e, h)
	case h.items > 0:
		items, ok := splitItems(doc[h.items:])
		if !ok || !s.readItems(e, h, items, c) {
			s.readWhole(e, doc, c)
		}
	default:
		s.readWhole(e, doc, c)
	}
}

// readItems decodes the items of a List. The keys of a List are printed in the
// order of the alphabet, so a List whose kind never came is cut off, and its last
// item may be too, even where it can still be parsed.
//
// False means that nothing was added and that the document has to be decoded as a
// whole: an item cannot be decoded, and perhaps it was cut where it does not end, as
// within a quote whose lines begin further left than YAML allows and its decoders take.
func (s *Source) readItems(e entry, h header, items [][]byte, c *listing) bool {
	cut := h.kind == ""
	if cut && len(items) > 0 {
		items = items[:len(items)-1]
	}
	contents, errs := make([]map[string]any, len(items)), make([]error, len(items))
	failed := false
	for i, item := range items {
		contents[i], errs[i] = c.cost.decode(item, decode)
		failed = failed || errs[i] != nil
	}
	if failed && !cut {
		if _, err := decode(h.doc); err == nil {
			return false
		}
	}
	for i, err := range errs {
		if err != nil {
			c.damage(e.file.path, fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		s.addItem(e, h, contents[i], c)
	}
	switch {
	case cut:
		c.damage(e.file.path, fmt.Errorf("cut off after %d items", len(items)))
	case len(items) == 0:
		c.look(e, h)
	}
	return true
}

// look notes a List without items. Of files with any kind of objects only a List
// that names its kind shows what was looked for.
func (c *listing) look(e entry, h header) {
	if r, ok := resourceOf(h.apiVersion, strings.TrimSuffix(h.kind, "List")); !e.mixed || ok && r == e.resource {
		c.looked, c.listed = true, true
	}
}

// readWhole decodes a document that is one object, or a List in another style. The programs
// that write objects end the last line: without its end a value may be half of itself, a name
// the beginning of another name.
func (s *Source) readWhole(e entry, doc []byte, c *listing) {
	if last := doc[len(doc)-1]; last != '\n' && last != '}' && last != ']' {
		c.damage(e.file.path, errors.New("its last line has no end: the file is cut off"))
		return
	}
	content, err := c.cost.decode(doc, decode)
	if err != nil {
		c.damage(e.file.path, err)
		return
	}
	kind := evidence.String(content, "kind")
	items, isList := content["items"].([]any)
	_, has := content["items"]
	if kind != "List" && !(has && strings.HasSuffix(kind, "List")) {
		s.addObject(e, content, false, c)
		return
	}
	if !isList && content["items"] != nil {
		c.damage(e.file.path, errors.New("items is not a list"))
		return
	}
	h := header{apiVersion: evidence.String(content, "apiVersion"), kind: kind}
	if len(items) == 0 {
		c.look(e, h)
	}
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			c.damage(e.file.path, fmt.Errorf("item %d is not an object", i+1))
			continue
		}
		s.addItem(e, h, m, c)
	}
}

// addItem adds an item of a List; typed Lists may leave out their items' kind.
func (s *Source) addItem(e entry, h header, content map[string]any, c *listing) {
	if kind := strings.TrimSuffix(h.kind, "List"); kind != "" && content["kind"] == nil {
		content["kind"], content["apiVersion"] = kind, h.apiVersion
	}
	s.addObject(e, content, true, c)
}

func (s *Source) addObject(e entry, content map[string]any, list bool, c *listing) {
	if evidence.String(content, "kind") == "Status" && evidence.String(content, "apiVersion") == "v1" {
		c.damage(e.file.path, fmt.Errorf("the collector kept an error instead: %q", evidence.String(content, "message")))
		return
	}
	if e.mixed {
		if r, _ := resourceOf(evidence.String(content, "apiVersion"), evidence.String(content, "kind")); r != e.resource {
			return
		}
	}
	name := evidence.String(content, "metadata", "name")
	if name == "" {
		c.damage(e.file.path, errors.New("an object without metadata.name"))
		return
	}
	namespace := evidence.String(content, "metadata", "namespace")
	if namespace == "" {
		namespace = e.namespace
	}
	if c.need.Namespace != "" && namespace != c.need.Namespace {
		return
	}
	if e.resource == eventsV1 && c.need.Resource == evidence.Events {
		coreEvent(content)
	}
	c.listed = c.listed || list
	f := found{list: list, object: evidence.Object{
		Resource: c.need.Resource, Namespace: namespace, Name: name, Content: c.keep.of(c.need.Resource, content),
		Loc: evidence.Locator{Source: s.base, Path: e.file.path},
	}}
	key := [2]string{namespace, name}
	i, ok := c.at[key]
	switch {
	case !ok:
		c.at[key] = len(c.found)
		c.found = append(c.found, f)
	case newer(f, c.found[i]), !newer(c.found[i], f) && f.object.Loc.Path < c.found[i].object.Loc.Path:
		c.found[i] = f
	}
}

// newer reports whether a is to be preferred over b, another copy of the object
// (see the package's doc).
func newer(a, b found) bool {
	x, y := a.object.Content, b.object.Content
	sameUID := evidence.String(x, "metadata", "uid") == evidence.String(y, "metadata", "uid")
	if sameUID {
		v, errX := strconv.ParseUint(evidence.String(x, "metadata", "resourceVersion"), 10, 64)
		w, errY := strconv.ParseUint(evidence.String(y, "metadata", "resourceVersion"), 10, 64)
		if errX == nil && errY == nil && v != w {
			return v > w
		}
	} else if t, u := a.object.Created(), b.object.Created(); !t.Equal(u) {
		return t.After(u)
	}
	return b.list && !a.list
}

// few joins what is damaged, without flooding the report.
func few(list []string) string {
	var d damages
	for _, what := range list {
		d.add(what)
	}
	return d.String()
}

func (s *Source) notCollected(n evidence.Need) *evidence.Unavailable {
	if u, ok := evidence.OnRequest(n.Resource); ok {
		u.Need, u.Detail = n, "an archive was read, and "+u.Detail
		return &u
	}
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n)
	}
	if n.Resource == evidence.BootstrapServices {
		return s.noServices(n)
	}
	u := &evidence.Unavailable{Need: n, Why: evidence.NotCollected, Supply: s.supply(n)}
	u.Detail = s.lacks()
	if len(s.damaged) > 0 {
		u.Detail += "; could not be read: " + few(s.damaged)
	}
	return u
}

// supply is what would give what is missing.
func supply(n evidence.Need) evidence.Supply {
	r := n.Resource
	switch {
	case r.Name == "":
		return textSupply(n.Text)
	case r.Group == evidence.ProbeGroup:
		return evidence.Supply{Kind: evidence.SupplyProbeLive}
	default:
		return evidence.Supply{Kind: evidence.SupplyInspect, Namespace: n.Namespace, Resource: r.String()}
	}
}
