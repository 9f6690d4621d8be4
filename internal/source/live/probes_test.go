package live

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

func master(name string, ips ...string) runtime.Object {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/master": ""}}}
	for _, ip := range ips {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
	}
	n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: name})
	return n
}

func infrastructure(status map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": "cluster"}, "status": status}
}

const infraPath = "/apis/config.openshift.io/v1/infrastructures"

// probesAPI is a cluster of two masters, of which 127.0.0.1 is up, and a worker.
func probesAPI(pools ...string) *fakeAPI {
	f := newFakeAPI()
	worker := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker0", Labels: map[string]string{"node-role.kubernetes.io/worker": ""}}}
	f.typed["/api/v1/nodes"] = []runtime.Object{master("control1", "127.0.0.2"), master("control0", "127.0.0.1"), worker}
	f.custom[infraPath] = []map[string]any{infrastructure(map[string]any{"apiServerInternalURI": "https://localhost:6443",
		"platformStatus": map[string]any{"type": "BareMetal", "baremetal": map[string]any{
			"apiServerInternalIP": "127.0.0.1", "apiServerInternalIPs": []any{"127.0.0.1", "not an address"}}}})}
	for _, p := range pools {
		f.custom[poolsPath] = append(f.custom[poolsPath], pool(p))
	}
	return f
}

type fakeMCS struct {
	mu   sync.Mutex
	seen []*http.Request
}

func (m *fakeMCS) start(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.seen = append(m.seen, r)
		m.mu.Unlock()
		h(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func portOf(a net.Addr) int { return a.(*net.TCPAddr).Port }

func TestMCSProbes(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed to %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	mcs := &fakeMCS{}
	server := mcs.start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/config/master":
			w.WriteHeader(http.StatusInternalServerError)
		case "/config/odd":
			w.Header().Set("Server", "envoy")
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}
	})
	s := probesAPI("worker", "master", "odd").source(t, Options{Probes: true, Vantage: "bastion"})
	s.mcsPort = portOf(server.Listener.Addr())
	list, err := s.List(t.Context(), evidence.MCSProbes, "")
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	var got []string
	for _, o := range list {
		a, err := evidence.Decode[probe.MCSAnswer](o)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s %s", a.Target, a.Host, a.Pool, a.Status, a.ErrorClass, a.Server)))
		if a.Vantage != "bastion" || !a.At.Equal(epoch) || a.Port != s.mcsPort || o.Resource != evidence.MCSProbes {
			t.Errorf("answer %+v", a)
		}
		if a.Status != 0 && (len(a.Chain) != 1 || a.Chain[0] != chain || a.Stage != probe.StageAnswered || a.Address == "" || a.Error != "") {
			t.Errorf("answered: %+v", a)
		}
		if a.Status == 0 && (a.Stage != probe.StageNone || len(a.Chain) != 0 || !strings.Contains(a.Error, "refused")) {
			t.Errorf("not answered: %+v", a)
		}
	}
	want := []string{
		"api-int localhost master 500", "api-int localhost odd 302  envoy", "api-int localhost worker 200",
		"node/control0 127.0.0.1 master 500", "node/control0 127.0.0.1 odd 302  envoy", "node/control0 127.0.0.1 worker 200",
		"node/control1 127.0.0.2 master 0 refused", "node/control1 127.0.0.2 odd 0 refused", "node/control1 127.0.0.2 worker 0 refused",
		"vip 127.0.0.1 master 500", "vip 127.0.0.1 odd 302  envoy", "vip 127.0.0.1 worker 200",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
	if len(mcs.seen) != 9 {
		t.Errorf("%d questions for 3 pools of 3 targets", len(mcs.seen))
	}
	for _, r := range mcs.seen {
		if r.Method != http.MethodHead || r.Header.Get("Accept") != probe.MCSAccept {
			t.Errorf("%s with Accept %q", r.Method, r.Header.Get("Accept"))
		}
		for name := range r.Header {
			if name != "Accept" && name != "User-Agent" && name != "Connection" {
				t.Errorf("a probe sent %s: %q", name, r.Header[name])
			}
		}
	}
}

func TestMCSProbesUnavailable(t *testing.T) {
	s := probesAPI("master").source(t, Options{})
	list, err := s.List(t.Context(), evidence.MCSProbes, "")
	wantUnavailable(t, list, err, evidence.NotAsked, "probes are off")
	for resource, detail := range map[string]string{"nodes": "nodes are not known", "machineconfigpools": "names of the pools are not known"} {
		f := probesAPI("master")
		f.denied = func(_, r, _, _ string) bool { return r == resource }
		s := f.source(t, Options{Probes: true})
		s.mcsPort = 1
		list, err := s.List(t.Context(), evidence.MCSProbes, "")
		wantUnavailable(t, list, err, evidence.Forbidden, detail)
		if u, _ := evidence.AsUnavailable(err); u.Need != evidence.Objects(evidence.MCSProbes, "") {
			t.Errorf("need %s", u.Need)
		}
	}
	f := probesAPI("master")
	f.custom[infraPath] = []map[string]any{infrastructure(map[string]any{"controlPlaneTopology": "External"})}
	list, err = f.source(t, Options{Probes: true}).List(t.Context(), evidence.MCSProbes, "")
	wantUnavailable(t, list, err, evidence.NotServed, "hosted elsewhere")
	f = newFakeAPI()
	f.typed["/api/v1/nodes"] = []runtime.Object{}
	list, err = f.source(t, Options{Probes: true}).List(t.Context(), evidence.MCSProbes, "")
	wantUnavailable(t, list, err, evidence.NotCollected, "no control-plane node")
}

func TestMCSTargets(t *testing.T) {
	f := probesAPI()
	f.typed["/api/v1/nodes"] = []runtime.Object{master("control0", "192.0.2.1", "2001:db8::1", "192.0.2.1"), master("control1")}
	f.custom[infraPath] = []map[string]any{infrastructure(map[string]any{"apiServerInternalURI": "https://api-int.lab.example:6443",
		"platformStatus": map[string]any{"vsphere": map[string]any{"apiServerInternalIPs": []any{"2001:db8::9", "192.0.2.9"}}}})}
	s := f.source(t, Options{})
	got, err := s.mcsTargets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []probeTarget{{"node/control0", "192.0.2.1"}, {"node/control0", "2001:db8::1"}, {"api-int", "api-int.lab.example"},
		{"vip", "192.0.2.9"}, {"vip", "2001:db8::9"}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(probeTarget{})); d != "" {
		t.Errorf("targets (-want +got):\n%s", d)
	}
	delete(f.kinds, infraPath)
	if got, err := f.source(t, Options{}).mcsTargets(t.Context()); err != nil || len(got) != 2 {
		t.Errorf("without an Infrastructure: %v, %v", got, err)
	}
}

// listen accepts connections on loopback and hands them over; all are closed at the end.
func listen(t *testing.T, serve func(net.Conn)) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return portOf(l.Addr())
}

func TestMCSProbeErrors(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	t.Cleanup(certificate.Close)
	withTLS := func(serve func(*tls.Conn)) func(net.Conn) {
		return func(c net.Conn) {
			s := tls.Server(c, &tls.Config{Certificates: certificate.TLS.Certificates})
			if s.Handshake() == nil {
				serve(s)
			}
		}
	}
	drain := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	head := func(c io.Reader) { _, _ = c.Read(make([]byte, 4096)) }
	cases := map[string]struct {
		serve func(net.Conn)
		class probe.ErrorClass
		stage probe.Stage
		chain int
	}{
		"silent after connect": {drain, probe.ErrTimeout, probe.StageConnected, 0},
		"silent after TLS":     {withTLS(func(c *tls.Conn) { drain(c) }), probe.ErrTimeout, probe.StageTLS, 1},
		"closes at once":       {func(c net.Conn) { head(c) }, probe.ErrClosed, probe.StageConnected, 0},
		"closes after TLS":     {withTLS(func(c *tls.Conn) { head(c) }), probe.ErrClosed, probe.StageTLS, 1},
		"plain HTTP":           {func(c net.Conn) { head(c); _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, probe.ErrTLS, probe.StageConnected, 0},
		"no HTTP":              {withTLS(func(c *tls.Conn) { head(c); _, _ = io.WriteString(c, "SSH-2.0-x\r\n\r\n") }), probe.ErrHTTP, probe.StageTLS, 1},
		"no certificate": {func(c net.Conn) {
			_ = tls.Server(c, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }}).Handshake()
		}, probe.ErrTLS, probe.StageConnected, 0},
		"wants a client certificate": {func(c net.Conn) {
			s := tls.Server(c, &tls.Config{Certificates: certificate.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12})
			_ = s.Handshake()
		}, probe.ErrTLS, probe.StageConnected, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute
			if c.class == probe.ErrTimeout {
				patience = time.Second // long enough for a handshake
			}
			s := newFakeAPI().source(t, Options{ProbeTimeout: patience})
			s.mcsPort = listen(t, c.serve)
			a := s.askHost(t.Context(), probeTarget{probe.TargetVIP, "127.0.0.1"}, []string{"master"})[0]
			if a.Status != 0 || a.ErrorClass != c.class || a.Stage != c.stage || len(a.Chain) != c.chain || a.Error == "" {
				t.Errorf("class %q stage %q chain %d status %d: %s", a.ErrorClass, a.Stage, len(a.Chain), a.Status, a.Error)
			}
		})
	}
}

func TestClassify(t *testing.T) {
	op := func(e error) error { return &net.OpError{Op: "dial", Err: e} }
	cases := map[probe.ErrorClass]error{
		probe.ErrDNS:     op(&net.DNSError{Err: "no such host", IsTimeout: true}),
		probe.ErrNoRoute: op(syscall.EHOSTUNREACH),
		probe.ErrRefused: op(syscall.ECONNREFUSED),
		probe.ErrTimeout: op(context.DeadlineExceeded),
		probe.ErrClosed:  op(syscall.ECONNRESET),
		probe.ErrOther:   errors.New("something else"),
	}
	for want, err := range cases {
		if got := wire.Classify(err, probe.StageNone); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// TestMCSProbesEndWithTheRun: questions that could not be asked are no answers.
func TestMCSProbesEndWithTheRun(t *testing.T) {
	s := probesAPI("master").source(t, Options{Probes: true, RunTimeout: 300 * time.Millisecond})
	s.mcsPort = listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	list, err := s.List(t.Context(), evidence.MCSProbes, "")
	wantUnavailable(t, list, err, evidence.Unreachable, "the run's time of 300ms is over")
}
