package fromnode_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/source/fromnode"
	"github.com/rollcall-project/rollcall/internal/source/fromnode/fromnodetest"
)

func config(s *fromnodetest.Server) *rest.Config {
	return &rest.Config{Host: s.URL, BearerToken: "sha256~a-secret"}
}

func find(t *testing.T, s *fromnodetest.Server) *fromnode.Node {
	t.Helper()
	n, err := fromnode.Find(t.Context(), config(s), fromnodetest.Node)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestThroughExec: an HTTPS server is asked through the API's exec, its certificate is
// the server's own, and the user's token is nowhere in what went through.
func TestThroughExec(t *testing.T) {
	s := fromnodetest.New(t)
	n := find(t, s)
	if err := n.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a credential was sent")
		}
		io.WriteString(w, strings.Repeat("x", 200<<10))
	}))
	defer target.Close()
	client := target.Client() // trusts this server's certificate only
	client.Transport.(*http.Transport).DialContext = n.DialContext
	resp, err := client.Get(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 200<<10 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	client.CloseIdleConnections()
	if strings.Contains(s.Sent(), "a-secret") {
		t.Error("the token went through the tunnel")
	}
	runs := s.Runs()
	host, port, err := net.SplitHostPort(strings.TrimPrefix(target.URL, "https://"))
	if last := runs[len(runs)-1]; err != nil || len(runs) != 2 || last[len(last)-2] != host || last[len(last)-1] != port || last[0] != "chroot" {
		t.Errorf("ran %q", runs)
	}
}

func TestExecAnswers(t *testing.T) {
	s := fromnodetest.New(t)
	n := find(t, s)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if _, err := n.DialContext(t.Context(), "tcp", closed.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("err = %v", err)
	}
	if found, err := n.LookupHost(t.Context(), "localhost"); err != nil || len(found) == 0 {
		t.Errorf("%v, %v", found, err)
	}
	var dns *net.DNSError
	if _, err := n.LookupHost(t.Context(), "gone.rollcall.invalid"); !errors.As(err, &dns) {
		t.Errorf("err = %v", err)
	}
}

// TestServerCloses: a load balancer without a server behind it takes the connection
// and closes it. That is an end at once and not silence.
func TestServerCloses(t *testing.T) {
	s := fromnodetest.New(t)
	n := find(t, s)
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listen.Close()
	go func() {
		if c, err := listen.Accept(); err == nil {
			io.WriteString(c, "last words")
			c.Close()
		}
	}()
	c, err := n.DialContext(t.Context(), "tcp", listen.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if said, err := io.ReadAll(c); string(said) != "last words" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
}

// TestSilentAddress: an address that does not answer a connection is silent; a command
// that does not start says nothing of it.
func TestSilentAddress(t *testing.T) {
	started := make(chan struct{})
	n := &fromnode.Node{Name: "m0", Run: runner(func(ctx context.Context, out io.Writer) error {
		io.WriteString(out, "run\n")
		close(started)
		<-ctx.Done()
		return ctx.Err()
	})}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := n.DialContext(ctx, "tcp", "192.0.2.1:6443")
	var notRun *fromnode.Error
	if err == nil || errors.As(err, &notRun) {
		t.Errorf("silent: err = %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	n.Run = runner(func(ctx context.Context, _ io.Writer) error { cancel(); <-ctx.Done(); return ctx.Err() })
	if _, err := n.DialContext(ctx, "tcp", "192.0.2.1:6443"); !errors.As(err, &notRun) {
		t.Errorf("not started: err = %v", err)
	}
}

type runner func(context.Context, io.Writer) error

func (r runner) Run(ctx context.Context, _ []string, _ io.Reader, out, _ io.Writer) error {
	return r(ctx, out)
}

// TestLost: a tunnel that breaks off says nothing of the address.
func TestLost(t *testing.T) {
	s := fromnodetest.New(t)
	s.Lose = 1
	n := find(t, s)
	var notRun *fromnode.Error
	if _, err := n.DialContext(t.Context(), "tcp", "127.0.0.1:1"); !errors.As(err, &notRun) {
		t.Errorf("err = %v", err)
	}
	s.Lose = 2
	if _, err := n.LookupHost(t.Context(), "localhost"); !errors.As(err, &notRun) {
		t.Errorf("err = %v", err)
	}
	n.Run = runner(func(_ context.Context, out io.Writer) error { io.WriteString(out, "run\nopen\n"); return nil })
	c, err := n.DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.As(err, &notRun) {
		t.Errorf("read: err = %v", err)
	}
}

func TestWhyNot(t *testing.T) {
	cases := map[string]struct {
		set  func(*fromnodetest.Server)
		node string
		want []string
	}{
		"no such node":    {node: "control9", want: []string{"no node of this name", "oc get nodes"}},
		"no pod":          {set: func(s *fromnodetest.Server) { s.NoPod = true }, want: []string{"no machine-config-daemon runs on it", "rollcall-host"}},
		"pod pending":     {set: func(s *fromnodetest.Server) { s.Pending = true }, want: []string{"no machine-config-daemon runs on it"}},
		"own network":     {set: func(s *fromnodetest.Server) { s.OwnNet = true }, want: []string{"does not have the node's network"}},
		"list forbidden":  {set: func(s *fromnodetest.Server) { s.Forbidden = "list" }, want: []string{"right to list pods in openshift-machine-config-operator", "forbidden"}},
		"exec forbidden":  {set: func(s *fromnodetest.Server) { s.Forbidden = "exec" }, want: []string{"right to create pods/exec in openshift-machine-config-operator", "forbidden"}},
		"the API is away": {set: func(s *fromnodetest.Server) { s.Close() }, want: []string{"the API does not answer", "rollcall-host on the machine"}},
		"exec breaks off": {set: func(s *fromnodetest.Server) { s.Lose = 1 }, want: []string{"broke off"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := fromnodetest.New(t)
			if c.set != nil {
				c.set(s)
			}
			if c.node == "" {
				c.node = fromnodetest.Node
			}
			n, err := fromnode.Find(t.Context(), config(s), c.node)
			if err == nil {
				err = n.Check(t.Context())
			}
			var e *fromnode.Error
			if !errors.As(err, &e) || e.Node != c.node {
				t.Fatalf("err = %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}
