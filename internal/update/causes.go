package update

import (
	"context"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// restID is the check that shows what no other one names.
const restID = "diagnosis"

// causes puts each cause of the diagnosis, and each fault without a known one, at the check that
// shows it.
func (l *look) causes(checks []Check) {
	l.of, l.seen = map[string][]Finding{}, map[fault.Subject]bool{}
	at := func(id string) *Check {
		if i := slices.IndexFunc(checks, func(c Check) bool { return slices.Contains(c.Faults, id) }); i >= 0 {
			return &checks[i]
		}
		return &Check{ID: restID}
	}
	for _, root := range l.d.Roots {
		c := at(root.Fault)
		for i := range root.Cases {
			f := l.cause(c, root.Severity, &root.Cases[i])
			l.of[c.ID] = append(l.of[c.ID], f)
		}
	}
	for i := range l.d.Unexplained {
		u := &l.d.Unexplained[i]
		c := at(u.Fault)
		l.of[c.ID] = append(l.of[c.ID], l.unexplained(c, u))
	}
}

// severity is that of a fault for an update: what holds it is an error, whatever it is else.
func (c *Check) severity(id string, own fault.Severity) fault.Severity {
	switch {
	case slices.Contains(c.Hold, id):
		return fault.Error
	case slices.Contains(c.NewHosts, id):
		return fault.Warning
	}
	return own
}

// cause is a cause of the diagnosis with its first remedy.
func (l *look) cause(c *Check, severity fault.Severity, k *diagnosis.Case) Finding {
	f := Finding{Severity: c.severity(k.Fault, severity), Fault: k.Fault, Says: k.Title, Evidence: k.Evidence}
	if k.Confidence != diagnosis.Proven {
		f.Says += fmt.Sprintf(" (%s)", k.Confidence)
	}
	for _, key := range append([]fault.Key{k.Key}, k.Explains...) {
		l.seen[key.Subject] = true
		f.Hosts = append(f.Hosts, l.hostsOf(key.Subject)...)
	}
	if i := k.FirstRemedy(); i >= 0 {
		a := &k.Remedies[i]
		f.Do, f.See = append(f.Do, a.Title), a.Verify.Run
		for _, s := range a.Steps {
			if s.Run != "" {
				f.Do = append(f.Do, s.Run)
				break
			}
		}
	}
	f.Do = append(f.Do, l.Name+" explain "+k.Fault)
	if f.See == "" {
		f.See = l.diagnose(k.Subject)
	}
	return f
}

// unexplained is a fault of which no cause is known.
func (l *look) unexplained(c *Check, u *diagnosis.Unexplained) Finding {
	l.seen[u.Subject] = true
	diagnose := l.diagnose(u.Subject)
	return Finding{Severity: c.severity(u.Fault, u.Severity), Fault: u.Fault, Says: u.Title + " (cause unknown)", Hosts: l.hostsOf(u.Subject),
		Do: []string{diagnose, l.Name + " explain " + u.Fault}, See: diagnose, Evidence: u.Evidence}
}

// diagnose is the command that shows whether a subject is well again.
func (l *look) diagnose(s fault.Subject) string {
	call := l.Name + " diagnose"
	if s.Kind == fault.Host || s.Kind == fault.Pool {
		call += " " + s.String()
	}
	if l.Again != "" {
		call += " " + l.Again
	}
	return call
}

// hostsOf are the hosts that a subject stands for: a host itself, the hosts of a pool.
func (l *look) hostsOf(s fault.Subject) []string {
	switch s.Kind {
	case fault.Host:
		return []string{s.Name}
	case fault.Pool:
		return l.pool[s.Name]
	}
	return nil
}

// poolsOfHosts places the hosts in their pools: by what the machine-config-operator wrote on their
// Nodes, else by their roles.
func (l *look) poolsOfHosts(ctx context.Context) error {
	config, err := factOf(pools.Facts(), "host-config")
	if err != nil {
		return err
	}
	l.pool, l.poolOf = map[string][]string{}, map[string]string{}
	for i := range l.d.Hosts {
		h := &l.d.Hosts[i]
		if !h.Expected || !h.Named() {
			continue
		}
		pool, _, err := field[string](ctx, l, config, fault.Subject{Kind: fault.Host, Name: h.Name}, "pool")
		if err != nil || pool == "" { // the role is the pool of most hosts, and what is unknown here is said elsewhere
			pool = h.Role
		}
		l.poolOf[h.Name] = pool
		l.pool[pool] = append(l.pool[pool], h.Name)
	}
	return ctx.Err()
}
