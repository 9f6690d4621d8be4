package hostcli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// formats are the values of -o, the default first; never is that of --fail-on at
// which no answer changes the exit code.
var formats = []string{"text", "wide", "name", "json", "yaml", "sarif", "junit", "html"}

const never = "never"

// flags are what the user typed.
type flags struct {
	root      string
	name      string
	since     time.Duration
	noJournal bool
	noNetwork bool
	collect   string
	now       string
	format    string
	failOn    string
	only      []string
	skip      []string
	ascii     bool
	quiet     bool
	version   bool
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (f *flags) set() *pflag.FlagSet {
	s := pflag.NewFlagSet("rollcall-host", pflag.ContinueOnError)
	s.SortFlags = false
	s.SetOutput(io.Discard)
	s.StringVar(&f.root, "root", "/", "root directory of the machine: `DIR`, such as /host in a container, or a copy of its files")
	s.StringVar(&f.name, "name", "", "`NAME` of the machine in the answer; default: its host name")
	s.DurationVar(&f.since, "journal-since", 48*time.Hour, "how far back journals are read: a `TIME` such as 168h")
	s.BoolVar(&f.noJournal, "no-journals", false, "read no journals")
	s.BoolVar(&f.noNetwork, "no-network", false, "resolve no names: nothing leaves the machine")
	s.StringVar(&f.collect, "collect", "", "also keep what was read, without secrets, in this new `DIR|FILE.tar.gz`")
	s.StringVar(&f.now, "now", "", "take this `TIME` (RFC 3339) for the present; default: the machine's clock, of a copy its newest time")
	s.StringVarP(&f.format, "output", "o", formats[0], "`WORD`: "+strings.Join(formats, ", "))
	s.StringVar(&f.failOn, "fail-on", string(fault.Error), "`WORD`: exit with 2 from this severity on: info, warning, error; never: exit with 0")
	s.StringSliceVar(&f.only, "only", nil, "evaluate only this fault `ID`; repeatable")
	s.StringSliceVar(&f.skip, "skip", nil, "leave out this fault `ID`; repeatable")
	s.BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	s.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but the answer and errors")
	s.BoolVar(&f.version, "version", false, "print the version and end")
	return s
}

// parse reads the command line; pflag.ErrHelp where the user asked for help.
func (f *flags) parse(args []string) error {
	s := f.set()
	if err := s.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	switch {
	case s.NArg() > 0:
		return usagef("%q: rollcall-host takes no argument; another root directory is given with --root", s.Arg(0))
	case !slices.Contains(formats, f.format):
		return usagef("-o %q: want one of %s", f.format, strings.Join(formats, ", "))
	case f.failOn != never && !slices.Contains([]string{"info", "warning", "error"}, f.failOn):
		return usagef("--fail-on %q: want one of info, warning, error, never", f.failOn)
	case f.since <= 0:
		return usagef("--journal-since %s: want a time such as 48h", f.since)
	case f.root == "":
		return usagef("--root is empty: name a directory")
	}
	return nil
}

// help is what --help prints.
func help(w io.Writer) error {
	var f flags
	_, err := fmt.Fprintf(w, `rollcall-host checks one OpenShift machine from inside and shows what keeps it from
joining, why, and how that is known. Run it on the machine as root, or in a container
that sees its root directory. It only reads; keys, tokens and the contents of
configurations are neither shown nor kept.

  rollcall-host                              this machine
  rollcall-host --root /host                 from a container (--privileged --pid=host
                                             --net=host --uts=host -v /:/host)
  rollcall-host --collect m1.tar.gz          and keep what was read, for
                                             rollcall diagnose --from m1.tar.gz
  rollcall-host -o json                      for programs: the schema of rollcall
  rollcall-host preflight -f FILE            ask the network of a plan, before an installation

Exit codes: 0 nothing wrong, 1 the tool could not do its work, 2 a fault at or above
--fail-on, 3 undecided.

%s`, f.set().FlagUsagesWrapped(88))
	return err
}
