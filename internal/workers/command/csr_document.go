package command

import (
	"context"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/session"
)

// requestsDocument is what `csr list` gives to programs (docs/schema/requests.v1alpha1.json).
type requestsDocument struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Now        time.Time       `json:"now"`
	Partly     bool            `json:"partly"`           // there may be others: the list was not read whole
	Unread     string          `json:"unread,omitempty"` // why it is not known which hosts objects of the cluster declare
	Requests   []listedRequest `json:"requests"`
}

// listedRequest is a request with how the rules came out.
type listedRequest struct {
	csr.Decision
	Host      string     `json:"host"` // that is asked for, "" where the request does not show it
	State     csrs.State `json:"state"`
	Created   time.Time  `json:"created"`
	Requester string     `json:"requester"`
	UID       string     `json:"uid"`
	KeyDigest string     `json:"keyDigest,omitempty"` // SHA-256 of the public key, hex
}

// document is a list for programs. What a request holds was chosen by whoever asks: clean takes secrets out of it.
func (j *judged) document(list []csrs.Request, clean func(string) string) requestsDocument {
	doc := requestsDocument{APIVersion: "rollcall.dev/v1alpha1", Kind: "RequestList", Now: j.snapshot.Now, Partly: j.snapshot.Partly(),
		Unread: j.snapshot.Unread, Requests: []listedRequest{}}
	for _, r := range list {
		d := j.decide(r)
		d.Name, d.Node, d.Why, d.WayOut = clean(d.Name), clean(d.Node), clean(d.Why), clean(d.WayOut)
		for i := range d.Checks {
			d.Checks[i].Detail = clean(d.Checks[i].Detail)
		}
		doc.Requests = append(doc.Requests, listedRequest{Decision: d, Host: clean(csr.Shown(r)), State: r.State, Created: r.Created,
			Requester: clean(r.Requester), UID: r.UID, KeyDigest: r.KeyDigest})
	}
	return doc
}

// ListRequests answers `csr list` in both forms: the pending requests of hosts that join, with every
// the answered ones as well, of one node or, with "", of all.
func ListRequests(ctx context.Context, frame *cmdutil.App, o session.Options, node string, every bool, forms *cmdutil.Forms) error {
	a := &app{App: frame.Quieter(), source: o}
	j, err := a.judge(ctx, csrFlags{})
	if err != nil {
		return err
	}
	l := listing{every: every, node: node}
	return forms.Each(func(printer *cmdutil.App, format string) error {
		return (&app{App: printer, source: o}).printList(format, j, l)
	})
}

// printList prints a list in a format.
func (a *app) printList(format string, j *judged, l listing) error {
	list := l.of(j)
	switch format {
	case "name":
		return a.printRequestNames(list)
	case "json", "yaml":
		return a.PrintData(format, j.document(list, a.WithoutSecrets))
	}
	return a.printRequests(j, l, list)
}
