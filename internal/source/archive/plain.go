package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/sortby"
)

// maxLoose bounds how many files outside of any layout are looked into.
const maxLoose = 20000

// looseFile reports whether a name may be that of a file of objects or lines.
func looseFile(name string) bool {
	if _, ok := objectFile(path.Base(name)); ok {
		return true
	}
	return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".txt")
}

// fromFile opens a single file of objects or lines.
func fromFile(ctx context.Context, f io.ReaderAt, size int64, name string, how packing) (*Source, error) {
	b := newBuilder(name)
	b.s.single, b.s.inner.size = true, size
	st := &fileStore{f, size, how}
	e := entry{class: loose, file: file{path: b.s.base, size: size}}
	if how != notPacked {
		r, err := st.open(ctx, e.file)
		if err != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
		e.file.size, err = io.Copy(io.Discard, &whileAlive{ctx, r})
		if limit := (*limitError)(nil); errors.As(err, &limit) || ctx.Err() != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
		if err != nil {
			b.cut(fmt.Errorf("it is cut off or damaged behind byte %d of its content: %w", e.file.size, err))
		}
	}
	if head, err := b.headOf(ctx, st, e.file); err == nil && isKubeconfig(head) {
		return nil, fmt.Errorf("no object or log of a cluster found in %s: it is a kubeconfig; a cluster to ask is named with --kubeconfig %s", name, name)
	}
	b.count = 1
	b.keep(e)
	return b.finish(ctx, st)
}

var (
	configKind = regexp.MustCompile(`(?m)^\s*"?kind"?:\s*"?Config"?,?\s*$`)
	contexts   = regexp.MustCompile(`(?m)^\s*"?(?:contexts|current-context)"?:`)
)

// isKubeconfig reports whether somebody gave the file with which a cluster is asked
// (k8s.io/client-go:tools/clientcmd/api/v1/types.go Config).
func isKubeconfig(head []byte) bool { return configKind.Match(head) && contexts.Match(head) }

// fileStore opens the one member of a file that is no container.
type fileStore struct {
	f    io.ReaderAt
	size int64
	how  packing
}

func (s *fileStore) open(context.Context, file) (io.ReadCloser, error) {
	r, err := unpack(s.f, s.size, s.how)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}

// lookInto finds out from their contents what files hold that may hold anything:
// the resources of an installer log bundle and, where nothing else was found,
// files in no layout.
func (b *builder) lookInto(ctx context.Context) error {
	lone := len(b.s.objects) == 0 && !slices.ContainsFunc(b.s.texts, func(e entry) bool { return !e.free }) &&
		!slices.ContainsFunc(b.small, func(e entry) bool { return e.class == manifest })
	var list []entry
	for i, e := range b.open {
		if (e.class != loose || lone && i < maxLoose) && (e.file.size > 0 || e.file.lost != "") {
			list = append(list, e)
		}
	}
	for _, e := range b.s.inOrder(list) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.lookIntoFile(ctx, e); err != nil {
			b.loseLoose(e, err)
		}
	}
	return nil
}

// lookIntoFile keeps a file for what its first bytes say it is. It is opened once: in a
// packed tar there is no cheap way back.
func (b *builder) lookIntoFile(ctx context.Context, e entry) (err error) {
	r, err := b.s.open(ctx, e.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head, broken := peek(r)
	if broken != nil && len(head) == 0 {
		return broken
	}
	e.free = e.class == loose
	if t, ok := textOf(head); ok && e.free {
		e.class, e.text, e.whole, e.export = text, t, t.Kind == evidence.Journal, bytes.HasPrefix(head, []byte(exportStart))
		e.text.Path = e.file.path
		b.keep(e)
		return nil
	}
	if !e.mixed && !objectsIn(head) {
		return nil
	}
	if broken != nil {
		return broken
	}
	raw, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), r), maxObjectFile+1))
	if err == nil && len(raw) > maxObjectFile {
		err = fmt.Errorf("more than %d bytes", maxObjectFile)
	}
	if err != nil {
		return err
	}
	return b.keepKinds(e, raw)
}

// inOrder returns entries in the order in which a stream is read once for all of them.
func (s *Source) inOrder(list []entry) []entry {
	t, ok := s.store.(*tarStore)
	inStreamOnly := func(e entry) bool { return e.file.place == inStream && e.file.lost == "" }
	if !ok || t.how == notPacked || !slices.ContainsFunc(list, inStreamOnly) {
		return list
	}
	at := func(e entry) int64 {
		if inStreamOnly(e) {
			return e.file.at
		}
		return -1
	}
	list = slices.Clone(list)
	sortby.StableFunc(list, func(x, y entry) int { return cmp.Compare(at(x), at(y)) })
	return list
}

func (b *builder) headOf(ctx context.Context, st store, f file) ([]byte, error) {
	r, err := st.open(ctx, f)
	if err != nil {
		return nil, err
	}
	head, err := peek(r)
	return head, errors.Join(err, r.Close())
}

// keepKinds indexes a file under each resource that it holds objects of.
func (b *builder) keepKinds(e entry, raw []byte) error {
	kinds := map[evidence.Resource]bool{} // true: as a List
	n := 0
	for doc := range documents(raw) {
		if n++; n > maxObjects || len(kinds) > maxKinds {
			return fmt.Errorf("more than %d documents, or than %d kinds of objects", maxObjects, maxKinds)
		}
		kindsOf(doc, kinds)
	}
	if len(kinds) > maxKinds {
		return fmt.Errorf("more than %d kinds of objects", maxKinds)
	}
	e.class, e.mixed = object, true
	for r, list := range kinds {
		e.resource, e.list, e.part = r, list, ""
		if !list {
			e.part = e.file.path + " holds single objects: whether there are others is not known"
		}
		b.keep(e)
	}
	return nil
}

const exportStart = "__CURSOR="

var (
	logrusLine = regexp.MustCompile(`^time="[^"\n]*" level=[a-z]+ msg=`)
	topLevel   = regexp.MustCompile(`(?m)^(?:apiVersion|kind|items):|^\s*\{`)
)

// textOf tells from the first bytes what wrote lines: the installer (logrus), or
// `journalctl` in its short or its export format.
func textOf(head []byte) (evidence.Text, bool) {
	switch {
	case bytes.HasPrefix(head, []byte(exportStart)):
		return evidence.Text{Kind: evidence.Journal}, true
	case logrusLine.Match(head):
		return evidence.Text{Kind: evidence.Installer}, true
	case bytes.HasPrefix(head, []byte("-- Logs begin")), bytes.HasPrefix(head, []byte("-- Journal begins")):
		return evidence.Text{Kind: evidence.Journal}, true
	}
	_, _, ok := evidence.JournalHead(head)
	return evidence.Text{Kind: evidence.Journal}, ok || bytes.HasPrefix(head, []byte("-- Boot "))
}

// IsJournal reports whether the first bytes of a text are those of a journal that
// journalctl printed.
func IsJournal(head []byte) bool {
	t, ok := textOf(head)
	return ok && t.Kind == evidence.Journal && !bytes.HasPrefix(head, []byte(exportStart))
}

// objectsIn reports whether the first bytes may be those of objects.
func objectsIn(head []byte) bool { return topLevel.Match(head) }

// typeMeta is what tells an object's kind.
type typeMeta struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   json.RawMessage `json:"metadata"`
	Items      jsonItems       `json:"items"`
}

// kindsOf adds the resources of a document's objects.
func kindsOf(doc []byte, kinds map[evidence.Resource]bool) {
	add := func(apiVersion, kind string, list bool) {
		if r, ok := resourceOf(apiVersion, kind); ok && len(kinds) <= maxKinds {
			kinds[r] = kinds[r] || list
		}
	}
	if doc = bytes.TrimSpace(doc); bytes.HasPrefix(doc, []byte("{")) {
		var m typeMeta
		if json.Unmarshal(doc, &m) == nil {
			if !isList(m.Kind) {
				add(m.APIVersion, m.Kind, false)
				return
			}
			add(m.APIVersion, strings.TrimSuffix(m.Kind, "List"), true)
			for _, item := range m.Items.list {
				var i struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
				}
				if json.Unmarshal(item, &i) == nil {
					add(i.APIVersion, i.Kind, true)
				}
			}
			return
		}
	}
	h := scanHeader(doc)
	if !isList(h.kind) && h.items == 0 {
		add(h.apiVersion, h.kind, false)
		return
	}
	if h.items == 0 && !h.noItems { // in flow style
		content, err := decode(doc)
		if raw, errJSON := json.Marshal(content); err == nil && errJSON == nil {
			kindsOf(raw, kinds)
		}
		return
	}
	add(h.apiVersion, strings.TrimSuffix(h.kind, "List"), true)
	items, _ := splitItems(doc[h.items:])
	for _, item := range items {
		i := scanHeader(unindent(item))
		add(i.apiVersion, i.kind, true)
	}
}

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// unindent returns an item's lines from its own margin on.
func unindent(item []byte) []byte {
	n := margin(item)
	var b bytes.Buffer
	for line := range bytes.Lines(item) {
		b.Write(line[min(n, margin(line), len(line)):])
	}
	return b.Bytes()
}

// resourceOf returns the resource of a kind, false where it is no kind of an API:
// a group-less apiVersion is v1 and nothing else.
func resourceOf(apiVersion, kind string) (evidence.Resource, bool) {
	g, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		g = ""
	}
	if kind == "" || apiVersion == "" || !grouped && apiVersion != "v1" {
		return evidence.Resource{}, false
	}
	return evidence.Resource{Group: g, Name: plural(kind)}, true
}

// eventsV1 are Events of the newer API; both APIs serve the same objects
// (k8s.io/kubernetes:pkg/apis/events/v1/conversion.go).
var eventsV1 = evidence.Resource{Group: "events.k8s.io", Name: "events"}

// coreEvent turns an Event of events.k8s.io into the form of the core group.
func coreEvent(e map[string]any) {
	move := func(to, from string) {
		if v, ok := e[from]; ok && e[to] == nil {
			e[to] = v
		}
		delete(e, from)
	}
	move("involvedObject", "regarding")
	move("message", "note")
	move("count", "deprecatedCount")
	move("firstTimestamp", "deprecatedFirstTimestamp")
	move("lastTimestamp", "deprecatedLastTimestamp")
	move("source", "deprecatedSource")
	move("reportingComponent", "reportingController")
	e["apiVersion"] = "v1"
}
