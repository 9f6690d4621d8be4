package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

func (a *app) nodePoolWaitCommand() *cobra.Command {
	var f poolFlags
	cmd := &cobra.Command{
		Use:   "wait NAME --hosted NS/NAME",
		Short: "wait until the first machine of a NodePool of platform None can be made",
		Long: `Wait is for a NodePool that is there: applied by another tool, or after a
"nodepool create" that was interrupted. It changes nothing.

Exit codes: 0 machines can be made; 1 the tool could not do its work; 2 a condition
refuses what was declared; 3 not ready within --timeout.`,
		Example: cmdutil.Example(a.Name, "nodepool wait workers --hosted clusters/guest", "with each condition that changes, and what it means"),
		Args:    a.ExactlyOne("NAME", findNodePools),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := a.poolOf(args[0], f)
			if err != nil {
				return err
			}
			if f.timeout <= 0 {
				return session.Usagef("--timeout is positive")
			}
			h, err := a.openHub()
			if err != nil {
				return err
			}
			if _, err := h.readPool(cmd.Context(), w); err != nil {
				return err
			}
			if err := a.waitForPool(cmd.Context(), h, w, f); err != nil {
				return err
			}
			a.printNextWorker(w)
			return nil
		},
	}
	addPoolTimeout(cmd, &f, "for token and payload")
	a.AddHostedFlags(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
	nameHosted(cmd)
	return cmd
}

const (
	poolEvery = 3 * time.Second
	poolBeat  = time.Minute
	// poolRefused is for how long a condition has to refuse the NodePool before the wait ends: the first
	// passes of a new HostedCluster know neither its payload nor its pull secret.
	poolRefused = 2 * time.Minute
	// poolUntouched is for how long a NodePool may be without any condition: a pass takes milliseconds.
	poolUntouched = 30 * time.Second
)

// poolWait waits until the first machine of a NodePool can be made.
type poolWait struct {
	want       nodepool.Want
	read       func(context.Context) (map[string]any, error)
	userData   func(context.Context) (workers.UserData, error)
	report     func(text string)
	every      time.Duration
	beat       time.Duration // after so long without a line, what is missing is shown again; 0 never
	refused    time.Duration // how long a refusal has to hold
	untouched  time.Duration
	uid        string
	told       map[string]string // what was reported last, by condition
	reported   time.Time         // when something was
	last       nodepool.State
	seen       bool   // last was read
	userReason string // why user-data cannot be used yet
	began      time.Time
	refusing   time.Time // since when something refuses
}

// poolRefusedError is a NodePool that becomes usable only when somebody changes something.
type poolRefusedError struct{ reasons []string }

// Error implements error.
func (e *poolRefusedError) Error() string { return strings.Join(e.reasons, "; ") }

// run ends without an error when a machine can be made, with a *poolRefusedError when that does not come
// by itself, and with that of ctx when its time is over.
func (p *poolWait) run(ctx context.Context) error {
	p.told, p.began, p.reported = map[string]string{}, time.Now(), time.Now()
	for {
		done, err := p.look(ctx)
		if done || err != nil {
			return err
		}
		if p.beat > 0 && time.Since(p.reported) >= p.beat {
			p.reported = time.Now()
			p.report(fmt.Sprintf("waiting for %s: %s", time.Since(p.began).Round(time.Second), p.missing()[0]))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.every):
		}
	}
}

// say reports a text once.
func (p *poolWait) say(about, text string) {
	if p.told[about] != text {
		p.told[about], p.reported = text, time.Now()
		p.report(text)
	}
}

// look reads the NodePool once. A read that fails is tried again: the NodePool is there.
func (p *poolWait) look(ctx context.Context) (done bool, err error) {
	pool, err := p.read(ctx)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case apierrors.IsNotFound(err):
		return false, errors.New("it was deleted while this command waited")
	case err != nil:
		p.say("", "not read: "+err.Error()+"; trying again")
		return false, nil
	}
	switch uid := evidence.String(pool, "metadata", "uid"); {
	case p.uid == "":
		p.uid = uid
	case p.uid != uid:
		return false, errors.New("it was deleted and made again while this command waited")
	}
	if at := evidence.String(pool, "metadata", "deletionTimestamp"); at != "" {
		return false, fmt.Errorf("it is being deleted since %s", at)
	}
	p.last, p.seen = nodepool.StateOf(pool), true
	for _, r := range p.last.Readings {
		p.say(r.Type, r.Text())
	}
	if p.last.Untouched() && time.Since(p.began) >= p.untouched {
		p.say("controller", "no condition is set: the HyperShift operator has not looked at it (Deployment operator in namespace hypershift)")
	}
	if err := p.refusal(); err != nil {
		return false, err
	}
	return p.usable(ctx), nil
}

// refusal ends the wait when something has refused the NodePool for long enough.
func (p *poolWait) refusal() error {
	list := p.last.Blocking(nodepool.Refused)
	if len(list) == 0 {
		p.refusing = time.Time{}
		return nil
	}
	if p.refusing.IsZero() {
		p.refusing = time.Now()
	}
	if time.Since(p.refusing) < p.refused {
		return nil
	}
	e := &poolRefusedError{}
	for _, r := range list {
		e.reasons = append(e.reasons, r.Text())
	}
	return e
}

// usable reports whether a machine can be made: the payload of the config is built, nothing holds the
// controller, and user-data has the present token.
func (p *poolWait) usable(ctx context.Context) bool {
	p.userReason = ""
	if p.last.Config == "" || !p.last.Built || len(p.last.Blocking(nodepool.Refused)) > 0 {
		return false
	}
	u, err := p.userData(ctx)
	if err != nil {
		p.userReason = err.Error()
		p.say("user-data", "user-data: "+p.userReason+"; trying again")
		return false
	}
	p.say("user-data", "user-data of config "+u.Config+" has the present token and leads to "+u.Endpoint.Host)
	return true
}

// missing is what is still waited for.
func (p *poolWait) missing() []string {
	var list []string
	switch {
	case !p.seen:
		return []string{"the NodePool could not be read: " + p.told[""]}
	case p.last.Untouched():
		return []string{"the HyperShift operator has not looked at it: no condition is set (Deployment operator in namespace hypershift)"}
	}
	for _, r := range append(p.last.Blocking(nodepool.Refused), p.last.Blocking(nodepool.Waiting)...) {
		list = append(list, r.Text())
	}
	if p.userReason != "" {
		list = append(list, "user-data: "+p.userReason)
	}
	if len(list) == 0 {
		list = append(list, "the NodePool gives no config to machines yet, and no condition shows why: look at the log of the HyperShift operator")
	}
	return list
}

// waitForPool waits until the first machine can be made, and says what is missing where that does not come.
func (a *app) waitForPool(ctx context.Context, h hub, w nodepool.Want, f poolFlags) error {
	within, end := context.WithTimeout(ctx, f.timeout)
	defer end()
	plan := workers.Plan{Hosted: a.source.Hosted, NodePool: w.Name, ControlPlane: hosted.ControlPlaneOf(w.Namespace, w.Cluster)}
	wait := &poolWait{
		want: w, every: poolEvery, beat: poolBeat, refused: poolRefused, untouched: poolUntouched,
		read:     func(ctx context.Context) (map[string]any, error) { return h.api.Get(ctx, poolRef(w.Namespace, w.Name)) },
		userData: func(ctx context.Context) (workers.UserData, error) { return workers.Fresh(ctx, h, plan) },
		report: func(text string) {
			fmt.Fprintf(a.IO.Out, "%s  NodePool %s: %s\n", a.IO.Clock().UTC().Format(time.RFC3339), w.Name, a.CleanText(text))
		},
	}
	return a.poolEnd(ctx, wait, wait.run(within), f.timeout)
}

// poolEnd says how a wait ended.
func (a *app) poolEnd(ctx context.Context, wait *poolWait, err error, timeout time.Duration) error {
	w, clean := wait.want, a.CleanText
	var refused *poolRefusedError
	switch {
	case err == nil:
		fmt.Fprintf(a.IO.Out, "\nNodePool %s: its machines can be made now.\n", w.Name)
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; the NodePool stays. To wait on: %s nodepool wait %s %s", a.Name, w.Name, a.quotedHosted())
	case errors.As(err, &refused):
		fmt.Fprintf(a.IO.Out, "\nNodePool %s is refused and does not become usable by itself:\n", w.Name)
		for _, r := range refused.reasons {
			fmt.Fprintf(a.IO.Out, "  %s\n", clean(r))
		}
		a.printPoolNext(w, wait.last)
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(a.IO.Out, "\nNodePool %s is not ready after %s. Missing:\n", w.Name, timeout)
		for _, m := range wait.missing() {
			fmt.Fprintf(a.IO.Out, "  %s\n", clean(m))
		}
		a.printPoolNext(w, wait.last)
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return fmt.Errorf("NodePool %s/%s: %w", w.Namespace, w.Name, err)
}

// printPoolNext names what to do about a NodePool that no machine can be made for.
func (a *app) printPoolNext(w nodepool.Want, s nodepool.State) {
	for _, r := range s.Readings {
		if r.Next == nodepool.Wake {
			fmt.Fprintf(a.IO.Out, "Where its core configs are there: oc -n %s annotate nodepool %s rollcall.dev/looked=again "+
				"--overwrite\n", w.Namespace, w.Name)
		}
	}
	fmt.Fprintf(a.IO.Out, "\nNext: %s diagnose %s nodepool/%s\nThen: %s nodepool wait %s %s\n  or: %s nodepool delete %s "+
		"%s\n", a.Name, a.quotedHosted(), w.Name, a.Name,
		w.Name, a.quotedHosted(), a.Name, w.Name, a.quotedHosted())
}
