package kubelet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
)

// Identity is the fact host-kubelet-log: what the kubelet says of the certificate
// with which it speaks to the API. Counts are of lines since its certificate was
// last seen good; a zero is "not said" only where the host's journal was really
// read, and else unknown.
type Identity struct {
	Lines         facts.Field[int]       `cel:"lines"`     // lines that tell anything of the identity
	Anonymous     facts.Field[int]       `cel:"anonymous"` // it sends no certificate: refused as system:anonymous
	LastAnonymous facts.Field[time.Time] `cel:"lastAnonymous"`
	NoBootstrap   facts.Field[int]       `cel:"noBootstrap"`  // the bootstrap kubeconfig cannot be loaded
	Unauthorized  facts.Field[int]       `cel:"unauthorized"` // the API server refuses the credential that it asks with
	Expired       facts.Field[int]       `cel:"expired"`      // its certificate has expired
	NotLoaded     facts.Field[int]       `cel:"notLoaded"`    // its certificate is absent or unreadable
	NotSigned     facts.Field[int]       `cel:"notSigned"`    // a request was not answered in 15 minutes
	Unreachable   facts.Field[int]       `cel:"unreachable"`  // expired, and the API does not answer
	WrongName     facts.Field[int]       `cel:"wrongName"`    // its certificate has another name than the host
	Locked        facts.Field[int]       `cel:"locked"`       // it may not ask for another name than its certificate's
	Valid         facts.Field[int]       `cel:"valid"`        // its certificate was good at a start, or it got one
	LastValid     facts.Field[time.Time] `cel:"lastValid"`
	Last          facts.Field[time.Time] `cel:"last"`  // time of the last such line
	First         facts.Field[time.Time] `cel:"first"` // time of the first line of a failure
}

// logLine is a line of the kubelet and the counter that it raises.
type logLine struct {
	id    string // of the message
	count func(*Identity) *facts.Field[int]
	good  bool // after it the failures before it count no more
}

// logLines are the lines of kubernetes/kubernetes:pkg/kubelet/certificate/{bootstrap/bootstrap,transport}.go,
// plugin/pkg/admission/noderestriction, and kubernetes/client-go:util/certificate/{certificate_manager.go,csr/csr.go}.
var logLines = []logLine{
	{"kubelet-anonymous", func(i *Identity) *facts.Field[int] { return &i.Anonymous }, false},
	{"kubelet-no-bootstrap", func(i *Identity) *facts.Field[int] { return &i.NoBootstrap }, false},
	{"kubelet-unauthorized", func(i *Identity) *facts.Field[int] { return &i.Unauthorized }, false},
	{"kubelet-expired", func(i *Identity) *facts.Field[int] { return &i.Expired }, false},
	{"kubelet-expired-exit", func(i *Identity) *facts.Field[int] { return &i.Expired }, false},
	{"kubelet-not-loaded", func(i *Identity) *facts.Field[int] { return &i.NotLoaded }, false},
	{"kubelet-not-signed", func(i *Identity) *facts.Field[int] { return &i.NotSigned }, false},
	{"kubelet-unreachable", func(i *Identity) *facts.Field[int] { return &i.Unreachable }, false},
	{"kubelet-wrong-name", func(i *Identity) *facts.Field[int] { return &i.WrongName }, false},
	{"kubelet-locked", func(i *Identity) *facts.Field[int] { return &i.Locked }, false},
	{"kubelet-valid", func(i *Identity) *facts.Field[int] { return &i.Valid }, true},
	{"kubelet-issued", func(i *Identity) *facts.Field[int] { return &i.Valid }, true},
}

var kubeletJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}

// IdentityFact is the fact host-kubelet-log.
func IdentityFact() facts.Fact {
	return facts.Define("host-kubelet-log", fault.Host, "what the kubelet's journal and the console say of its certificate",
		append(inventory.Needs(), evidence.Texts(kubeletJournal)), readIdentity)
}

func readIdentity(ctx context.Context, w *facts.World, s fault.Subject) (Identity, error) {
	var out Identity
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return out, err
	}
	if !ok {
		return out, facts.NotApplicable("there is no host %s", s.Name)
	}
	own := func(t evidence.Text) bool {
		return t.Kind == evidence.Journal && (t.Host == "" || called(h, t.Host)) || t.Kind == evidence.Console && t.Path == h.Console
	}
	w.Concerns(own)
	_, missing := w.Matches(ctx, kubeletJournal, "")
	if _, ok := evidence.AsUnavailable(missing); missing != nil && (!ok || h.Console == "") {
		return out, missing
	}
	t, err := read(ctx, w, h, missing == nil)
	if err != nil {
		return out, err
	}
	t.set(&out)
	if !t.covered { // a console shows some of the kubelet's lines and proves the absence of none
		out.markUnknown(&evidence.Unavailable{Need: evidence.Texts(kubeletJournal), Why: evidence.NotCollected,
			Detail: "no line of " + h.Name + " in any kubelet journal", Supply: evidence.Supply{Kind: evidence.SupplyNodeLogs, Host: h.Name, Unit: "kubelet"}})
		return out, nil
	}
	return out, out.ends(w.Gap(ctx, kubeletJournal, own))
}

// started is the line that every journal of a kubelet has: systemd starts the
// unit (openshift/machine-config-operator:templates/master/01-master-kubelet/_base/units/kubelet.service.yaml).
var started = logLine{id: "kubelet-started"}

// Runs returns the line with which the host's journal shows that its kubelet was started.
func Runs(ctx context.Context, w *facts.World, h inventory.Host) (evidence.Item, bool, error) {
	lines, err := w.Matches(ctx, kubeletJournal, started.id)
	if _, ok := evidence.AsUnavailable(err); ok {
		return evidence.Item{}, false, nil
	}
	if err != nil {
		return evidence.Item{}, false, err
	}
	for _, m := range lines {
		if ofHost(m, h) {
			return m.Item(), true, nil
		}
	}
	return evidence.Item{}, false, nil
}

// proofs are the lines with which a kubelet logs that it has reached a stage
// (kubernetes/client-go:util/certificate/csr/csr.go WaitForCertificate; kubernetes/kubernetes:
// pkg/kubelet/kubelet_node_status.go tryRegisterWithAPIServer, recordNodeStatusEvent). undone is the line
// after which it no longer holds.
var proofs = []struct {
	stage    fault.Stage
	id       string
	undoneBy string
}{
	{fault.ClientCert, "kubelet-issued", ""},
	{fault.Registered, "kubelet-registered", ""},
	{fault.NetworkReady, "kubelet-node-ready", "kubelet-node-not-ready"},
	{fault.Ready, "kubelet-node-ready", "kubelet-node-not-ready"},
}

// Reached returns the lines with which the host's journal proves that a stage was passed, by stage.
func Reached(ctx context.Context, w *facts.World, h inventory.Host) (map[fault.Stage]evidence.Item, error) {
	reached := map[fault.Stage]evidence.Item{}
	for _, p := range proofs {
		last, ok, err := lastOf(ctx, w, h, p.id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if p.undoneBy != "" {
			undone, ok, err := lastOf(ctx, w, h, p.undoneBy)
			if err != nil {
				return nil, err
			}
			if ok && !undone.Time.Before(last.Time) {
				continue
			}
		}
		reached[p.stage] = last
	}
	return reached, nil
}

// lastOf returns the last line of a host's journal that carries a signature.
func lastOf(ctx context.Context, w *facts.World, h inventory.Host, id string) (last evidence.Item, found bool, err error) {
	lines, err := w.Matches(ctx, kubeletJournal, id)
	if _, ok := evidence.AsUnavailable(err); ok {
		return last, false, nil
	}
	if err != nil {
		return last, false, err
	}
	for _, m := range lines {
		if ofHost(m, h) {
			last, found = m.Item(), true
		}
	}
	return last, found, nil
}

// markUnknown makes what was not logged unknown: there is no whole journal of this host.
func (i *Identity) markUnknown(err error) {
	lines := i.Lines.Value()
	for _, say := range logLines {
		if f := say.count(i); f.Value() == 0 && (!say.good || lines == 0) {
			f.Miss(err)
		}
	}
	if lines == 0 {
		_ = facts.Miss(err, &i.Lines, &i.Last, &i.First, &i.LastValid, &i.LastAnonymous)
	}
}

// ends undoes what the rest of a journal that breaks off may end: failures, which
// count since the certificate was last good, and the last of anything.
func (i *Identity) ends(gap error) error {
	if gap == nil {
		return nil
	}
	i.markUnknown(gap)
	for _, say := range logLines {
		if !say.good {
			_ = facts.Miss(gap, say.count(i))
		}
	}
	return facts.Miss(gap, &i.Lines, &i.First, &i.Last, &i.LastAnonymous, &i.LastValid)
}

// logCounts counts the lines of one host. first and last are of lines that count.
type logCounts struct {
	covered                               bool // lines come from a journal of the host
	counts                                map[*logLine]int
	shown                                 map[*logLine]evidence.Item
	first, last, lastValid, lastAnonymous evidence.Item
}

func read(ctx context.Context, w *facts.World, h inventory.Host, journals bool) (*logCounts, error) {
	t := &logCounts{counts: map[*logLine]int{}, shown: map[*logLine]evidence.Item{}}
	order := []*logLine{&started}
	for _, good := range []bool{true, false} { // what ends failures before them
		for i := range logLines {
			if logLines[i].good == good {
				order = append(order, &logLines[i])
			}
		}
	}
	for _, say := range order {
		lines, err := logLinesOf(ctx, w, h, say.id, journals)
		if err != nil {
			return nil, err
		}
		t.covered = t.covered || slices.ContainsFunc(lines, func(m evidence.Match) bool { return m.Text.Kind == evidence.Journal })
		if say.count != nil {
			t.add(say, lines)
		}
	}
	return t, nil
}

func (t *logCounts) add(say *logLine, lines []evidence.Match) {
	if !say.good {
		lines = slices.DeleteFunc(lines, func(m evidence.Match) bool {
			return !m.Line.Time.IsZero() && !t.lastValid.Time.IsZero() && !m.Line.Time.After(t.lastValid.Time)
		})
	}
	if len(lines) == 0 {
		return
	}
	first, last := lines[0].Item(), lines[len(lines)-1].Item()
	t.counts[say], t.shown[say] = len(lines), last
	later := func(item *evidence.Item) {
		if last.Time.After(item.Time) {
			*item = last
		}
	}
	later(&t.last)
	if say.good {
		later(&t.lastValid)
		return
	}
	if say.id == "kubelet-anonymous" {
		later(&t.lastAnonymous)
	}
	if !first.Time.IsZero() && (t.first.Time.IsZero() || first.Time.Before(t.first.Time)) {
		t.first = first
	}
}

// set sets all fields. What no line says is a claim from silence.
func (t *logCounts) set(out *Identity) {
	facts.Complete(out)
	lines := 0
	for i := range logLines {
		say := &logLines[i]
		if n := t.counts[say]; n > 0 {
			lines += n
			f := say.count(out)
			f.Set(f.Value()+n, t.shown[say])
			out.Lines.Set(lines, t.shown[say])
		}
	}
	for _, f := range []struct {
		field *facts.Field[time.Time]
		item  evidence.Item
	}{{&out.First, t.first}, {&out.Last, t.last}, {&out.LastValid, t.lastValid}, {&out.LastAnonymous, t.lastAnonymous}} {
		if !f.item.Time.IsZero() {
			f.field.Set(f.item.Time, f.item)
		}
	}
}

// logLinesOf returns the lines of one host, from its journal and its console.
func logLinesOf(ctx context.Context, w *facts.World, h inventory.Host, id string, journals bool) ([]evidence.Match, error) {
	var all []evidence.Match
	if journals {
		lines, err := w.Matches(ctx, kubeletJournal, id)
		if err != nil {
			return nil, err
		}
		for _, m := range lines {
			if ofHost(m, h) {
				all = append(all, m)
			}
		}
	}
	given := func(m evidence.Match) bool { return m.Text.Path == h.Console } // a journal that was given as the host's console
	if h.Console != "" && !slices.ContainsFunc(all, given) {
		lines, err := w.Matches(ctx, inventory.Consoles, id)
		if err != nil {
			return nil, err
		}
		for _, m := range lines {
			if m.Text.Path == h.Console {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// ofHost reports whether a journal's line is of the host. must-gather joins the
// journals of all masters in one file; there the line itself names the machine
// (openshift/must-gather:collection-scripts/gather_service_logs).
func ofHost(m evidence.Match, h inventory.Host) bool {
	if m.Text.Host != "" {
		return called(h, m.Text.Host)
	}
	head := m.Line.Text[:min(len(m.Line.Text), 300)]
	if host, _, ok := journal.Head([]byte(head)); ok {
		return called(h, string(host))
	}
	fields := strings.Fields(head)
	return len(fields) > 4 && (called(h, fields[0]) || called(h, fields[3]))
}

// called reports whether a host goes by a name.
func called(h inventory.Host, name string) bool {
	for _, n := range append([]string{h.Name}, h.Aliases...) {
		oneIsShort := !strings.Contains(n, ".") || !strings.Contains(name, ".")
		if strings.EqualFold(n, name) || oneIsShort && strings.EqualFold(short(n), short(name)) {
			return true
		}
	}
	return false
}

func short(name string) string { s, _, _ := strings.Cut(name, "."); return s }
