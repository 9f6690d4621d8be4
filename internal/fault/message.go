package fault

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Messages is one file of the catalogue's directory "messages": what one program prints,
// and what a line of it shows. The YAML form is described in docs/writing-a-message.md.
type Messages struct {
	Program  string    `json:"program"`         // as its users call it: machine-config-daemon
	Where    string    `json:"where,omitempty"` // where its lines are found
	Messages []Message `json:"messages"`
	Refs     []Ref     `json:"refs"`
}

// Message is one line of a program, without the parts that change. It shows exactly one
// of three things: a fault, a failure whose cause it does not show, or normal operation.
type Message struct {
	Text   string   `json:"text"`             // literal part of the line, any case; blanks count as one
	Also   []string `json:"also,omitempty"`   // further parts of the same line
	Match  string   `json:"match,omitempty"`  // expression that the line must match, any case
	Unless string   `json:"unless,omitempty"` // expression that the line must not match, any case
	With   []string `json:"with,omitempty"`   // literals of which one must be anywhere in the same input

	Without []string `json:"without,omitempty"` // literals of which none may be anywhere in the same input

	Lines int `json:"lines,omitempty"` // counts only in an input of at most so many lines; 0: in any

	Fault   string `json:"fault,omitempty"`   // the fault that the line shows
	Shows   Grade  `json:"shows,omitempty"`   // how surely; likely where empty
	Failure string `json:"failure,omitempty"` // what has failed, in words; the line does not say why
	Next    string `json:"next,omitempty"`    // of a failure: what to look at, imperative
	Normal  string `json:"normal,omitempty"`  // why the line is no sign of trouble

	Ends []string `json:"ends,omitempty"` // faults of which this line shows that they are over
	Ref  string   `json:"ref,omitempty"`  // path in the first of the file's refs, where it is another than that
}

// Grade is how surely a line shows a fault.
type Grade string

// The grades, the surest first.
const (
	ShowsProven   Grade = "proven"   // the line says the cause itself
	ShowsLikely   Grade = "likely"   // the usual cause of the line
	ShowsPossible Grade = "possible" // one of several causes
)

// Rank orders grades, the surest highest.
func (g Grade) Rank() int {
	switch g {
	case ShowsProven:
		return 3
	case ShowsPossible:
		return 1
	}
	return 2
}

// minText is the shortest literal that is rare enough to look for.
const minText = 4

// check reports what is wrong with a file of messages.
func (m *Messages) check() error {
	var wrong []error
	if m.Program == "" || len(m.Messages) == 0 || len(m.Refs) == 0 {
		wrong = append(wrong, errors.New("program, messages and refs are needed"))
	}
	for i := range m.Messages {
		if err := m.Messages[i].check(); err != nil {
			wrong = append(wrong, fmt.Errorf("message %d (%.40q): %w", i+1, m.Messages[i].Text, err))
		}
	}
	return errors.Join(wrong...)
}

func (m *Message) check() error {
	var wrong []error
	shows := 0
	for _, s := range []string{m.Fault, m.Failure, m.Normal} {
		if s != "" {
			shows++
		}
	}
	if shows != 1 {
		wrong = append(wrong, errors.New("exactly one of fault, failure and normal is needed"))
	}
	if m.Shows != "" && m.Fault == "" {
		wrong = append(wrong, errors.New("shows: only for a fault"))
	}
	if m.Next != "" && m.Failure == "" {
		wrong = append(wrong, errors.New("next: only for a failure"))
	}
	if !slices.Contains([]Grade{"", ShowsProven, ShowsLikely, ShowsPossible}, m.Shows) {
		wrong = append(wrong, fmt.Errorf("shows: %q is none of proven, likely, possible", m.Shows))
	}
	if len(strings.TrimSpace(m.Text)) < minText {
		wrong = append(wrong, fmt.Errorf("text: fewer than %d characters", minText))
	}
	for _, text := range slices.Concat(m.Also, m.With, m.Without) {
		if len(strings.TrimSpace(text)) < 2 {
			wrong = append(wrong, fmt.Errorf("also, with, without: %q is too short", text))
		}
	}
	for _, expr := range []string{m.Match, m.Unless} {
		if _, err := regexp.Compile(expr); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// checkMessages reports messages of faults that are not there, and faults that are only
// recognized in text and that no message shows.
func (c *Catalog) checkMessages() []error {
	var wrong []error
	shown := map[string]bool{}
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			shown[m.Fault] = true
			for _, id := range append([]string{m.Fault}, m.Ends...) {
				if _, ok := c.byID[id]; id != "" && !ok {
					wrong = append(wrong, fmt.Errorf("message %.40q of %s refers to the fault %q, which is not in the catalog", m.Text, file.Program, id))
				}
			}
		}
	}
	for _, f := range c.Faults {
		if f.TextOnly() && !shown[f.ID] {
			wrong = append(wrong, fmt.Errorf("fault %s has no when, and no message shows it", f.ID))
		}
	}
	return wrong
}

// TextOnly reports whether a fault is recognized in text only: there is no fact that
// decides it, so a diagnosis of a cluster neither finds it nor rules it out.
func (f *Fault) TextOnly() bool { return f.When == "" }

// Checked returns the faults that a diagnosis of a cluster looks for.
func (c *Catalog) Checked() []*Fault {
	return slices.DeleteFunc(slices.Clone(c.Faults), (*Fault).TextOnly)
}

// Named returns the fault with an id or with another name that it is known under.
func (c *Catalog) Named(name string) []*Fault {
	if f, ok := c.byID[name]; ok {
		return []*Fault{f}
	}
	var list []*Fault
	for _, f := range c.Faults {
		if slices.Contains(f.Aliases, name) {
			list = append(list, f)
		}
	}
	return list
}
