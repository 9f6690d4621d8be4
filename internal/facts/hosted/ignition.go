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

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// cert is the fact hosted-ignition-cert: the certificate that the published ignition
// endpoint shows, and the CA that new machines are told to trust.
type cert struct {
	Endpoint  facts.Field[string]    `cel:"endpoint"` // host that machines dial
	Names     facts.Field[[]string]  `cel:"names"`    // for which the certificate is valid
	Covers    facts.Field[bool]      `cel:"covers"`
	Signed    facts.Field[bool]      `cel:"signed"` // by the CA of the Secret
	NotBefore facts.Field[time.Time] `cel:"notBefore"`
	NotAfter  facts.Field[time.Time] `cel:"notAfter"`  // of the certificate or of its CA, whichever ends first
	OtherCA   facts.Field[[]string]  `cel:"strangers"` // NodePools whose user-data has another CA
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
	return facts.Define("hosted-ignition-cert", fault.Cluster, "the ignition endpoint's certificate, its names and its CA", []evidence.Need{
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
	}, readCert)
}

func readCert(ctx context.Context, w *facts.World, _ fault.Subject) (cert, error) {
	var f cert
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return f, err
	}
	list, err := w.List(ctx, evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, err
	}
	endpoint := evidence.String(cluster.Content, "status", "ignitionEndpoint")
	if endpoint == "" {
		return f, facts.NotApplicable("the HostedCluster has no ignition endpoint yet")
	}
	secret := func(name string) evidence.Object {
		i := slices.IndexFunc(list, func(o evidence.Object) bool { return o.Name == name })
		if i < 0 {
			return evidence.Object{}
		}
		return list[i]
	}
	serving := secret(servingSecret)
	leaf, root := certificate(serving), certificate(secret(caSecret))
	if leaf == nil || root == nil {
		return f, notRead
	}
	dial := cluster.Shows("status.ignitionEndpoint", "machines dial "+endpoint, time.Time{})
	f.Endpoint.Set(hostOf(endpoint), dial)
	f.names(leaf, serving, dial)
	f.times(leaf, root, serving)
	f.compareCAs(list, root)
	return f, nil
}

// names holds the certificate's names against the endpoint's.
func (f *cert) names(leaf *x509.Certificate, serving evidence.Object, dial evidence.Item) {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	item := serving.Shows("data[tls.crt]", "valid for "+strings.Join(names, ", "), time.Time{})
	f.Names.Set(names, item)
	f.Covers.Set(leaf.VerifyHostname(f.Endpoint.Value()) == nil, item, dial)
	if obfuscation.Found(f.Endpoint.Value()) {
		f.Covers.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace), "the ignition endpoint"))
	}
}

func (f *cert) times(leaf, root *x509.Certificate, serving evidence.Object) {
	end := leaf.NotAfter
	if root.NotAfter.Before(end) {
		end = root.NotAfter
	}
	item := serving.Shows("data[tls.crt]", fmt.Sprintf("from %s to %s, issued by %q", excerpt.Time(leaf.NotBefore),
		excerpt.Time(end), leaf.Issuer.CommonName), time.Time{})
	f.NotBefore.Set(leaf.NotBefore, item)
	f.NotAfter.Set(end, item)
	f.Signed.Set(leaf.CheckSignatureFrom(root) == nil, item)
}

// compareCAs compares the CA in every NodePool's user-data with the one that signs.
func (f *cert) compareCAs(list []evidence.Object, root *x509.Certificate) {
	f.OtherCA.Set(nil)
	unread := false
	for _, o := range list {
		pool := o.Annotation(openshift.NodePoolKey)
		pointer, ok := evidence.Field(o.Content, "data", "value", sanitize.PointerKey).(map[string]any)
		unread = unread || strings.HasPrefix(o.Name, "user-data-") && !ok
		block, _ := pem.Decode([]byte(evidence.String(pointer, "ca")))
		switch {
		case pool == "" || block == nil:
		case slices.Equal(block.Bytes, root.Raw):
			f.OtherCA.Prove(o.Shows("data.value", "its CA is that of "+caSecret, time.Time{}))
		default:
			facts.Append(&f.OtherCA, pool[strings.LastIndexByte(pool, '/')+1:], o.Shows("data.value", "its CA is not that of "+caSecret, time.Time{}))
		}
	}
	if unread && len(f.OtherCA.Value()) == 0 {
		f.OtherCA.Miss(notRead)
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

// server is the fact hosted-ignition-server: the pods that serve payloads. Their
// cache is memory: a new pod knows no token until it has built the payload again.
type server struct {
	Pods    facts.Field[int]       `cel:"pods"`
	Ready   facts.Field[int]       `cel:"ready"`
	Proxies facts.Field[int]       `cel:"proxies"`
	Waiting facts.Field[string]    `cel:"waiting"` // why a pod does not run
	Since   facts.Field[time.Time] `cel:"since"`   // since when a pod is not ready
	Started facts.Field[time.Time] `cel:"started"` // when the youngest ready one started
}

const ignitionApp = "ignition-server"

func serverFact() facts.Fact {
	return facts.Define("hosted-ignition-server", fault.Cluster, "whether the ignition server's pods run",
		[]evidence.Need{evidence.Objects(evidence.HostedPods, evidence.ControlPlaneNamespace)}, readServer)
}

func readServer(ctx context.Context, w *facts.World, _ fault.Subject) (server, error) {
	var f server
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	pods, err := w.List(ctx, evidence.HostedPods, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, err
	}
	all, runs, proxies := 0, 0, 0
	var started time.Time
	for _, o := range pods {
		app, _ := o.Label("app")
		ready, since, waiting := podState(o)
		switch {
		case app == ignitionApp+"-proxy" && ready:
			proxies++
		case app != ignitionApp:
		case ready:
			all, runs = all+1, runs+1
			if since.After(started) {
				started = since
			}
		default:
			all++
			item := o.Shows("status", o.Name+": "+waiting, since)
			f.Waiting.Set(waiting, item)
			f.Since.Set(since, item)
			f.Ready.Prove(item)
		}
	}
	item := listRead("pods of the control plane", fmt.Sprintf("%d pods with the label app=ignition-server, %d ready", all, runs))
	f.Pods.Set(all, item)
	f.Ready.Set(runs, item)
	f.Proxies.Set(proxies, item)
	f.Started.Set(started, item)
	facts.Complete(&f)
	facts.Prove(item, &f.Waiting, &f.Since)
	return f, nil
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

var serverLog = evidence.TextQuery{Kind: evidence.ContainerLog, Cluster: evidence.Management,
	Namespace: evidence.ControlPlaneNamespace, Container: ignitionApp}

// Log is the fact hosted-ignition-log. Its lines name no client: a proxy stands in
// front, and "Ignition/" as user agent tells a machine from a person.
type Log struct {
	Machines facts.Field[int] `cel:"machines"` // requests of Ignition
	Unknown  facts.Field[int] `cel:"unknown"`  // requests with a token that the server does not know (511)
	Refused  facts.Field[int] `cel:"refused"`  // requests without a usable Authorization header (401)
	BadPath  facts.Field[int] `cel:"badPath"`
	Payload  facts.Field[int] `cel:"payload"` // failed generations of a payload
}

func logFact() facts.Fact {
	return facts.Define("hosted-ignition-log", fault.Cluster, "what the ignition server's log says of requests and payloads",
		[]evidence.Need{evidence.Texts(serverLog)}, readLog)
}

func readLog(ctx context.Context, w *facts.World, _ fault.Subject) (Log, error) {
	var f Log
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	for _, part := range []struct {
		signatures []string
		count      *facts.Field[int]
	}{
		{[]string{sigAgent}, &f.Machines}, {[]string{sigUnknown}, &f.Unknown},
		{[]string{sigHeader, sigEncoded}, &f.Refused}, {[]string{sigPath}, &f.BadPath}, {[]string{sigPayload}, &f.Payload},
	} {
		for _, id := range part.signatures {
			lines, err := w.Matches(ctx, serverLog, id)
			if err != nil {
				return f, err
			}
			if len(lines) == 0 {
				continue
			}
			last := lines[len(lines)-1]
			part.count.Set(part.count.Value()+len(lines), last.Item())
		}
	}
	facts.Complete(&f)
	return f, nil
}
