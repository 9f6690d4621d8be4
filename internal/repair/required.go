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

// A plan lies in a file that others can write. What protects the cluster is
// therefore derived here, from the action and its arguments; a plan may add to
// it, and one that leaves something out or says something else is refused.

// leastMembers is how many etcd members there are before a control-plane machine
// is touched: with two, one reboot is the loss of quorum.
const leastMembers = 3

// controlPlanePool reports whether etcd runs on the machines of a pool
// (openshift/api:machineconfiguration, two nodes with an arbiter: the arbiter has a member).
func controlPlanePool(pool string) bool { return pool == "master" || pool == "arbiter" }

// mandatory returns the guards that a step has whatever its plan says.
func mandatory(s Step) []Guard {
	if !s.Writes() {
		return nil
	}
	list := []Guard{{Guard: SameCluster}, {Guard: NoUpgrade}}
	pool, etcd := s.Args.Pool, controlPlanePool(s.Args.Pool)
	switch s.Action {
	case AdoptSpecConfig:
		list = append(list, Guard{Guard: PoolNotPaused, Subject: pool}, Guard{Guard: RenderExists, Subject: s.Args.Config})
		if etcd {
			list = append(list, Guard{Guard: EtcdQuorum})
		}
	case ApproveCSR: // its role is only what the plan says, so the guard does not depend on it
		list = append(list, Guard{Guard: EtcdQuorum})
	case RecreateRender:
		list = append(list, Guard{Guard: PoolNotPaused, Subject: pool})
		if etcd {
			list = append(list, Guard{Guard: OneAtATime, Subject: pool}, Guard{Guard: EtcdMembers, Count: leastMembers}, Guard{Guard: OthersAtRest})
		}
	case ChangeFields:
		if c, ok := changeOf(s.Args.Remedy); ok && c.guards != nil {
			list = append(list, c.guards(s.Args.Object)...)
		}
	case ReplacePod:
		list = append(list, redeployGuards(operatorOf(s.Args.Namespace))...)
	case RemoveMember:
		list = append(list, Guard{Guard: MemberDead, Subject: s.Args.Object}, Guard{Guard: OthersAtRest, Subject: s.Args.Host}, Guard{Guard: FreshBackup, Subject: s.Args.Content})
	case AlignAnnotations:
		list = append(list, Guard{Guard: PoolNotPaused, Subject: pool}, Guard{Guard: RenderExists, Subject: s.Args.Config},
			Guard{Guard: NoFurtherDrift, Subject: s.Args.Config}, Guard{Guard: OthersAtRest, Subject: s.Args.Host})
		if etcd {
			list = append(list, Guard{Guard: EtcdMembers, Count: leastMembers})
		}
	}
	return list
}

// covers reports whether a plan's guard is at least as strict as the mandatory one.
func (g Guard) covers(must Guard) bool {
	return g.Guard == must.Guard && g.Subject == must.Subject && g.Count >= must.Count
}

// nodeFields are the fields of a Node that a step is planned from.
func nodeFields() []string {
	return []string{pointer("metadata", "annotations", currentConfigKey),
		pointer("metadata", "annotations", desiredConfigKey), pointer("metadata", "annotations", stateKey)}
}

func poolFields() []string {
	return []string{specName, specSource, statusName, statusSource, "/status/updatedMachineCount"}
}

// readRule is what a step reads again before it acts.
type readRule struct {
	object Ref
	fields []string // nil: the object must not be there
	any    bool     // any object of the resource, once or more
}

// readRules returns exactly the reads of a step: no others are made, so that a
// plan cannot have this program read, compare and tell what it should not.
func readRules(s Step) []readRule {
	switch {
	case s.Action == AdoptSpecConfig:
		return []readRule{{object: poolRef(s.Args.Pool), fields: poolFields()}}
	case s.Action == ApproveCSR && s.Args.Signer == "client":
		return []readRule{{object: nodeRef(s.Args.Host)}}
	case s.Action == RecreateRender:
		return []readRule{{object: configRef(s.Args.Config)}, {object: nodeRef(""), fields: nodeFields(), any: true}}
	case s.Action == ChangeFields:
		if c, ok := changeOf(s.Args.Remedy); ok {
			return []readRule{{object: c.object(s.Args.Object), fields: c.reads}}
		}
	case s.Action == PutContent && s.Args.Remedy == bmcCredentials:
		return []readRule{{object: bareMetalHostRef(s.Args.Host), fields: credentialReads()}}
	case s.Action == PutContent:
		return []readRule{{object: infrastructureRef(), fields: infrastructureReads()}}
	case s.Action == TouchSecret:
		return []readRule{{object: bareMetalHostRef(s.Args.Host), fields: []string{secretName}}}
	case s.Action == RestartServer:
		return []readRule{{object: podRef(MirrorNamespace, s.Args.Object), fields: podFields()}}
	case s.Action == ReplacePod:
		return []readRule{{object: podRef(s.Args.Namespace, s.Args.Object), fields: podFields()}}
	case s.Action == RemoveMember:
		return []readRule{{object: memberRef(s.Args.Object), fields: memberFields()}}
	case s.Action == AlignAnnotations:
		return []readRule{{object: nodeRef(s.Args.Host), fields: nodeFields()}}
	}
	return nil
}

func (rule readRule) fits(rd Reading) bool {
	want := rule.object
	if rule.any && dnsName.MatchString(rd.Object.Name) {
		want.Name = rd.Object.Name
	}
	return rd.Object == want && slices.Equal(rd.Fields, rule.fields)
}

func checkReads(s Step) error {
	var wrong []error
	rules := readRules(s)
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
	wrong := []error{checkArgs(s), checkReads(s), p.checkAfter(s), p.checkOrder(s)}
	for _, must := range mandatory(s) {
		if !slices.ContainsFunc(s.Preconditions, func(g Guard) bool { return g.covers(must) }) {
			wrong = append(wrong, fmt.Errorf("the guard %s is left out or weaker than %s demands", must.Guard, s.Action))
		}
	}
	if remedy := remedyOf(s); remedy != "" && len(s.While) == 0 {
		wrong = append(wrong, fmt.Errorf("while is empty: %s is only done while a fault is there", s.Action))
	}
	if s.Action == Verify && !slices.Contains(s.Expect.Absent, p.Root) {
		wrong = append(wrong, fmt.Errorf("expect.absent does not name the plan's root %s at %s", p.Root.Fault, p.Root.Subject))
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

// checkAfter: the step after which a request may be believed is one of this plan,
// before it, and one that made the server serve.
func (p *Plan) checkAfter(s Step) error {
	if s.Args.After == "" {
		return nil
	}
	for _, before := range p.Steps {
		if before.ID == s.ID {
			break
		}
		if before.ID == s.Args.After && before.Action == AdoptSpecConfig {
			return nil
		}
	}
	return fmt.Errorf("args.after %q names no step before it that lets a host get its config", s.Args.After)
}

// checkOrder: what makes control-plane machines restart stands after a wait for etcd.
func (p *Plan) checkOrder(s Step) error {
	if s.Action == RestartServer && !slices.ContainsFunc(p.Steps, func(o Step) bool {
		return o.Action == PutContent && o.Args.Remedy == mcsCertificate && o.Args.Object == mcsLeaf
	}) {
		return errors.New("no step of the plan writes the certificate that the server is restarted for")
	}
	if s.Action == TouchSecret && !slices.ContainsFunc(p.Steps, func(o Step) bool {
		return o.Action == ChangeFields && o.Args.Remedy == bmcAddressRemedy && o.Args.Object == s.Args.Host
	}) {
		return errors.New("no step of the plan writes the address that metal3 is to take")
	}
	if s.Action != RecreateRender && s.Action != AlignAnnotations || !controlPlanePool(s.Args.Pool) {
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

// checkArgs judges what stands in titles, commands and requests.
func checkArgs(s Step) error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for name, v := range map[string]string{"pool": s.Args.Pool, "host": s.Args.Host, "config": s.Args.Config, "role": s.Args.Role, "object": s.Args.Object, "namespace": s.Args.Namespace, "resource": s.Args.Resource} {
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

// remedyOf is the remedy that a fault must name for the action to be done while
// it is there; "" for actions that prove their case themselves or only wait.
func remedyOf(s Step) string {
	switch s.Action {
	case ChangeFields, PutContent, ReplacePod, RemoveMember:
		return s.Args.Remedy
	case AdoptSpecConfig:
		return "adopt-spec-config"
	case RecreateRender:
		return "recreate-missing-render"
	case AlignAnnotations:
		return "align-annotations"
	}
	return ""
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
