package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/repair/hostscript"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

type scriptFlags struct{ to, api string }

func (a *app) fixScriptCommand() *cobra.Command {
	var f scriptFlags
	cmd := &cobra.Command{
		Use:   "kubelet-script NODE",
		Short: "write a script for a host whose kubelet has lost its identity",
		Long: `Kubelet-script writes a shell script that gives the kubelet of one node its own identity
back: it checks the host, backs up, moves the kubelet's kubeconfig away, and its client
certificate where that is not a valid one of this node, and starts the kubelet, which then
asks for a new one. This also undoes a localhost.kubeconfig that somebody gave it.

Nothing is changed by this command. The script has no secret in it. Read it, copy it to
the host, and run it there as root: check, apply, then undo or finish.

Where the API does not answer, name its internal address with --api-int.`,
		Example: cmdutil.Example(a.Name, "fix kubelet-script control1", "write kubelet-control1.sh"),
		Args:    a.ExactlyOne("NODE", "oc get nodes"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.fixScript(cmd.Context(), f, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.to, "to", "", "write the script as this new `FILE`; default kubelet-NODE.sh in this directory")
		s.StringVar(&f.api, "api-int", "", "the internal `URL` of the API, as https://api-int.NAME:6443, where the cluster is not asked")
	})
	a.AddConnectFlags(cmd, &a.source)
	return cmd
}

func (a *app) fixScript(ctx context.Context, f scriptFlags, node string) (err error) {
	if f.api == "" {
		if f.api, err = a.internalAPI(ctx, node); err != nil {
			return err
		}
	}
	k := hostscript.KubeletIdentity{Node: node, API: f.api, ID: "kubelet-" + a.IO.Clock().UTC().Format("20060102-150405")}
	text, err := k.Script()
	if err != nil {
		return &session.UsageError{Err: err}
	}
	if f.to == "" {
		f.to = "kubelet-" + node + ".sh"
	}
	if err := writeScript(f.to, text); err != nil {
		return err
	}
	short, _, _ := strings.Cut(node, ".")
	step := func(name, text string) answer.Entry { return answer.Entry{Name: name, Text: text, Command: true} }
	onHost := "sudo bash " + shellcommand.Quote(baseName(f.to)) + " "
	return answer.Sections(a.IO.Out, a.Style(), []answer.Section{
		{Heading: "Script for " + node, Entries: []answer.Entry{
			{Name: "saved as", Text: f.to, Command: true},
			{Name: "read it", Text: "it stops the kubelet for some seconds; containers keep running"},
			{Name: "API", Text: f.api},
		}},
		{Heading: "On the host", Entries: []answer.Entry{
			step("look", onHost+"check"),
			step("do it", onHost+"apply"),
			step("undo it", onHost+"undo"),
			{Name: "or, where", Text: "/etc/kubernetes/kubeconfig is unusable: with umask 077 write a new one (oc config " +
				"new-kubelet-bootstrap-kubeconfig), copy it there with mode 0600, and name its file after apply"},
		}},
		{Heading: "In the cluster, after apply", Entries: []answer.Entry{
			step("requests", cmdutil.JoinWords([]string{a.Name, "csr list --node", shellcommand.Quote(node)})),
			step("client", cmdutil.JoinWords([]string{a.Name, "csr approve CSR_NAME --expect", shellcommand.Quote(node) + "=IP",
				"--booted-after 10m --rebuild --yes"})),
			{Name: "serving", Text: "the same, a minute later, where the machine approver does not approve it"},
			step("see it", cmdutil.JoinWords([]string{a.Name, "diagnose", "host/" + short})),
		}},
		{Heading: "At the end, on the host", Entries: []answer.Entry{step("finish", onHost+"finish")}},
	})
}

// internalAPI reads the internal address of the API, and refuses a name of which there is no Node.
func (a *app) internalAPI(ctx context.Context, node string) (address string, err error) {
	r, err := a.session().Open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	const offline = "; where the API does not answer, name its internal address with --api-int"
	nodes, err := r.Reader.List(ctx, evidence.Nodes, "")
	if err != nil {
		return "", fmt.Errorf("list nodes: %w%s", err, offline)
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
		if n.Name == node {
			address = "found"
		}
	}
	if address == "" {
		return "", fmt.Errorf("there is no Node %s%s: only a node that exists gets its identity back", node, suggest.DidYouMean(node, names))
	}
	list, err := r.Reader.List(ctx, evidence.Infrastructures, "")
	if err != nil {
		return "", fmt.Errorf("read Infrastructure: %w%s", err, offline)
	}
	for _, o := range list {
		if u := evidence.String(o.Content, "status", "apiServerInternalURI"); u != "" {
			return u, nil
		}
	}
	return "", errors.New("status.apiServerInternalURI of the Infrastructure is missing; name the address with --api-int")
}

// writeScript writes a file that does not exist yet.
func writeScript(path, text string) error {
	err := newfile.Bytes(path, 0o600, []byte(text))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; name a new file with --to FILE", path)
	}
	return err
}

func baseName(path string) string { return path[strings.LastIndexByte(path, os.PathSeparator)+1:] }
