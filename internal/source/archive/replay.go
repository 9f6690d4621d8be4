package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

func unavailable(r collection.MissingRecord, n evidence.Need) *evidence.Unavailable {
	return &evidence.Unavailable{Need: n, Why: ownWhy(r.Why), Detail: r.Detail, Supply: ownSupply(n, r.Supply)}
}

// replayObjects gives the answer that the recorded run got. A question about one namespace
// is answered from a recorded one about all.
func (s *Source) replayObjects(ctx context.Context, n evidence.Need) ([]evidence.Object, error) {
	find := func(namespace string) int {
		return slices.IndexFunc(s.manifest.Objects, func(r collection.ObjectsRecord) bool {
			return r.Resource == n.Resource.String() && r.Namespace == namespace
		})
	}
	i, all := find(n.Namespace), false
	if i < 0 {
		i, all = find(""), true
	}
	if i < 0 {
		return nil, notAsked(n)
	}
	record := s.manifest.Objects[i]
	var objects []evidence.Object
	var budget objectfile.Budget
	keep := s.keep()
	var damaged damages
	for _, r := range record.Objects {
		if all && n.Namespace != "" && r.Namespace != n.Namespace {
			continue
		}
		o, err := s.replayObject(ctx, n.Resource, r, &budget, keep)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			damaged.add(fmt.Sprintf("%s: %v", r.File, err))
			continue
		}
		o.Alone = record.Alone
		objects = append(objects, o)
	}
	if why := s.unsealedCut(); why != "" {
		damaged.add(why)
	}
	if damaged.count > 0 {
		if record.Missing != nil {
			damaged.add(unavailable(*record.Missing, n).Error())
		}
		// The others are not returned either: which of them a fact would miss is not known.
		return nil, &evidence.Unavailable{Need: n, Why: evidence.Damaged, Detail: damaged.String(), Supply: generalSupply(n)}
	}
	if record.Missing != nil {
		return objects, unavailable(*record.Missing, n)
	}
	return objects, nil
}

func (s *Source) replayObject(
	ctx context.Context, r evidence.Resource, rec collection.ObjectRecord, budget *objectfile.Budget, keep Keep,
) (evidence.Object, error) {
	raw, err := s.readRecordedFile(ctx, rec.File)
	if err != nil {
		return evidence.Object{}, err
	}
	content, err := budget.Decode(raw)
	if err != nil {
		return evidence.Object{}, err
	}
	return evidence.Object{
		Resource: r, Namespace: rec.Namespace, Name: rec.Name, Content: keep.of(r, content), ReadAt: rec.ReadAt,
		Loc: evidence.Locator{Source: rec.Source, Cluster: rec.Cluster, Path: rec.Path},
	}, nil
}

func notAsked(n evidence.Need) *evidence.Unavailable {
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n)
	}
	return &evidence.Unavailable{Need: n, Why: evidence.NotCollected,
		Detail: "the run that was recorded did not ask for it", Supply: generalSupply(n)}
}

func (s *Source) replayTexts(q evidence.TextQuery) ([]evidence.Text, error) {
	need := evidence.Texts(q)
	i := slices.IndexFunc(s.manifest.Texts, func(r collection.TextsRecord) bool { return r.Query == collection.RecordQuery(q) })
	if i < 0 {
		return nil, notAsked(need)
	}
	record := s.manifest.Texts[i]
	if record.Missing != nil {
		return nil, unavailable(*record.Missing, need)
	}
	var texts []evidence.Text
	for _, r := range record.Texts {
		texts = append(texts, s.recordedText(r))
	}
	if why := s.unsealedCut(); why != "" {
		texts = append(texts, s.unread(q, why))
	}
	return texts, nil
}

// openRecorded opens a recorded text; it fails, or ends, as it did in the run.
func (s *Source) openRecorded(ctx context.Context, r collection.TextRecord) (io.ReadCloser, error) {
	failed := errors.New(r.Failed)
	if r.Damaged {
		failed = &evidence.Damage{Detail: r.Failed}
	}
	if r.File == "" {
		return nil, failed
	}
	in, err := s.openRecordedFile(ctx, r.File)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &evidence.Damage{Detail: fmt.Sprintf("%s: %v", r.File, err)}
	}
	if r.Failed == "" {
		return in, nil
	}
	return member.ReadCloser{Reader: io.MultiReader(in, member.Failing(failed)), Closer: in}, nil
}
