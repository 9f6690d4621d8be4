package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/infile"
	"github.com/rollcall-project/rollcall/internal/source/paste"
	"github.com/rollcall-project/rollcall/internal/source/plaintext"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

func (a *app) scanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan FILE|-",
		Short: "find causes in any text: a console, logs, oc output",
		Long: `Scan reads any text and names the causes that its lines show: console output,
journals, pod logs, events, conditions, messages of Ironic and of the installer,
mixed, cut or wrapped. It needs no cluster and reads files of any size.

What a text does not show is unknown: an answer of scan is never "healthy".
Exit codes: 0 no known sign of trouble, 1 the tool could not do its work, 2 a
cause was found, 3 something failed and the text does not show why. Diagnose --from
answers such a text without trouble with 3: it does not show that a cluster is healthy.`,
		Example: cmdutil.Example(a.Name, "scan console.txt", "a capture of a console") +
			cmdutil.Example(a.Name, "scan -", "what is pasted into the terminal, up to Ctrl-D") +
			cmdutil.Example(a.Name, "scan -o json kubelet.log", "for programs; docs/schema has the schema"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return session.Usagef("name one file, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scan(cmd.Context(), cmdutil.FormatOf(cmd), args[0])
		},
	}
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	a.AddCatalogFlag(cmd, &a.source)
	return cmd
}

func (a *app) scan(ctx context.Context, format, name string) error {
	in, err := a.openText(name)
	if err != nil {
		return err
	}
	text, err := plaintext.Reader(in, session.SourceName(name), paste.MaxBytes)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	r, c, err := a.readText(ctx, name, text)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("scan %s: %w", name, err)
	}
	if r.Blank {
		return fmt.Errorf("scan %s: it is empty", name)
	}
	return a.printScan(format, "", r, c)
}

// scanned is the answer of diagnose on a text in which no object of a cluster and no log
// of a known program was found: what the messages of the catalog say of it.
func (a *app) scanned(ctx context.Context, format string, t *session.TextError) error {
	if format != "text" && format != "json" && format != "yaml" {
		return fmt.Errorf("--from %s: it has no object, table or journal of a cluster, and -o %s is for a diagnosis; `%s scan` looks for known "+
			"messages in it", t.Path, format, a.Name)
	}
	r, c, err := a.readText(ctx, t.Path, bytes.NewReader(t.Text))
	if err != nil {
		return err
	}
	if a.source.AcceptNamed && !a.Quiet {
		fmt.Fprintf(a.IO.Err, "%s: note: --accept is not used: this is a text, and what can be accepted are findings of a cluster\n", a.Name)
	}
	if err = a.printScan(format, t.Path, r, c); err == nil { // exit code 0 of diagnose says that nothing is wrong
		err = &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return err
}

// printScan prints a report. given is the text of which diagnose was asked, "" for scan.
func (a *app) printScan(format, given string, r *message.Report, c *fault.Catalog) error {
	var err error
	near := nearErrors(r, c)
	if format == "text" {
		o := answer.Options{Style: a.Style(), Command: a.Name, Near: near, MarkLogged: a.Output.MarkLogged}
		if given != "" && given != "-" {
			o.Given = shellcommand.Quote(given)
		}
		o.Diagnosing = given != ""
		err = answer.Scan(a.IO.Out, r, c, o)
	} else {
		doc := answer.ScanDocument(r, c)
		doc.Near = append(doc.Near, near...)
		err = a.PrintData(format, doc)
	}
	if err != nil {
		return err
	}
	return scanExit(r)
}

// scanExit is the exit code of a scan.
func scanExit(r *message.Report) error {
	switch r.Result {
	case message.Present:
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case message.Unknown:
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}

// openText opens a file of text, or standard input.
func (a *app) openText(name string) (io.ReadCloser, error) {
	if name == "-" {
		if a.IO.Screen.InTerminal && !a.Quiet {
			fmt.Fprintf(a.IO.Err, "%s: paste the text, then press Enter and Ctrl-D\n", a.Name)
		}
		return io.NopCloser(a.IO.In), nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("scan %s: there is no such file; `%s scan -` reads what is pasted into the terminal", name, a.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("scan %s: it is a directory; an archive is read with `%s diagnose --from %s`", name, a.Name, shellcommand.Quote(name))
	}
	f, err := infile.Stream(name)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return f, nil
}

// readText finds the messages of the catalog in a text. In one that somebody can have
// copied together, its objects, tables and journals are evaluated, too.
func (a *app) readText(ctx context.Context, name string, in io.Reader) (*message.Report, *fault.Catalog, error) {
	c, x, clean, err := a.session().MessageReader()
	if err != nil {
		return nil, nil, err
	}
	defer a.Progress("reading the text ...")()
	head := &headWriter{}
	r, err := x.Read(ctx, clean.Joined(io.TeeReader(in, head)), clean.Alone)
	if err != nil || head.more {
		return r, c, err
	}
	found, broken, err := a.session().Evaluated(ctx, name, head.text)
	if err != nil {
		return r, c, fmt.Errorf("evaluate the objects in the text: %w", err)
	}
	x.Join(r, found)
	if broken != nil {
		r.Break(fmt.Sprintf("%s is %v", session.SourceName(name), broken))
	}
	return r, c, nil
}

// headWriter keeps a text that is short.
type headWriter struct {
	text []byte
	more bool // it was too long, and nothing is kept
}

// Write implements io.Writer.
func (h *headWriter) Write(p []byte) (int, error) {
	if h.more = h.more || len(h.text)+len(p) > paste.MaxBytes; h.more {
		h.text = nil
	} else {
		h.text = append(h.text, p...)
	}
	return len(p), nil
}
