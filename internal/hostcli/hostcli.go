// Package hostcli is the command line of rollcall-host: the diagnosis of one machine
// from inside, with the facts, the catalog, the answer and the exit codes of
// rollcall.
//
// Invariants:
//   - It imports no Kubernetes client (a test holds the import graph and the size).
//   - Only what the machine can tell is evaluated: faults about hosts that use what it
//     says of itself or its journals.
package hostcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/facts/firstboot"
	"github.com/rollcall-project/rollcall/internal/facts/imagepull"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/facts/onhost"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/collect"
	"github.com/rollcall-project/rollcall/internal/source/machine"
)

// The exit codes, the same as rollcall's.
const (
	exitOK        = 0
	exitFailed    = 1
	exitFault     = 2
	exitUndecided = 3
)

// IO is what the program speaks to.
type IO struct {
	Out, Err      io.Writer
	Getenv        func(string) string
	Clock         func() time.Time
	Width         int // columns of stdout; 0: not known
	Terminal      bool
	ErrTerminal   bool
	Runner        machine.Runner // nil: the machine's own programs
	CanReadSecret bool           // the process is root
}

// System is the real one.
func System() IO {
	s := IO{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Clock: time.Now, CanReadSecret: os.Geteuid() == 0,
		Terminal: isatty.IsTerminal(os.Stdout.Fd()), ErrTerminal: isatty.IsTerminal(os.Stderr.Fd())}
	if s.Terminal {
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			s.Width = width
		}
	}
	return s
}

// Main runs the program and returns its exit code. Errors are already printed.
func Main(ctx context.Context, args []string, io IO) (code int) {
	a := &app{io: io}
	defer func() {
		if defect := recover(); defect != nil {
			code = exitFailed
			fmt.Fprintf(io.Err, "rollcall-host: %s\n", a.style().Clean(crash.Line("rollcall-host", defect, debug.Stack())))
		}
	}()
	code, err := a.run(ctx, args)
	if err == nil {
		return code
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(io.Err, "rollcall-host: %s\n", a.style().Clean(err.Error()))
	if usage := (usageError{}); errors.As(err, &usage) {
		fmt.Fprintln(io.Err, "See 'rollcall-host --help'.")
	}
	return exitFailed
}

type app struct {
	io    IO
	flags flags
}

func (a *app) run(ctx context.Context, args []string) (code int, err error) {
	if len(args) > 0 && args[0] == preflightName {
		if err := a.preflight(ctx, args[1:]); err != nil {
			return exitFailed, err
		}
		return exitOK, nil
	}
	if err := a.flags.parse(args); errors.Is(err, pflag.ErrHelp) {
		return exitOK, help(a.io.Out)
	} else if err != nil {
		return exitFailed, err
	}
	if a.flags.version {
		_, err := fmt.Fprintln(a.io.Out, version())
		return exitOK, err
	}
	loaded, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		return exitFailed, fmt.Errorf("load the catalog: %w", err)
	}
	chosen, err := a.choose(loaded)
	if err != nil {
		return exitFailed, err
	}
	s, err := machine.Open(machine.Options{
		Root: a.flags.root, Name: a.flags.name, Since: a.flags.since, Network: !a.flags.noNetwork, Now: a.io.Clock, Runner: a.io.Runner,
	})
	if err != nil {
		return exitFailed, a.explain(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !a.io.CanReadSecret && !a.flags.quiet {
		fmt.Fprintln(a.io.Err, "rollcall-host: this is not root; what only root may read stays unknown")
	}
	d, err := a.diagnose(ctx, s, loaded, chosen)
	if err != nil {
		return exitFailed, err
	}
	if err := a.print(d, loaded); err != nil {
		return exitFailed, err
	}
	return a.code(d), nil
}

// explain adds the way out.
func (a *app) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--root %s: there is no such directory", a.flags.root)
	case errors.Is(err, machine.ErrNoMachine):
		return fmt.Errorf("%w; run it on the machine, or name its root directory with --root DIR", err)
	}
	return err
}

func version() string {
	v := "unknown"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		v = b.Main.Version
	}
	return fmt.Sprintf("rollcall-host %s (%s, %s/%s)", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// choose lists the faults that the machine can tell of, as far as the user wants them.
func (a *app) choose(c *fault.Catalog) ([]string, error) {
	for _, id := range slices.Concat(a.flags.only, a.flags.skip) {
		if _, ok := c.Fault(id); !ok {
			return nil, usagef("there is no fault %q; `rollcall list faults` names them", id)
		}
	}
	var ids []string
	for _, id := range onhost.Faults(c, known()) {
		if len(a.flags.only) == 0 || slices.Contains(a.flags.only, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, usagef("none of the chosen faults can be checked on a machine alone")
	}
	return ids, nil
}

// known are the facts of the faults that a machine alone can show. Those of a whole
// cluster are left out: they would make the program a tenth larger. A test holds that none
// of them is missing.
func known() []facts.Fact {
	return slices.Concat(onhost.Facts(), firstboot.Facts(), imagepull.Facts(), kubelet.Facts())
}

// withoutJournals is a machine of which no journal is read.
type withoutJournals struct{ *machine.Source }

func (w withoutJournals) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{
		Need:   evidence.Texts(q),
		Why:    evidence.NotAsked,
		Detail: "--no-journals",
		Supply: evidence.Supply{Kind: evidence.SupplyHostJournals},
	}
}

func (a *app) diagnose(ctx context.Context, s *machine.Source, c *fault.Catalog, chosen []string) (*diagnosis.Diagnosis, error) {
	var source evidence.Source = s
	if a.flags.noJournal {
		source = withoutJournals{s}
	}
	set, err := c.Signatures()
	if err != nil {
		return nil, fmt.Errorf("compile signatures: %w", err)
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	now, err := a.now(ctx, s)
	if err != nil {
		return nil, err
	}
	var recorder *collect.Recorder
	var record reader.Recorder
	if a.flags.collect != "" {
		desc, err := s.Describe(ctx)
		if err != nil {
			return nil, err
		}
		if recorder, err = collect.Create(a.flags.collect, now, desc); err != nil {
			return nil, err
		}
		record = recorder
	}
	defer a.progress("looking on %s ...", s.Name())()
	o := engine.Options(c, known(), reader.New(set, clean, record, reader.Limits{}, source))
	o.Now, o.Clock, o.Log = now, a.io.Clock, slog.New(slog.DiscardHandler)
	o.Only, o.Skip = chosen, a.flags.skip
	d, err := diagnose.Run(ctx, o)
	switch {
	case recorder == nil:
	case err != nil:
		err = errors.Join(err, recorder.Discard())
	default:
		err = recorder.Close()
	}
	return d, err
}

func (a *app) now(ctx context.Context, s *machine.Source) (time.Time, error) {
	if a.flags.now != "" {
		t, err := time.Parse(time.RFC3339, a.flags.now)
		if err != nil {
			return t, usagef("--now %q is not an RFC 3339 time; write it as 2026-05-01T12:00:00Z", a.flags.now)
		}
		return t.UTC(), nil
	}
	desc, err := s.Describe(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if desc.Now.IsZero() {
		return desc.Now, fmt.Errorf("read %s: no file in it has a time that can be taken for the present; give one with --now", a.flags.root)
	}
	return desc.Now, nil
}

func (a *app) print(d *diagnosis.Diagnosis, c *fault.Catalog) error {
	o := answer.Options{Style: a.style(), Command: "rollcall", OnMachine: true, Catalog: c, Refused: map[string]answer.Remedy{}}
	for _, known := range c.Refused {
		o.Refused[known.ID] = answer.Remedy{Title: known.Title, Happens: known.Happens, When: known.When, Instead: known.Instead}
	}
	if a.flags.collect != "" && !a.flags.quiet {
		fmt.Fprintf(a.io.Err, "%s written; read it with: rollcall diagnose --from %s\n", a.style().Clean(a.flags.collect), a.style().Clean(a.flags.collect))
	}
	if a.flags.format == "html" {
		return answer.HTML(a.io.Out, d, o)
	}
	return answer.Answer(a.io.Out, a.flags.format, d, o)
}

func (a *app) code(d *diagnosis.Diagnosis) int {
	switch {
	case a.flags.failOn == never:
		return exitOK
	case diagnose.Worst(d) >= fault.Severity(a.flags.failOn).Rank():
		return exitFault
	case diagnose.Undecided(d):
		return exitUndecided
	}
	return exitOK
}

// style says how text may look: no color where NO_COLOR is set or stdout is no
// terminal, ASCII where the locale is not UTF-8, as that of a console.
func (a *app) style() page.Style {
	dumb := a.io.Getenv("TERM") == "dumb"
	s := page.Style{
		Width: a.io.Width,
		Color: a.io.Terminal && !dumb && a.io.Getenv("NO_COLOR") == "",
		ASCII: a.flags.ascii || dumb || a.io.Getenv("TERM") == "linux",
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(a.io.Getenv(name)); v != "" {
			s.ASCII = s.ASCII || !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
			break
		}
	}
	return s
}

// progress tells a person who looks what is done, on one line that the returned
// function takes away again.
func (a *app) progress(format string, args ...any) (done func()) {
	if a.flags.quiet || !a.io.ErrTerminal || a.io.Getenv("TERM") == "dumb" {
		return func() {}
	}
	fmt.Fprint(a.io.Err, a.style().OneRow(fmt.Sprintf(format, args...)))
	return func() { fmt.Fprint(a.io.Err, "\r\x1b[K") }
}
