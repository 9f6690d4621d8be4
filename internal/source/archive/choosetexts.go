package archive

import (
	"context"
	"io"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
)

// ChooseTexts is Texts for who shows texts: of a collection every text that was recorded is there,
// whatever its run asked for.
func (s *Source) ChooseTexts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if s.manifest == nil {
		return s.Texts(ctx, q)
	}
	var texts []evidence.Text
	for _, record := range s.manifest.Texts {
		for _, r := range record.Texts {
			t := s.recordedText(r)
			known := slices.ContainsFunc(texts, func(o evidence.Text) bool { return o.Path == t.Path && o.Unit == t.Unit && o.Host == t.Host })
			if selects(q, t) && !known {
				texts = append(texts, t)
			}
		}
	}
	if len(texts) == 0 {
		return nil, notAsked(evidence.Texts(q))
	}
	return texts, nil
}

// recordedText is a text of a collection.
func (s *Source) recordedText(r collection.TextRecord) evidence.Text {
	return evidence.Text{
		Kind: evidence.TextKind(r.Kind), Namespace: r.Namespace, Pod: r.Pod, Container: r.Container,
		Previous: r.Previous, Host: r.Host, Unit: r.Unit, Path: r.Path, Source: r.Source, Cluster: r.Cluster,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return s.openRecorded(ctx, r) },
	}
}
