package answer

import (
	"net/url"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// Remedy is what a report says of a refused remedy: what really happens, when it is safe
// after all, what to do instead.
type Remedy struct{ Title, Happens, When, Instead string }

// Options say how a diagnosis is rendered and what its commands look like.
type Options struct {
	page.Style
	Command   string                // how the user calls the tool; "": rollcall
	Source    string                // flags that a command needs to read the same source again
	Docs      string                // URL under which `rollcall docs` is published; "": nowhere
	Answer    string                // flags that change the answer: only diagnose and the list of hosts take them
	Call      string                // the call that takes the flags which read more; "": diagnose, over the same source
	Skip      []evidence.SupplyKind // what that call has no flag for, or does not need
	Refused   map[string]Remedy
	Plan      PlanCommand     // nil: there is none
	Done      []Deed          // what Rollcall did to this cluster from here, for an incident record
	Subject   *fault.Subject  // the diagnosis was narrowed to it
	About     diagnosis.About // how it stands
	Row       []string        // what oc get prints of it, its command first; none: it was not read
	All       bool            // also hosts that are done
	NoHeaders bool
	Whole     *diagnosis.Diagnosis // the diagnosis before it was narrowed; nil: it was not
	Wide      bool                 // leave nothing out
	Findings  bool                 // in the documents: also what decides nothing, and each finding by itself
	OnMachine bool                 // rollcall-host prints
	Catalog   *fault.Catalog       // layers, meanings and sources of faults; nil: not known
	// Diagnosing says of a scan that diagnose was asked: it does not ask for diagnose again. Given is the text that
	// it was given, quoted for a shell; "" for standard input.
	Diagnosing bool
	Given      string

	Messages *message.Report // what lines of a pasted text show; nil: none was read
	Changed  *Changed        // since a baseline; nil: none was given
	Near     []lookup.Hit    // of a scan: pages with the words of errors that nobody knows
	// MarkLogged puts lines of logs between LoggedFrom and LoggedTo: for a reader that could take their words for instructions.
	MarkLogged bool

	setting message.Setting // where the texts are from that are all that was read
}

// PlanCommand is the command that plans a remedy of a cause, of the only one; "" where there is none.
type PlanCommand func(c diagnosis.Case, remedy string, only bool) string

// Again returns a command over the same source; words are a command without the name of the tool, such as "diagnose".
func (o Options) Again(words string) string {
	c := o.Command
	if c == "" {
		c = "rollcall"
	}
	if words != "" {
		c += " " + words
	}
	if o.Source != "" {
		c += " " + o.Source
	}
	if verb, _, _ := strings.Cut(words, " "); o.Answer != "" && (verb == "" || verb == "diagnose") {
		c += " " + o.Answer
	}
	return c
}

// know returns a command that needs no source.
func (o Options) know(words string) string {
	o.Source, o.Answer = "", ""
	return o.Again(words)
}

// url is where the page of an entry is, "" where the pages are not published.
func (o Options) url(kind, id string) string {
	if o.Docs == "" {
		return ""
	}
	return o.Docs + (&url.URL{Fragment: "catalog/" + kind + "/" + id}).String()
}
