// Package agents answers programs that assist a person, over the Model Context Protocol: the
// answers of the command line as tools that only read.
//
// Invariants:
//   - No tool writes, approves or repairs. A repair is text, and its command is for a person.
//   - What is read is chosen when the server starts: one cluster, and the directories that were
//     named. No argument of a tool leads outside of them, and none makes Secrets readable.
//   - An answer is that of the command line, cut to a budget. What was left out is named, with
//     the call that gets it.
//   - What programs of a cluster have written is data. It is marked, and never part of a
//     description, of an instruction or of a command.
//   - It knows no flag and no session: who starts it brings the answers.
package agents

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Answers are the answers of the command line.
type Answers interface {
	// Diagnose is `diagnose`, or the status of the hosts.
	Diagnose(ctx context.Context, q Diagnosis) (Answer, error)
	// Requests is `csr list`.
	Requests(ctx context.Context, q Requests) (Answer, error)
	// Preflight is `preflight DIR`.
	Preflight(ctx context.Context, q Plan) (Answer, error)
	// Scan is `scan`.
	Scan(ctx context.Context, text string) (Answer, error)
	// Objects is `get`.
	Objects(ctx context.Context, q Objects) (Answer, error)
	// Logs is `logs`.
	Logs(ctx context.Context, q Logs) (Answer, error)
	// Check is `check`.
	Check(ctx context.Context, q Command) (Answer, error)
	// Explain is `explain`.
	Explain(ctx context.Context, words string) (Answer, error)
}

// Answer is an answer in its two forms.
type Answer struct {
	Text string // of the screen, without colors
	Data []byte // of -o json
}

// Diagnosis is what a diagnosis is asked about.
type Diagnosis struct {
	Archive string // path; "": the cluster
	Subject string // "": all of it
	Hosts   bool   // the status of the hosts, and not the causes
	All     bool   // also hosts that are done
}

// Requests are the certificate requests that are asked for.
type Requests struct {
	Archive string // path; "": the cluster
	Node    string // "": of all
	All     bool   // also those that were answered
}

// Objects are objects of an archive that are asked for.
type Objects struct {
	Archive   string // path
	Kind      string // as oc has it
	Name      string // "": all
	Namespace string // "": all
	Selector  string // of labels; "": any
}

// Logs are the last lines of a log of an archive that is asked for.
type Logs struct {
	Archive   string // path
	Pod       string
	Namespace string // "": any
	Container string // "": the only one
	Previous  bool
	Host      string // instead of Pod
	Unit      string // "": the only one
	Tail      int    // how many; 0: 200
}

// Command is a command that is judged, and in which state.
type Command struct {
	Archive string // path; "": the cluster
	Text    string
}

// Plan is the directory of a plan.
type Plan struct {
	FS      fs.FS
	Dir     string // its path
	Release string // "": not known
}

// The bounds of Options.Budget, in bytes. A thousand bytes are about 300 tokens.
const (
	MinBudget     = 8 << 10
	DefaultBudget = 32 << 10
	MaxBudget     = 16 << 20
)

// Options say what a server may read, and how it answers.
type Options struct {
	Name    string   // how the user calls the program
	Version string   // of the program
	Roots   []string // directories; archives and plans below them can be read
	Live    bool     // the cluster of the kubeconfig can be read
	Budget  int      // bytes of an answer, its two forms together
	Log     *slog.Logger
	Clock   func() time.Time
	// Clean makes an error harmless: without secrets and escape sequences.
	Clean func(string) string
}

// Server answers one client.
type Server struct {
	Options

	answers Answers
	roots   []root
	slots   chan struct{} // one for each answer that is being made
	recent  recent
	mcp     *mcp.Server
}

// atOnce is how many answers are made at the same time. A large archive takes hundreds of MB.
const atOnce = 2

// New returns a server. Close releases its directories.
func New(o Options, answers Answers) (*Server, error) {
	s := &Server{Options: o, answers: answers, slots: make(chan struct{}, atOnce)}
	var err error
	if s.roots, err = openRoots(o.Roots); err != nil {
		return nil, err
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "rollcall", Title: "Rollcall", Version: o.Version}, &mcp.ServerOptions{
		Instructions: s.instructions(),
		Logger:       o.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	for _, t := range tools(o.Live) {
		s.mcp.AddTool(t.describe(), s.handler(t))
	}
	for _, p := range prompts(o.Live) {
		s.mcp.AddPrompt(p.describe(), s.prompter(p))
	}
	return s, nil
}

// Close releases the directories.
func (s *Server) Close() error { return closeRoots(s.roots) }

// Run answers until the client ends the connection, or the context ends.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error { return s.mcp.Run(ctx, t) }

// Lines is the transport over two streams: a message a line. It is that of a server which a client
// has started, on its standard input and output.
func Lines(in io.Reader, out io.Writer) mcp.Transport {
	closer, ok := in.(io.Closer)
	if !ok {
		closer = io.NopCloser(nil)
	}
	return &mcp.IOTransport{Reader: stream{in, closer}, Writer: open{out}, MaxLineLength: maxLine}
}

// maxLine bounds a message of a client, in bytes: the longest text to scan, in escapes.
const maxLine = 8 << 20

type stream struct {
	io.Reader
	io.Closer
}

type open struct{ io.Writer }

// Close implements io.Closer. The output of a program is not ours to close.
func (open) Close() error { return nil }
