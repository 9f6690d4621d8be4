package command

import (
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *app) printDecision(r csrs.Request, d csr.Decision) {
	clean, w := a.CleanText, a.IO.Out
	fmt.Fprintf(w, "%s: %s request for %s, made %s by %s\n", clean(r.Name), r.Kind, clean(dash(csr.Shown(r))),
		r.Created.UTC().Format(time.RFC3339), clean(r.Requester))
	fmt.Fprintf(w, "  UID %s, key sha256:%s\n", clean(r.UID), dash(r.KeyDigest))
	for _, c := range d.Checks {
		mark := "yes"
		if c.Result != csrs.Passed {
			mark = "NO "
		}
		line := clean(c.Rule)
		switch {
		case c.Name == csr.OpenCheck && c.Result != csrs.Passed:
			line = "the request is not pending: " + clean(c.Detail)
		case c.Detail != "":
			line += ": " + clean(c.Detail)
		}
		fmt.Fprintf(w, "  %s  %s\n", mark, line)
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
