package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session/accept"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// acceptVariable names the file of --accept for every run.
const acceptVariable = "ROLLCALL_ACCEPT"

// addAcceptFlag adds --accept. Only commands that have it look at the variable: a repair
// sees what is accepted as it sees everything else.
func (a *app) addAcceptFlag(cmd *cobra.Command) {
	grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.StringVar(&a.source.accept, "accept", "", "`FILE` with findings that are accepted, each with fault, subject, reason, owner and until; default: $"+acceptVariable)
	})
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if a.source.acceptNamed = cmd.Flags().Changed("accept"); !a.source.acceptNamed {
			a.source.accept = a.io.Getenv(acceptVariable)
		}
	}
}

// loadAccept reads the file of --accept, nil where none is named.
func (a *app) loadAccept(c *fault.Catalog) (*accept.List, error) {
	path := a.source.accept
	if path == "" {
		return nil, nil
	}
	raw, err := readAccept(path)
	if err != nil {
		from := "--accept"
		if !a.source.acceptNamed {
			from = "$" + acceptVariable
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s %s: there is no such file", from, path)
		}
		return nil, fmt.Errorf("%s %s: %w", from, path, err)
	}
	return accept.Parse(path, raw, c, func(word string) string {
		return didYouMean(word, faultIDs(c)) + fmt.Sprintf("; `%s list faults` names them", a.name)
	})
}

// readAccept reads one byte more than a file may have at most: the parser refuses it then.
func readAccept(path string) (raw []byte, err error) {
	f, err := infile.Piped(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, accept.MaxSize+1))
}

// acceptNotes prints what is to be said about entries: those that expired, count for long or
// accept nothing in this answer, which is whole.
func (a *app) acceptNotes(r *run, d *diagnosis.Diagnosis) {
	if r.accept == nil || a.global.quiet {
		return
	}
	for _, n := range r.accept.Notes(d) {
		kind := "note"
		if n.Warning {
			kind = "warning"
		}
		fmt.Fprintf(a.io.Err, "%s: %s: %s\n", a.name, kind, a.style().Clean(n.Text))
	}
}

// answerFlags are the flags that change the answer, as the commands that give it take them.
func (a *app) answerFlags() string {
	if !a.source.acceptNamed {
		return "" // the variable is still there
	}
	return joinWords([]string{"--accept", quote(a.source.accept)})
}
