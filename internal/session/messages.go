package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/source/paste"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// MessagesOf finds the messages of the catalog in each text.
func (ses *Session) MessagesOf(ctx context.Context, sources []*paste.Source) (*message.Index, []*message.Report, error) {
	if len(sources) == 0 {
		return nil, nil, nil
	}
	_, x, clean, err := ses.MessageReader()
	if err != nil {
		return nil, nil, err
	}
	var texts []*message.Report
	for _, p := range sources {
		found, err := x.Read(ctx, clean.Joined(bytes.NewReader(p.Text())), clean.Alone)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, found)
	}
	return x, texts, nil
}

// shownByLines are the causes that lines show where texts are all that is read, best first:
// whoever pastes a line gets one answer, from diagnose as from scan.
func (r *Run) shownByLines(ctx context.Context) ([]diagnose.Lines, error) {
	if !r.texts {
		return nil, nil
	}
	sources := slices.Concat(r.Pasted, r.Logs)
	hosts := make([]string, len(sources))
	for _, s := range r.Screens {
		sources, hosts = append(sources, s.Text), append(hosts, s.Host)
	}
	_, texts, err := r.Session.MessagesOf(ctx, sources)
	if err != nil {
		return nil, err
	}
	lines := map[string][]evidence.Item{}
	of := map[string]string{} // the host whose console shows a fault
	for i, t := range texts {
		name := sources[i].Name()
		for _, m := range t.Matches {
			if lines[m.Fault] == nil {
				of[m.Fault] = hosts[i]
			}
			for _, l := range m.Lines {
				lines[m.Fault] = append(lines[m.Fault], evidence.Item{Locator: evidence.Locator{Source: name, Path: name, Line: l.Number}, Excerpt: l.Text})
			}
		}
	}
	found := message.Merge(texts)
	if found.Result != message.Present {
		return nil, nil
	}
	effects := map[string]bool{}
	for _, m := range found.Matches {
		for _, id := range m.Explains {
			effects[id] = true
		}
	}
	var list []diagnose.Lines
	for _, m := range found.Matches {
		f, ok := r.Catalog.Fault(m.Fault)
		if ok && !effects[m.Fault] && m.Confidence.Rank() >= fault.ShowsLikely.Rank() {
			list = append(list, diagnose.Lines{Fault: f, Host: of[m.Fault], Evidence: lines[m.Fault], Names: m.Names})
		}
	}
	return list, nil
}

// Evaluated is what the objects, tables and journals in a text show, decided by the same
// rules as a cluster's. Nil where the text has none.
func (ses *Session) Evaluated(ctx context.Context, name string, text []byte) (found []message.Seen, broken, err error) {
	if !isText(text) {
		return nil, nil, nil
	}
	s := paste.Read(SourceName(name), text, ses.Clock())
	if s.Parts() == 0 {
		return nil, s.Broken(), nil
	}
	r, err := ses.OpenOver(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	d, err := r.Diagnose(ctx)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, nil, err
	}
	return Seen(d), s.Broken(), nil
}

// Seen are the faults of a diagnosis that are there, and those of which it is only not
// known for how long.
func Seen(d *diagnosis.Diagnosis) []message.Seen {
	sure := map[fault.Key]diagnosis.Confidence{}
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			sure[c.Key] = c.Confidence
		}
	}
	var list []message.Seen
	for _, f := range d.Findings {
		s := message.Seen{Fault: f.Fault, Subject: f.Subject.String(), Shows: fault.ShowsLikely, Evidence: f.Evidence}
		switch {
		case f.Outcome == fault.Present && sure[f.Key()] == diagnosis.Proven:
			s.Shows = fault.ShowsProven
		case f.Outcome == fault.Present:
		case f.Unsettled:
			s.Shows = fault.ShowsPossible
		default:
			continue
		}
		if (f.Unsettled || f.Subject.Kind == fault.Operator) && len(s.Evidence) > 0 { // what holds of which; its fields say less
			s.Evidence = []evidence.Item{{Locator: s.Evidence[0].Locator, Excerpt: f.Title}}
		}
		list = append(list, s)
	}
	return list
}

// MessageReader is what texts are read with: the whole catalog, the index of its messages,
// and what hides secrets.
func (ses *Session) MessageReader() (*fault.Catalog, *message.Index, *sanitize.Sanitizer, error) {
	c, x, err := ses.loadWhole()
	if err != nil {
		return nil, nil, nil, err
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make sanitizer: %w", err)
	}
	return c, x, clean, nil
}
