package hosted

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Cert is the fact hosted-ignition-cert: the certificate that the published ignition
// endpoint shows, and the CA that new machines are told to trust.
type Cert struct {
	Endpoint  string    `cel:"endpoint"` // host that machines dial
	Names     []string  `cel:"names"`    // for which the certificate is valid
	Covers    bool      `cel:"covers"`
	Signed    bool      `cel:"signed"` // by the CA of the Secret
	NotBefore time.Time `cel:"notBefore"`
	NotAfter  time.Time `cel:"notAfter"`  // of the certificate or of its CA, whichever ends first
	Strangers []string  `cel:"strangers"` // NodePools whose user-data has another CA
}

// The Secrets of the ignition server's certificates. The proxy in front shows the
// serving certificate
// (openshift/hypershift:control-plane-operator/controllers/hostedcontrolplane/v2/
// ignitionserver/pki.go).
const (
	caSecret      = "ignition-server-ca-cert"
	servingSecret = "ignition-server-serving-cert"
)

func certFact() facts.Fact {
	return facts.DefinePlain("hosted-ignition-cert", fault.Cluster, "the ignition endpoint's certificate, its names and its CA", []evidence.Need{
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
	}, readCert)
}

func readCert(ctx context.Context, w *facts.World, _ fault.Subject) (Cert, facts.Proof, error) {
	var f Cert
	var p facts.Proof
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return f, p, err
	}
	list, err := w.List(ctx, evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, p, err
	}
	endpoint := evidence.String(cluster.Content, "status", "ignitionEndpoint")
	if f.Endpoint = hostOf(endpoint); f.Endpoint == "" {
		return f, p, facts.NotApplicable("the HostedCluster has no ignition endpoint yet")
	}
	secret := func(name string) evidence.Object {
		i := slices.IndexFunc(list, func(o evidence.Object) bool { return o.Name == name })
		if i < 0 {
			return evidence.Object{}
		}
		return list[i]
	}
	serving, ca := secret(servingSecret), secret(caSecret)
	leaf, root := certificate(serving), certificate(ca)
	if leaf == nil || root == nil {
		return f, p, notRead
	}
	f.Covers = leaf.VerifyHostname(f.Endpoint) == nil
	f.Names = slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		f.Names = append(f.Names, ip.String())
	}
	f.Signed = leaf.CheckSignatureFrom(root) == nil
	f.NotBefore, f.NotAfter = leaf.NotBefore, leaf.NotAfter
	if root.NotAfter.Before(f.NotAfter) {
		f.NotAfter = root.NotAfter
	}
	p.Add(serving.Loc.At("data[tls.crt]"), "valid for "+strings.Join(f.Names, ", "), time.Time{}, "names", "covers")
	p.Add(cluster.Loc.At("status.ignitionEndpoint"), "machines dial "+endpoint, time.Time{}, "endpoint", "covers")
	p.Add(serving.Loc.At("data[tls.crt]"), fmt.Sprintf("from %s to %s, issued by %q", leaf.NotBefore.UTC().Format(time.RFC3339), f.NotAfter.UTC().Format(time.RFC3339), leaf.Issuer.CommonName),
		time.Time{}, "notAfter", "notBefore", "signed")
	f.strangers(list, root, &p)
	return f, p, nil
}

// strangers compares the CA in every NodePool's user-data with the one that signs.
func (f *Cert) strangers(list []evidence.Object, root *x509.Certificate, p *facts.Proof) {
	for _, o := range list {
		pool := o.Annotation("hypershift.openshift.io/nodePool")
		text := evidence.String(o.Content, "data", "value", sanitize.PointerKey, "ca")
		block, _ := pem.Decode([]byte(text))
		if pool == "" || block == nil || slices.Equal(block.Bytes, root.Raw) {
			continue
		}
		f.Strangers = append(f.Strangers, pool[strings.LastIndexByte(pool, '/')+1:])
		p.Add(o.Loc.At("data.value"), "its CA is not that of "+caSecret, time.Time{}, "strangers")
	}
}

// certificate is the first one in tls.crt; nil where the Secret was not read.
func certificate(o evidence.Object) *x509.Certificate {
	data, _ := o.Content["data"].(map[string]any)
	text, _ := data["tls.crt"].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return c
}

// Server is the fact hosted-ignition-server: the pods that serve payloads. Their
// cache is memory: a new pod knows no token until it has built the payload again.
type Server struct {
	Pods    int       `cel:"pods"`
	Ready   int       `cel:"ready"`
	Proxies int       `cel:"proxies"`
	Waiting string    `cel:"waiting"` // why a pod does not run
	Since   time.Time `cel:"since"`   // since when a pod is not ready
	Started time.Time `cel:"started"` // when the youngest ready one started
}

const ignitionApp = "ignition-server"

func serverFact() facts.Fact {
	return facts.DefinePlain("hosted-ignition-server", fault.Cluster, "whether the ignition server's pods run",
		[]evidence.Need{evidence.Objects(evidence.HostedPods, evidence.ControlPlaneNamespace)}, readServer)
}

func readServer(ctx context.Context, w *facts.World, _ fault.Subject) (Server, facts.Proof, error) {
	var f Server
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	pods, err := w.List(ctx, evidence.HostedPods, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, p, err
	}
	for _, o := range pods {
		app, _ := o.Label("app")
		ready, since, waiting := podState(o)
		switch {
		case app == ignitionApp+"-proxy" && ready:
			f.Proxies++
		case app != ignitionApp:
		case ready:
			f.Pods, f.Ready = f.Pods+1, f.Ready+1
			if since.After(f.Started) {
				f.Started = since
			}
		default:
			f.Pods++
			f.Waiting, f.Since = waiting, since
			p.Add(o.Loc.At("status"), o.Name+": "+waiting, since, "ready", "waiting", "since")
		}
	}
	if f.Pods == 0 {
		p.Add(evidence.Locator{Cluster: evidence.Management, Path: "pods of the control plane"}, "no pod with the label app=ignition-server", time.Time{}, "pods", "ready")
	}
	return f, p, nil
}

// podState says whether a pod is ready, since when that is so, and why it is not.
func podState(o evidence.Object) (ready bool, since time.Time, waiting string) {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, e := range list {
		if c, _ := e.(map[string]any); evidence.String(c, "type") == "Ready" {
			ready, since = evidence.String(c, "status") == "True", evidence.Time(c, "lastTransitionTime")
		}
	}
	waiting = "not ready, phase " + evidence.String(o.Content, "status", "phase")
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		states, _ := evidence.Field(o.Content, "status", field).([]any)
		for _, e := range states {
			c, _ := e.(map[string]any)
			if why := evidence.String(c, "state", "waiting", "reason"); why != "" && why != "PodInitializing" {
				return ready, since, why + ": " + evidence.String(c, "state", "waiting", "message")
			}
		}
	}
	return ready, since, waiting
}

// The lines of the ignition server
// (openshift/hypershift:ignition-server/cmd/start.go,
// ignition-server/controllers/tokensecret_controller.go, the same from 4.12 to 4.21).
const (
	sigUnknown = "hosted.ignition-token-unknown"
	sigHeader  = "hosted.ignition-bad-header"
	sigEncoded = "hosted.ignition-bad-token"
	sigPath    = "hosted.ignition-bad-path"
	sigAgent   = "hosted.ignition-request"
	sigPayload = "hosted.ignition-payload"
)

// Signatures returns what the facts of this area look for in texts.
func Signatures() []scan.Signature {
	return []scan.Signature{
		{ID: sigUnknown, Literal: "token not found"},
		{ID: sigHeader, Literal: "invalid authorization header value prefix"},
		{ID: sigEncoded, Literal: "invalid token value"},
		{ID: sigPath, Literal: "path not found: "},
		{ID: sigAgent, Literal: "user agent: ignition/"},
		{ID: sigPayload, Literal: "error getting ignition payload: "},
	}
}

var serverLog = evidence.TextQuery{Kind: evidence.ContainerLog, Cluster: evidence.Management,
	Namespace: evidence.ControlPlaneNamespace, Container: ignitionApp}

// Log is the fact hosted-ignition-log. Its lines name no client: a proxy stands in
// front, and "Ignition/" as user agent tells a machine from a person.
type Log struct {
	Machines int       `cel:"machines"` // requests of Ignition
	Last     time.Time `cel:"last"`     // the last of them
	Unknown  int       `cel:"unknown"`  // requests with a token that the server does not know (511)
	Refused  int       `cel:"refused"`  // requests without a usable Authorization header (401)
	BadPath  int       `cel:"badPath"`
	Payload  int       `cel:"payload"` // failed generations of a payload
	Error    string    `cel:"error"`   // of the last of them
}

func logFact() facts.Fact {
	return facts.DefinePlain("hosted-ignition-log", fault.Cluster, "what the ignition server's log says of requests and payloads",
		[]evidence.Need{evidence.Texts(serverLog)}, readLog)
}

func readLog(ctx context.Context, w *facts.World, _ fault.Subject) (Log, facts.Proof, error) {
	var f Log
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	for _, part := range []struct {
		signatures []string
		count      *int
		field      string
	}{
		{[]string{sigAgent}, &f.Machines, "machines"}, {[]string{sigUnknown}, &f.Unknown, "unknown"},
		{[]string{sigHeader, sigEncoded}, &f.Refused, "refused"}, {[]string{sigPath}, &f.BadPath, "badPath"}, {[]string{sigPayload}, &f.Payload, "payload"},
	} {
		for _, id := range part.signatures {
			lines, err := w.Matches(ctx, serverLog, id)
			if err != nil {
				return f, p, err
			}
			if *part.count += len(lines); len(lines) == 0 {
				continue
			}
			last := lines[len(lines)-1].Line
			p.Add(last.Loc, last.Text, last.Time, part.field)
			switch id {
			case sigAgent:
				f.Last = last.Time
			case sigPayload:
				at := strings.Index(strings.ToLower(last.Text), "error getting ignition payload: ")
				f.Error = strings.TrimSpace(last.Text[at+len("error getting ignition payload: "):])
			}
		}
	}
	err := w.Unheard(ctx, &p, serverLog, nil, map[string]bool{
		"machines": f.Machines == 0, "last": f.Machines == 0, "unknown": f.Unknown == 0, "refused": f.Refused == 0,
		"badPath": f.BadPath == 0, "payload": f.Payload == 0, "error": f.Payload == 0,
	})
	return f, p, err
}
