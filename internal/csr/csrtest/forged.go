package csrtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Forgery is one request, with others next to it, that must not be approved in the Scene.
type Forgery struct {
	Name string
	Rule string // the rule that refuses it; "" where no rule is asked
	Make func() []*Request
}

type edit = func(*Request)

// of makes a forgery out of a request that would be approved.
func of(base func() *Request, name, rule string, edits ...edit) Forgery {
	return Forgery{name, rule, func() []*Request {
		r := base()
		for _, e := range edits {
			e(r)
		}
		return []*Request{r.Named("forged")}
	}}
}

func cn(name string) edit      { return func(r *Request) { r.Template.Subject.CommonName = name } }
func node(name string) edit    { return cn(openshift.NodeUserPrefix + name) }
func orgs(list ...string) edit { return func(r *Request) { r.Template.Subject.Organization = list } }
func user(name string) edit    { return func(r *Request) { r.API.Spec.Username = name } }
func groups(list ...string) edit {
	return func(r *Request) { r.API.Spec.Groups = list }
}
func signer(name string) edit { return func(r *Request) { r.API.Spec.SignerName = name } }
func usages(list ...certificatesv1.KeyUsage) edit {
	return func(r *Request) { r.API.Spec.Usages = list }
}
func life(seconds int32) edit { return func(r *Request) { r.API.Spec.ExpirationSeconds = &seconds } }
func at(d time.Duration) edit { return func(r *Request) { r.At(Noon.Add(d)) } }
func dns(list ...string) edit { return func(r *Request) { r.Template.DNSNames = list } }
func text(f func([]byte) []byte) edit {
	return func(r *Request) { r.PEM = f }
}
func extra(key, value string) edit {
	return func(r *Request) { r.API.Spec.Extra = map[string]certificatesv1.ExtraValue{key: {value}} }
}

func ips(list ...string) edit {
	return func(r *Request) {
		r.Template.IPAddresses = nil
		for _, ip := range list {
			r.Template.IPAddresses = append(r.Template.IPAddresses, net.ParseIP(ip))
		}
	}
}

var (
	oidCN  = asn1.ObjectIdentifier{2, 5, 4, 3}
	oidO   = asn1.ObjectIdentifier{2, 5, 4, 10}
	oidUID = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}
	oidSAN = asn1.ObjectIdentifier{2, 5, 29, 17}
)

func subject(pairs ...any) edit {
	var rdns pkix.RDNSequence
	for i := 0; i < len(pairs); i += 2 {
		rdns = append(rdns, pkix.RelativeDistinguishedNameSET{{Type: pairs[i].(asn1.ObjectIdentifier), Value: pairs[i+1]}})
	}
	return func(r *Request) { r.Template.RawSubject = marshal(rdns) }
}

func marshal(v any) []byte {
	raw, err := asn1.Marshal(v)
	if err != nil {
		panic(err) // the values are literals of this file
	}
	return raw
}

func extension(id asn1.ObjectIdentifier, value []byte) edit {
	return func(r *Request) {
		r.Template.ExtraExtensions = append(r.Template.ExtraExtensions, pkix.Extension{Id: id, Value: value})
	}
}

func altName(tag int, compound bool, value []byte) edit {
	return extension(oidSAN, marshal([]asn1.RawValue{
		{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte("otter")},
		{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: compound, Bytes: value}}))
}

var rsa2048 = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func rsaSigned(a x509.SignatureAlgorithm) edit {
	return func(r *Request) {
		key, err := rsa2048()
		if err != nil {
			panic(err) // the system has no randomness
		}
		r.Key, r.Template.SignatureAlgorithm = key, a
	}
}

func weakCurve(r *Request) {
	key, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		panic(err)
	}
	r.Key = key
}

// otherKey puts another public key into a signed request.
func otherKey(r *Request) {
	mine := r.Key.(*ecdsa.PrivateKey)
	other := Key()
	r.DER = func(der []byte) []byte {
		a, errA := mine.PublicKey.Bytes()
		b, errB := other.PublicKey.Bytes()
		if errA != nil || errB != nil {
			panic("encode key")
		}
		return bytes.Replace(der, a, b, 1)
	}
}

// nullParameters writes the algorithm of the signature as that of RSA is written.
func nullParameters(r *Request) {
	r.DER = func(der []byte) []byte {
		var request asn1.RawValue
		if _, err := asn1.Unmarshal(der, &request); err != nil {
			panic(err)
		}
		algorithm := []byte{0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2} // ecdsa-with-SHA256
		null := slices.Concat([]byte{0x30, 12}, algorithm[2:], []byte{5, 0})
		return marshal(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: bytes.Replace(request.Bytes, algorithm, null, 1)})
	}
}

func panda() *Request { return Client("panda") }
func otter() *Request { return Serving("otter", "192.0.2.23") }
func koala() *Request { return Serving("koala", "192.0.2.22") }

// several is a forgery that needs other requests next to it; the last is the forged one.
func several(name, rule string, make func() []*Request) Forgery {
	return Forgery{name, rule, func() []*Request {
		all := make()
		all[len(all)-1].Named("forged")
		return all
	}}
}

// Forged is what an attacker may file: with the bootstrap credential, which whoever
// fetches Ignition has, or with the credential of one node.
func Forged() []Forgery {
	return slices.Concat(forgedNames(), forgedRequesters(), forgedContents(), forgedTimes(), forgedServing())
}

func forgedNames() []Forgery {
	list := []Forgery{
		of(panda, "a host that nobody expects", "expected", node("badger")),
		of(panda, "a Node that exists", "node", node("koala"), at(-time.Minute)),
		of(panda, "a control-plane host that only objects declare", "role", node("master0")),
		of(panda, "a host whose Machine belongs to another Node", "joined", node("heron")),
		of(panda, "a host whose key is another", "key", node("keyed")),
		of(panda, "the declared second name of a host", "expected", node("panda.example.com")),
		of(panda, "the host's name in another domain", "expected", node("panda.attacker.example")),
		of(panda, "the address of the host as a name", "expected", node("192.0.2.21")),
		of(panda, "every host before it has a name", "expected", node("localhost")),
		of(panda, "the API's name", "expected", node("api-int.cluster.example")),
	}
	for name, common := range map[string]string{
		"empty node name": "system:node:", "no colon": "system:node", "administrator": "system:admin", "no common name": "",
		"another prefix": "system:nodes:panda", "prefix in capitals": "SYSTEM:NODE:panda", "two prefixes": "system:node:system:node:panda",
		"blank after": "system:node:panda ", "blank before": "system:node: panda", "line break": "system:node:panda\ncsr-real",
		"zero byte": "system:node:panda\x00", "capitals": "system:node:PANDA", "Cyrillic letter": "system:node:p\u0430nda",
		"zero-width letter": "system:node:pan\u200bda", "trailing dot": "system:node:panda.", "path": "system:node:../master0",
		"star": "system:node:*", "percent": "system:node:%70anda", "comma": "system:node:panda,CN=system:admin",
		"terminal control": "system:node:\x1b]0;x\apanda",
		"a megabyte":       "system:node:" + strings.Repeat("a", 1<<20), "controller manager": "system:kube-controller-manager",
		"right to left": "system:node:\u202eadnap",
	} {
		list = append(list, of(panda, "common name: "+name, "", cn(common)))
	}
	return list
}

func forgedRequesters() []Forgery {
	const namespace = "system:serviceaccounts:openshift-machine-config-operator"
	return []Forgery{
		of(panda, "asked by an administrator", "requester", user("system:admin")),
		of(panda, "asked by another ServiceAccount of the namespace", "requester",
			user("system:serviceaccount:openshift-machine-config-operator:machine-config-daemon")),
		of(panda, "asked by a namesake in another namespace", "requester", user("system:serviceaccount:default:node-bootstrapper")),
		of(panda, "asked by a name that begins alike", "requester", user(openshift.NodeBootstrapper+"-2")),
		of(panda, "asked by another node", "requester", user("system:node:koala"), groups(openshift.NodesGroup, csrs.Authenticated)),
		of(panda, "asked by itself as if renewed", "signer", user("system:node:panda"), groups(openshift.NodesGroup, csrs.Authenticated)),
		of(panda, "asked by nobody", "requester", user("system:anonymous"), groups("system:unauthenticated")),
		of(panda, "asked by an empty user", "requester", user("")),
		of(panda, "masters among the groups", "groups", groups(append(slices.Clone(csrs.BootstrapperGroups), "system:masters")...)),
		of(panda, "a group is missing", "groups", groups(csrs.Authenticated, namespace)),
		of(panda, "no groups", "groups", groups()),
		of(panda, "a group of another namespace", "groups", groups(csrs.Authenticated, "system:serviceaccounts", "system:serviceaccounts:default")),
		of(panda, "a group twice instead of another", "groups", groups(csrs.Authenticated, csrs.Authenticated, namespace)),
		of(panda, "signer of API clients", "signer", signer("kubernetes.io/kube-apiserver-client")),
		of(panda, "legacy signer", "signer", signer("kubernetes.io/legacy-unknown")),
		of(panda, "signer in capitals", "signer", signer("kubernetes.io/Kube-APIServer-Client-Kubelet")),
		of(panda, "signer of somebody else", "signer", signer("example.com/kubelet-serving")),
		of(panda, "client certificate from the serving signer", "", signer("kubernetes.io/kubelet-serving")),
		of(panda, "usage of a server besides", "usages", usages("digital signature", "client auth", "server auth")),
		of(panda, "usage of a server instead", "usages", usages("digital signature", "server auth")),
		of(panda, "a usage is missing", "usages", usages("client auth")),
		of(panda, "every usage", "usages", usages("digital signature", "client auth", "any")),
		of(panda, "usage of a CA", "usages", usages("digital signature", "client auth", "cert sign")),
		of(panda, "a usage twice", "usages", usages("digital signature", "client auth", "client auth")),
		of(panda, "no usage", "usages", usages()),
		of(panda, "the token of a pod that only has its UID", "requester", extra("authentication.kubernetes.io/pod-uid", "5f0c")),
		of(panda, "the token of a pod, in capitals", "requester", extra("Authentication.Kubernetes.io/Pod-Name", "mcs-1")),
		of(panda, "a lifetime of ten years", "lifetime", life(315360000)),
		of(panda, "a lifetime of a second", "lifetime", life(1)),
		of(panda, "a negative lifetime", "lifetime", life(-600)),
	}
}

func forgedContents() []Forgery {
	nodes := openshift.NodesGroup
	return []Forgery{
		of(panda, "no organization", "organization", orgs()),
		of(panda, "organization of administrators", "organization", orgs("system:masters")),
		of(panda, "a second organization", "organization", orgs(nodes, "system:masters")),
		of(panda, "the organization twice", "organization", orgs(nodes, nodes)),
		of(panda, "a second organization that Go does not read", "subject",
			subject(oidO, nodes, oidO, asn1.RawValue{Tag: 26, Bytes: []byte("system:masters")}, oidCN, openshift.NodeUserPrefix+"panda")),
		of(panda, "a second organization of four bytes a letter", "subject",
			subject(oidO, nodes, oidO, asn1.RawValue{Tag: 28, Bytes: []byte("\x00\x00\x00s")}, oidCN, openshift.NodeUserPrefix+"panda")),
		of(panda, "organization with a blank", "organization", orgs(nodes+" ")),
		of(panda, "a unit besides", "subject", func(r *Request) { r.Template.Subject.OrganizationalUnit = []string{"x"} }),
		of(panda, "a serial number besides", "subject", func(r *Request) { r.Template.Subject.SerialNumber = "1" }),
		of(panda, "a user's UID besides", "subject", subject(oidO, nodes, oidCN, "system:node:panda", oidUID, "0")),
		of(panda, "two common names", "subject", subject(oidO, nodes, oidCN, "system:admin", oidCN, "system:node:panda")),
		of(panda, "two common names, the other order", "subject", subject(oidO, nodes, oidCN, "system:node:panda", oidCN, "system:admin")),
		of(panda, "two hosts at once", "subject", subject(oidO, nodes, oidCN, "system:node:master0", oidCN, "system:node:panda")),
		of(panda, "a DNS name", "names", dns("panda")),
		of(panda, "an address", "names", ips("192.0.2.21")),
		of(panda, "an email address", "names", func(r *Request) { r.Template.EmailAddresses = []string{"a@b.example"} }),
		of(panda, "a URI", "names", func(r *Request) { r.Template.URIs = []*url.URL{{Scheme: "spiffe", Host: "x"}} }),
		of(panda, "an extension of a CA", "names", extension(asn1.ObjectIdentifier{2, 5, 29, 19}, []byte{0x30, 3, 1, 1, 0xff})),
		of(panda, "an extension for signing certificates", "names", extension(asn1.ObjectIdentifier{2, 5, 29, 15}, []byte{3, 2, 2, 4})),
		of(panda, "an extension of usages", "names", extension(asn1.ObjectIdentifier{2, 5, 29, 37}, marshal([]asn1.ObjectIdentifier{{2, 5, 29, 37, 0}}))),
		of(panda, "an unknown extension", "names", extension(asn1.ObjectIdentifier{1, 2, 3, 4}, []byte{5, 0})),
		of(panda, "a weak curve", "key", weakCurve),
		of(panda, "signed with an RSA key and SHA-1", "key", rsaSigned(x509.SHA1WithRSA)),
		of(panda, "another key than it is signed with", "signature", otherKey),
		of(panda, "a broken signature", "signature", func(r *Request) {
			r.DER = func(der []byte) []byte { der[len(der)-1] ^= 1; return der }
		}),
		of(panda, "bytes after the request", "request", func(r *Request) { r.DER = func(der []byte) []byte { return append(der, 5, 0) } }),
		of(panda, "half a request", "request", func(r *Request) { r.DER = func(der []byte) []byte { return der[:len(der)/2] } }),
		of(panda, "nothing", "form", text(func([]byte) []byte { return nil })),
		of(panda, "no PEM", "form", text(func([]byte) []byte { return []byte("-----BEGIN??\n") })),
		of(panda, "a certificate", "form", text(func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("CERTIFICATE REQUEST"), []byte("CERTIFICATE"))
		})),
		of(panda, "two requests", "form", text(func(b []byte) []byte { return slices.Concat(b, b) })),
		of(panda, "text before", "form", text(func(b []byte) []byte { return slices.Concat([]byte("x\n"), b) })),
		of(panda, "text after", "form", text(func(b []byte) []byte { return slices.Concat(b, []byte("x")) })),
		of(panda, "a blank of another script after", "form", text(func(b []byte) []byte { return slices.Concat(b, []byte("\u00a0\n")) })),
		of(panda, "a vertical tab before", "form", text(func(b []byte) []byte { return slices.Concat([]byte("\v\n"), b) })),
		of(panda, "a signature with parameters", "encoding", nullParameters),
		of(panda, "a header", "form", text(func(b []byte) []byte {
			block, _ := pem.Decode(b)
			block.Headers = map[string]string{"a": "b"}
			return pem.EncodeToMemory(block)
		})),
	}
}

func forgedTimes() []Forgery {
	more := func(n int, same bool) func() []*Request {
		return func() []*Request {
			first := panda()
			all := []*Request{first}
			for i := range n {
				r := panda().Named("csr-" + strconv.Itoa(i)).At(Noon.Add(-time.Duration(n-i) * time.Second))
				if same {
					r.Key = first.Key
				}
				all = append(all, r)
			}
			return all
		}
	}
	return []Forgery{
		of(panda, "before the window", "boot", at(-11*time.Minute)),
		of(panda, "the window is over", "window", node("newt")),
		of(panda, "the window begins tomorrow", "boot", node("lynx")),
		of(panda, "a host without a window", "boot", node("mole")),
		of(panda, "older than an hour", "", node("newt"), at(-90*time.Minute)),
		of(panda, "from the future", "age", at(30*time.Minute)),
		several("a second key, later", "alone", func() []*Request { return []*Request{panda(), panda().At(Noon.Add(-time.Second))} }),
		several("a second key, before", "alone", func() []*Request { return []*Request{panda(), panda().At(Noon.Add(-2 * time.Minute))} }),
		several("the host has its certificate", "alone", func() []*Request { return []*Request{panda().Issued("RollcallApprove"), panda()} }),
		several("the host was approved and not signed yet", "alone", func() []*Request {
			return []*Request{panda().Answered(certificatesv1.CertificateApproved, "NodeCSRApprove"), panda()}
		}),
		several("the same key, after it was used", "in-flight", func() []*Request {
			first, second := panda().Issued("RollcallApprove"), panda()
			second.Key = first.Key
			return []*Request{first, second.At(Noon.Add(-30 * time.Second))}
		}),
		several("the key asks for another host, too", "key-elsewhere", func() []*Request {
			first, second := Client("badger"), panda()
			second.Key = first.Key
			return []*Request{first, second}
		}),
		several("the key asks to be an administrator, too", "key-elsewhere", func() []*Request {
			first, second := panda(), panda()
			cn("system:admin")(first)
			signer("kubernetes.io/kube-apiserver-client")(first)
			second.Key = first.Key
			return []*Request{first, second}
		}),
		several("a storm for the host with one key", "flood", more(30, true)),
		several("a storm for the host with many keys", "alone", more(30, false)),
		of(panda, "denied by a person", "open", func(r *Request) { r.Answered(certificatesv1.CertificateDenied, "KubectlDeny") }),
		of(panda, "failed at the signer", "open", func(r *Request) { r.Answered(certificatesv1.CertificateFailed, "SignerValidationFailure") }),
	}
}

func forgedServing() []Forgery {
	masters := []string{openshift.NodesGroup, csrs.Authenticated, "system:masters"}
	return []Forgery{
		of(otter, "serving: the API's VIP", "address", ips("192.0.2.5")),
		of(otter, "serving: its address and the API's", "address", ips("192.0.2.23", "192.0.2.5")),
		of(otter, "serving: the API's address, written as IPv6", "address", altName(7, false, net.ParseIP("192.0.2.5").To16())),
		of(otter, "serving: only an address, no name", "address", dns(), ips("192.0.2.5")),
		of(otter, "serving: the address of another node", "address", ips("192.0.2.22")),
		of(otter, "serving: a Service's address", "address", ips("172.30.0.1")),
		of(otter, "serving: a pod's address", "address", ips("10.128.0.9")),
		of(otter, "serving: loopback", "address", ips("127.0.0.1")),
		of(otter, "serving: IPv6 loopback", "address", ips("::1")),
		of(otter, "serving: every address", "address", ips("0.0.0.0")),
		of(otter, "serving: link-local", "address", ips("169.254.169.254")),
		of(otter, "serving: multicast", "address", ips("224.0.0.1")),
		of(otter, "serving: an address that only its Node has", "address", ips("198.51.100.66")),
		of(otter, "serving: the API's name", "names", dns("otter", "api.cluster.example")),
		of(otter, "serving: the internal API's name", "names", dns("api-int.cluster.example")),
		of(otter, "serving: a route", "names", dns("console.apps.cluster.example")),
		of(otter, "serving: every route", "names", dns("*.apps.cluster.example")),
		of(otter, "serving: the API as pods know it", "names", dns("kubernetes.default.svc")),
		of(otter, "serving: a name that begins with its own", "names", dns("otter.attacker.example")),
		of(otter, "serving: its name and a dot", "names", dns("otter.")),
		of(otter, "serving: another node's name", "names", dns("koala")),
		of(otter, "serving: every name", "names", dns("*")),
		of(otter, "serving: an address as a name", "names", dns("192.0.2.23")),
		of(otter, "serving: localhost", "names", dns("localhost")),
		of(otter, "serving: nothing asked for", "names", dns(), ips()),
		of(otter, "serving: an email address", "names", func(r *Request) { r.Template.EmailAddresses = []string{"a@b.example"} }),
		of(otter, "serving: a URI", "names", func(r *Request) { r.Template.URIs = []*url.URL{{Scheme: "https", Host: "x"}} }),
		of(otter, "serving: a directory name", "names", dns(), ips(), altName(4, true, []byte{0x30, 0})),
		of(otter, "serving: a registered ID", "names", dns(), ips(), altName(8, false, []byte{0x2a, 3})),
		of(otter, "serving: another node's common name", "requester", node("koala")),
		of(otter, "serving: asked by another node", "", user("system:node:koala")),
		of(otter, "serving: asked by an administrator", "requester", user("system:admin")),
		of(otter, "serving: asked by the bootstrapper", "requester", user(openshift.NodeBootstrapper), groups(csrs.BootstrapperGroups...)),
		of(otter, "serving: masters in the organization", "organization", orgs(openshift.NodesGroup, "system:masters")),
		of(otter, "serving: masters among the groups", "groups", groups(masters...)),
		of(otter, "serving: not in system:nodes", "groups", groups(csrs.Authenticated)),
		of(otter, "serving: usage of a client besides", "usages", usages("digital signature", "server auth", "client auth")),
		of(otter, "serving: usage of a client instead", "usages", usages("digital signature", "client auth")),
		of(otter, "serving: a lifetime of ten years", "lifetime", life(315360000)),
		several("serving: a Node without declared addresses", "declared", func() []*Request { return []*Request{Serving("mole", "192.0.2.24")} }),
		several("serving: there is no such Node", "node", func() []*Request { return []*Request{Serving("panda", "192.0.2.21")} }),
		several("serving: a Node that nobody expects", "expected", func() []*Request { return []*Request{Serving("badger", "192.0.2.77")} }),
		several("serving: the Node's client certificate is of an unknown approver", "client", func() []*Request {
			return []*Request{Client("otter").Named("csr-rogue").Issued("AutoApproved").At(Noon.Add(-3 * time.Minute)), otter()}
		}),
		several("serving: two keys", "alone", func() []*Request { return []*Request{otter(), otter().At(Noon.Add(-time.Second))} }),
		of(koala, "renewal: a further address", "address", ips("192.0.2.22", "192.0.2.5")),
		of(koala, "renewal: a further name", "names", dns("koala", "api.cluster.example")),
		of(koala, "renewal: another node's name", "names", dns("otter")),
		of(koala, "renewal: older than an hour", "age", at(-61*time.Minute)),
	}
}
