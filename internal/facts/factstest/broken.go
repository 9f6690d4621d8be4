package factstest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Broken is a World in which some texts break off at their end: all lines are read,
// and then an error says that there is more.
func Broken(t *testing.T, base, changes string, which func(evidence.Text) bool) *facts.World {
	t.Helper()
	o, err := fixture.ParseOverlay("facts/testdata/test.txtar", []byte("base: "+base+"\nsubject: cluster\n"+changes))
	if err != nil {
		t.Fatal(err)
	}
	files, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	source, err := fixture.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	source.Source = breaks{source.Source, which}
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	r, err := source.Reader(set)
	if err != nil {
		t.Fatal(err)
	}
	w, err := fixture.World(t.Context(), r, o.Now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

type breaks struct {
	evidence.Source
	which func(evidence.Text) bool
}

func (b breaks) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	list, err := b.Source.Texts(ctx, q)
	for i, t := range list {
		if t.Open == nil || !b.which(t) {
			continue
		}
		list[i].Skimmed = nil
		list[i].Open = func(ctx context.Context) (io.ReadCloser, error) {
			in, err := t.Open(ctx)
			if err != nil {
				return nil, err
			}
			return &broken{in}, nil
		}
	}
	return list, err
}

// broken reads all and ends with an error.
type broken struct{ io.ReadCloser }

func (b *broken) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
