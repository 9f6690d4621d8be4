package command

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// listing is which requests `csr list` prints, and how.
type listing struct {
	every bool
	node  string
}

func (a *app) csrListCommand() *cobra.Command {
	var f csrFlags
	var l listing
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the requests of hosts that join, and what speaks against approving each",
		Example: cmdutil.Example(a.Name, "csr list", "who asks, and what speaks against it") +
			cmdutil.Example(a.Name, "csr list --node retired3 -o name | xargs oc delete", "delete the pending requests of a host that asks again and again"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := a.judge(cmd.Context(), f)
			if err != nil {
				return err
			}
			return a.printList(cmdutil.FormatOf(cmd), j, l)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&l.every, "all", false, "also those that were answered, and other kinds")
		s.StringVar(&l.node, "node", "", "only the requests for the node of this `NAME`")
	})
	a.AddOutputFlags(cmd, "text", "name", "json", "yaml")
	a.addCSRArchiveFlags(cmd)
	a.addCSRFlags(cmd, &f)
	return cmd
}

// of selects the requests to print.
func (l listing) of(j *judged) []csrs.Request {
	var list []csrs.Request
	for _, r := range j.snapshot.Requests {
		joins := r.Kind == csrs.Client || r.Kind == csrs.Serving
		if !l.every && (r.State != csrs.Pending || !joins) {
			continue
		}
		if l.node != "" && !inventory.SameName(r.NodeName, l.node) {
			continue
		}
		list = append(list, r)
	}
	return list
}

// Everything in a request is chosen by whoever asks, its object's name included
// (kubernetes/kubernetes:pkg/apis/certificates/validation ValidateCertificateRequestName
// admits all of them). Nothing of it is printed as it came.

func (a *app) printRequests(j *judged, l listing, list []csrs.Request) error {
	if len(list) == 0 {
		return a.printNone(j, l)
	}
	clean, terminal := a.CleanText, a.IO.Screen.Terminal
	rows := [][]string{{"REQUEST", "AGE", "KIND", "HOST", "STATE", "APPROVE"}}
	if !terminal {
		rows[0] = append(rows[0], "WHY")
	}
	reasons := newReasons()
	for _, r := range list {
		d := j.decide(r)
		word := "no"
		if d.Approve {
			word = "yes"
		}
		row := []string{clean(r.Name), fault.Span(j.snapshot.Now.Sub(r.Created)), string(r.Kind), clean(dash(csr.Shown(r))), string(r.State), word}
		if !terminal {
			row = append(row, clean(d.Why))
		}
		reasons.add(clean(d.Why), clean(r.Name))
		rows = append(rows, row)
	}
	room := page.NoWrap
	if terminal {
		room = a.Style().Width
	}
	lines := table(rows, 3, room)
	if a.Output.NoHeaders {
		lines = lines[1:]
	}
	if _, err := fmt.Fprintln(a.IO.Out, strings.Join(lines, "\n")); err != nil || !terminal {
		return err
	}
	return reasons.print(a.IO.Out, a.Style())
}

// table lays out rows, the first of which is the head. Where they do not fit the room, a cell of the column own that is too
// long has a line of its own, below its row.
func table(rows [][]string, own, room int) []string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], page.Length(c))
		}
	}
	total := 0
	for _, w := range width {
		total += w + 2
	}
	if most := width[own] - (total - 2 - room); room != page.NoWrap && total-2 > room {
		width[own] = page.Length(rows[0][own])
		for _, row := range rows {
			if n := page.Length(row[own]); n <= most {
				width[own] = max(width[own], n)
			}
		}
	}
	var lines []string
	for _, row := range rows {
		below := ""
		if page.Length(row[own]) > width[own] {
			row = slices.Clone(row)
			below, row[own] = row[own], ""
		}
		lines = append(lines, strings.TrimRight(page.Columns(row, width), " "))
		if below != "" {
			lines = append(lines, "    "+below)
		}
	}
	return lines
}

// printNone says that nothing is listed, and how many requests of other states or nodes there are.
func (a *app) printNone(j *judged, l listing) error {
	p := &page.Page{Style: a.Style()}
	says := "No pending request"
	if l.every {
		says = "No request"
	}
	if l.node != "" {
		says += " for node " + l.node
	}
	says += "."
	if others := len(j.snapshot.Requests); others > 0 && !l.every {
		says += fmt.Sprintf(" There are %d others: --all.", others)
		if others == 1 {
			says = strings.Replace(says, "are 1 others", "is 1 other", 1)
		}
	}
	p.Para(0, page.Span{}, page.Plain, says)
	if j.snapshot.Partly() {
		p.Para(0, page.Span{}, page.Plain, "Not known: whether there are requests that were not read. `oc get csr -o yaml` has the whole list.")
	}
	return p.Flush(a.IO.Out)
}

// reasons are the distinct reasons of a list. On a terminal a column of them would be cut
// or folded, so each is printed once, below the rows, with the requests that it is about.
type reasons struct {
	order []string
	names map[string][]string
}

func newReasons() *reasons { return &reasons{names: map[string][]string{}} }

func (r *reasons) add(why, name string) {
	if r.names[why] == nil {
		r.order = append(r.order, why)
	}
	r.names[why] = append(r.names[why], name)
}

func (r *reasons) print(w io.Writer, style page.Style) error {
	p := &page.Page{Style: style}
	for _, why := range r.order {
		p.Blank()
		p.Para(0, page.Span{}, page.Plain, strings.Join(r.names[why], ", "))
		p.Para(2, page.Span{}, page.Plain, why)
	}
	return p.Flush(w)
}

// plainName is a request's name that a shell, xargs and oc take for one name and nothing
// else.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// printRequestNames prints the objects' names, for xargs. A name with other characters is
// left out and counted: it could be taken for a second argument or an option.
func (a *app) printRequestNames(list []csrs.Request) error {
	odd := 0
	for _, r := range list {
		if !plainName.MatchString(r.Name) {
			odd++
			continue
		}
		if _, err := fmt.Fprintln(a.IO.Out, "certificatesigningrequest.certificates.k8s.io/"+r.Name); err != nil {
			return err
		}
	}
	if odd > 0 {
		fmt.Fprintf(a.IO.Err, "%s: note: %d left out, as the name has characters that a shell could read in another way; `%s csr list` "+
			"shows them\n", a.Name, odd, a.Name)
	}
	return nil
}
