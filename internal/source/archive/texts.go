package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// errNoBytes is what the current log of a container gives when its file is empty.
var errNoBytes = errors.New("0 bytes: the container wrote nothing, or the collector could not read it")

// Texts implements evidence.Source. Previous, insecure and rotated logs without
// bytes are left out: collectors write them for every container.
func (s *Source) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.manifest != nil {
		return s.replayTexts(q)
	}
	var texts []evidence.Text
	empty := 0
	for _, e := range s.texts {
		if !selects(q, e.text) {
			continue
		}
		t := e.text
		if s.joined {
			t.Source = s.base
		}
		if e.file.size == 0 && e.file.lost == "" {
			if t.Kind == evidence.ContainerLog && path.Base(e.file.path) != "current.log" {
				continue
			}
			empty++
			t.Open = func(context.Context) (io.ReadCloser, error) { return nil, errNoBytes }
		} else {
			t.Unit = cmp.Or(t.Unit, q.Unit)
			t.Open = func(ctx context.Context) (io.ReadCloser, error) { return s.openChecked(ctx, e, q.Unit) }
			if st, ok := s.store.(*tarStore); ok && e.skim != nil {
				t.Skimmed = st.lines(e.skim)
			}
		}
		texts = append(texts, t)
	}
	need := evidence.Texts(q)
	unseen := s.unseen(need)
	if missing := withoutMasters(q, texts); missing != "" && unseen == "" {
		unseen = missing
	}
	if len(texts) > empty {
		if unseen != "" {
			texts = append(texts, s.unread(q, unseen))
		}
		return texts, nil
	}
	if unseen != "" {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: unseen, Supply: s.supply(need)}
	}
	u := &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Supply: s.supply(need)}
	u.Detail = "no such text is in the " + s.kind
	if empty > 0 {
		u.Detail = fmt.Sprintf("%d files are there and empty: nothing was written, or the collector could not read it", empty)
	}
	return nil, u
}

// unseen says why there may be texts that no entry stands for, "" where there are none.
func (s *Source) unseen(n evidence.Need) string {
	var why []string
	for _, g := range s.hidden(n) {
		why = append(why, g.path+": "+g.why)
	}
	if s.cut != "" && !s.single { // a single text ends with the error itself
		why = append(why, s.cut)
	}
	return few(why)
}

// withoutMasters says that a must-gather has the workers' journal of a unit and not the
// masters'. The collector writes that of the masters first
// (openshift/must-gather:collection-scripts/gather_service_logs); a hosted cluster has none.
func withoutMasters(q evidence.TextQuery, texts []evidence.Text) string {
	const workers, masters = "host_service_logs/workers/", "host_service_logs/masters/"
	if q.Kind != evidence.Journal || q.Host != "" {
		return ""
	}
	missing := ""
	for _, t := range texts {
		switch {
		case strings.Contains(t.Path, masters):
			return ""
		case strings.Contains(t.Path, workers) && !strings.Contains(t.Path, "hostedcluster-"):
			missing = strings.Replace(t.Path, workers, masters, 1)
		}
	}
	if missing == "" {
		return ""
	}
	return missing + " is missing; the workers' journal is there"
}

// unread stands for the texts that may be there and cannot be read.
func (s *Source) unread(q evidence.TextQuery, why string) evidence.Text {
	t := evidence.Text{Kind: q.Kind, Namespace: q.Namespace, Container: q.Container, Host: q.Host, Unit: q.Unit, Path: s.base}
	if s.joined {
		t.Source = s.base
	}
	t.Open = func(context.Context) (io.ReadCloser, error) { return nil, &evidence.Damage{Detail: why} }
	return t
}

// selects reports whether a query asks for a text. A journal that holds the lines
// of several hosts is selected for each of them.
func selects(q evidence.TextQuery, t evidence.Text) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return (q.Kind == "" || q.Kind == t.Kind) && is(q.Namespace, t.Namespace) && is(q.Container, t.Container) &&
		(is(q.Unit, t.Unit) || t.Kind == evidence.Journal && t.Unit == "") && (is(q.Host, t.Host) || t.Kind == evidence.Journal && t.Host == "")
}

func textSupply(q evidence.TextQuery) evidence.Supply {
	switch {
	case q.Kind == evidence.ContainerLog && q.Namespace != "":
		return evidence.Supply{Kind: evidence.SupplyInspect, Namespace: q.Namespace}
	case q.Kind == evidence.Journal:
		return evidence.Supply{Kind: evidence.SupplyNodeLogs, Host: q.Host, Unit: q.Unit}
	case q.Kind == evidence.Console:
		return evidence.Supply{Kind: evidence.SupplyConsole, Host: q.Host}
	}
	return evidence.Supply{Kind: evidence.SupplyMustGather}
}

// open opens a member as it lies in the archive.
func (s *Source) open(ctx context.Context, f file) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.lost != "" {
		return nil, errors.New(f.lost)
	}
	return s.store.open(ctx, f)
}

// openChecked is openEntry with errors that say that the text is damaged.
func (s *Source) openChecked(ctx context.Context, e entry, unit string) (io.ReadCloser, error) {
	in, err := s.openEntry(ctx, e, unit)
	if err != nil {
		return nil, damage(ctx, err)
	}
	return readCloser{checkedReader{ctx, in}, in}, nil
}

// damage is an error of reading an archive, unless it is the caller's.
func damage(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &evidence.Damage{Detail: err.Error()}
}

type checkedReader struct {
	ctx context.Context
	r   io.Reader
}

func (c checkedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		err = damage(c.ctx, err)
	}
	return n, err
}

// openEntry opens a text; a journal of all units shows the lines of the one that
// is asked for.
func (s *Source) openEntry(ctx context.Context, e entry, unit string) (io.ReadCloser, error) {
	in, err := s.openText(ctx, e.file)
	switch {
	case err != nil:
		return nil, err
	case e.export:
		return readCloser{exportLines(in, unit), in}, nil
	case e.whole && unit != "":
		return readCloser{unitLines(in, unit), in}, nil
	}
	return in, nil
}

// openText opens a member and uncompresses it when it is gzip.
func (s *Source) openText(ctx context.Context, f file) (io.ReadCloser, error) {
	raw, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	in, err := s.inner.unzipped(raw, f.path)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return readCloser{in, raw}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}
