package command

import (
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := a.judge(cmd.Context(), f)
			if err != nil {
				return err
			}
			return a.printList(cmdutil.FormatOf(cmd), j, l.of(j))
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

func (a *app) printRequests(j *judged, list []csrs.Request) error {
	if n := len(j.snapshot.Requests); len(list) == 0 && j.snapshot.Partly() {
		_, err := fmt.Fprintf(a.IO.Out, "None of the requests that are here is pending, or is what was asked for: there are %d, and --all lists them. "+
			"Whether there are others is not known: `oc get csr -o yaml` has the whole list.\n", n)
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.IO.Out, "No request is pending.")
		return err
	}
	clean, terminal := a.Style().Clean, a.IO.Screen.Terminal
	t := tabwriter.NewWriter(a.IO.Out, 0, 0, 2, ' ', 0)
	head := "REQUEST\tAGE\tKIND\tHOST\tSTATE\tAPPROVE"
	if !terminal {
		head += "\tWHY"
	}
	if !a.Output.NoHeaders {
		fmt.Fprintln(t, head)
	}
	reasons := newReasons()
	for _, r := range list {
		d := j.decide(r)
		word := "no"
		if d.Approve {
			word = "yes"
		}
		row := fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", clean(r.Name), j.snapshot.Now.Sub(r.Created).Round(time.Second), r.Kind,
			clean(dash(csr.Shown(r))), r.State, word)
		if !terminal {
			row += "\t" + clean(d.Why)
		}
		reasons.add(clean(d.Why), clean(r.Name))
		fmt.Fprintln(t, row)
	}
	if err := t.Flush(); err != nil || !terminal {
		return err
	}
	return reasons.print(a.IO.Out)
}

// reasons are the distinct reasons of a list. On a terminal a column of them would be cut
// or folded, so each is printed once, below the rows.
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

func (r *reasons) print(w io.Writer) error {
	for _, why := range r.order {
		names := r.names[why]
		of := names[0]
		if len(names) > 1 {
			of = fmt.Sprintf("%s and %d more", of, len(names)-1)
		}
		if _, err := fmt.Fprintf(w, "\n%s\n  %s\n", of, why); err != nil {
			return err
		}
	}
	return nil
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
