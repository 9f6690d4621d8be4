package csr

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// maxListed bounds how many requests one sentence names, maxQuoted how much of an
// invalid name is shown.
const (
	maxListed = 5
	maxQuoted = 128
)

var keyForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseKey reads the digest of a public key (SubjectPublicKeyInfo), as `sha256:`
// and 64 hexadecimal digits. A shortened one is refused: it is the whole proof.
func ParseKey(text string) (string, error) {
	if !keyForm.MatchString(text) {
		return "", fmt.Errorf("read key %q: want sha256: and the 64 lower-case hexadecimal digits of the public key's digest", text)
	}
	return strings.TrimPrefix(text, "sha256:"), nil
}

// Shown is how the host that a request asks for is shown: its name, or what the request has
// instead of a valid name, quoted; "" where it has nothing.
func Shown(r csrs.Request) string {
	switch {
	case hostName(r.NodeName):
		return r.NodeName
	case r.NodeName != "":
		return quoted(r.NodeName)
	case r.CN != "":
		return quoted(r.CN)
	}
	return ""
}

// hostName reports whether a Node may have the name
// (kubernetes/kubernetes:pkg/apis/core/validation ValidateNodeName).
func hostName(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }

func quoted(s string) string {
	if len(s) > maxQuoted {
		return strconv.QuoteToASCII(s[:maxQuoted]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// alone are the rules against a second requester in the host's name. Whoever has the bootstrap
// credential may make a request at any time, also last; neither order nor content shows which of
// several keys is the host's.
func (j *judging) alone(same []*csrs.Request) {
	if j.e.Key != "" {
		j.must("key", "it was made with the key that a person named", j.r.KeyDigest == j.e.Key,
			"its key is sha256:%s, named was sha256:%s", orNone(j.r.KeyDigest), j.e.Key)
	}
	rivals := j.rivals(same)
	const rule = "no other key asks for the host's identity since it could ask"
	switch {
	case len(rivals) == 0:
		j.must("alone", rule, true, "none does")
	case j.e.Key != "":
		j.must("alone", rule+", or a person named the key", true, "chosen by a person among %s", describe(append(rivals, &j.r)))
	case j.e.Paced && paced(&j.r, rivals) == "":
		j.must("alone", rule+", or the keys came at the pace of a kubelet without an answer", true,
			"the newest of %d keys, each 14 minutes or more after the one before", len(rivals)+1)
	case j.e.Paced:
		j.must("alone", rule+", or the keys came at the pace of a kubelet "+
			"without an answer", false, "%s: %s", paced(&j.r, rivals), describe(append(rivals, &j.r)))
		j.d.WayOut = wayOut(j.r, j.e)
	default:
		j.must("alone", rule, false, "%s", describe(append(rivals, &j.r)))
		j.d.WayOut = wayOut(j.r, j.e)
	}
}

// rivals are the requests that a person would have to choose among: those of the
// host and kind, made since it could ask, with another key, and not denied: a person has
// rejected that. The same key has the same holder. A request for another of the host's names is one,
// too: a host gets one identity.
func (j *judging) rivals(same []*csrs.Request) []*csrs.Request {
	var list []*csrs.Request
	counts := func(o *csrs.Request) bool {
		otherKey := o.KeyDigest != j.r.KeyDigest || o.KeyDigest == ""
		return o.UID != j.r.UID && o.State != csrs.Denied && otherKey && j.e.MayHaveMade(*o)
	}
	for _, o := range same {
		if counts(o) {
			list = append(list, o)
		}
	}
	others := j.otherNames()
	users := []string{j.r.CN}
	for _, n := range others {
		users = append(users, openshift.NodeUserPrefix+n)
	}
	for i := range j.p.Requests {
		o := &j.p.Requests[i]
		if o.Kind == csrs.Client && slices.ContainsFunc(others, func(n string) bool { return strings.EqualFold(n, o.NodeName) }) && counts(o) {
			list = append(list, o)
			continue
		}
		if j.elsewhere(o, users) {
			list = append(list, o)
		}
	}
	return list
}

// elsewhere reports whether a request asks another signer for the host's name, or another of its names, with another key: a client
// certificate of that name is the node's identity for the API server, whichever signer issued it
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/authentication/request/x509 CommonNameUserConversion).
// One that only waits for a signer that no one answers would stop the host, so that it counts once it was approved.
// It counts while its certificate is valid, however old it is, and by the name in the certificate, which a signer may choose.
func (j *judging) elsewhere(o *csrs.Request, users []string) bool {
	kubelets := o.Kind == csrs.Client || o.Kind == csrs.Serving
	answered := o.State == csrs.Approved || o.State == csrs.Issued || len(o.Certified) > 0
	named := slices.ContainsFunc(append(slices.Clone(o.Certified), o.CN), func(cn string) bool {
		return slices.ContainsFunc(users, func(u string) bool { return strings.EqualFold(u, cn) })
	})
	over := !o.Until.IsZero() && !j.p.Now.Before(o.Until)
	return !kubelets && answered && named && !over && o.KeyDigest != j.r.KeyDigest
}

// oneClient is the rule that since the host could ask one key got its identity: of two, one may be a stranger's, who
// then asks for the serving certificate, too.
func (j *judging) oneClient() {
	var holders []*csrs.Request
	for i := range j.p.Requests {
		o := &j.p.Requests[i]
		answered := o.State == csrs.Approved || o.State == csrs.Issued || len(o.Certified) > 0
		if o.Kind != csrs.Client || o.NodeName != j.r.NodeName || !answered || o.Requester != openshift.NodeBootstrapper || !j.e.MayHaveMade(*o) {
			continue
		}
		if !slices.ContainsFunc(holders, func(h *csrs.Request) bool { return h.KeyDigest == o.KeyDigest }) {
			holders = append(holders, o)
		}
	}
	if len(holders) > 1 {
		j.must("one-client", "one key got the host's client certificate, or a person named the key of this request", j.e.Key != "", "%s", describe(holders))
	}
}

// MayHaveMade reports whether a request was made after the host could first ask.
func (e *Expectation) MayHaveMade(r csrs.Request) bool {
	return !r.Created.Before(e.NotBefore.Add(-clockSkew))
}

// describe names requests by what distinguishes them.
func describe(list []*csrs.Request) string {
	var out []string
	for i, r := range list {
		if i == maxListed {
			out = append(out, fmt.Sprintf("and %d more", len(list)-maxListed))
			break
		}
		out = append(out, one(r))
	}
	return strings.Join(out, "; ")
}

func one(r *csrs.Request) string {
	state := string(r.State)
	if r.Approval.Reason != "" {
		state += " (" + r.Approval.Reason + ")"
	}
	return fmt.Sprintf("%s (%s, made %s, UID %s, key sha256:%s)", r.Name, state, stamp(r.Created), r.UID, orNone(r.KeyDigest))
}

// wayOut is what a person can do about several keys. The pending key is in the
// memory of the kubelet (kubernetes/client-go:util/certificate/certificate_manager.go
// generateCSR), so the host can only be made to ask again.
func wayOut(r csrs.Request, e *Expectation) string {
	file := "kubelet-client-current.pem"
	if r.Kind == csrs.Serving {
		file = "kubelet-server-current.pem"
	}
	ips := AddressHole
	if len(e.IPs) > 0 {
		ips = strings.Join(e.IPs, ",")
	}
	return fmt.Sprintf("a kubelet asks again, with a new key, at every start and after about 15 minutes without an answer, so all of them may be the host's; "+
		"or somebody else asks in its name. The pending key is in the kubelet's memory and cannot be read on the host; let the host show it: "+
		"note the requests (`rollcall csr list`), restart the kubelet of %[1]s over its console or SSH, and take the one request that appears within seconds "+
		"(none, or more than one: stop, somebody else is at work). Then `rollcall csr approve NAME --expect %[1]s=%[2]s --booted-after TIME "+
		"--key sha256:DIGEST --yes` "+
		"with the key that `rollcall csr explain NAME` shows, and deny the others (`oc adm certificate deny NAME`). Afterwards compare on the host: "+
		"%[3]s; another digest there means that somebody else holds an identity of the host", e.Name, ips, keyOnHost(file))
}

// keyOnHost is the command that digests the key of an issued certificate on a host.
func keyOnHost(file string) string {
	return "`openssl x509 -in /var/lib/kubelet/pki/" + file + " -noout -pubkey | openssl pkey -pubin -outform DER | sha256sum`"
}
