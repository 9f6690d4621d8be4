package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// Everything in a request is chosen by whoever asks, its object's name included
// (kubernetes/kubernetes:pkg/apis/certificates/validation ValidateCertificateRequestName
// admits all of them). Nothing of it is printed as it came.

func (a *app) printRequests(j *judged, every bool) error {
	clean := a.style().Clean
	t := tabwriter.NewWriter(a.io.Out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "REQUEST\tAGE\tKIND\tHOST\tSTATE\tAPPROVE\tWHY")
	shown := 0
	for _, r := range j.picture.Requests {
		joins := r.Kind == csrs.Client || r.Kind == csrs.Serving
		if !every && (r.State != csrs.Pending || !joins) {
			continue
		}
		shown++
		d := j.decide(r)
		word := "no"
		if d.Approve {
			word = "yes"
		}
		age := j.picture.Now.Sub(r.Created).Round(time.Second)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", clean(r.Name), age, r.Kind, clean(dash(csr.Shown(r))), r.State, word, clean(d.Why))
	}
	if shown == 0 {
		_, err := fmt.Fprintln(a.io.Out, "No request is pending.")
		return err
	}
	return t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *app) printDecision(r csrs.Request, d csr.Decision) {
	clean, w := a.style().Clean, a.io.Out
	fmt.Fprintf(w, "%s: %s request for %s, made %s by %s\n", clean(r.Name), r.Kind, clean(dash(csr.Shown(r))),
		r.Created.UTC().Format(time.RFC3339), clean(r.Requester))
	fmt.Fprintf(w, "  UID %s, key sha256:%s\n", clean(r.UID), dash(r.KeyDigest))
	for _, c := range d.Checks {
		mark := "yes"
		if c.Result != csrs.Passed {
			mark = "NO "
		}
		fmt.Fprintf(w, "  %s  %s: %s\n", mark, clean(c.Rule), clean(c.Detail))
	}
	if d.Approve {
		fmt.Fprintf(w, "It would be approved: %s\n%s\n", clean(d.Why), clean(d.NotProven))
		return
	}
	fmt.Fprintf(w, "It would not be approved: %s\n", clean(d.Why))
	if d.WayOut != "" {
		fmt.Fprintf(w, "What you can do: %s\n", clean(d.WayOut))
	}
}
