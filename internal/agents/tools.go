package agents

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// tool is one that a client can call.
type tool struct {
	name, title, doc string
	params           []param
	steps            []string // what is left out of its JSON first: see fit
	answer           func(ctx context.Context, s *Server, a arguments) (Answer, error)
}

// tools are all of them. Few, with large answers: each is a question that a person has.
func tools(live bool) []tool {
	return []tool{
		{
			name: "host_status", title: "Status of the hosts",
			doc: "Which hosts of the cluster should have joined, which have not, and at which stage each one stopped. Ask it first. " +
				"The text is the list; the JSON is the whole diagnosis, hosts first.",
			params: paged(hostSteps, archiveParam(live), param{name: "all", kind: "boolean", doc: "Also the hosts that passed every stage."}),
			steps:  hostSteps,
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				path, err := s.archive(a)
				if err != nil {
					return Answer{}, err
				}
				return s.answers.Diagnose(ctx, Diagnosis{Archive: path, Hosts: true, All: a.is("all")})
			},
		},
		{
			name: "diagnose", title: "Causes, with proof",
			doc: "What is wrong with the cluster, or in an archive of one, why, the proof with its place, what each cause leads to, what was ruled " +
				"out, what could not be checked, and what a person can do. A cause is proven or likely; what is unknown stays unknown.",
			params: paged(diagnosisSteps, archiveParam(live), param{
				name: "subject", kind: "string", most: 300, form: subjectForm, like: "node/NAME; the kinds are " + subjectKinds,
				doc: "Only what concerns this object, as KIND/NAME: node/control2, csr/csr-abcde, co/etcd. Without it: everything.",
			}),
			steps: diagnosisSteps,
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				if err := checkSubject(a.text("subject")); err != nil {
					return Answer{}, err
				}
				path, err := s.archive(a)
				if err != nil {
					return Answer{}, err
				}
				return s.answers.Diagnose(ctx, Diagnosis{Archive: path, Subject: a.text("subject")})
			},
		},
		{
			name: "csr_list", title: "Certificate requests of hosts that join",
			doc: "The pending certificate requests of hosts, with every rule that speaks for or against approving each one. It approves none: a name " +
				"in a request is only a claim.",
			params: paged(requestSteps, archiveParam(live),
				param{name: "node", kind: "string", most: 253, form: nodeForm, like: "the name of a node", doc: "Only the requests for the node of this name."},
				param{name: "all", kind: "boolean", doc: "Also those that were answered, and of other kinds."}),
			steps: requestSteps,
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				path, err := s.archive(a)
				if err != nil {
					return Answer{}, err
				}
				return s.answers.Requests(ctx, Requests{Archive: path, Node: a.text("node"), All: a.is("all")})
			},
		},
		{
			name: "check_command", title: "Is this command safe here, now?",
			doc: "Judges a shell command (oc, kubectl, etcdctl, systemctl, ipmitool, rm, openshift-install, ...) in the state of the cluster or an archive: " +
				"which objects it hits, what happens there, what is lost, whether it can be undone, what to do instead. It runs nothing. " +
				"The verdict is reads, " +
				"safe, unsafe, needs-person or unknown; unknown is not safe. Ask it about every command that changes something before you propose it.",
			params: paged(checkSteps, archiveParam(live), param{name: "command", kind: "string", most: 4000, required: true,
				doc: "The command as it would be typed, with its names and namespaces; several lines are allowed."}),
			steps: checkSteps,
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				path, err := s.archive(a)
				if err != nil {
					return Answer{}, err
				}
				return s.answers.Check(ctx, Command{Archive: path, Text: a.text("command")})
			},
		},
		{
			name: "explain", title: "What a fault, a line, a command or advice means",
			doc: "The page about a fault, a remedy, unsafe advice, a fact or a stage; or what a line of a log shows; or whether a command only reads, " +
				"what it changes and destroys, and whether it is known as unsafe. Ask it before you propose any command.",
			params: []param{{name: "words", kind: "string", most: 4000, required: true,
				doc: "An id (bootstrap-mc-mismatch), a line of a log, a command as it would be typed, or a question in everyday words."}},
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				return s.answers.Explain(ctx, a.text("words"))
			},
		},
		{
			name: "scan", title: "Causes in a text",
			doc: "The causes that a text shows by itself: console output, journals, logs of pods, events, output of oc, also mixed or cut. For what " +
				"a person has pasted. A text never shows that a cluster is healthy.",
			params: paged(scanSteps, param{name: "text", kind: "string", most: 256 << 10, required: true, doc: "The text, as it is."}),
			steps:  scanSteps,
			answer: func(ctx context.Context, s *Server, a arguments) (Answer, error) {
				return s.answers.Scan(ctx, a.text("text"))
			},
		},
		getTool(),
		logsTool(),
		{
			name: "preflight", title: "Mistakes in a plan of an installation",
			doc: "What is wrong with the install-config.yaml and agent-config.yaml of a directory, before anything is switched on: file, line, what to " +
				"write instead. Only the files are read; the network and the machines are not asked.",
			params: paged(diagnosisSteps, param{
				name: "directory", kind: "string", most: 4096, required: true,
				doc: "The directory of the plan, below a directory that was named at the start.",
			}, param{
				name: "release", kind: "string", most: 90, form: releaseForm, like: "4.18",
				doc: "The release that will be installed: some checks depend on it.",
			}),
			steps:  diagnosisSteps,
			answer: checkPlan,
		},
	}
}

// subjectKinds are the commonest kinds of what can be asked about.
const subjectKinds = "node, host, bmh, machine, csr, mcp, nodepool, co"

// The forms of arguments.
var (
	subjectForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9._:-]*$`)
	nodeForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
	kindForm    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*(\.[A-Za-z0-9.-]+)?$`)
	nameForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]*$`)
	releaseForm = regexp.MustCompile(`^4\.[0-9]{1,3}(\.[0-9A-Za-z.+-]{1,80})?$`)
)

// What is left out of an answer first: parts of the document, lists from their end. A path with []
// is a field of each entry.
var (
	diagnosisSteps = []string{"coverage", "groups", "roots[].cases[].ruledOut", "findings", "timeline", "edges", "machines", "paths", "hosts[].stages",
		"unknownErrors", "symptoms", "matches", "accepted", "deadlocks", "hosts", "unexplained", "roots"}
	hostSteps = []string{"coverage", "groups", "roots[].cases[].ruledOut", "findings", "timeline", "edges", "machines", "paths", "unknownErrors", "symptoms",
		"matches", "accepted", "deadlocks", "roots[].cases[].evidence", "unexplained", "roots", "hosts[].stages", "hosts"}
	scanSteps    = []string{"near", "over", "unknownErrors", "symptoms", "matches"}
	checkSteps   = []string{"cause", "steps[].evidence", "steps[].sources", "steps"}
	requestSteps = []string{"requests[].checks", "requests"}
	objectSteps  = []string{"items"}
	lineSteps    = []string{"lines"}
)

func archiveParam(live bool) param {
	p := param{name: "archive", kind: "string", most: 4096, required: !live,
		doc: "An archive below a directory that was named at the start: a must-gather (directory or packed), another collection, a log."}
	if live {
		p.doc += " Without it the cluster is read."
	}
	return p
}

// paged adds the arguments that get what was left out.
func paged(steps []string, params ...param) []param {
	return append(params, param{
		name: "part", kind: "string", most: 40, words: topLevel(steps),
		doc: "Only this part of the JSON, whole: for what an answer before has left out.",
	}, param{
		name: "from", kind: "integer", most: 1 << 20,
		doc: "With part: the first entry of it that is wanted, from 0.",
	})
}

// describe is a tool as a client sees it.
func (t tool) describe() *mcp.Tool {
	no := false
	return &mcp.Tool{Name: t.name, Title: t.title, Description: t.doc, InputSchema: schema(t.params),
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}}
}

// archive is the path of the archive that is asked about, "" for the cluster.
func (s *Server) archive(a arguments) (string, error) {
	name := a.text("archive")
	if name == "" {
		return "", nil // without a cluster it is a required argument
	}
	p, err := s.find("archive", name)
	if err != nil {
		return "", err
	}
	return p.path(), nil
}

// checkSubject refuses a kind that nobody knows before a file is looked for in its place.
func checkSubject(subject string) error {
	if subject == "" {
		return nil
	}
	kind, _, _ := strings.Cut(subject, "/")
	if _, known := fault.KindOf(kind); !known {
		return fmt.Errorf("argument subject: %s: there is no such kind; use one of %s", quote(subject), subjectKinds)
	}
	return nil
}

// checkPlan reads a plan through its directory: no link leads outside.
func checkPlan(ctx context.Context, s *Server, a arguments) (_ Answer, err error) {
	p, err := s.find("directory", a.text("directory"))
	if err != nil {
		return Answer{}, err
	}
	if !p.dir {
		return Answer{}, fmt.Errorf("directory %s: it is a file; name the directory with install-config.yaml", quote(a.text("directory")))
	}
	at, err := p.at.OpenRoot(p.name)
	if err != nil {
		return Answer{}, fmt.Errorf("directory %s: %w", quote(a.text("directory")), err)
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	return s.answers.Preflight(ctx, Plan{FS: at.FS(), Dir: p.path(), Release: a.text("release")})
}
