package browse

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
)

// Log is a log that is asked for: of a container, or of a unit of a host.
type Log struct {
	Namespace string // "": any
	Pod       string
	Container string // "": the only one
	Previous  bool   // of the container before the last restart
	Rotated   bool   // the older files instead, that the kubelet has rotated

	Host string // instead of Pod
	Unit string // "": the only one

	Selector string // instead of Pod: the pods with these labels
	Owner    string // instead of Pod: TYPE/NAME, such as deployment/NAME; its pods

	AllContainers bool // instead of Container

	Tail int // the last lines of each log; 0: all
}

// Needs are what will be asked for: see Needs.
func (q Log) Needs() []evidence.Need {
	if q.Host != "" {
		return []evidence.Need{evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: q.Unit})}
	}
	needs := []evidence.Need{evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: q.Namespace, Container: q.Container})}
	kinds := []string{"pods"}
	switch {
	case q.Owner != "":
		kind, _, _ := strings.Cut(q.Owner, "/")
		kinds = append(kinds, kind)
	case q.Selector == "":
		return needs
	}
	objects := Needs(kinds)
	if objects == nil {
		return nil // everything
	}
	return append(needs, objects...)
}

// Line is one line of a log, sanitized.
type Line struct {
	Number int    `json:"line"`
	Text   string `json:"text"`
	Of     string `json:"-"` // pod/NAME/CONTAINER where several logs are printed
}

// ErrUnclear says that a question fits several logs.
var ErrUnclear = errors.New("several logs")

// Lines calls yield for the lines of a log. What is not there, or only in part, is a *NotAllError.
func (a *Archive) Lines(ctx context.Context, q Log, yield func(Line) error) error {
	if q.Host != "" {
		return a.journal(ctx, q, yield)
	}
	logs, err := a.logsOf(ctx, q)
	if len(logs) == 0 {
		return err
	}
	for _, l := range logs {
		wrong := a.oneLog(ctx, q, l, yield)
		if u := (*NotAllError)(nil); wrong != nil && !errors.As(wrong, &u) {
			return wrong
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// oneLog calls yield for the lines of one log, which may lie in several files. The first one that has lines is it; of rotated
// ones all are.
func (a *Archive) oneLog(ctx context.Context, q Log, l podLog, yield func(Line) error) error {
	printed := false
	var failed error
	for _, t := range l.files {
		err := a.read(ctx, t, q.Tail, func([]byte) bool { return true }, func(line Line) error {
			printed, line.Of = true, l.of
			return yield(line)
		})
		if u := (*NotAllError)(nil); err != nil && !errors.As(err, &u) {
			return err
		}
		failed = errors.Join(failed, err)
		if printed && !q.Rotated {
			return err
		}
	}
	return failed
}

// texts are the texts of a query, and why they are not all.
func (a *Archive) texts(ctx context.Context, q evidence.TextQuery) (list []evidence.Text, missing *evidence.Unavailable, err error) {
	for _, s := range a.sources {
		choose := s.Texts
		if c, ok := s.(interface {
			ChooseTexts(context.Context, evidence.TextQuery) ([]evidence.Text, error)
		}); ok {
			choose = c.ChooseTexts
		}
		some, err := choose(ctx, q)
		if u, ok := evidence.AsUnavailable(err); ok {
			missing, err = u, nil
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, some...)
	}
	return list, missing, nil
}

// others names the pods that have logs, as the end of a message.
func others(all []evidence.Text) string {
	pods := distinct(all, func(t evidence.Text) string { return t.Namespace + "/" + t.Pod })
	if len(pods) == 0 {
		return ""
	}
	return "; there are logs of " + suggest.Few(pods)
}

// rotated reports whether a text is one that the kubelet has put aside.
func rotated(t evidence.Text) bool { return path.Base(path.Dir(t.Path)) == "rotated" }

// order puts the files of one log in their order: rotated ones have the time in their names, and what
// was read without checking the kubelet's certificate comes last.
func order(t evidence.Text) string {
	if base := path.Base(t.Path); strings.Contains(base, "insecure") {
		return "~" + base
	}
	return path.Base(t.Path)
}

func distinct(texts []evidence.Text, of func(evidence.Text) string) []string {
	var list []string
	for _, t := range texts {
		list = append(list, of(t))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// journal yields the lines of a host.
func (a *Archive) journal(ctx context.Context, q Log, yield func(Line) error) error {
	what := "journal of host " + q.Host
	if q.Unit != "" {
		what += " -u " + q.Unit
	}
	all, missing, err := a.texts(ctx, evidence.TextQuery{Kind: evidence.Journal, Unit: q.Unit})
	if err != nil {
		return err
	}
	texts := slices.DeleteFunc(slices.Clone(all), func(t evidence.Text) bool { return t.Host != "" && !sameHost(t.Host, q.Host) })
	if units := distinct(texts, func(t evidence.Text) string { return t.Unit }); q.Unit == "" && len(units) > 1 {
		return fmt.Errorf("%s: %w: name the unit with -u, one of: %s", what, ErrUnclear, strings.Trim(strings.Join(units, ", "), ", "))
	}
	hosts := distinct(slices.DeleteFunc(all, func(t evidence.Text) bool { return t.Host == "" }), func(t evidence.Text) string { return t.Host })
	printed := 0
	count := func(l Line) error { printed++; return yield(l) }
	var wrong []error
	for _, t := range texts {
		of := &hostLines{host: q.Host, all: t.Host != "", mine: t.Host != ""}
		err := a.read(ctx, t, q.Tail, of.is, count)
		if u := (*NotAllError)(nil); err != nil && !errors.As(err, &u) {
			return err
		}
		wrong, hosts = append(wrong, err), append(hosts, of.seen...)
	}
	if err := errors.Join(wrong...); err != nil || printed > 0 {
		return err
	}
	if missing != nil && len(all) == 0 {
		return &NotAllError{a.clean.Text(what + ": " + reason(missing))}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	if len(hosts) == 0 {
		return &NotAllError{fmt.Sprintf("%s: not collected: the %s has no such journal", what, a.kind)}
	}
	return &NotAllError{fmt.Sprintf("%s: not collected: the %s has journals of %s", what, a.kind, strings.Join(hosts, ", "))}
}

// sameHost reports whether two names are of one host: with or without its domain.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// hostLines tells the lines of a host apart in a journal of several. A line without a head belongs to
// the one before.
type hostLines struct {
	host string
	all  bool // the whole text is of the host
	mine bool
	seen []string // other hosts
}

// maxHosts bounds how many other hosts are remembered.
const maxHosts = 50

func (h *hostLines) is(line []byte) bool {
	if h.all {
		return true
	}
	name, _, ok := journal.Head(line)
	if !ok {
		return h.mine
	}
	if h.mine = sameHost(string(name), h.host); !h.mine && len(h.seen) < maxHosts && !slices.Contains(h.seen, string(name)) {
		h.seen = append(h.seen, string(name))
	}
	return h.mine
}

// read yields lines of a text, of all lines that want takes the last ones where tail is not 0. The
// sanitizer sees every line: a secret can span several.
func (a *Archive) read(ctx context.Context, t evidence.Text, tail int, want func([]byte) bool, yield func(Line) error) (err error) {
	in, err := t.Open(ctx)
	if err != nil {
		return &NotAllError{a.clean.Text(t.Path + ": " + err.Error())}
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	clean := a.clean.Lines()
	defer clean.Done()
	last := lastLines{most: tail}
	n := 0
	broken := journal.EachLine(in, func(raw []byte) bool {
		n++
		mine := want(raw)
		if !mine {
			clean.Follow(raw)
			return ctx.Err() == nil
		}
		text := clean.Line(string(raw))
		if tail > 0 {
			last.add(Line{Number: n, Text: text})
		} else {
			err = yield(Line{Number: n, Text: text})
		}
		return err == nil && ctx.Err() == nil
	})
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	for _, l := range last.lines() {
		if err := yield(l); err != nil {
			return err
		}
	}
	if broken != nil {
		return &NotAllError{a.clean.Text(fmt.Sprintf("%s: it breaks off at line %d: %v", t.Path, n+1, broken))}
	}
	return nil
}

// lastLines are the last lines of a text.
type lastLines struct {
	most int
	ring []Line
	next int
}

func (l *lastLines) add(line Line) {
	if len(l.ring) < l.most {
		l.ring = append(l.ring, line)
		return
	}
	l.ring[l.next] = line
	l.next = (l.next + 1) % l.most
}

func (l *lastLines) lines() []Line { return slices.Concat(l.ring[l.next:], l.ring[:l.next]) }
