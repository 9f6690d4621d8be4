package repair

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A plan is a file that others can write. What protects the cluster is
// therefore derived here, from the action and its arguments; a plan may add to
// it, and one that leaves something out or contains something else is refused.

// leastMembers is how many etcd members there are before a control-plane machine
// is touched: with two, one reboot is the loss of quorum.
const leastMembers = 3

// controlPlanePool reports whether etcd runs on the machines of a pool
// (openshift/api:machineconfiguration, two nodes with an arbiter: the arbiter has a member).
func controlPlanePool(pool string) bool { return pool == "master" || pool == "arbiter" }

// mandatory returns the guards that a step has whatever its plan says.
func mandatory(s Step) []Guard {
	a, ok := actionOf(s.Action)
	if !ok || !a.writes() {
		return nil
	}
	list := []Guard{{Guard: SameCluster}, {Guard: NoUpgrade}}
	if a.guards != nil {
		list = append(list, a.guards(s.Args)...)
	}
	return list
}

// readRule is what a step reads again before it acts.
type readRule struct {
	object Ref
	fields []string // nil: the object must not be there
	any    bool     // any object of the resource, once or more
}

func (rule readRule) fits(rd Reading) bool {
	want := rule.object
	if rule.any && dnsName.MatchString(rd.Object.Name) {
		want.Name = rd.Object.Name
	}
	return rd.Object == want && slices.Equal(rd.Fields, rule.fields)
}

// checkReads refuses all reads but exactly those of the action, so that a plan cannot have this
// program read, compare and report what it should not.
func checkReads(s Step, a action) error {
	var wrong []error
	var rules []readRule
	if a.reads != nil {
		rules = a.reads(s.Args)
	}
	absent := digestBytes([]byte("absent"))
	for _, rd := range s.Reads {
		i := slices.IndexFunc(rules, func(r readRule) bool { return r.fits(rd) })
		switch {
		case i < 0:
			wrong = append(wrong, fmt.Errorf("reads: %s does not read these fields of %s", s.Action, rd.Object))
			continue
		case !digestForm.MatchString(rd.Digest) || (rd.Digest == absent) != (len(rules[i].fields) == 0):
			wrong = append(wrong, fmt.Errorf("reads: the digest of %s is none that %s can go by", rd.Object, s.Action))
		}
		for f := range rd.Seen {
			if f != "" && !slices.Contains(rd.Fields, f) {
				wrong = append(wrong, fmt.Errorf("reads: %s is shown of %s and is not one of its fields", f, rd.Object))
			}
		}
	}
	for _, r := range rules {
		if !slices.ContainsFunc(s.Reads, r.fits) {
			wrong = append(wrong, fmt.Errorf("reads: %s needs %s, which is left out", s.Action, r.object))
		}
	}
	return errors.Join(wrong...)
}

// checkRequired judges one step by what its action demands.
func (p *Plan) checkRequired(s Step) error {
	a, ok := actionOf(s.Action)
	if !ok {
		return fmt.Errorf("there is no action %q", s.Action)
	}
	wrong := []error{checkArgs(s), checkReads(s, a), p.checkOrder(s, a), p.checkHosted(s, a)}
	if a.fits != nil {
		wrong = append(wrong, a.fits(p, s))
	}
	for _, must := range mandatory(s) {
		if !slices.ContainsFunc(s.Preconditions, func(g Guard) bool { return g.covers(must) }) {
			wrong = append(wrong, fmt.Errorf("the guard %s is left out or weaker than %s demands", must.Guard, s.Action))
		}
	}
	if remedy := remedyOf(s); remedy != "" && len(s.While) == 0 {
		wrong = append(wrong, fmt.Errorf("while is empty: %s is only done while a fault is there", s.Action))
	}
	return errors.Join(wrong...)
}

// checkWords compares what people read of a step with what it does.
func (p *Plan) checkWords(s Step) error {
	var wrong []error
	want := described(s, p.Root)
	for _, f := range []struct{ name, have, want string }{
		{"subject", s.Subject, want.Subject}, {"title", s.Title, want.Title}, {"risk", string(s.Risk), string(want.Risk)},
		{"riskText", s.RiskText, want.RiskText}, {"proof", string(s.Proof), string(want.Proof)}, {"oc", s.OC, want.OC},
		{"preImage", s.PreImage, want.PreImage}, {"inverse", s.Inverse, want.Inverse}, {"expect.text", s.Expect.Text, want.Expect.Text},
	} {
		if f.have != f.want {
			wrong = append(wrong, fmt.Errorf("%s does not describe what the step does, which is %q", f.name, f.want))
		}
	}
	return errors.Join(wrong...)
}

// checkOrder: what makes control-plane machines restart comes after a wait for etcd.
func (p *Plan) checkOrder(s Step, a action) error {
	if !a.waitsForEtcd || !controlPlanePool(s.Args.Pool) {
		return nil
	}
	for _, before := range p.Steps {
		if before.ID == s.ID {
			break
		}
		if before.Action == WaitEtcd && before.Args.Members >= leastMembers {
			return nil
		}
	}
	return fmt.Errorf("no step before it waits for %d healthy etcd members, and it makes control-plane machines restart", leastMembers)
}

var (
	dnsName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

const maxDeadline = 24 * time.Hour

// checkArgs judges what is used in titles, commands and requests.
func checkArgs(s Step) error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for name, v := range map[string]string{"pool": s.Args.Pool, "host": s.Args.Host, "config": s.Args.Config, "role": s.Args.Role,
		"object": s.Args.Object, "namespace": s.Args.Namespace, "resource": s.Args.Resource} {
		if v != "" && !dnsName.MatchString(v) {
			fail("args.%s %q is not a name", name, v)
		}
	}
	if c := s.Args.Config; c != "" {
		if m := renderedName.FindStringSubmatch(c); m == nil || m[1] != s.Args.Pool {
			fail("args.config %q is not a rendered config of pool %q", c, s.Args.Pool)
		}
	}
	if c := s.Args.Content; c != "" && !digestForm.MatchString(c) {
		fail("args.content %q is not a digest", c)
	}
	if f := s.Args.From; f != "" {
		if host, ok := strings.CutSuffix(f, ":"+HeldPath); !ok || !dnsName.MatchString(host) {
			fail("args.from %q is not HOST:%s", f, HeldPath)
		}
	}
	for _, ip := range s.Args.IPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			fail("args.ips: %q is not an address", ip)
		}
	}
	if b := s.Args.Boot; len(b) > 200 || strings.ContainsFunc(b, func(r rune) bool { return !unicode.IsPrint(r) }) {
		fail("args.boot is longer than 200 bytes or not printable")
	}
	if b := s.Args.Backup; b != "" && (checkBackupPath(b) != nil || strings.ContainsFunc(b, func(r rune) bool { return !unicode.IsPrint(r) })) {
		fail("args.backup is not an absolute path")
	}
	if number, action, ok := strings.Cut(s.ID, "-"); !ok || action != string(s.Action) || number == "" {
		fail("the id is not NUMBER-%s", s.Action)
	} else if _, err := strconv.ParseUint(number, 10, 16); err != nil {
		fail("the id is not NUMBER-%s", s.Action)
	}
	if s.Deadline.Duration > maxDeadline {
		fail("the deadline is more than %v", maxDeadline)
	}
	return errors.Join(wrong...)
}

// remedyOf is the remedy that a fault must have for the step to act while it is present; "" for
// actions that prove their case themselves or only wait.
func remedyOf(s Step) string {
	a, ok := actionOf(s.Action)
	if !ok || a.remedyOf == nil {
		return ""
	}
	return a.remedyOf(s.Args)
}

// checkWhile refuses a plan whose steps are done while something is there that
// they do not remedy: that would be no condition.
func (r *run) checkWhile() error {
	for _, s := range r.plan.Steps {
		remedy := remedyOf(s)
		if remedy == "" {
			continue
		}
		for _, k := range s.While {
			f, ok := r.Catalog.Fault(k.Fault)
			if !ok || !slices.Contains(f.Remedies, remedy) {
				return refuse("step %s is for %s, of which %s is not a remedy", s.ID, k.Fault, remedy).instead("make a new plan")
			}
		}
	}
	return nil
}
