package apiaccess

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// sentence says on one line how far a check went.
func (r checkedEndpoint) sentence() string {
	if r.Target == probe.TargetClient {
		return r.clientSentence()
	}
	s := r.Target + " " + r.Where()
	if len(r.Addresses) > 0 {
		s += " (" + strings.Join(r.Addresses, ", ") + ")"
	}
	if r.Proxy != "" {
		s += " through the proxy " + r.Proxy
	}
	s += ": " + r.outcome()
	if leaf := r.Leaf(); leaf != nil && r.Trust != "" && r.Trust != probe.TrustVerified {
		s += fmt.Sprintf("; certificate of %q, issued by %q, %s to %s: %s", leaf.Subject.CommonName, leaf.Issuer.CommonName,
			leaf.NotBefore.UTC().Format("2006-01-02 15:04"), leaf.NotAfter.UTC().Format("2006-01-02 15:04Z"), r.Trust)
	}
	return s
}

func (r checkedEndpoint) outcome() string {
	switch {
	case r.answers() && len(r.Paths) > 0:
		p := r.Paths[0]
		s := fmt.Sprintf("%s %d %s", p.Path, p.Status, http.StatusText(p.Status))
		if len(p.Failed) > 0 {
			s += ", failed: " + strings.Join(p.Failed, ", ")
		}
		return s
	case r.ErrorClass == probe.ErrDNS:
		s := "no address"
		if r.DNS == probe.DNSNoAnswer {
			s = "no name server answers"
		}
		if len(r.Resolver) > 0 {
			s += " (asked " + strings.Join(r.Resolver, ", ") + ")"
		}
		return s
	}
	s := string(r.ErrorClass)
	if !strings.Contains(r.Error, s) {
		s += ": " + r.Error
	} else if r.Error != "" {
		s = r.Error // it says so itself
	}
	switch r.Stage {
	case probe.StageConnected:
		return "connected, then " + s
	case probe.StageTLS:
		return "TLS session made, then " + s
	}
	return s
}

func (r checkedEndpoint) clientSentence() string {
	who := "the client with a " + r.CredentialKind
	if r.CredentialKind == "none" {
		who = "the client without a credential"
	}
	if !r.CredentialUntil.IsZero() {
		who += " that ends " + r.CredentialUntil.UTC().Format("2006-01-02 15:04Z")
	}
	if r.OK {
		return who + ": the API answers"
	}
	return who + ": " + r.Error
}
