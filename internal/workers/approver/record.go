package approver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/service"
)

// Decision is what was decided on a request.
type Decision string

// The decisions. Deferred is approved later, when a limit or the pause is over.
const (
	Approved     Decision = "approved"
	WouldApprove Decision = "would-approve"
	Refused      Decision = "refused"
	Deferred     Decision = "deferred"
)

// outcome is one decision and what it rests on.
type outcome struct {
	request  csrs.Request
	host     *csr.Expectation // nil where it is not expected
	decision Decision
	reason   string // of a closed list: the name of a rule, a limit or a kind
	why      string
	wayOut   string
	flood    bool // many requests wait in the name of the host
}

// record writes a decision to the log, the metrics and an event; once, until another is
// made on the same request.
func (a *Approver) record(ctx context.Context, o outcome) {
	mark := string(o.decision) + " " + o.reason
	if a.seen[o.request.UID] == mark {
		return
	}
	a.seen[o.request.UID] = mark
	r := o.request
	a.c.Metrics.decisions.WithLabelValues(string(r.Kind), string(o.decision), o.reason).Inc()
	level := slog.LevelInfo
	if o.decision == Refused && o.host != nil {
		level = slog.LevelWarn
	}
	attrs := []any{"decision", o.decision, "reason", o.reason, "request", short(r.Name), "uid", short(r.UID), "kind", r.Kind,
		"host", short(csr.Shown(r)), "key", "sha256:" + r.KeyDigest, "requester", short(r.Requester), "why", o.why}
	if o.host != nil {
		attrs = append(attrs, "inventory", o.host.Source)
	}
	if o.wayOut != "" {
		attrs = append(attrs, "what_you_can_do", o.wayOut)
	}
	a.c.Log.Log(ctx, level, "request "+string(o.decision), attrs...)
	if a.c.DryRun {
		return
	}
	// Events of strangers' requests, and of refusals in a flood for one host, are bounded.
	if bounded := o.host == nil || o.flood && o.decision == Refused; bounded && !a.events.Take(a.c.Now()) {
		a.c.Metrics.suppressed.Inc()
		return
	}
	err := a.api.Create(ctx, kube.Ref{Group: openshift.EventsGroup, Version: "v1", Resource: "events", Namespace: service.EventsNamespace, Name: eventName(o)},
		event(o, a.c.Identity, a.c.Now()))
	if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		a.c.Metrics.eventErrors.Inc()
		a.c.Log.Warn("event was not written; the decision stands", "request", short(r.Name), "error", err.Error())
	}
}

// short bounds what a requester chose; slog quotes what is not printable.
func short(s string) string {
	if len(s) > 253 {
		return s[:253] + "..."
	}
	return s
}

// eventName is the same for the same decision, by whichever replica: the server refuses a
// second one.
func eventName(o outcome) string {
	sum := sha256.Sum256([]byte(o.request.UID + " " + string(o.decision) + " " + o.reason))
	return "rollcall-csr-" + hex.EncodeToString(sum[:])[:20]
}

// event is the record in the cluster: on the request, with the object that declares the
// host as the related one. Events on objects without a namespace are in "default".
func event(o outcome, identity string, now time.Time) map[string]any {
	warning, reason := false, "CSRApproved"
	switch o.decision {
	case Refused:
		warning, reason = o.host != nil, "CSRRefused"
	case Deferred:
		warning, reason = true, "CSRDeferred"
	}
	note := string(o.decision) + " (" + o.reason + "): " + o.why
	if o.request.KeyDigest != "" {
		note += ". Key sha256:" + o.request.KeyDigest
	}
	if o.wayOut != "" {
		note += ". " + o.wayOut
	}
	e := service.Event{Name: eventName(o), At: now, Warning: warning, Reason: reason, Action: "Approve", Note: note,
		Controller: "rollcall.dev/csr-serve", Instance: identity,
		Regarding: map[string]any{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "name": o.request.Name, "uid": o.request.UID}}
	if o.host != nil && o.host.Object.Name != "" {
		ref := o.host.Object
		e.Related = map[string]any{"apiVersion": ref.APIVersion, "kind": ref.Kind, "namespace": ref.Namespace, "name": ref.Name, "uid": ref.UID}
	}
	return e.Object()
}
