package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/message"
	"github.com/rollcall-project/rollcall/internal/report"
	"github.com/rollcall-project/rollcall/internal/sanitize"
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
cause was found, 3 something failed and the text does not show why.`,
		Example: example(a.name, "scan console.txt", "a capture of a console") +
			example(a.name, "scan -", "what is pasted into the terminal, up to Ctrl-D") +
			example(a.name, "scan -o json kubelet.log", "for programs; docs/schema has the schema"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one file, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.scan(cmd.Context(), formatOf(cmd), args[0])
		},
	}
	a.addOutputFlags(cmd, "text", "json", "yaml")
	a.addCatalogFlag(cmd)
	return cmd
}

func (a *app) scan(ctx context.Context, format, name string) error {
	in, err := a.openText(name)
	if err != nil {
		return err
	}
	r, c, err := a.readText(ctx, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("scan %s: %w", name, err)
	}
	if r.Bytes == 0 {
		return fmt.Errorf("scan %s: it is empty", name)
	}
	if format == "text" {
		err = report.Scan(a.io.Out, r, c, report.Options{Style: a.style(), Command: a.name})
	} else {
		err = a.printData(format, report.ScanDocument(r, c))
	}
	if err != nil {
		return err
	}
	return scanned(r)
}

// scanned is the exit code of a scan.
func scanned(r *message.Report) error {
	switch r.Result {
	case message.Present:
		return &ExitError{Code: ExitFault}
	case message.Unknown:
		return &ExitError{Code: ExitUndecided}
	}
	return nil
}

// openText opens a file of text, or standard input.
func (a *app) openText(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.io.In), nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("scan %s: there is no such file; `%s scan -` reads what is pasted into the terminal", name, a.name)
	}
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("scan %s: it is a directory; an archive is read with `%s diagnose --from %s`", name, a.name, quote(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return f, nil
}

// readText finds the messages of the catalogue in a text.
func (a *app) readText(ctx context.Context, in io.Reader) (*message.Report, *fault.Catalog, error) {
	c, err := a.loadCatalog()
	if err != nil {
		return nil, nil, err
	}
	x, err := message.New(c)
	if err != nil {
		return nil, nil, err
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, nil, fmt.Errorf("make sanitizer: %w", err)
	}
	done := a.progress("reading the text ...")
	defer done()
	r, err := x.Read(ctx, in, clean.Line)
	return r, c, err
}
