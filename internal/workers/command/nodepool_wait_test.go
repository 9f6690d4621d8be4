package command

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

func poolWith(uid string, conditions ...any) map[string]any {
	return clitest.Object{
		"metadata": clitest.Object{"uid": uid, "annotations": clitest.Object{"hypershift.openshift.io/nodePoolCurrentConfigVersion": "1a2b3c4d"}},
		"status":   clitest.Object{"conditions": conditions},
	}
}

// TestPoolWait: a NodePool is usable when its payload is built and its user-data has the present token; a
// refusal ends the wait only when it stays.
func TestPoolWait(t *testing.T) {
	built := clitest.Object{"type": "ValidGeneratedPayload", "status": "True"}
	building := clitest.Object{"type": "ValidGeneratedPayload", "status": "Unknown"}
	refused := clitest.Object{"type": "ValidReleaseImage", "status": "False", "message": "unauthorized"}
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "nodepools"}, "w")
	rotated := errors.New("the token was just rotated")
	type pass struct {
		pool map[string]any
		err  error
		data error
	}
	for name, c := range map[string]struct {
		passes []pass // the last one stays
		stays  time.Duration
		want   string // in the error, "" for none
		said   string
	}{
		"at once":                    {[]pass{{pool: poolWith("a", built)}}, time.Hour, "", "has the present token"},
		"later":                      {[]pass{{pool: poolWith("a", building)}, {pool: poolWith("a", built)}}, time.Hour, "", "has not built the payload yet"},
		"a token that was rotated":   {[]pass{{pool: poolWith("a", built), data: rotated}, {pool: poolWith("a", built)}}, time.Hour, "", "just rotated"},
		"a read that fails":          {[]pass{{err: errors.New("reset")}, {pool: poolWith("a", built)}}, time.Hour, "", "not read: reset"},
		"refused for a moment":       {[]pass{{pool: poolWith("a", refused)}, {pool: poolWith("a", built)}}, time.Hour, "", "unauthorized"},
		"refused and built before":   {[]pass{{pool: poolWith("a", built, refused)}}, time.Hour, "deadline", "unauthorized"},
		"refused":                    {[]pass{{pool: poolWith("a", refused)}}, 0, "pull secret", "unauthorized"},
		"deleted":                    {[]pass{{pool: poolWith("a", building)}, {err: gone}}, time.Hour, "was deleted while", ""},
		"another one":                {[]pass{{pool: poolWith("a", building)}, {pool: poolWith("b", built)}}, time.Hour, "made again", ""},
		"never":                      {[]pass{{pool: poolWith("a", building)}}, time.Hour, "deadline", "has not built"},
		"no controller looks at it":  {[]pass{{pool: clitest.Object{"metadata": clitest.Object{"uid": "a"}}}}, time.Hour, "deadline", "has not looked at it"},
		"user-data is never present": {[]pass{{pool: poolWith("a", built), data: rotated}}, time.Hour, "deadline", "just rotated"},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			n := -1
			at := func() pass { return c.passes[min(n, len(c.passes)-1)] }
			p := &poolWait{
				want: nodepool.Want{Name: "w", Namespace: "clusters"}, every: time.Millisecond, refused: c.stays,
				read: func(context.Context) (map[string]any, error) { n++; return at().pool, at().err },
				userData: func(context.Context) (workers.UserData, error) {
					return workers.UserData{Config: "1a2b3c4d", Endpoint: &url.URL{Host: "ignition.example.com"}}, at().data
				},
				report: func(text string) { said = append(said, text) },
			}
			ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer end()
			err := p.run(ctx)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if all := strings.Join(said, "\n"); !strings.Contains(all, c.said) || strings.Count(all, "unauthorized") > 1 {
				t.Errorf("said: %s", all)
			}
			var refusal *poolRefusedError
			if errors.As(err, &refusal) != (name == "refused") {
				t.Errorf("%T", err)
			}
			p.ends(t, err)
		})
	}
}

// TestPoolWaitBeats: a wait in which nothing changes still shows what is missing.
func TestPoolWaitBeats(t *testing.T) {
	var said []string
	p := &poolWait{
		every: time.Millisecond, beat: 5 * time.Millisecond, refused: time.Hour, untouched: time.Hour,
		read: func(context.Context) (map[string]any, error) {
			return poolWith("a", clitest.Object{"type": "ValidGeneratedPayload", "status": "Unknown"}), nil
		},
		report: func(text string) { said = append(said, text) },
	}
	ctx, end := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer end()
	if err := p.run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if len(said) < 2 || !strings.HasPrefix(said[1], "waiting for ") || !strings.Contains(said[1], "has not built the payload yet") {
		t.Errorf("%q", said)
	}
}

// TestConfirm: what is typed at the terminal decides; a deletion wants the name.
func TestConfirm(t *testing.T) {
	for typed, want := range map[string][2]bool{"yes\n": {true, false}, "workers\n": {false, true}, "": {false, false}, "YES\n": {false, false}} {
		confirm := func(ask func(*app) error) bool {
			var errs bytes.Buffer
			a := &app{App: cmdutil.New("rollcall", cmdutil.IO{In: strings.NewReader(typed), Out: &errs, Err: &errs, Getenv: func(string) string { return "" },
				Screen: cmdutil.Screen{InTerminal: true, ErrTerminal: true}}), source: cmdutil.Options()}
			err := ask(a)
			if err != nil && !strings.Contains(err.Error(), "nothing was done") {
				t.Error(err)
			}
			return err == nil
		}
		got := [2]bool{
			confirm(func(a *app) error { return a.typedYes(workerFlags{}, "scale it") }),
			confirm(func(a *app) error { return a.typedName(workerFlags{}, "workers", "delete it") }),
		}
		if got != want {
			t.Errorf("%q: %v, want %v", typed, got, want)
		}
	}
}

// ends prints how the wait ended: each end has its code and the next command.
func (p *poolWait) ends(t *testing.T, err error) {
	t.Helper()
	var out bytes.Buffer
	a := &app{App: cmdutil.New("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }}), source: cmdutil.Options()}
	a.source.Hosted = "clusters/guest"
	code := cmdutil.CodeOf(a.poolEnd(t.Context(), p, err, time.Minute), func(error) int { return int(cmdutil.ExitFailed) })
	var refusal *poolRefusedError
	want := cmdutil.ExitFailed
	switch {
	case err == nil:
		want = cmdutil.ExitOK
	case errors.As(err, &refusal):
		want = cmdutil.ExitFault
	case errors.Is(err, context.DeadlineExceeded):
		want = cmdutil.ExitUndecided
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if bad := want == cmdutil.ExitFault || want == cmdutil.ExitUndecided; bad != strings.Contains(out.String(), "Next: rollcall diagnose --hosted clusters/guest nodepool/w") {
		t.Errorf("the end:\n%s", out.String())
	}
	if want == cmdutil.ExitUndecided && !strings.Contains(out.String(), "Missing:\n  ") {
		t.Errorf("the end:\n%s", out.String())
	}
}
