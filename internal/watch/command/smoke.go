package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/watch/smoke"
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
	i := after.Indicator{ID: after.SmokePod, Title: "a new pod on each of these hosts runs and answers"}
	w.trying = "trying a new pod on " + strings.Join(names, ", ")
	w.paint()
	defer func() { w.trying = "" }()
	c, err := smokeCluster(w.newest.session)
	if err != nil {
		i.Outcome, i.Reason = fault.Unknown, err.Error()
	} else {
		judgeSmoke(&i, smoke.Try(ctx, c, names, smoke.Options{Run: strings.ToLower(rand.Text()[:6]), Patience: w.flags.smokeFor}))
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

// judgeSmoke makes one indicator of the tries: absent where one pod did not answer.
func judgeSmoke(i *after.Indicator, list []smoke.Result) {
	i.Outcome = fault.Present
	if len(list) == 0 {
		i.Outcome, i.Reason = fault.Unknown, "no host was tried"
	}
	var reasons, left []string
	for _, r := range list {
		switch {
		case r.Outcome == fault.Absent:
			i.Outcome = fault.Absent
		case r.Outcome == fault.Unknown && i.Outcome == fault.Present:
			i.Outcome = fault.Unknown
		}
		if r.Outcome != fault.Present {
			reasons = append(reasons, r.Node+": "+r.Reason)
		}
		if r.Left != "" {
			left = append(left, r.Left)
		}
	}
	const named = 3
	if n := len(reasons) - named; n > 0 {
		reasons = append(reasons[:named], fmt.Sprintf("and %d more", n))
	}
	if len(left) > 0 {
		reasons = append(reasons, "not deleted, delete by hand: "+strings.Join(left, ", "))
	}
	if len(reasons) > 0 {
		i.Reason = strings.Join(reasons, "; ")
	}
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
