// Package fromnodetest is an API server for tests that knows one node and its
// machine-config-daemon, and runs what is executed there on this machine, over the web
// socket that client-go speaks (v5.channel.k8s.io).
package fromnodetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/websocket"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Node is the name of the only node.
const Node = "control1"

const (
	namespace = "openshift-machine-config-operator"
	pod       = "machine-config-daemon-x"
)

// Server is the API. Its fields are set before it is asked.
type Server struct {
	*httptest.Server
	Forbidden string // "list" or "exec" is answered with 403
	NoPod     bool
	Pending   bool // the pod does not run
	OwnNet    bool // the pod has a network of its own
	Lose      int  // the exec of this number (from 1) breaks off without a word

	mu   sync.Mutex
	runs [][]string
	sent strings.Builder // what went into the commands
}

// New returns a server that ends with the test, which is skipped where the machine
// lacks the programs that a node has.
func New(t *testing.T) *Server {
	t.Helper()
	for _, tool := range []string{"bash", "timeout", "getent"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here: %v", tool, err)
		}
	}
	s := &Server{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/nodes/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != Node {
			status(w, http.StatusNotFound, metav1.StatusReasonNotFound, "nodes not found")
			return
		}
		reply(w, http.StatusOK, corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: Node}})
	})
	mux.HandleFunc("GET /api/v1/namespaces/"+namespace+"/pods", s.list)
	mux.HandleFunc("/api/v1/namespaces/"+namespace+"/pods/"+pod+"/exec", s.exec)
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusCreated, authorizationv1.SelfSubjectAccessReview{TypeMeta: metav1.TypeMeta{Kind: "SelfSubjectAccessReview",
			APIVersion: "authorization.k8s.io/v1"},
			Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Runs are the commands that were executed, as they came.
func (s *Server) Runs() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs)
}

// Sent is all that went into the commands.
func (s *Server) Sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.String()
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}

func status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	reply(w, code, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: reason, Message: message, Code: int32(code)}) //nolint:gosec // an HTTP status
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if s.Forbidden == "list" {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "pods is forbidden")
		return
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	if !s.NoPod && r.URL.Query().Get("fieldSelector") == "spec.nodeName="+Node {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace}}
		p.Spec.NodeName, p.Spec.HostNetwork = Node, !s.OwnNet
		p.Status.Phase = corev1.PodRunning
		if s.Pending {
			p.Status.Phase = corev1.PodPending
		}
		list.Items = append(list.Items, p)
	}
	reply(w, http.StatusOK, list)
}

func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	if s.Forbidden == "exec" {
		status(w, http.StatusForbidden, metav1.StatusReasonForbidden, "pods/exec is forbidden")
		return
	}
	argv := r.URL.Query()["command"]
	s.mu.Lock()
	s.runs = append(s.runs, argv)
	lose := len(s.runs) == s.Lose
	s.mu.Unlock()
	websocket.Server{
		Handshake: func(c *websocket.Config, _ *http.Request) error {
			c.Protocol = []string{"v5.channel.k8s.io"}
			return nil
		},
		Handler: func(c *websocket.Conn) {
			defer func() { _ = c.Close() }() // the client may have gone first
			if !lose {
				s.run(c, argv)
			}
		},
	}.ServeHTTP(w, r)
}

// channel is one direction of the stream; RemoteCommand's channels are numbered.
type channel struct {
	mu *sync.Mutex
	c  *websocket.Conn
	n  byte
}

func (c channel) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(p), websocket.Message.Send(c.c, append([]byte{c.n}, p...))
}

func (s *Server) run(c *websocket.Conn, argv []string) {
	var mu sync.Mutex
	end := channel{&mu, c, 3}
	before := []string{"chroot", "/rootfs", "env", "LC_ALL=C"}
	if len(argv) <= len(before) || !slices.Equal(argv[:len(before)], before) {
		fmt.Fprint(end, failure(1)) // this machine is the node: it has no /rootfs
		return
	}
	argv = argv[len(before):]
	cmd := exec.CommandContext(c.Request().Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = channel{&mu, c, 1}, channel{&mu, c, 2}, time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprint(end, failure(127))
		return
	}
	go s.feed(c, in)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		fmt.Fprint(end, failure(exit.ExitCode()))
		return
	}
	fmt.Fprint(end, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
}

// feed gives the command what the client sends, until the client closes.
func (s *Server) feed(c *websocket.Conn, in io.WriteCloser) {
	defer func() { _ = in.Close() }() // the command may have ended
	for {
		var message []byte
		if err := websocket.Message.Receive(c, &message); err != nil || len(message) == 0 || message[0] == 255 {
			return
		}
		if message[0] != 0 {
			continue
		}
		s.mu.Lock()
		s.sent.Write(message[1:])
		s.mu.Unlock()
		if _, err := in.Write(message[1:]); err != nil {
			return
		}
	}
}

func failure(code int) string {
	body, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(code)}}}}) // plain values
	return string(body)
}
