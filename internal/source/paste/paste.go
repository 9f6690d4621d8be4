// Package paste reads text that somebody copied together: output of oc as tables, YAML
// and JSON, journals, pod logs after the command that printed them, and lines of
// openshift-install, mixed and cut. It is an evidence.Source for `scan` and for
// `diagnose --from` of a text.
//
// Invariants:
//   - A paste shows what is in it and no more. Every list of objects is only a part of
//     one, so nothing is "not there" because it was not pasted.
//   - A row of a table is an object with the fields that the table prints. What it does not
//     print is left out, and nothing is made up for it.
//   - Bytes are foreign: the size, the objects and the nesting are bounded.
package paste

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/infile"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// kind is what Describe calls the source.
const kind = "text"

// MaxBytes is the longest text that is read as a paste. A longer one is a log, and lies in
// an archive or is scanned for messages alone.
const MaxBytes = 16 << 20

// Source is the parts of one text.
type Source struct {
	name    string
	now     time.Time
	atLeast bool      // now is the newest time in the text
	byClock bool      // the text has no time, only ages
	written time.Time // when the file was written; zero: not known
	objects map[evidence.Resource][]evidence.Object
	texts   []evidence.Text
	bad     []evidence.Coverage
	broken  error // the text is a file of one object, and why it cannot be read whole
	answer  bool  // the text is an answer of the assisted-service
	mixed   bool  // there are tables or commands: no program writes such a file
	text    []byte
	whole   []evidence.Resource // of which the text has all objects
}

var _ evidence.Source = (*Source)(nil)

// Read takes a text apart. The clock places times without a year and the ages of tables;
// it is not the time of the text.
func Read(name string, text []byte, clock time.Time) *Source {
	s := &Source{name: name, text: text, objects: map[evidence.Resource][]evidence.Object{}}
	if s.savedAnswer() {
		return s
	}
	s.now = newest(text, clock)
	sp := &splitter{s: s, clock: cmp.Or(s.now, clock), logs: map[string]*log{}, known: map[string]int{}}
	sp.split(text)
	sp.finish()
	if s.now.IsZero() && s.Parts() > 0 {
		s.now, s.byClock = clock, true // only ages tell the time: they are counted from when the command ran
	} else {
		s.atLeast = !s.now.IsZero() && len(s.objects) > 0
	}
	return s
}

// Written says when the file was written that the text is in.
func (s *Source) Written(at time.Time) { s.written = at }

// Parts is how many objects and texts were recognized.
func (s *Source) Parts() int {
	n := len(s.texts)
	for _, list := range s.objects {
		n += len(list)
	}
	return n
}

// Name is the name of the file, or "standard input".
func (s *Source) Name() string { return s.name }

// Text is the whole text, also what no object and no log was recognized in.
func (s *Source) Text() []byte { return s.text }

// Broken is why a file of one object is no valid YAML or JSON, nil where it is, and for
// other texts. What precedes the damage is in the source.
func (s *Source) Broken() error { return s.broken }

// Mixed reports whether the text is what a person copied together, and not the output of
// one program.
func (s *Source) Mixed() bool { return s.mixed }

// Describe implements evidence.Source.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	d := evidence.Description{Kind: kind, Name: s.name, File: true, Now: s.now, AtLeast: s.atLeast, ByClock: s.byClock, Notes: s.bad}
	if d.AtLeast {
		d.Notes = append(slices.Clone(d.Notes), infile.ReadLater(s.name, s.now, s.written))
	}
	return d, nil
}

// List implements evidence.Source. What it returns is always some of the objects.
func (s *Source) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	var list []evidence.Object
	for _, o := range s.objects[r] {
		if namespace == "" || o.Namespace == namespace || namespace == evidence.HostedNamespace { // whatever its name is
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b evidence.Object) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	if r == evidence.NamedHosts && len(list) > 0 || slices.Contains(s.whole, r) {
		return list, nil
	}
	if u, ok := evidence.OnRequest(r); ok && len(list) == 0 && s.answer {
		return nil, &u
	}
	return list, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected,
		Detail: "a text shows only what was pasted", Supply: evidence.Supply{Kind: evidence.SupplyMustGather},
		Fields: slices.ContainsFunc(list, part)}
}

func part(o evidence.Object) bool { return o.Annotation(evidence.PartMark) != "" }

// Texts implements evidence.Source.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	var list []evidence.Text
	is := func(want, have string) bool { return want == "" || want == have }
	for _, t := range s.texts {
		if is(string(q.Kind), string(t.Kind)) && is(q.Namespace, t.Namespace) && is(q.Container, t.Container) &&
			is(q.Unit, t.Unit) && is(q.Host, t.Host) && q.Cluster == "" {
			list = append(list, t)
		}
	}
	need := evidence.Texts(q)
	rest := &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "a text shows only what was pasted",
		Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	return list, rest
}

// log is the lines of one stream, at the lines of the text where they stand.
type log struct {
	text  evidence.Text
	lines map[int][]byte
	last  int
}

// add keeps a line.
func (l *log) add(n int, line []byte) {
	if l.lines == nil {
		l.lines = map[int][]byte{}
	}
	l.lines[n], l.last = line, n
}

// open returns the stream with an empty line for every line of another, so that the
// numbers of lines are those of the whole text.
func (l *log) open(context.Context) (io.ReadCloser, error) {
	var b bytes.Buffer
	for n := 1; n <= l.last; n++ {
		b.Write(l.lines[n])
		b.WriteByte('\n')
	}
	return io.NopCloser(&b), nil
}

// finish turns what was gathered into texts and named hosts.
func (sp *splitter) finish() {
	var keys []string
	for k := range sp.logs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if sp.more > 0 {
		sp.s.addUnreadable(1, "logs", fmt.Errorf("%d lines are of more than %d programs and hosts", sp.more, maxStreams))
	}
	if len(sp.s.objects[evidence.ClusterOperators]) == 0 {
		sp.s.objects[evidence.ClusterOperators] = sp.operators.Objects(evidence.Locator{Source: sp.s.name, Path: sp.s.name})
	}
	hosts := map[string]bool{}
	for _, k := range keys {
		l := sp.logs[k]
		l.text.Path, l.text.Open = sp.s.name, l.open
		sp.s.texts = append(sp.s.texts, l.text)
		if l.text.Kind == evidence.Journal && l.text.Host != "" {
			hosts[l.text.Host] = true
		}
	}
	names := make([]string, 0, len(hosts))
	for h := range hosts {
		names = append(names, h)
	}
	slices.Sort(names)
	for _, h := range names {
		named := namedhost.Host{Name: h, By: namedhost.Journal}
		if namedhost.IsBootstrap(h) {
			named.Role = namedhost.Bootstrap
		}
		o, err := namedhost.Object(named, evidence.Locator{Source: sp.s.name, Path: sp.s.name})
		if err != nil {
			continue // a name that is no JSON is no host
		}
		sp.s.objects[evidence.NamedHosts] = append(sp.s.objects[evidence.NamedHosts], o)
	}
}

// at is the locator of what is at a line.
func (s *Source) at(line int) evidence.Locator {
	return evidence.Locator{Source: s.name, Path: s.name, Line: line}
}

// addUnreadable records a part that was recognized and cannot be read.
func (s *Source) addUnreadable(line int, what string, err error) {
	s.bad = append(s.bad, evidence.Coverage{Need: fmt.Sprintf("%s at line %d of %s", what, line, s.name),
		State: evidence.Missing, Reason: err.Error()})
}
