// Package session opens what a command names and diagnoses it: options in, a run and a diagnosis
// out. The command line, the wings and the tests read clusters through it.
//
// Invariants:
//   - It knows no flag and prints nothing; warnings and progress go through Env.
//   - Options are a value. A session that opens works on its own copy.
//   - A mistake in the options is a *UsageError, before anything is asked where that is possible.
//   - It imports no wing: what a wing knows, such as the remedies, is in Env.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/attention"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/console"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Session is what one command reads, and with what. Its zero value is of no use: New makes one.
type Session struct {
	Env
	Options

	cache *Cache
}

// Env is what a session takes from its surroundings.
type Env struct {
	Name     string    // how the user calls the program, for hints: "rollcall", "oc rollcall"
	In       io.Reader // for --from -
	Getenv   func(string) string
	Clock    func() time.Time
	Log      *slog.Logger
	Remedies func() []string // ids of the remedies that a program can carry out, for catalogs of users
	// Plannable is as in diagnose.Options; nil for a program that makes no plans.
	Plannable diagnose.Plannable
	Checks    func() []string // ids of the checks of plans that a program has, for the same
	// Clean makes text of a source harmless to print.
	Clean func(string) string
	// Warn prints a line for a person who looks, without an end of line.
	Warn func(format string, args ...any)
	// Progress shows what is being done until the returned function is called.
	Progress func(format string, args ...any) (done func())
}

// New returns a session. Nothing is opened yet.
func New(env Env, cache *Cache, o Options) *Session {
	return &Session{Env: env, Options: o, cache: cache}
}

// With is the same session with other options.
func (ses *Session) With(o Options) *Session { return New(ses.Env, ses.cache, o) }

// Recording makes a recorder for a run at a time. known are the messages that the run looks for.
type Recording func(now time.Time, d evidence.Description, known *scan.Set) (reader.Recorder, error)

// Open opens what the options name: archives where there are any, else the cluster of the
// kubeconfig; consoles with either. The caller closes the run.
func (ses *Session) Open(ctx context.Context) (*Run, error) { return ses.open(ctx, nil, nil) }

// OpenRecorded is Open; what is read is recorded.
func (ses *Session) OpenRecorded(ctx context.Context, record Recording) (*Run, error) {
	return ses.open(ctx, record, nil)
}

// OpenOver is Open over a source that is already open, instead of what the options name. The
// caller closes that source.
func (ses *Session) OpenOver(ctx context.Context, source evidence.Source) (*Run, error) {
	return ses.open(ctx, nil, source)
}

// own is a session whose options can be changed while it opens: the directory of an
// installation names a kubeconfig, a former id of a fault becomes the present one.
func (ses *Session) own() *Session {
	own := *ses
	own.Only, own.Skip = slices.Clone(ses.Only), slices.Clone(ses.Skip)
	own.Asked = slices.Clone(ses.Asked) // what opening them shows is added
	own.Kube.Reload()                   // the file may have come since, or be another one
	return &own
}

func (ses *Session) open(ctx context.Context, record Recording, first evidence.Source) (_ *Run, err error) {
	ses = ses.own()
	r := &Run{Session: ses}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.Now, err = ses.parseNow(); err != nil {
		return nil, err
	}
	var set *scan.Set
	if r.Catalog, set, err = ses.loadOnce(); err != nil {
		return nil, err
	}
	if err := ses.checkChoice(r.Catalog); err != nil {
		return nil, err
	}
	if r.Accept, err = ses.loadAccept(r.Catalog); err != nil {
		return nil, err
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	var sources []evidence.Source
	if first != nil {
		if sources, err = ses.addNamed([]evidence.Source{first}); err != nil {
			return nil, err
		}
	} else if sources, err = ses.openSources(ctx, r, readOnce(set, clean, record, ses.Also)); err != nil {
		return nil, err
	}
	if err := r.keepScreens(ses); err != nil {
		return nil, err
	}
	read := len(slices.DeleteFunc(slices.Clone(sources), isOfConsole))
	r.texts = len(sources) > 0 && len(r.Pasted)+len(r.Logs) == read && (read > 0 || len(r.Screens) > 0)
	if r.Source, err = reader.New(set, clean, nil, reader.Limits{}, sources...).Describe(ctx); err != nil {
		return nil, err
	}
	switch {
	case !r.Now.IsZero():
		ses.warnOfNow(r.Now, r.Source)
	case len(ses.Asked) > 0 && len(ses.From) == 0:
		r.Now = ses.Clock() // the clock of a host may be wrong
	default:
		r.Now, r.atLeast = r.Source.Now, r.Source.AtLeast
	}
	if r.Now.IsZero() && r.texts {
		r.Now = ses.Clock() // texts without a time hold nothing that could have an age
	}
	var recorder reader.Recorder
	if record != nil {
		if recorder, err = record(r.Now, r.Source, set); err != nil {
			return nil, err
		}
	}
	r.Reader = reader.New(set, clean, recorder, reader.Limits{}, sources...)
	if ses.Now != "" {
		r.Reader.TimeGiven()
	}
	if r.Source.Kind == live.SourceName {
		r.Reader.ReadFew(attention.Texts, attention.Logs)
	}
	return r, nil
}

// isOfConsole reports whether a source is of the texts of --console, or of the names of hosts.
func isOfConsole(s evidence.Source) bool {
	switch s.(type) {
	case *console.Source, *namedhost.Source:
		return true
	}
	return false
}

// readOnce makes the one pass over a packed archive keep what the facts ask for, and what is
// asked for also. A Recording wants the logs whole.
func readOnce(set *scan.Set, clean *sanitize.Sanitizer, record Recording, also []evidence.Need) []archive.Option {
	how := []archive.Option{archive.For(append(facts.Needs(all.All()), also...))}
	if record == nil {
		how = append(how, archive.Skim(reader.NewSkimmer(set, clean, reader.Limits{})))
	}
	return how
}

// checkChoice refuses ids of --only and --skip that do not exist: a typing error
// would silently leave out, or evaluate, the wrong faults.
func (ses *Session) checkChoice(c *fault.Catalog) error {
	for _, list := range [][]string{ses.Only, ses.Skip} {
		for i, id := range list {
			if _, ok := c.Fault(id); ok {
				continue
			}
			if named := c.Named(id); len(named) == 1 { // a former id, in a script that somebody keeps
				list[i] = named[0].ID
				continue
			}
			return Usagef("there is no fault %q%s; `%s list faults` names them", id, suggest.DidYouMean(id, FaultIDs(c)), ses.Name)
		}
	}
	return ses.checkEmptyChoice()
}

// FaultIDs are the ids of the faults of a catalog.
func FaultIDs(c *fault.Catalog) []string {
	ids := make([]string, 0, len(c.Faults))
	for _, f := range c.Faults {
		ids = append(ids, f.ID)
	}
	return ids
}

// checkEmptyChoice refuses --only and --skip that leave nothing to check.
func (ses *Session) checkEmptyChoice() error {
	if len(ses.Only) == 0 {
		return nil
	}
	for _, id := range ses.Only {
		if !slices.Contains(ses.Skip, id) {
			return nil
		}
	}
	return Usagef("--skip leaves out everything that --only names: nothing would be checked")
}

// checkOneWay refuses an archive together with a cluster: only one of them would be read.
// With --probe the cluster's address is probed as well as the archive read.
func (ses *Session) checkOneWay() error {
	named := ses.Connection()
	if len(ses.From) == 0 || len(named) == 0 || ses.Probe || ses.ProbeFrom != "" {
		return nil
	}
	return Usagef("--from and %s name two sources: an archive is read without asking a cluster; leave one of them out, or add --probe to ask the API "+
		"of that cluster, too", named[0])
}

// warnOfNow says that a --now is far from the times in a source: ages and the ends of
// certificates are judged by it.
func (ses *Session) warnOfNow(now time.Time, d evidence.Description) {
	if diagnose.Far(now, d) {
		ses.Warn("--now %s is %d days from the newest time in %s (%s): ages and the ends of certificates are judged by it",
			now.UTC().Format(time.RFC3339), int(now.Sub(d.Now).Abs().Hours()/24), ses.Clean(d.Name), d.Now.UTC().Format(time.RFC3339))
	}
}
