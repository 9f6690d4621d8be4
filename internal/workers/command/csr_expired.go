package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// approveExpired approves the requests of all Nodes that lost their certificates, after a
// person saw the list and typed the cluster's name.
func (a *app) approveExpired(ctx context.Context, f csrFlags) error {
	j, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	name, err := j.clusterName(ctx)
	if err != nil {
		return err
	}
	shown := csr.Bulk(j.snapshot, j.expect)
	n, err := a.printExpired(shown, j.snapshot.Now)
	if err != nil || n == 0 {
		return err
	}
	if err := a.confirmCluster(f.cluster, name, n); err != nil {
		return err
	}
	// A person may have looked at the list for a while, so everything is read again.
	api := csr.Cluster{Objects: j.api}
	now, err := csr.Gather(ctx, api, a.IO.Clock())
	if err != nil {
		return err
	}
	uids := map[string]bool{}
	for _, x := range shown {
		uids[x.Decision.Request.UID] = x.Decision.Approve
	}
	who := j.whoAmI(ctx)
	var wrong []error
	for _, x := range csr.Bulk(now, j.expect) {
		switch {
		case !x.Asks() || !uids[x.Decision.Request.UID]:
			continue
		case !x.Decision.Approve:
			err = fmt.Errorf("request %s is no longer approved: %s", x.Decision.Name, x.Decision.Why)
		default:
			_, err = csr.ApproveIn(ctx, api, x.Decision.Request, x.Expected, now, who, false)
		}
		if err == nil {
			fmt.Fprintf(a.IO.Out, "%s of %s is approved.\n", a.CleanText(x.Decision.Name), a.CleanText(x.Node.Name))
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.IO.Out, "Each kubelet now asks for its serving certificate: run the same command again when the Nodes are Ready.")
	return err
}

// printExpired shows the list, and returns how many requests may be approved.
func (a *app) printExpired(list []csr.Expired, now time.Time) (int, error) {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.IO.Out, "Every Node is responding, and no serving request is pending.")
		return 0, err
	}
	clean := a.CleanText
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "NODE\tNO LEASE FOR\tREQUEST\tKIND\tAGE\tKEYS\tKEY\tAPPROVE\tWHY")
	n := 0
	for _, x := range list {
		d, request, age, key, word := x.Decision, "-", "-", "-", "no"
		if x.Asks() {
			request, age = d.Name, now.Sub(d.Request.Created).Round(time.Second).String()
			key = "sha256:" + d.Request.KeyDigest[:min(12, len(d.Request.KeyDigest))]
		}
		if d.Approve {
			n++
			word = "yes"
		}
		silent := "-"
		if !x.Node.Ready {
			silent = "no lease"
		}
		if !x.Node.Renewed.IsZero() {
			silent = now.Sub(x.Node.Renewed).Round(time.Second).String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", clean(x.Node.Name), silent, clean(request), d.Kind, age, x.Keys, key, word, clean(d.Why))
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	if err := page.Write(a.IO.Out, a.Style().Fold(rows.String())); err != nil {
		return 0, err
	}
	_, err := fmt.Fprintf(a.IO.Out, "%d of %d may be approved. %s.\n", n, len(list), strings.ToUpper(csr.NotProvenYet[:1])+csr.NotProvenYet[1:])
	return n, err
}

// confirmCluster wants the name of the cluster typed, at the terminal or with --cluster.
func (a *app) confirmCluster(typed, name string, n int) error {
	asks := a.IO.Screen.InTerminal && a.IO.Screen.ErrTerminal
	switch {
	case typed == name:
		return nil
	case typed != "":
		return fmt.Errorf("--cluster %q is not this cluster's name: nothing was changed", typed)
	case !asks:
		return fmt.Errorf("nothing was changed: to approve the %d, repeat with --cluster and the name of the cluster (Infrastructure, "+
			"status.infrastructureName)", n)
	}
	fmt.Fprintf(a.IO.Err, "Type the name of the cluster, %s, to approve %d requests: ", a.CleanText(name), n)
	line, err := bufio.NewReader(a.IO.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the confirmation: %w", err)
	}
	if strings.TrimSpace(line) != name {
		return errors.New("not confirmed: nothing was changed")
	}
	return nil
}

// clusterName is the name that the installer gave the cluster
// (openshift/api:config/v1 InfrastructureStatus.infrastructureName).
func (j *judged) clusterName(ctx context.Context) (string, error) {
	o, err := j.api.Get(ctx, kube.Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "infrastructures", Name: "cluster"})
	if err != nil {
		return "", fmt.Errorf("read the cluster's name: %w", err)
	}
	name := evidence.String(o, "status", "infrastructureName")
	if name == "" {
		return "", errors.New("read the cluster's name: Infrastructure cluster has no status.infrastructureName")
	}
	return name, nil
}
