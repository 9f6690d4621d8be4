// Package fromnode makes probes from a node of the cluster: it resolves names and
// opens TCP connections there, through a process in a pod that runs on the node
// anyway.
//
// Invariants:
//   - It is used only when a user types the node. It is an exec into a privileged
//     pod: the API server logs it, and the user needs the right to do it.
//   - Nothing is created and nothing is changed. The commands are constant; a host
//     and a port are checked to be an address and a number, and are arguments of the
//     command, never part of its text.
//   - No credential goes through the connection: the callers send none.
//   - That a command could not be run is an *Error and says nothing of the address.
package fromnode

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// Runner runs one command on the node. The error of a command that ran and failed
// is an *Exit; every other means that it did not run.
type Runner interface {
	Run(ctx context.Context, argv []string, in io.Reader, out, errs io.Writer) error
}

// Exit is how a command ended that ran and failed.
type Exit struct{ Code int }

func (e *Exit) Error() string { return fmt.Sprintf("the command ended with %d", e.Code) }

// Error says that a command could not be run on the node.
type Error struct {
	Node string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("run a command on node %s: %v", e.Node, e.Err) }

// Unwrap implements errors.Unwrap.
func (e *Error) Unwrap() error { return e.Err }

// Node makes connections from a node. It is safe for concurrent use.
type Node struct {
	Name string
	Run  Runner

	mu    sync.Mutex
	known map[string]string // the first address of a name that was found
}

// The commands. All end by themselves, should the connection to them be lost, and
// are what a node's operating system has: its own scripts use bash and timeout
// (openshift/machine-config-operator:templates/common/_base/files/configure-ovs-network.yaml, 4.12 to 4.21).
//
// bash says that it runs, opens the connection, says that it is open, and copies both
// ways until one of them ends; what the server sent before it closed is still read. In
// the end it says so, because an exec that is lost on the path ends without an error. The address and the port are arguments.
const (
	tunnel = `echo run; exec 3<>"/dev/tcp/$1/$2" || exit 90; echo open; exec 4<&0; ` +
		`cat <&3 & r=$!; cat <&4 >&3 & w=$!; exec 3>&- 4<&-; wait -n || wait $r; kill $r $w 2>/dev/null; echo end >&2; exit 0`
	tunnelSeconds = "20"
	lookupSeconds = "8"
)

// most bounds what is read of a command that ought to say little.
const most = 64 << 10

// Check finds out whether the commands can be run.
func (n *Node) Check(ctx context.Context) error {
	out := &limited{left: most}
	err := n.Run.Run(ctx, []string{"timeout", lookupSeconds, "bash", "-c", "type getent cat"}, nil, out, io.Discard)
	var exit *Exit
	if errors.As(err, &exit) {
		return &Error{n.Name, fmt.Errorf("bash, timeout or getent are missing, or do not run (%w)", err)}
	}
	if err == nil && out.String() == "" {
		err = errLost
	}
	if err != nil {
		return &Error{n.Name, err}
	}
	return nil
}

// errLost: an exec that breaks off on the path ends as one that succeeds.
var errLost = errors.New("the command broke off without an answer")

// LookupHost asks for the addresses of a name as the node's programs do: its
// nsswitch.conf, /etc/hosts and name servers.
func (n *Node) LookupHost(ctx context.Context, name string) ([]string, error) {
	if !hostname(name) {
		return nil, &net.DNSError{Err: "it is not a host name", Name: name, IsNotFound: true}
	}
	out := &limited{left: most}
	err := n.Run.Run(plain{ctx}, []string{"timeout", lookupSeconds, "getent", "ahosts", name}, nil, out, io.Discard)
	var exit *Exit
	switch {
	case errors.As(err, &exit) && exit.Code == 2: // getent(1): the key was not found
		return nil, &net.DNSError{Err: "no such host, or no name server answers", Name: name}
	case errors.As(err, &exit) && exit.Code == 124:
		return nil, &net.DNSError{Err: "no name server answers", Name: name, IsTimeout: true}
	case err != nil:
		return nil, &Error{n.Name, err}
	case out.String() == "": // what getent finds it prints
		return nil, &Error{n.Name, errLost}
	}
	var found []string
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		address, _, _ := strings.Cut(line, " ")
		if net.ParseIP(address) != nil && !seen[address] {
			seen[address] = true
			found = append(found, address)
		}
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no address", Name: name, IsNotFound: true}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = map[string]string{}
	}
	n.known[name] = found[0]
	return found, nil
}

// addressOf is an address of a host: what was found before, else what is found now.
func (n *Node) addressOf(ctx context.Context, host string) (string, error) {
	if net.ParseIP(host) != nil {
		return host, nil
	}
	n.mu.Lock()
	address, ok := n.known[host]
	n.mu.Unlock()
	if ok {
		return address, nil
	}
	found, err := n.LookupHost(ctx, host)
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// hostname: letters, digits, dots and dashes, and no dash in front.
func hostname(s string) bool {
	return s != "" && len(s) <= 253 && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-')
	})
}

// DialContext opens a TCP connection from the node. The host of the address may be
// a name, which is then resolved on the node.
func (n *Node) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial from node %s: %w", n.Name, err)
	}
	if p, err := strconv.ParseUint(port, 10, 16); err != nil || p == 0 {
		return nil, fmt.Errorf("dial from node %s: %q is not a port", n.Name, port)
	}
	if host, err = n.addressOf(ctx, host); err != nil {
		return nil, err
	}
	return n.dial(ctx, host, port)
}

func (n *Node) dial(ctx context.Context, host, port string) (net.Conn, error) {
	life, end := context.WithCancel(plain{context.WithoutCancel(ctx)})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errs := &limited{left: most}
	ended := make(chan error, 1)
	go crash.Func(func() {
		err := n.Run.Run(life, []string{"timeout", tunnelSeconds, "bash", "-c", tunnel, "rollcall", host, port}, inR, outW, errs)
		ended <- err
		outW.CloseWithError(n.ending(life, err, errs.String()))
		inR.CloseWithError(io.ErrClosedPipe)
	})()
	out := bufio.NewReaderSize(outR, 32<<10)
	runs, opened := make(chan struct{}), make(chan error, 1)
	go crash.Func(func() {
		err := expect(out, "run\n")
		if err == nil {
			close(runs)
			err = expect(out, "open\n")
		}
		opened <- err
	})()
	stop := func() {
		end()
		inW.CloseWithError(io.EOF)
		outR.CloseWithError(net.ErrClosed)
	}
	select {
	case <-ctx.Done():
		stop()
		<-opened // what the command said before is still read
		err := fmt.Errorf("dial %s from node %s: %w", net.JoinHostPort(host, port), n.Name, ctx.Err())
		select {
		case <-runs: // it is the address that is silent
			return nil, err
		default:
			return nil, &Error{n.Name, fmt.Errorf("the command did not start in time: %w", ctx.Err())}
		}
	case err := <-opened:
		if err != nil {
			stop()
			return nil, n.explain(<-ended, errs.String(), err)
		}
	}
	if t := httptrace.ContextClientTrace(ctx); t != nil && t.ConnectDone != nil {
		t.ConnectDone("tcp", net.JoinHostPort(host, port), nil)
	}
	p, _ := strconv.Atoi(port) // was parsed before
	return &conn{Writer: inW, out: out, close: stop, remote: &net.TCPAddr{IP: net.ParseIP(host), Port: p}}, nil
}

// plain is a context without values: a trace of the caller's connection must not see
// the connection to the API server that carries it.
type plain struct{ context.Context }

func (plain) Value(any) any { return nil }

// expect reads one line that the command prints of itself.
func expect(out *bufio.Reader, want string) error {
	line, err := out.ReadSlice('\n') // bounded by the reader's buffer
	if err != nil {
		return err
	}
	if string(line) != want {
		return errors.New("the command gave an unexpected answer")
	}
	return nil
}

// ending is what a reader of the connection learns at its end. A command that was
// lost on the way says nothing of the address.
func (n *Node) ending(life context.Context, err error, says string) error {
	var exit *Exit
	switch {
	case life.Err() != nil:
		return net.ErrClosed
	case err != nil && !errors.As(err, &exit):
		return &Error{n.Name, err}
	case err == nil && !strings.Contains(says, "end\n"):
		return &Error{n.Name, errLost}
	case exit != nil && exit.Code == 124:
		return &net.OpError{Op: "read", Net: "tcp", Err: context.DeadlineExceeded}
	case strings.Contains(says, "Connection reset"):
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return io.EOF
}

// explain turns what bash said of a connection into the error that the system call
// had. What is not known stays as it is.
func (n *Node) explain(err error, says string, otherwise error) error {
	var exit *Exit
	if err != nil && !errors.As(err, &exit) {
		return &Error{n.Name, err}
	}
	dial := func(e error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: e} }
	for text, number := range map[string]syscall.Errno{
		"Connection refused": syscall.ECONNREFUSED, "No route to host": syscall.EHOSTUNREACH, "Network is unreachable": syscall.ENETUNREACH,
		"Connection reset": syscall.ECONNRESET,
	} {
		if strings.Contains(says, text) {
			return dial(number)
		}
	}
	switch {
	case strings.Contains(says, "timed out"), exit != nil && exit.Code == 124:
		return dial(context.DeadlineExceeded)
	case exit != nil && (exit.Code == 125 || exit.Code == 126 || exit.Code == 127): // chroot, env and timeout: they failed, cannot run it, do not find it
		return &Error{n.Name, fmt.Errorf("bash or timeout do not run there (%w)", err)}
	case exit != nil && exit.Code == 90:
		return dial(errors.New(strings.Join(strings.Fields(says), " ")))
	}
	return &Error{n.Name, otherwise}
}

// conn is a connection through a command. Its deadlines end it as a whole: nothing
// that is read or written after them is of use.
type conn struct {
	io.Writer
	out    *bufio.Reader
	close  func()
	once   sync.Once
	remote net.Addr
	mu     sync.Mutex
	timer  *time.Timer
}

func (c *conn) Read(p []byte) (int, error) { return c.out.Read(p) }
func (c *conn) LocalAddr() net.Addr        { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr       { return c.remote }

func (c *conn) Close() error {
	c.once.Do(c.close)
	return nil
}

func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.timer = nil; !t.IsZero() {
		c.timer = time.AfterFunc(time.Until(t), func() { c.once.Do(c.close) })
	}
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { return c.SetDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.SetDeadline(t) }

// limited keeps the beginning of what a command says.
type limited struct {
	mu   sync.Mutex
	b    strings.Builder
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	l.b.Write(keep)
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
