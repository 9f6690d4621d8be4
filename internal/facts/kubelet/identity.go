package kubelet

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Identity is the fact host-kubelet-log: what the kubelet says of the certificate
// with which it speaks to the API. Counts are of lines since its certificate was
// last seen good; a zero is "not said" only where the host's journal was really
// read, and else unknown.
type Identity struct {
	Lines         int       `cel:"lines"`     // lines that tell anything of the identity
	Anonymous     int       `cel:"anonymous"` // it sends no certificate: refused as system:anonymous
	LastAnonymous time.Time `cel:"lastAnonymous"`
	NoBootstrap   int       `cel:"noBootstrap"`  // the bootstrap kubeconfig cannot be loaded
	Unauthorized  int       `cel:"unauthorized"` // the API server refuses the credential that it asks with
	Expired       int       `cel:"expired"`      // its certificate has expired
	NotLoaded     int       `cel:"notLoaded"`    // its certificate is absent or unreadable
	NotSigned     int       `cel:"notSigned"`    // a request was not answered in 15 minutes
	Unreachable   int       `cel:"unreachable"`  // expired, and the API does not answer
	WrongName     int       `cel:"wrongName"`    // its certificate has another name than the host
	Locked        int       `cel:"locked"`       // it may not ask for another name than its certificate's
	Valid         int       `cel:"valid"`        // its certificate was good at a start
	LastValid     time.Time `cel:"lastValid"`
	Last          time.Time `cel:"last"`  // time of the last such line
	First         time.Time `cel:"first"` // time of the first line of a failure
}

// saying is a line of the kubelet and the counter that it raises.
type saying struct {
	id      string
	literal string
	pattern string // "" where the literal decides
	count   func(*Identity) *int
	field   string
}

// sayings, the good one last, are the lines of kubernetes/kubernetes:pkg/kubelet/certificate/{bootstrap/bootstrap,transport}.go,
// plugin/pkg/admission/noderestriction, and kubernetes/client-go:util/certificate/certificate_manager.go.
var sayings = []saying{
	{"kubelet-anonymous", `user "system:anonymous" cannot`, "", func(i *Identity) *int { return &i.Anonymous }, "anonymous"},
	{"kubelet-anonymous-json", `user \"system:anonymous\" cannot`, "", func(i *Identity) *int { return &i.Anonymous }, "anonymous"},
	{"kubelet-no-bootstrap", "unable to load bootstrap kubeconfig", "", func(i *Identity) *int { return &i.NoBootstrap }, "noBootstrap"},
	{"kubelet-unauthorized", "failed while requesting a signed certificate from the control plane", `(?i)(unauthorized|cannot create resource "?.?certificatesigningrequests)`, func(i *Identity) *int { return &i.Unauthorized }, "unauthorized"},
	{"kubelet-expired", "part of the existing bootstrap client certificate", "", func(i *Identity) *int { return &i.Expired }, "expired"},
	{"kubelet-expired-exit", "currently active client certificate has expired", "", func(i *Identity) *int { return &i.Expired }, "expired"},
	{"kubelet-not-loaded", "unable to load tls configuration from existing bootstrap client config", "", func(i *Identity) *int { return &i.NotLoaded }, "notLoaded"},
	{"kubelet-not-signed", "certificate request was not signed", "", func(i *Identity) *int { return &i.NotSigned }, "notSigned"},
	{"kubelet-unreachable", "a restart may be necessary to retrieve new initial credentials", "", func(i *Identity) *int { return &i.Unreachable }, "unreachable"},
	{"kubelet-wrong-name", "does not match requested cn", "", func(i *Identity) *int { return &i.WrongName }, "wrongName"},
	{"kubelet-locked", "can only create a node csr with cn=system:node:", "", func(i *Identity) *int { return &i.Locked }, "locked"},
	{"kubelet-valid", "file contents are still valid, no bootstrap necessary", "", func(i *Identity) *int { return &i.Valid }, "valid"},
}

// Signatures lists what the facts of this package look for.
func Signatures() []scan.Signature {
	var list []scan.Signature
	for _, s := range append(sayings, started) {
		sig := scan.Signature{ID: s.id, Literal: s.literal}
		if s.pattern != "" {
			sig.Pattern = regexp.MustCompile(s.pattern)
		}
		list = append(list, sig)
	}
	return list
}

var journal = evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}

// IdentityFact is the fact host-kubelet-log.
func IdentityFact() facts.Fact {
	return facts.DefinePlain("host-kubelet-log", fault.Host, "what the kubelet's journal and the console say of its certificate",
		append(hosts.Needs(), evidence.Texts(journal)), readIdentity)
}

func readIdentity(ctx context.Context, w *facts.World, s fault.Subject) (Identity, facts.Proof, error) {
	var out Identity
	var p facts.Proof
	h, ok, err := hosts.Find(ctx, w, s.Name)
	if err != nil {
		return out, p, err
	}
	if !ok {
		return out, p, facts.NotApplicable("there is no host %s", s.Name)
	}
	_, missing := w.Matches(ctx, journal, "")
	if _, ok := evidence.AsUnavailable(missing); missing != nil && !ok {
		return out, p, missing
	}
	if missing != nil && h.Console == "" {
		return out, p, missing
	}
	covered := false
	for _, say := range append([]saying{started, sayings[len(sayings)-1]}, sayings[:len(sayings)-1]...) { // "valid" before what it ends
		lines, err := said(ctx, w, h, say.id, missing == nil)
		if err != nil {
			return out, p, err
		}
		covered = covered || slices.ContainsFunc(lines, func(m evidence.Match) bool { return m.Text.Kind == evidence.Journal })
		if say.count != nil {
			out.take(say, lines, &p)
		}
	}
	if !covered { // a console shows some of the kubelet's lines and proves the absence of none
		out.silent(&p, &evidence.Unavailable{Need: evidence.Texts(journal), Why: evidence.NotCollected,
			Detail: "no line of " + h.Name + " in any kubelet journal", Supply: "oc adm node-logs " + h.Name + " -u kubelet"})
		return out, p, nil
	}
	err = w.Cut(ctx, journal, func(t evidence.Text) bool { return t.Host == "" || called(h, t.Host) })
	if _, ok := evidence.AsUnavailable(err); ok {
		out.silent(&p, err)
		for _, field := range []string{"last", "lastAnonymous", "lastValid"} { // a later one may stand in the rest
			p.Miss(field, err)
		}
		return out, p, nil
	}
	return out, p, err
}

// started is the line that every journal of a kubelet has: systemd starts the
// unit (openshift/machine-config-operator:templates/master/01-master-kubelet/_base/units/kubelet.service.yaml).
var started = saying{id: "kubelet-started", literal: "kubernetes kubelet"}

// silent marks what was not said as unknown: there is no whole journal of this host.
func (i *Identity) silent(p *facts.Proof, err error) {
	for _, say := range sayings {
		if *say.count(i) == 0 && (say.field != "valid" || i.Lines == 0) {
			p.Miss(say.field, err)
		}
	}
	if i.Lines == 0 {
		for _, f := range []string{"lines", "last", "first", "lastValid", "lastAnonymous"} {
			p.Miss(f, err)
		}
	}
}

// said returns the lines of one host, from its journal and its console.
func said(ctx context.Context, w *facts.World, h hosts.Host, id string, journals bool) ([]evidence.Match, error) {
	var all []evidence.Match
	if journals {
		lines, err := w.Matches(ctx, journal, id)
		if err != nil {
			return nil, err
		}
		for _, m := range lines {
			if ofHost(m, h) {
				all = append(all, m)
			}
		}
	}
	if h.Console != "" {
		lines, err := w.Matches(ctx, hosts.Consoles, id)
		if err != nil {
			return nil, err
		}
		for _, m := range lines {
			if m.Text.Path == h.Console {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// ofHost reports whether a journal's line is of the host. must-gather joins the
// journals of all masters in one file; there the line itself names the machine
// (openshift/must-gather:collection-scripts/gather_service_logs).
func ofHost(m evidence.Match, h hosts.Host) bool {
	if m.Text.Host != "" {
		return called(h, m.Text.Host)
	}
	fields := strings.Fields(m.Line.Text[:min(len(m.Line.Text), 300)])
	return len(fields) > 4 && (called(h, fields[0]) || called(h, fields[3]))
}

// called reports whether a host goes by a name.
func called(h hosts.Host, name string) bool {
	for _, n := range append([]string{h.Name}, h.Aliases...) {
		oneIsShort := !strings.Contains(n, ".") || !strings.Contains(name, ".")
		if strings.EqualFold(n, name) || oneIsShort && strings.EqualFold(short(n), short(name)) {
			return true
		}
	}
	return false
}

func short(name string) string { s, _, _ := strings.Cut(name, "."); return s }

func (i *Identity) take(say saying, lines []evidence.Match, p *facts.Proof) {
	if say.field != "valid" {
		lines = slices.DeleteFunc(lines, func(m evidence.Match) bool {
			return !m.Line.Time.IsZero() && !i.LastValid.IsZero() && !m.Line.Time.After(i.LastValid)
		})
	}
	i.Lines += len(lines)
	if *say.count(i) += len(lines); len(lines) == 0 {
		return
	}
	first, last := lines[0].Line, lines[len(lines)-1].Line
	if last.Time.After(i.Last) {
		i.Last = last.Time
	}
	switch say.field {
	case "valid":
		if last.Time.After(i.LastValid) {
			i.LastValid = last.Time
		}
	case "anonymous":
		if last.Time.After(i.LastAnonymous) {
			i.LastAnonymous = last.Time
		}
		fallthrough
	default:
		if !first.Time.IsZero() && (i.First.IsZero() || first.Time.Before(i.First)) {
			i.First = first.Time
		}
	}
	p.Add(last.Loc, last.Text, last.Time, say.field)
}
