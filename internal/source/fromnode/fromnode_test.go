package fromnode

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// local runs the very commands on this machine, with its bash.
type local struct {
	argv [][]string
	fail error
	path string // of programs that take the place of the machine's
}

func (l *local) Run(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error {
	l.argv = append(l.argv, argv)
	if l.fail != nil {
		return l.fail
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"LC_ALL=C", "PATH=" + l.path + "/usr/bin:/bin:/usr/sbin:/sbin"}
	cmd.Stdout, cmd.Stderr = out, errs
	stdin, err := cmd.StdinPipe() // as an exec does: the command does not wait for who feeds it
	if err != nil {
		return err
	}
	if in != nil {
		go func() { io.Copy(stdin, in); stdin.Close() }()
	}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &Exit{exit.ExitCode()}
	}
	return err
}

func node(t *testing.T) (*Node, *local) {
	t.Helper()
	for _, tool := range []string{"bash", "timeout", "getent"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here: %v", tool, err)
		}
	}
	l := &local{}
	return &Node{Name: "m0", Run: l}, l
}

func TestTunnel(t *testing.T) {
	n, l := node(t)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello "+r.URL.Path)
	}))
	defer srv.Close()
	client := srv.Client()
	client.Transport.(*http.Transport).DialContext = n.DialContext
	connected := ""
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{ConnectDone: func(_, addr string, err error) { connected = addr }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "hello /readyz" {
		t.Errorf("%q, %v", body, err)
	}
	host := strings.TrimPrefix(srv.URL, "https://")
	if connected != host {
		t.Errorf("connected to %q, want %q", connected, host)
	}
	client.CloseIdleConnections()
	if a := l.argv[0]; len(a) != 8 || a[4] != tunnel {
		t.Errorf("the command is %q", a)
	}
}

func TestRefused(t *testing.T) {
	n, _ := node(t)
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	_, err := n.DialContext(t.Context(), "tcp", strings.TrimPrefix(srv.URL, "http://"))
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("err = %v", err)
	}
	var notRun *Error
	if errors.As(err, &notRun) {
		t.Errorf("a refusal is an answer: %v", err)
	}
}

func TestSilent(t *testing.T) {
	n, _ := node(t)
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listen.Close()
	c, err := n.DialContext(t.Context(), "tcp", listen.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("nothing was sent")
	}
}

func TestLookup(t *testing.T) {
	n, _ := node(t)
	if found, err := n.LookupHost(t.Context(), "localhost"); err != nil || len(found) == 0 {
		t.Errorf("%v, %v", found, err)
	}
	var dns *net.DNSError
	for _, name := range []string{"-h", "a b", "a;b", "$(x)", ""} {
		if _, err := n.LookupHost(t.Context(), name); !errors.As(err, &dns) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestNotRun: where the command could not be run nothing is said of the address.
func TestNotRun(t *testing.T) {
	for _, fail := range []error{errors.New("the API is away"), &Exit{127}} {
		n := &Node{Name: "m0", Run: &local{fail: fail}}
		var notRun *Error
		if _, err := n.DialContext(t.Context(), "tcp", "192.0.2.1:6443"); !errors.As(err, &notRun) {
			t.Errorf("%v: %v", fail, err)
		}
	}
	n := &Node{Name: "m0", Run: &local{fail: &Exit{124}}}
	if _, err := n.DialContext(t.Context(), "tcp", "192.0.2.1:6443"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
}

func TestAddress(t *testing.T) {
	l := &local{}
	n := &Node{Name: "m0", Run: l}
	for _, address := range []string{"192.0.2.1", "192.0.2.1:0", "192.0.2.1:x", "192.0.2.1:6443;id", "a b:1"} {
		if _, err := n.DialContext(t.Context(), "tcp", address); err == nil {
			t.Errorf("%q was dialled", address)
		}
	}
	if len(l.argv) > 0 {
		t.Errorf("it ran %q", l.argv)
	}
}
