package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/attention"
	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/hosts/stages"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/message"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kernel/sanitize"
	"github.com/rollcall-project/rollcall/internal/kernel/scan"
	planfacts "github.com/rollcall-project/rollcall/internal/preflight/checks"
	"github.com/rollcall-project/rollcall/internal/preflight/hardware"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/session/accept"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/lean"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// run is one reading of one source.
type run struct {
	reader  *reader.Reader
	catalog *fault.Catalog
	accept  *accept.List // nil: nothing is accepted
	now     time.Time    // zero: the source carries none
	atLeast bool         // now is only the newest time in the source
	source  evidence.Description
	pasted  []*paste.Source // texts that a person copied together
	logs    []*paste.Source // texts that are read as archives of one file
	texts   bool            // nothing else than these is read
	changed *answer.Changed // since a baseline; nil: none was given
	closers []func() error
}

// Close releases what the run holds open.
func (r *run) Close() error {
	var wrong []error
	for _, c := range slices.Backward(r.closers) {
		wrong = append(wrong, c())
	}
	return errors.Join(wrong...)
}

// keep remembers a text, in which messages are sought. s is the archive that it is read as,
// nil where it is read as a text alone.
func (r *run) keep(s *archive.Source, text *paste.Source) {
	if s == nil {
		r.pasted = append(r.pasted, text)
		return
	}
	r.logs = append(r.logs, text)
}

// recording makes a recorder for a run at a time; nil records nothing.
type recording func(now time.Time, d evidence.Description) (reader.Recorder, error)

// knowledge is what the runs of one process have in common.
type knowledge struct {
	catalog  *fault.Catalog
	set      *scan.Set
	compiler *fault.Compiler // nil: each run makes its own
}

// know loads the catalog once.
func (a *app) know() (*knowledge, error) {
	if a.kept != nil {
		return a.kept, nil
	}
	k := &knowledge{}
	var err error
	if k.catalog, err = a.loadCatalog(); err != nil {
		return nil, err
	}
	if k.set, err = message.Signatures(k.catalog); err != nil {
		return nil, fmt.Errorf("compile signatures: %w", err)
	}
	a.kept = k
	return k, nil
}

// openRun opens what the flags name: archives where there are any, else the
// cluster of the kubeconfig; consoles with either. The caller closes the run.
func (a *app) openRun(ctx context.Context, record recording) (*run, error) {
	return a.openRunOver(ctx, record, nil)
}

// openRunOver is openRun over a source that is already open; nil opens one.
func (a *app) openRunOver(ctx context.Context, record recording, first evidence.Source) (_ *run, err error) {
	r := &run{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.now, err = a.source.parseNow(); err != nil {
		return nil, err
	}
	known, err := a.know()
	if err != nil {
		return nil, err
	}
	r.catalog = known.catalog
	if err := a.checkChoice(r.catalog); err != nil {
		return nil, err
	}
	if r.accept, err = a.loadAccept(r.catalog); err != nil {
		return nil, err
	}
	set := known.set
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	var sources []evidence.Source
	if first != nil {
		if sources, err = a.addNamed([]evidence.Source{first}); err != nil {
			return nil, err
		}
	} else if sources, err = a.openSources(ctx, r, readOnce(set, clean, record)); err != nil {
		return nil, err
	}
	r.texts = len(sources) > 0 && len(r.pasted)+len(r.logs) == len(sources)
	if r.source, err = reader.New(set, clean, nil, reader.Limits{}, sources...).Describe(ctx); err != nil {
		return nil, err
	}
	if r.now.IsZero() {
		r.now, r.atLeast = r.source.Now, r.source.AtLeast
	} else {
		a.warnOfNow(r.now, r.source)
	}
	if r.now.IsZero() && r.texts {
		r.now = a.io.Clock() // texts without a time hold nothing that could have an age
	}
	var recorder reader.Recorder
	if record != nil {
		if recorder, err = record(r.now, r.source); err != nil {
			return nil, err
		}
	}
	r.reader = reader.New(set, clean, recorder, reader.Limits{}, sources...)
	if r.source.Kind == live.SourceName {
		r.reader.ReadFew(attention.Texts, attention.Logs)
	}
	return r, nil
}

// readOnce makes the one pass over a packed archive keep what the facts ask for. A
// recording wants the logs whole.
func readOnce(set *scan.Set, clean *sanitize.Sanitizer, record recording) []archive.Option {
	how := []archive.Option{archive.For(facts.Needs(all.All()))}
	if record == nil {
		how = append(how, archive.Skim(reader.NewSkimmer(set, clean, reader.Limits{})))
	}
	return how
}

func (a *app) openSources(ctx context.Context, r *run, how []archive.Option) ([]evidence.Source, error) {
	if err := errors.Join(a.checkHosted(), a.checkOneWay()); err != nil {
		return nil, err
	}
	var list []evidence.Source
	var archives []*archive.Source
	var dirs []*install.Dir
	for _, path := range a.source.from {
		if path != "-" && install.Is(path) {
			d, err := install.Open(path)
			if err != nil {
				return nil, fmt.Errorf("--from: %w", err)
			}
			r.closers = append(r.closers, d.Close)
			dirs = append(dirs, d)
			beside, more, err := a.besideInstall(ctx, r, path, how)
			if err != nil {
				return nil, err
			}
			list, archives = append(list, beside...), append(archives, more...)
			continue
		}
		s, pasted, err := a.openFrom(ctx, path, how)
		if err != nil {
			return nil, explainArchive(path, err)
		}
		if pasted != nil {
			r.keep(s, pasted)
		}
		if s == nil {
			list = append(list, pasted)
			continue
		}
		r.closers = append(r.closers, s.Close)
		list, archives = append(list, s), append(archives, s)
	}
	both, err := hosted.Archives(ctx, archives, a.source.hosted)
	if err != nil {
		return nil, &usageError{err}
	}
	if both != nil {
		list = slices.DeleteFunc(list, func(s evidence.Source) bool { _, is := s.(*archive.Source); return is })
		list = append([]evidence.Source{both}, list...)
	} else if err := joinArchives(ctx, archives); err != nil {
		return nil, err
	}
	dir, err := a.openInstallDir(r)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		dirs = append(dirs, dir)
	}
	for _, d := range dirs {
		list = append(list, d)
	}
	if list, err = a.addRendezvous(list, dirs, dir); err != nil {
		return nil, err
	}
	var cluster *live.Source
	if a.asksCluster(dir) {
		s, err := a.openLive()
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, func() error { s.Close(); return nil })
		list, cluster = append([]evidence.Source{s}, list...), s
	}
	if cluster != nil && a.source.hosted != "" && a.source.hosted != hosted.None {
		if a.source.probeFrom != "" {
			return nil, errProbeFromHosted
		}
		s, err := a.openHosted(ctx, r, cluster)
		if err != nil {
			return nil, err
		}
		return a.addNamed([]evidence.Source{s})
	}
	if list, err = a.addLadder(ctx, list, cluster); err != nil {
		return nil, err
	}
	return a.addNamed(list)
}

// joinArchives refuses archives that are not provably of one cluster: naming them
// together is a mistake of whoever typed it.
func joinArchives(ctx context.Context, list []*archive.Source) error {
	err := archive.Join(ctx, list)
	if several := (*archive.SeveralClustersError)(nil); errors.As(err, &several) {
		return &usageError{several}
	}
	return err
}

// openArchive opens one value of --from; a dash is standard input.
func (a *app) openArchive(ctx context.Context, path string, how []archive.Option) (*archive.Source, error) {
	var s *archive.Source
	var err error
	if path == "-" {
		s, err = archive.Stream(ctx, a.io.In, "standard input", how...)
	} else {
		s, err = archive.Open(ctx, path, how...)
	}
	if err != nil {
		return nil, err
	}
	if s.WithClock(a.io.Clock()); !a.source.whole {
		s.Lean(func() archive.Keep { return lean.NewDecoder().Object })
	}
	return s, nil
}

// explainArchive says what is wrong with a path and the way out.
func explainArchive(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--from %s: there is no such file or directory; name the directory or the .tar.gz that oc adm must-gather wrote", path)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("--from %s: it may not be read by this user; chmod or copy it", path)
	}
	return fmt.Errorf("--from %s: %w", path, err)
}

// openLive returns the cluster that kubeconfig and flags name. It sends nothing yet.
func (a *app) openLive() (*live.Source, error) {
	config, err := a.restConfig()
	if err != nil {
		return nil, err
	}
	s, err := live.New(config, live.Options{
		Name: a.contextName(config.Host), Whole: a.source.whole, SecretNamespaces: a.source.readSecrets,
		Journals: a.source.journals, Probes: a.source.probe, Now: a.io.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return s, nil
}

// restConfig is how the cluster is reached. Where nothing names one that is an
// error; client-go would ask localhost:8080.
func (a *app) restConfig() (*rest.Config, error) {
	if _, err := a.kube.Loader().RawConfig(); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w; name another with --kubeconfig FILE", err)
	}
	if a.noCluster() {
		return nil, fmt.Errorf("no cluster is named: there is no kubeconfig ($KUBECONFIG, ~/.kube/config). "+
			"Name one with --kubeconfig FILE, read an archive with --from PATH, a console with --console HOST=FILE, or look at an example: %s demo", a.name)
	}
	config, err := a.kube.RESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w; name another with --kubeconfig FILE or --context NAME", err)
	}
	return config, nil
}

// contextName is what the user calls the cluster.
func (a *app) contextName(host string) string {
	if a.kube.Context != "" {
		return a.kube.Context
	}
	if a.kube.APIServer != "" {
		return host
	}
	if raw, err := a.kube.Loader().RawConfig(); err == nil && raw.CurrentContext != "" {
		return raw.CurrentContext
	}
	return host
}

// checkChoice refuses ids of --only and --skip that do not exist: a typing error
// would silently leave out, or evaluate, the wrong faults.
func (a *app) checkChoice(c *fault.Catalog) error {
	for _, list := range [][]string{a.source.only, a.source.skip} {
		for i, id := range list {
			if _, ok := c.Fault(id); ok {
				continue
			}
			if named := c.Named(id); len(named) == 1 { // a former id, in a script that somebody keeps
				list[i] = named[0].ID
				continue
			}
			return usagef("there is no fault %q%s; `%s list faults` names them", id, didYouMean(id, faultIDs(c)), a.name)
		}
	}
	return a.checkEmptyChoice()
}

func faultIDs(c *fault.Catalog) []string {
	ids := make([]string, 0, len(c.Faults))
	for _, f := range c.Faults {
		ids = append(ids, f.ID)
	}
	return ids
}

// diagnose makes the whole diagnosis of a run.
func (a *app) diagnose(ctx context.Context, r *run) (*diagnosis.Diagnosis, error) {
	defer a.progress("reading %s %s ...", r.source.Kind, r.source.Name)()
	o := diagnose.Options{
		Catalog: r.catalog, Facts: all.All(), Relater: relation.Relater{}, Cluster: cluster.Describer{}, Roll: stages.Caller{},
		Reader: r.reader, Now: r.now, AtLeast: r.atLeast, Clock: a.io.Clock, Only: a.source.only, Skip: a.source.skip, Plan: r.source.Kind == plan.Kind, Log: a.log,
	}
	if o.Plan {
		o.Cluster, o.Roll = planfacts.Describer{}, planfacts.Describer{}
	}
	if r.accept != nil {
		o.Accept = r.accept
	}
	if a.kept != nil {
		o.Compiler = a.kept.compiler
	}
	var err error
	if o.Lines, err = a.shownByLines(ctx, r); err != nil {
		return nil, err
	}
	d, err := diagnose.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Plan {
		if d.Machines, err = hardware.Compare(ctx, facts.NewWorld(r.reader, d.Now)); err != nil {
			return nil, err
		}
		if d.Paths, err = planfacts.Paths(ctx, facts.NewWorld(r.reader, d.Now)); err != nil {
			return nil, err
		}
	}
	return d, a.checkConsoles(ctx, r, d.Now)
}
