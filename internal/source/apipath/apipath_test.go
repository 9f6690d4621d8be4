package apipath

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

func TestMain(m *testing.M) {
	// client-go's ping of an exec notices at the next ping, seconds later, that it has ended.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("k8s.io/client-go/tools/remotecommand.(*heartbeat).start"))
}

// authority signs serving certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signer"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func (a authority) serving(t *testing.T, name string, from, to time.Duration) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
}

// fakeAPI is an API server that remembers who asked.
type fakeAPI struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func serve(t *testing.T, cert tls.Certificate, status int, body string) *fakeAPI {
	t.Helper()
	f := &fakeAPI{}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen = append(f.seen, r)
		if r.URL.Path == pathVersion {
			_, _ = io.WriteString(w, `{"gitVersion":"v1.33.4"}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

func address(t *testing.T, target string) *url.URL {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// client asks under the name that the test's certificates carry.
func client(t *testing.T, server string, ca authority, r Reached) *Client {
	t.Helper()
	return &Client{Server: address(t, server), ServerName: "api.test", CAs: ca.pool(), CAName: probe.ByKubeconfig, Kind: "token",
		Reach: func(context.Context) (Reached, error) { return r, nil }}
}

func walk(t *testing.T, o Options) map[string]probe.APIAnswer {
	t.Helper()
	o.Vantage = "bastion"
	return answers(t, New(o))
}

func answers(t *testing.T, s *Source) map[string]probe.APIAnswer {
	t.Helper()
	list, err := s.List(t.Context(), evidence.APIProbes, "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]probe.APIAnswer{}
	for _, o := range list {
		a, err := evidence.Decode[probe.APIAnswer](o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Vantage != "bastion" || a.At.IsZero() || o.ReadAt.IsZero() {
			t.Errorf("%s does not say from where and when: %+v", o.Name, a)
		}
		got[a.Target+":"+strconv.Itoa(a.Port)] = a
		if a.Target == probe.TargetAPI || a.Target == probe.TargetClient {
			got[a.Target] = a
		}
	}
	return got
}

// closed is the address of a port where nothing listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // that is the point
	return l.Addr().String()
}

func TestAPIThatAnswers(t *testing.T) {
	ca := newAuthority(t)
	f := serve(t, ca.serving(t, "api.test", -time.Hour, time.Hour), 200, "[+]ping ok\n")
	got := walk(t, Options{Client: client(t, f.URL, ca, Reached{OK: true}), Masters: []Master{{Name: "m0", Host: "127.0.0.1", Port: 1}}})
	if len(got) != 4 { // each of the two under two keys
		t.Errorf("more than the front was asked: %v", got)
	}
	a := got["api"]
	if a.Trust != probe.TrustVerified || a.Status(pathReady) != 200 || a.Version != "v1.33.4" || a.Stage != probe.StageAnswered || len(a.Chain) != 1 || a.ServerTime.IsZero() {
		t.Errorf("the front: %+v", a)
	}
	if c := got["client"]; !c.OK || c.Credential != probe.CredentialAccepted {
		t.Errorf("the client: %+v", c)
	}
	for _, r := range f.seen {
		if r.Header.Get("Authorization") != "" || r.Method != http.MethodGet || r.TLS == nil || len(r.TLS.PeerCertificates) > 0 {
			t.Errorf("asked with %v %v", r.Method, r.Header)
		}
	}
}

func TestTrust(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	cases := map[probe.Trust]tls.Certificate{
		probe.TrustExpired:     ca.serving(t, "api.test", -2*time.Hour, -time.Hour),
		probe.TrustNotYetValid: ca.serving(t, "api.test", time.Hour, 2*time.Hour),
		probe.TrustUnknownCA:   other.serving(t, "api.test", -time.Hour, time.Hour),
		probe.TrustWrongName:   ca.serving(t, "other.test", -time.Hour, time.Hour),
		probe.TrustVerified:    ca.serving(t, "api.test", -time.Hour, time.Hour),
	}
	for want, cert := range cases {
		t.Run(string(want), func(t *testing.T) {
			f := serve(t, cert, 200, "ok")
			a := walk(t, Options{Client: client(t, f.URL, ca, Reached{Detail: "x509"})})["api"]
			if a.Trust != want || (a.TrustError == "") != (want == probe.TrustVerified) || len(a.Chain) == 0 {
				t.Errorf("trust %q (%s)", a.Trust, a.TrustError)
			}
		})
	}
}

func TestNotReady(t *testing.T) {
	ca := newAuthority(t)
	f := serve(t, ca.serving(t, "api.test", -time.Hour, time.Hour), 500,
		"[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\nreadyz check failed\n")
	a := walk(t, Options{Client: client(t, f.URL, ca, Reached{})})["api"]
	if a.Status(pathReady) != 500 || !slices.Equal(a.Failed(pathReady), []string{"etcd", "poststarthook/rbac/bootstrap-roles"}) {
		t.Errorf("%+v", a.Paths)
	}
}

// TestAskedAgain: a master that is late once is not down, one that is not ready twice is.
func TestAskedAgain(t *testing.T) {
	ca := newAuthority(t)
	cert := ca.serving(t, "api.lark.example.com", -time.Hour, time.Hour)
	well, down := serve(t, cert, 200, "ok"), serve(t, cert, 500, "[-]etcd failed\n")
	asked := 0
	var mu sync.Mutex
	late := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked <= 3 { // the three paths of the first time
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "[-]etcd failed\n")
		}
	}))
	late.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	late.StartTLS()
	t.Cleanup(late.Close)
	masters := make([]Master, 0, 3)
	for name, server := range map[string]string{"well": well.URL, "late": late.URL, "down": down.URL} {
		u := address(t, server)
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			t.Fatal(err)
		}
		masters = append(masters, Master{Name: name, Host: u.Hostname(), Port: port})
	}
	got := walk(t, Options{Masters: masters, Whole: true})
	status := map[string]int{}
	for _, a := range got {
		if a.Node() != "" && a.Port != openshift.MCSPort && a.Stage == probe.StageAnswered {
			status[a.Node()] = a.Status(pathReady)
		}
	}
	if want := map[string]int{"well": 200, "late": 200, "down": 500}; !maps.Equal(status, want) {
		t.Errorf("the masters answer %v, want %v", status, want)
	}
}

// listen runs a TCP server that does not speak as it should.
func listen(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = c.Close() }() // its other side may be gone
				speak(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		group.Wait()
	})
	return "https://" + l.Addr().String()
}

func TestErrorClasses(t *testing.T) {
	ca := newAuthority(t)
	cases := map[string]struct {
		server string
		class  probe.ErrorClass
		stage  probe.Stage
	}{
		"refused":          {"https://" + closed(t), probe.ErrRefused, probe.StageNone},
		"closes":           {listen(t, func(net.Conn) {}), probe.ErrClosed, probe.StageConnected},
		"hangs":            {listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), probe.ErrTimeout, probe.StageConnected},
		"speaks no TLS":    {listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }), "", probe.StageConnected},
		"name that is not": {"https://api.rollcall.invalid:6443", probe.ErrDNS, probe.StageNone},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := walk(t, Options{Client: client(t, c.server, ca, Reached{Detail: "no"}), Step: 500 * time.Millisecond})["api"]
			if c.class != "" && a.ErrorClass != c.class || a.ErrorClass == "" || a.Stage != c.stage || a.Error == "" {
				t.Errorf("class %q, stage %q: %s", a.ErrorClass, a.Stage, a.Error)
			}
			if a.ErrorClass == probe.ErrDNS && a.DNS == "" {
				t.Error("it is not said why the name has no address")
			}
		})
	}
}

// cluster is what an archive, or an API that answers, knows.
type cluster map[evidence.Resource][]evidence.Object

func (c cluster) List(_ context.Context, r evidence.Resource, _ string) ([]evidence.Object, error) {
	return c[r], nil
}

func known(apiHost string) cluster {
	return cluster{
		evidence.Nodes: {{Name: "m0", Content: map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"node-role.kubernetes.io/master": ""}},
			"status":   map[string]any{"addresses": []any{map[string]any{"type": "InternalIP", "address": "127.0.0.2"}}}}},
			{Name: "w0", Content: map[string]any{}}},
		evidence.Infrastructures: {{Name: "cluster", Content: map[string]any{"status": map[string]any{
			"apiServerURL":         "https://" + apiHost,
			"apiServerInternalURI": "https://127.0.0.4:6443",
			"platformStatus":       map[string]any{"baremetal": map[string]any{"apiServerInternalIPs": []any{"127.0.0.3"}}}}}}},
	}
}

func TestWholePath(t *testing.T) {
	ca := newAuthority(t)
	front := closed(t)
	s := New(Options{Client: client(t, "https://"+front, ca, Reached{Detail: "refused"}), Vantage: "bastion",
		Masters: []Master{{Name: "m9", Host: "127.0.0.9"}}, Before: []Lister{known(front)}})
	s.mcsPort = 22699
	got := answers(t, s)
	for _, want := range []string{"client", "api", "node/m0:6443", "node/m0:22699", "node/m9:6443", "node/m9:22699", "vip:6443", "vip:22699", "api-int:6443", "api-int:22699"} {
		if _, ok := got[want]; !ok {
			t.Errorf("%s was not asked", want)
		}
	}
	if c := got["client"]; c.OK || c.Error != "refused" {
		t.Errorf("the client: %+v", c)
	}
}

// TestAnotherCluster: the kubeconfig of another cluster is not held against an archive.
func TestAnotherCluster(t *testing.T) {
	ca := newAuthority(t)
	mine := client(t, "https://127.0.0.8:6443", ca, Reached{})
	mine.Reach = func(context.Context) (Reached, error) {
		t.Error("the other cluster was asked")
		return Reached{}, nil
	}
	got := walk(t, Options{Client: mine, Whole: true, Before: []Lister{known(closed(t))}})
	if _, ok := got["client"]; ok || got["api"].Host != "127.0.0.1" {
		t.Errorf("%v", got)
	}
}

func TestCredentialRefused(t *testing.T) {
	ca := newAuthority(t)
	f := serve(t, ca.serving(t, "api.test", -time.Hour, time.Hour), 200, "ok")
	got := walk(t, Options{Client: client(t, f.URL, ca, Reached{Unauthorized: true, Detail: "401"})})
	if c := got["client"]; c.OK || c.Credential != probe.CredentialRefused {
		t.Errorf("the client: %+v", c)
	}
}

func TestCancelled(t *testing.T) {
	ca := newAuthority(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := listen(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })
	list, err := New(Options{Client: client(t, server, ca, Reached{})}).List(ctx, evidence.APIProbes, "")
	if !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestNothingKnown(t *testing.T) {
	_, err := New(Options{}).List(t.Context(), evidence.APIProbes, "")
	if u, ok := evidence.AsUnavailable(err); !ok || u.Why != evidence.NotAsked {
		t.Errorf("%v", err)
	}
}
