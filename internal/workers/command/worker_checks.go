package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/infile"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// workerCheck is one line of what was checked before anything is made.
type workerCheck struct {
	outcome fault.Outcome // of the fault: absent is good
	stops   bool
	text    string
}

// joinSettles are the faults that a worker which joins settles: they do not stand in its
// way.
var joinSettles = []string{"hosted-no-worker-yet", "hosted-workers-to-create", "ignition-not-reached", "hosted-data-plane-unconnected"}

// workerChecks looks for what stands in the way of a new worker: the faults of the catalog
// about the hosted control plane and the NodePool, Nodes that have the names, user-data, and
// the ignition endpoint.
func (a *app) workerChecks(ctx context.Context, h hub, by provider.Provider, f workerFlags, p *workers.Plan, olds []workers.Old) ([]workerCheck, error) {
	o := a.source
	o.ReadSecrets = append(slices.Clone(o.ReadSecrets), p.ControlPlane)
	r, err := a.Session(o).Open(ctx)
	if err != nil {
		return nil, err
	}
	d, err := r.Diagnose(ctx)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if err := a.pickNodePool(d, p); err != nil {
		return nil, err
	}
	checks := faultChecks(d, hostedFaults(r.Catalog), p.NodePool)
	if err := nameWorkers(p, f.count); err != nil {
		return nil, err
	}
	replaceOlds(p, f, olds)
	checks = append(checks, nodeChecks(d, *p)...)
	image, err := imageCheck(ctx, h, f, p)
	if err != nil {
		return nil, err
	}
	checks = append(checks, image...)
	checks = append(checks, providerChecks(ctx, by, *p)...)
	checks = append(checks, a.clusterChecks(ctx, h, d.Now, *p)...)
	u, err := workers.Fresh(ctx, h, *p)
	if err != nil {
		return append(checks, workerCheck{fault.Present, true, err.Error()}), nil
	}
	checks = append(checks, workerCheck{fault.Absent, false, "user-data of config " + u.Config + " has the present token and leads to " + u.Endpoint.Host})
	return append(checks, endpointCheck(ctx, u)), nil
}

// hostedFaults are the faults about hosted clusters.
func hostedFaults(c *fault.Catalog) map[string]bool {
	set := map[string]bool{}
	for _, f := range c.Faults {
		set[f.ID] = f.Layer == "hosted"
	}
	return set
}

func endpointCheck(ctx context.Context, u workers.UserData) workerCheck {
	e := workers.AskEndpoint(ctx, u)
	switch {
	case e.OK:
		return workerCheck{fault.Absent, false, "the ignition endpoint answers here, with the certificate that workers trust"}
	case e.Reached:
		return workerCheck{fault.Present, true, "the ignition endpoint: " + e.Detail}
	}
	return workerCheck{fault.Unknown, false, "the ignition endpoint was not reached from here, which workers may: " + e.Detail}
}

// pickNodePool completes the plan with the only NodePool, and refuses one that HyperShift
// makes machines for.
func (a *app) pickNodePool(d *diagnosis.Diagnosis, p *workers.Plan) error {
	var pools []string
	for _, f := range d.Findings {
		if f.Subject.Kind == fault.NodePool && !slices.Contains(pools, f.Subject.Name) {
			pools = append(pools, f.Subject.Name)
		}
	}
	slices.Sort(pools)
	switch {
	case len(pools) == 0:
		return a.noNodePool(p.Hosted)
	case p.NodePool == "" && len(pools) == 1:
		p.NodePool = pools[0]
	case p.NodePool == "":
		return session.Usagef("--nodepool: hosted cluster %s has the NodePools %s; name one", p.Hosted, strings.Join(pools, ", "))
	case !slices.Contains(pools, p.NodePool):
		return session.Usagef("--nodepool %s: hosted cluster %s has the NodePools %s", p.NodePool, p.Hosted, strings.Join(pools, ", "))
	}
	return nil
}

// noNodePool is a hosted cluster for which no machine can be made yet.
func (a *app) noNodePool(of string) error {
	return session.Usagef("no NodePool of hosted cluster %s was found; `%s nodepool create NAME --hosted %s --replicas N` declares one", of, a.Name,
		shellcommand.Quote(of))
}

// faultChecks are the findings about the hosted control plane and the NodePool. Those that
// are absent are one line.
func faultChecks(d *diagnosis.Diagnosis, hostedFaults map[string]bool, pool string) []workerCheck {
	var list []workerCheck
	absent := 0
	for _, f := range d.Findings {
		mine := f.Subject.Kind == fault.Cluster && hostedFaults[f.Fault] || f.Subject.Kind == fault.NodePool && f.Subject.Name == pool
		if !mine || slices.Contains(joinSettles, f.Fault) || f.Severity == fault.Info {
			continue
		}
		switch f.Outcome {
		case fault.Present:
			list = append(list, workerCheck{fault.Present, f.Severity == fault.Error, f.Title + " (" + f.Fault + ")"})
		case fault.Unknown:
			if f.Severity == fault.Error {
				list = append(list, workerCheck{fault.Unknown, false, f.Fault + " was not checked: " + f.Reason})
			}
		case fault.Absent:
			if !f.Until.IsZero() { // it holds, and is normal for a while
				list = append(list, workerCheck{fault.Present, false, fmt.Sprintf("%s (%s): in progress, normal until %s; a worker may have to "+
					"wait for it", f.Title, f.Fault, f.Until.UTC().Format(time.RFC3339))})
				continue
			}
			absent++
		}
	}
	return append(list, workerCheck{fault.Absent, false, fmt.Sprintf("%d faults of the hosted control plane and NodePool %s are absent", absent, pool)})
}

// nodeChecks refuses names that hosts of the cluster have.
func nodeChecks(d *diagnosis.Diagnosis, p workers.Plan) []workerCheck {
	var list []workerCheck
	for _, c := range d.Coverage {
		if c.Need == evidence.Objects(evidence.Nodes, "").String() && c.State != evidence.Read && c.State != evidence.Empty {
			list = append(list, workerCheck{fault.Unknown, false, "whether a Node has one of the names: " + c.Reason})
		}
	}
	for _, w := range p.Workers {
		if slices.ContainsFunc(d.Hosts, func(h diagnosis.HostState) bool { return h.Name == w.Name && h.Expected }) {
			list = append(list, workerCheck{fault.Present, true, "the hosted cluster has a host " + w.Name + " already"})
		}
	}
	return list
}

// nameWorkers adds workers without a given name: NODEPOOL-xxxxx, as HyperShift calls Machines.
func nameWorkers(p *workers.Plan, count int) error {
	const room = 57 // of the 63 characters of kubernetes.io/hostname
	stem := strings.TrimRight(p.NodePool[:min(len(p.NodePool), room)], "-.")
	for range count {
		end, err := workers.NewSuffix()
		if err != nil {
			return err
		}
		p.Workers = append(p.Workers, provider.Worker{Name: stem + "-" + end})
	}
	if err := p.Check(); err != nil {
		return session.Usagef("%v; name each worker with --host NAME=IP, or add --count N", err)
	}
	return nil
}

// maxStream bounds stream metadata, which has some hundred kilobytes.
const maxStream = 16 << 20

// imageCheck completes the plan with the boot image of --stream, and compares it with the
// release that the NodePool gives to new machines.
func imageCheck(ctx context.Context, h hub, f workerFlags, p *workers.Plan) ([]workerCheck, error) {
	if f.stream == "" {
		return nil, nil
	}
	in, err := infile.Regular(f.stream)
	if err != nil {
		return nil, fmt.Errorf("--stream: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxStream))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, fmt.Errorf("--stream %s: %w", f.stream, err)
	}
	image, name, err := workers.BootImage(raw, f.arch)
	if err != nil {
		return nil, fmt.Errorf("--stream %s: %w", f.stream, err)
	}
	p.Image = image
	namespace, _, _ := strings.Cut(p.Hosted, "/")
	pool, err := h.Object(ctx, openshift.HyperShiftGroup, "nodepools", namespace, p.NodePool)
	if err != nil {
		return nil, fmt.Errorf("read NodePool %s/%s: %w", namespace, p.NodePool, err)
	}
	return checkLines([]provider.Check{workers.ImageSkew(name, evidence.String(pool, "status", "version"))}), nil
}

// providerChecks are what the provider knows beforehand: rights, quotas, images.
func providerChecks(ctx context.Context, by provider.Provider, p workers.Plan) []workerCheck {
	c, is := by.(provider.Checker)
	if !is {
		return nil
	}
	found, err := c.Check(ctx, p.Order(), p.Workers)
	if errors.Is(err, errors.ErrUnsupported) {
		return []workerCheck{{fault.Unknown, false, "rights, quotas and images: provider " + p.Provider + " checks none"}}
	}
	if err != nil {
		return []workerCheck{{fault.Unknown, false, "rights, quotas and images: " + err.Error()}}
	}
	return checkLines(found)
}

func checkLines(found []provider.Check) []workerCheck {
	var list []workerCheck
	for _, f := range found {
		switch f.Outcome {
		case provider.Passed:
			list = append(list, workerCheck{fault.Absent, false, f.Text})
		case provider.Failed:
			list = append(list, workerCheck{fault.Present, true, f.Text})
		case provider.Warning:
			list = append(list, workerCheck{fault.Present, false, f.Text})
		default: // what a program of somebody else says is not taken for a success
			list = append(list, workerCheck{fault.Unknown, false, f.Text})
		}
	}
	return list
}
