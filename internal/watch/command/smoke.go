package command

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/smoke"
)

// smokeEnd tries a pod on the hosts that were asked for where everything else holds. The end
// has one indicator more, and is only good where it holds.
func (w *watching) smokeEnd(ctx context.Context, e follow.End) follow.End {
	if !w.flags.smokePod || e.ExitCode != int(cmdutil.ExitOK) {
		return e
	}
	var names []string
	for _, h := range w.follower.Last().Hosts {
		if w.counts(h) {
			names = append(names, h.Name)
		}
	}
	i := after.Indicator{ID: after.SmokePod, Title: smoke.Title}
	w.trying = "trying a new pod on " + strings.Join(names, ", ")
	w.paint()
	defer func() { w.trying = "" }()
	c, err := smokeCluster(w.newest.session)
	if err != nil {
		i.Outcome, i.Reason = fault.Unknown, err.Error()
	} else {
		i.Outcome, i.Reason = smoke.Judge(smoke.Try(ctx, c, names, smoke.Options{Run: smoke.NewRun(), Patience: w.flags.smokeFor}))
	}
	e.Indicators = append(slices.Clone(e.Indicators), i)
	switch {
	case ctx.Err() != nil:
		e.ExitCode, e.Reason = int(cmdutil.ExitInterrupted), "interrupted while a pod was tried; all else holds"
	case !i.Holds():
		e.ExitCode, e.Reason = int(cmdutil.ExitUndecided), "all else holds, and a new pod does not show that workloads run: "+i.Reason
	}
	return e
}

func smokeCluster(ses *session.Session) (smoke.Cluster, error) {
	config, err := ses.RESTConfig()
	if err != nil {
		return nil, err
	}
	api, err := kube.New(config, kube.Limits{})
	if err != nil {
		return nil, err
	}
	return smoke.InCluster(api), nil
}
