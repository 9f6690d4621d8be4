package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/workers"
)

func (a *app) workerUserDataCommand() *cobra.Command {
	var pool, to string
	cmd := &cobra.Command{
		Use:   "user-data --hosted NS/NAME --to FILE",
		Short: "write the user-data of new workers into a file, for a tool of your own",
		Long: `User-data reads the user-data that the NodePool gives to new machines now, checks that it
has the present token and leads to the ignition endpoint over TLS, and writes it into a
new file of mode 0600. It shows how old the token is and until when it is accepted, and
never the token. No machine is made, and no request is approved.

The file is a secret: whoever has it gets the pull secret, and a credential that files
requests in the hosted cluster. One file is for all workers that boot while its token is
accepted; read it again for later ones.`,
		Example: cmdutil.Example(a.Name, "worker user-data --hosted clusters/guest --to worker.ign", "for a machine that boots in the next hours"),
		Args:    cmdutil.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.workerUserData(cmd.Context(), pool, to) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&pool, "nodepool", "", "the `NAME` of the NodePool; default: the only one of the hosted cluster")
		s.StringVar(&to, "to", "", "write into this new `FILE`")
	})
	a.AddHostedFlags(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
	nameHosted(cmd)
	return cmd
}

func (a *app) workerUserData(ctx context.Context, pool, to string) error {
	if to == "" {
		return session.Usagef("--to FILE is missing: user-data is a secret and is not printed")
	}
	w, err := a.poolOf(pool, poolFlags{})
	if err != nil {
		return err
	}
	h, err := a.openHub()
	if err != nil {
		return err
	}
	if w.Name == "" {
		pools, err := h.poolsOf(ctx, w)
		if err != nil {
			return fmt.Errorf("list the NodePools of hosted cluster %s: %w", a.source.Hosted, err)
		}
		if len(pools) == 0 {
			return a.noNodePool(a.source.Hosted)
		}
		if len(pools) != 1 {
			return session.Usagef("--nodepool: hosted cluster %s has %d NodePools (%s); name one", a.source.Hosted, len(pools), strings.Join(pools, ", "))
		}
		w.Name = pools[0]
	}
	if _, err := h.readPool(ctx, w); err != nil {
		return err
	}
	u, err := workers.Fresh(ctx, h, workers.Plan{Hosted: a.source.Hosted, NodePool: w.Name, ControlPlane: hosted.ControlPlaneOf(w.Namespace, w.Cluster)})
	if err != nil {
		return err
	}
	path, err := filepath.Abs(to)
	if err != nil {
		return fmt.Errorf("--to %s: %w", to, err)
	}
	switch err := newfile.Bytes(path, 0o600, u.Raw); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("--to %s is there already: it stays; name a new file", to)
	case err != nil:
		return fmt.Errorf("write user-data: %w", err)
	}
	a.printUserData(w.Name, path, u)
	return nil
}

// printUserData says what was written, without a secret.
func (a *app) printUserData(pool, path string, u workers.UserData) {
	clean, now := a.CleanText, a.IO.Clock()
	fmt.Fprintf(a.IO.Out, "Wrote %s (mode 0600): user-data of config %s, NodePool %s of hosted cluster "+
		"%s.\n", clean(path), clean(u.Config), clean(pool), clean(a.source.Hosted))
	fmt.Fprintln(a.IO.Out, "It is a secret: do not mail it, and delete it when the workers have joined.")
	fmt.Fprintf(a.IO.Out, "It leads to %s.\n", clean(u.Endpoint.String()))
	if u.Generated.IsZero() {
		fmt.Fprintln(a.IO.Out, "How old its token is is not known: the token Secret does not show it. A token is accepted for 11 hours at least from when "+
			"it is made.")
	} else {
		end := u.Generated.Add(workers.TokenLife)
		fmt.Fprintf(a.IO.Out, "Its token is %s old and accepted until about %s (in %s); after a change of the NodePool's config for 2 hours at most.\n",
			now.Sub(u.Generated).Round(time.Minute), end.UTC().Format(time.RFC3339), max(end.Sub(now), 0).Round(time.Minute))
	}
	for _, p := range slices.Sorted(slices.Values(u.Plain)) {
		fmt.Fprintf(a.IO.Out, "http:// in it: %s. What machines ask by https stays encrypted through it.\n", clean(p))
	}
	fmt.Fprintf(a.IO.Out, "Next: boot the machines with it, each under the name that its Node gets, then approve their requests: %s csr list "+
		"%s\n", a.Name, a.quotedHosted())
}
