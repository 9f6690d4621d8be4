package answer

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// htmlHosts is the roll: hosts that are not done, then the others.
type htmlHosts struct {
	Say      string
	Steps    []htmlStep
	Open     []htmlHost
	More     []htmlHost // not done as well: what is beyond one look
	Done     []htmlHost
	FoldDone bool
	Claimed  []htmlHost
	Legend   []htmlCell
}

type htmlStep struct {
	Number      int
	Name, Means string
}

type htmlHost struct {
	Name, Role, Class string
	Stands            string
	Why               string
	Cells             []htmlCell
}

// htmlCell is one stage in a host's bar. Sign and shape say the state without color.
type htmlCell struct{ Class, Sign, State, About string }

var cellSigns = map[diagnosis.StageOutcome]htmlCell{
	diagnosis.StagePassed:        {"passed", "✓", "passed", ""},
	diagnosis.StageFailed:        {"failed", "✗", "failed", ""},
	diagnosis.StageWaiting:       {"waiting", "…", "waiting", ""},
	diagnosis.StageUnknown:       {"unknown", "?", "unknown", ""},
	diagnosis.StageNotApplicable: {"na", "–", "not applicable", ""},
}

func (t *text) htmlHosts() htmlHosts {
	var h htmlHosts
	for i, s := range fault.Stages() {
		h.Steps = append(h.Steps, htmlStep{i + 1, string(s), StageMeans(s)})
	}
	for _, s := range []diagnosis.StageOutcome{diagnosis.StagePassed, diagnosis.StageFailed, diagnosis.StageWaiting, diagnosis.StageUnknown,
		diagnosis.StageNotApplicable} {
		h.Legend = append(h.Legend, cellSigns[s])
	}
	expected := 0
	for _, x := range t.d.Hosts {
		row := t.htmlHost(x)
		switch {
		case x.Bootstrap():
			h.Done = append(h.Done, row)
			continue
		case !x.Expected:
			h.Claimed = append(h.Claimed, row)
			continue
		case x.Done():
			h.Done = append(h.Done, row)
		default:
			h.Open = append(h.Open, row)
		}
		if x.PerhapsNode { // it is one of the Nodes that are counted
			continue
		}
		expected++
	}
	sayOnce(h.Open)
	h.FoldDone = len(h.Open) > 0 || len(h.Done) > shownHosts
	open := len(h.Open)
	if open > shownHosts {
		h.Open, h.More = h.Open[:shownHosts], h.Open[shownHosts:]
	}
	switch {
	case expected == 0:
		h.Say = "No host could be looked at."
	case open == 0:
		h.Say = fmt.Sprintf("All %s answered at every step.", page.Count(expected, "expected host", "expected hosts"))
	default:
		h.Say = notDone(t.d.Hosts, page.Count(expected, "expected host", "expected hosts")) + "."
	}
	if n := len(h.Claimed); n > 0 {
		h.Say += fmt.Sprintf(" %s only claimed by a certificate request and not expected: whoever asks for a certificate chooses its name.",
			page.Count(n, "name is", "names are"))
	}
	return h
}

const (
	shownHosts = 40
	shortWhy   = 60 // characters that are not worth a reference
)

// sayOnce refers to the first host with the same long reason instead of repeating it.
func sayOnce(rows []htmlHost) {
	first := map[string]string{}
	for i, h := range rows {
		if page.Length(h.Why) <= shortWhy {
			continue
		}
		without := strings.ReplaceAll(h.Why, h.Name, "")
		name, said := first[without]
		if !said {
			first[without] = h.Name
			continue
		}
		rows[i].Why = "same as " + name
	}
}

func (t *text) htmlHost(x diagnosis.HostState) htmlHost {
	h := htmlHost{Name: x.Name, Role: x.Role, Class: cellSigns[x.State].Class, Why: t.why(x)}
	if h.Stands = "every stage passed"; !x.Done() {
		h.Stands = string(x.State) + " at " + string(x.Stage)
		if !x.Since.IsZero() && x.State != diagnosis.StageUnknown {
			h.Stands += t.lasts(x.Since)
		}
	}
	state := map[fault.Stage]diagnosis.StageState{}
	for _, s := range x.Stages {
		state[s.Stage] = s
	}
	for _, stage := range fault.Stages() {
		s, ok := state[stage]
		if !ok {
			s.State = diagnosis.StageUnknown
		}
		cell := cellSigns[s.State]
		about := []string{string(stage) + ": " + cell.State}
		if at := until(s.At); at != "" {
			about = append(about, at)
		}
		if s.Why != "" {
			about = append(about, s.Why)
		}
		cell.About = strings.Join(about, ", ")
		h.Cells = append(h.Cells, cell)
	}
	return h
}

// htmlTime is the timeline as a picture and as a list.
type htmlTime struct {
	Charts  []drawing
	Note    string
	Moments []htmlMoment
	Long    bool
}

type htmlMoment struct{ Time, Age, Subject, Text, Where string }

const maxShortTimeline = 12

func (t *text) htmlTime() *htmlTime {
	list := t.moments()
	if len(list) == 0 {
		return nil
	}
	h := &htmlTime{Charts: []drawing{t.drawTimeline(list, 700), t.drawTimeline(list, 340)}, Long: len(list) > maxShortTimeline}
	if h.Charts[0].Class == "factors" {
		h.Note = "The older, the closer together: equal steps are equal factors of the age."
	}
	h.Charts[0].Class, h.Charts[1].Class = "broad", "narrow"
	for _, m := range list {
		ago := fault.Span(t.d.Now.Sub(m.Time))
		if !m.Time.After(t.d.Now) {
			ago += " ago"
		}
		h.Moments = append(h.Moments, htmlMoment{page.Clock(m.Time), ago, m.Subject.String(), m.Text, m.Locator.String()})
	}
	return h
}
