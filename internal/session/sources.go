package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/onhost"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/lean"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// Sources opens what the options name, without a run; how says how archives are opened. The caller
// closes them, also after an error.
func (ses *Session) Sources(ctx context.Context, how ...archive.Option) (list []evidence.Source, closeAll func() error, err error) {
	r := &Run{}
	list, err = ses.own().openSources(ctx, r, how)
	return list, r.Close, err
}

// openSources opens what the options name; r holds what is to be closed.
func (ses *Session) openSources(ctx context.Context, r *Run, how []archive.Option) ([]evidence.Source, error) {
	if err := errors.Join(ses.CheckHosted(), ses.checkOneWay(), ses.checkAsked()); err != nil {
		return nil, err
	}
	var list []evidence.Source
	var archives []*archive.Source
	var dirs []*install.Dir
	paths, spreads := spread(ses.From)
	opened := map[string]*archive.Source{}
	for i := 0; i < len(paths); i++ {
		path := paths[i]
		if path != "-" && install.Is(path) {
			d, err := install.Open(path)
			if err != nil {
				return nil, fmt.Errorf("--from: %w", err)
			}
			r.closers = append(r.closers, d.Close)
			dirs = append(dirs, d)
			beside, more, err := ses.besideInstall(ctx, r, path, how)
			if err != nil {
				return nil, err
			}
			list, archives = append(list, beside...), append(archives, more...)
			continue
		}
		s, pasted, err := ses.openFrom(ctx, path, len(paths) == 1, how)
		if texts := textsBelow(path); errors.Is(err, archive.ErrNothing) && len(texts) > 0 {
			paths, spreads = slices.Replace(paths, i, i+1, texts...), append(spreads, spreadDir{path, texts})
			i--
			continue
		}
		if packed := archivesBelow(path); errors.Is(err, archive.ErrNothing) && len(packed) > 0 && isDir(path) {
			if len(packed) > 1 {
				return nil, &SeveralArchivesError{Dir: path, Archives: packed, Program: ses.Name}
			}
			paths[i] = packed[0]
			i--
			continue
		}
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
		list, archives, opened[path] = append(list, s), append(archives, s), s
	}
	if err := ses.separate(ctx, spreads, opened); err != nil {
		return nil, err
	}
	both, err := hosted.Archives(ctx, archives, ses.Hosted)
	if err != nil {
		return nil, &UsageError{err}
	}
	if both != nil {
		list = slices.DeleteFunc(list, func(s evidence.Source) bool { _, is := s.(*archive.Source); return is })
		list = append([]evidence.Source{both}, list...)
	} else if err := joinArchives(ctx, archives); err != nil {
		return nil, ses.ofOneDir(spreads, err)
	}
	dir, err := ses.openInstallDir(r)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		dirs = append(dirs, dir)
	}
	for _, d := range dirs {
		list = append(list, d)
	}
	if list, err = ses.addRendezvous(list, dirs, dir); err != nil {
		return nil, err
	}
	var cluster *live.Source
	if ses.asksCluster(dir) {
		s, err := ses.OpenLive()
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, func() error { s.Close(); return nil })
		list, cluster = append([]evidence.Source{s}, list...), s
	}
	asked, err := ses.openAsked(ctx, r, how, archives, cluster)
	if err != nil {
		return nil, err
	}
	if len(asked) > 0 && len(list) == 0 && len(ses.Only) == 0 && r.Catalog != nil {
		r.only = onhost.Faults(r.Catalog, all.All()) // what only a cluster can show is no question here
	}
	list = append(list, asked...)
	if cluster != nil && ses.Hosted != "" && ses.Hosted != hosted.None {
		if ses.ProbeFrom != "" {
			return nil, ErrProbeFromHosted
		}
		s, err := ses.openHosted(ctx, r, cluster)
		if err != nil {
			return nil, err
		}
		return ses.addNamed([]evidence.Source{s})
	}
	if list, err = ses.addAPIPath(ctx, list, cluster); err != nil {
		return nil, err
	}
	return ses.addNamed(list)
}

// joinArchives refuses archives that are not provably of one cluster: naming them
// together is a mistake of whoever typed it.
func joinArchives(ctx context.Context, list []*archive.Source) error {
	err := archive.Join(ctx, list)
	if several := (*archive.SeveralClustersError)(nil); errors.As(err, &several) {
		return &UsageError{several}
	}
	return err
}

// openArchive opens one value of --from; a dash is standard input.
func (ses *Session) openArchive(ctx context.Context, path string, how []archive.Option) (*archive.Source, error) {
	var s *archive.Source
	var err error
	if path == "-" {
		s, err = archive.Stream(ctx, ses.In, "standard input", how...)
	} else {
		s, err = archive.Open(ctx, path, how...)
	}
	if err != nil {
		return nil, err
	}
	return ses.tuned(s), nil
}

// tuned sets the clock of an archive, and which fields of its objects are kept.
func (ses *Session) tuned(s *archive.Source) *archive.Source {
	if s.WithClock(ses.Clock()); !ses.Whole {
		s.Lean(func() archive.Keep { return lean.NewDecoder().Object })
	}
	return s
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
