package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// archiveEndings are how names of archives end.
var archiveEndings = []string{".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".zip", ".gz", ".xz", ".zst"}

// namedAsArchive reports whether a path ends as the name of an archive does.
func namedAsArchive(path string) bool {
	return slices.ContainsFunc(archiveEndings, func(e string) bool { return strings.HasSuffix(path, e) })
}

// onDisk reports whether there is a file or a directory at a path.
func onDisk(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// noCommand refuses a word that is no command, and says what was probably meant.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	if onDisk(word) || namedAsArchive(word) {
		return usagef("%q is not a command; did you mean --from? `%s diagnose --from %s`", word, a.name, quote(word))
	}
	if word == "roll" {
		return usagef("%q is not a command: `%s` without a command prints it", word, a.name)
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if id, ok := a.known(word); ok {
		return usagef("%q is not a command; did you mean `%s explain %s`?", word, a.name, id)
	}
	return usagef("%q is not a command%s", word, didYouMean(word, names))
}

// known returns the id of the catalog that a word is.
func (a *app) known(word string) (string, bool) {
	c, err := a.loadCatalog()
	if err != nil {
		return "", false
	}
	_, ok := entryOf(c, word)
	return word, ok
}

// flagError explains a flag that does not exist or has no such value.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{err}
	}
	name := unknown.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if name == "from" && cmd.HasParent() && cmd.Parent().Name() == "csr" {
		return usagef("`%s` asks a live cluster; what an archive has about requests is in `%s diagnose --from PATH`", cmd.CommandPath(), a.name)
	}
	if cmd.Name() == "explain" {
		return usagef("a text that begins with a dash goes behind two dashes: `%s explain -- TEXT`", a.name)
	}
	if len(name) == 1 {
		return &usageError{err}
	}
	return usagef("unknown flag: --%s%s", name, didYouMean("--"+name, names))
}

// checkEmptyChoice refuses --only and --skip that leave nothing to check.
func (a *app) checkEmptyChoice() error {
	if len(a.source.only) == 0 {
		return nil
	}
	for _, id := range a.source.only {
		if !slices.Contains(a.source.skip, id) {
			return nil
		}
	}
	return usagef("--skip leaves out everything that --only names: nothing would be checked")
}

// nothingToPlan explains why there is no plan for a root, where its remedies say more.
func nothingToPlan(err error, root diagnosis.Case, name string) error {
	if !errors.Is(err, repair.ErrNothingToDo) || repair.Open(err) || slices.ContainsFunc(root.Remedies, func(r fault.Advice) bool { return r.Fix }) {
		return err
	}
	return fmt.Errorf("no plan for %s (%s): `%s fix` cannot repair it; `%s diagnose` lists what to do by hand", root.Fault, root.Title, name, name)
}

// checkOneWay refuses an archive together with a cluster: only one of them would be read.
// With --probe the cluster's address is probed as well as the archive read.
func (a *app) checkOneWay() error {
	named := a.connection()
	if len(a.source.from) == 0 || len(named) == 0 || a.source.probe || a.source.probeFrom != "" {
		return nil
	}
	return usagef("--from and %s name two sources: an archive is read without asking a cluster; leave one of them out, or add --probe to ask the API of that cluster, too", named[0])
}

// warnOfNow says that a --now is far from the times in a source: ages and the ends of
// certificates are judged by it.
func (a *app) warnOfNow(now time.Time, d evidence.Description) {
	if diagnose.Far(now, d) {
		fmt.Fprintf(a.io.Err, "%s: --now %s is %d days from the newest time in %s (%s): ages and the ends of certificates are judged by it\n",
			a.name, now.UTC().Format(time.RFC3339), int(now.Sub(d.Now).Abs().Hours()/24), a.style().Clean(d.Name), d.Now.UTC().Format(time.RFC3339))
	}
}
