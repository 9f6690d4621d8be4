package cli

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/message"
	"github.com/rollcall-project/rollcall/internal/session"
)

// addMessages adds what the lines of texts show to an answer: the matches of scan. Of a log of
// openshift-install its end counts: it may also tell of runs before.
func (a *app) addMessages(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis, o *answer.Options) error {
	sources := r.Pasted
	if d.Cluster.Installer == nil {
		sources = slices.Concat(sources, r.Logs)
	}
	x, texts, err := a.session().MessagesOf(ctx, sources)
	if err != nil || len(texts) == 0 {
		return err
	}
	if o.Catalog, err = a.session().WholeCatalog(); err != nil {
		return err
	}
	o.Messages = message.Merge(texts)
	x.Join(o.Messages, session.Seen(d))
	return nil
}
