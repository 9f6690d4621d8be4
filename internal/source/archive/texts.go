package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
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
	for _, e := range s.ix.Texts {
		if !selects(q, e.Text) {
			continue
		}
		t := e.Text
		if s.joined {
			t.Source = s.base
		}
		if e.File.Size == 0 && e.File.Lost == "" {
			if t.Kind == evidence.ContainerLog && path.Base(e.File.Path) != "current.log" {
				continue
			}
			empty++
			t.Open = func(context.Context) (io.ReadCloser, error) { return nil, errNoBytes }
		} else {
			t.Unit = cmp.Or(t.Unit, q.Unit)
			t.Open = func(ctx context.Context) (io.ReadCloser, error) { return s.openChecked(ctx, e, q.Unit) }
			t.Skimmed = e.File.Skimmed()
		}
		texts = append(texts, t)
	}
	need := evidence.Texts(q)
	unseen := s.unseen(need, texts)
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

// unseen says why there may be more texts than were found, "" where there are none.
func (s *Source) unseen(n evidence.Need, found []evidence.Text) string {
	var why []string
	for _, g := range s.hiding(n) {
		why = append(why, g.path+": "+g.why)
	}
	if s.cut != "" && !s.single { // a single text ends with the error itself
		why = append(why, s.cut)
	}
	for _, l := range layouts {
		if l.Unseen != nil && len(why) == 0 {
			if missing := l.Unseen(n.Text, found); missing != "" {
				why = append(why, missing)
			}
		}
	}
	return few(why)
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

// openChecked opens a text so that errors say that it is damaged.
func (s *Source) openChecked(ctx context.Context, e layout.Entry, unit string) (io.ReadCloser, error) {
	in, err := layout.OpenLines(ctx, s.members, e, unit)
	if err != nil {
		return nil, damage(ctx, err)
	}
	return member.ReadCloser{Reader: checkedReader{ctx, in}, Closer: in}, nil
}

// damage makes an error of reading an archive Damage, unless the caller ended the reading.
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
