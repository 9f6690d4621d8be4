package answer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifHome    = "https://github.com/rollcall-project/rollcall"
	sarifMaxFlow = 20 // ways through the chain of one root
)

// renderSARIF writes the causes, what has no known cause, and what is accepted, which is
// suppressed, as a SARIF 2.1.0 log: for tools that gather findings. Symptoms are not results of their own; they are steps
// of the code flows of their cause.
func renderSARIF(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	o.Style = page.Style{}
	s := &sarif{text: newText(d, o), rules: map[string]int{}, bases: map[string]string{}}
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "rollcall", URI: sarifHome}},
		Automation:  sarifAutomation{ID: "rollcall/" + url.PathEscape(s.identity()) + "/"},
		Invocations: []sarifInvocation{{Successful: true, Notifications: s.notifications()}},
		Column:      "unicodeCodePoints",
		Results:     []sarifResult{},
		Properties: map[string]any{
			"verdict": d.Verdict, "source": d.Source, "cluster": d.Cluster, "now": page.Clock(d.Now),
		},
	}
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			run.Results = append(run.Results, s.root(r.Alone(c)))
		}
	}
	for _, u := range d.Unexplained {
		run.Results = append(run.Results, s.unexplained(u))
	}
	for _, a := range d.Accepted {
		run.Results = append(run.Results, s.accepted(a))
	}
	run.Tool.Driver.Rules = s.described()
	if len(s.bases) > 0 {
		run.Bases = map[string]sarifBase{}
		for source, id := range s.bases {
			run.Bases[id] = sarifBase{sarifMessage{s.messageText("the evidence of " + source)}}
		}
	}
	var doc bytes.Buffer
	e := json.NewEncoder(&doc) // which escapes what HTML obeys: these files are shown on web pages
	e.SetIndent("", "  ")
	if err := e.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}); err != nil {
		return fmt.Errorf("write the answer as SARIF: %w", err)
	}
	return page.Write(w, string(harmless(nil, doc.Bytes())))
}

// sarif collects rules and sources while results are made.
type sarif struct {
	*text
	rules map[string]int
	order []string
	bases map[string]string // source to uriBaseId
}

// messageText returns the text of a message: SARIF requires it not to be empty.
func (s *sarif) messageText(text string) string {
	if text = strings.TrimSpace(s.Clean(text)); text == "" {
		return "-"
	}
	return text
}

// identity is what tells clusters apart, the same in every run: the place of an
// archive is not.
func (s *sarif) identity() string {
	switch {
	case s.d.Cluster.ID != "":
		return s.d.Cluster.ID
	case s.d.Source.Kind == "live":
		return s.d.Source.Name
	}
	return "unknown"
}

// notifications say what could not be read: a log without results must not pass
// for a cluster without faults.
func (s *sarif) notifications() []sarifNotification {
	var list []sarifNotification
	for _, g := range s.d.Groups.Gaps {
		list = append(list, sarifNotification{
			Level: "warning", Message: sarifMessage{s.messageText("could not be read: " + strings.Join(needsOf(g), ", ") + ": " + reasonOf(g))},
			Props: map[string]any{"supply": append([]string{}, each(g.Supply, s.o.supply)...)},
		})
	}
	return list
}

func (s *sarif) rule(id string) int {
	i, ok := s.rules[id]
	if !ok {
		i = len(s.order)
		s.rules[id] = i
		s.order = append(s.order, id)
	}
	return i
}

// described returns the rules with what the catalog says of them.
func (s *sarif) described() []sarifRule {
	list := []sarifRule{}
	for _, id := range s.order {
		r := sarifRule{ID: id, Short: sarifMessage{s.messageText(id)}, Default: sarifDefault{"warning"}}
		r.HelpURI = s.o.url("faults", id)
		if f, ok := s.entry(id); ok {
			r.Short.Text = s.messageText(PlainTitle(f))
			r.Full = &sarifMessage{s.messageText(f.Means)}
			r.Help = &sarifMessage{s.messageText(s.o.know("explain "+id) + " shows what is known about it. Sources: " + strings.Join(refWords(f.Refs), "; "))}
			r.Default.Level = sarifLevel(f.Severity)
			r.Props = map[string]any{"layer": f.Layer, "subject": f.For, "tags": []string{f.Layer}}
		}
		list = append(list, r)
	}
	return list
}

func sarifLevel(s fault.Severity) string {
	switch s {
	case fault.Error:
		return "error"
	case fault.Warning:
		return "warning"
	}
	return "note"
}

// result is what roots and unexplained findings have in common.
func (s *sarif) result(k fault.Key, severity fault.Severity, message string, items []evidence.Item) sarifResult {
	r := sarifResult{
		RuleID: k.Fault, RuleIndex: s.rule(k.Fault), Kind: "fail", Level: sarifLevel(severity),
		Message: sarifMessage{s.messageText(message)}, Suppressions: []sarifSuppression{},
		Fingerprints: map[string]string{"rollcallFinding/v1": s.fingerprint(k)},
	}
	first := s.subjectAt(k.Subject)
	if len(items) > 0 {
		at := s.location(items[0])
		first.Physical = at.Physical
		first.Logical = append(first.Logical, at.Logical...)
	}
	r.Locations = []sarifLocation{first}
	for i, item := range items {
		at := s.location(item)
		at.ID = &i
		at.Message = &sarifMessage{s.messageText(item.Excerpt)}
		if item.From != "" {
			at.Message.Text += " (asked from " + s.Clean(item.From) + ")"
		}
		r.Related = append(r.Related, at)
	}
	return r
}

// fingerprint names a finding over runs: neither times nor proof nor the place of the
// archive are part of it.
func (s *sarif) fingerprint(k fault.Key) string {
	h := sha256.New()
	for _, part := range []string{s.identity(), k.Fault, k.Subject.Cluster, string(k.Subject.Kind), k.Subject.Namespace, k.Subject.Name} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// root is a root with one case as a result.
func (s *sarif) root(r diagnosis.Root) sarifResult {
	c := r.Cases[0]
	message := s.title(c.Key) + ". " + r.Means
	if c.Lowered != "" {
		message += " Not proven: " + c.Lowered + "."
	}
	out := s.result(c.Key, r.Severity, message, c.Evidence)
	out.CodeFlows = s.flows(r)
	ruled := []string{}
	for _, o := range c.RuledOut {
		ruled = append(ruled, o.Fault+" ("+o.Subject.String()+"): "+ruledOutWords(o))
	}
	out.Properties = map[string]any{
		"role": "root", "confidence": c.Confidence, "explains": append([]fault.Key{}, c.Explains...), "ruledOut": ruled,
		"remedies": append([]fault.Advice{}, c.Remedies...), "refused": append([]string{}, r.Refused...), "deadlock": r.Deadlock > 0,
	}
	if !c.Since.IsZero() {
		out.Properties["since"] = page.Clock(c.Since)
	}
	return out
}

func (s *sarif) unexplained(u diagnosis.Unexplained) sarifResult {
	message := s.title(u.Key) + ". The cause is not known."
	var could []string
	for _, x := range u.Suspects {
		could = append(could, x.Title+s.alsoAt(x))
	}
	if len(could) > 0 {
		message += " It could be: " + strings.Join(could, "; ") + "."
	}
	out := s.result(u.Key, u.Severity, message, u.Evidence)
	out.Properties = map[string]any{"role": "unexplained", "suspects": append([]suspect{}, each(u.Suspects, s.o.inWords)...)}
	return out
}

// flows are the paths from the root down to each end of its chain; a deadlock comes
// first and ends where it begins.
func (s *sarif) flows(r diagnosis.Root) []sarifCodeFlow {
	var list []sarifCodeFlow
	begin := &link{fault: r.Fault, keys: r.Keys()}
	if i := r.Deadlock - 1; i >= 0 && i < len(s.d.Deadlocks) {
		ring := loop(s.d, s.d.Deadlocks[i])
		list = append(list, s.flow("deadlock: these block one another", append(slices.Clone(ring), ring[:1]...)))
	}
	var down func(way []*link, below []*link)
	down = func(way []*link, below []*link) {
		for _, l := range below {
			here := append(slices.Clone(way), l)
			if len(l.children) > 0 {
				down(here, l.children)
			} else if len(list) < sarifMaxFlow {
				list = append(list, s.flow("from the cause to what was seen", here))
			}
		}
	}
	down([]*link{begin}, chain(s.d, r))
	return list
}

func (s *sarif) flow(about string, way []*link) sarifCodeFlow {
	var steps []sarifStep
	for i, l := range way {
		f := s.finding[l.keys[0]]
		at := s.subjectAt(l.keys[0].Subject)
		if len(f.Evidence) > 0 {
			at.Physical = s.location(f.Evidence[0]).Physical
		}
		at.Message = &sarifMessage{s.messageText(s.effectTitle(l))}
		step := sarifStep{Location: at, Nesting: i, Importance: "essential"}
		if since := f.Since.UTC(); !f.Since.IsZero() {
			step.When = &since
		}
		steps = append(steps, step)
	}
	return sarifCodeFlow{sarifMessage{about}, []sarifThreadFlow{{steps}}}
}

// subjectAt names a subject as a logical location.
func (s *sarif) subjectAt(subject fault.Subject) sarifLocation {
	return sarifLocation{Logical: []sarifLogical{{Name: s.messageText(subject.Name), Full: s.messageText(subject.String()), Kind: string(subject.Kind)}}}
}

// location turns a locator into the file, or the object, and the field in it.
func (s *sarif) location(item evidence.Item) sarifLocation {
	loc := item.Locator
	var at sarifLocation
	if loc.Path != "" {
		at.Physical = &sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: strings.TrimLeft(loc.Path, "/")}).String(), Base: s.base(loc.Source)}}
		if loc.Line > 0 {
			at.Physical.Region = &sarifRegion{loc.Line, loc.Column}
		}
	}
	at.Logical = []sarifLogical{{Full: s.messageText(loc.String()), Kind: "object"}}
	return at
}

// base is the id of a source; the one that was read first is SOURCE.
func (s *sarif) base(source string) string {
	if s.d.Source.Kind == planSource {
		return "" // the files lie where the user named them
	}
	if source == "" {
		source = s.d.Source.Name
	}
	id, ok := s.bases[source]
	if !ok {
		if id = "SOURCE"; len(s.bases) > 0 {
			id = fmt.Sprintf("SOURCE-%d", len(s.bases)+1)
		}
		s.bases[source] = id
	}
	return id
}
