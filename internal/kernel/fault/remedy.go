package fault

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Remedy is what to do about a fault: numbered steps with commands, how to see that they
// worked, how to undo them, and what they cost if the diagnosis is wrong. The YAML form is
// described in docs/writing-a-remedy.md.
type Remedy struct {
	ID        string             `json:"id"`
	Title     string             `json:"title"` // imperative, may have placeholders
	By        Actor              `json:"by"`
	Where     string             `json:"where,omitempty"` // outside the cluster: DNS, BMC, load balancer, ...
	Risk      Risk               `json:"risk"`
	RiskText  string             `json:"riskText,omitempty"` // the risk in words, where its class does not say enough
	Versions  string             `json:"versions,omitempty"`
	Platforms []string           `json:"platforms,omitempty"` // of Infrastructure, all where empty
	Given     map[string]FactRef `json:"given,omitempty"`     // besides those of the fault
	Requires  []Requirement      `json:"requires,omitempty"`
	Recovery  Recovery           `json:"recovery,omitempty"` // what is replaced or restored, where the cluster is not repaired in place
	Fix       bool               `json:"fix,omitempty"`      // `fix plan` carries it out; the id is that of the action
	Tried     Tried              `json:"tried,omitempty"`    // empty: nobody has tried it, it is advice
	Steps     []Step             `json:"steps"`
	Verify    Verify             `json:"verify"`
	Undo      string             `json:"undo,omitempty"`
	IfWrong   string             `json:"ifWrong,omitempty"`
	Refs      []Ref              `json:"refs"`
}

// Actor is who can do something about a fault.
type Actor string

// The actors, the nearest first. Rollcall is no actor of the catalog: it is that of a
// remedy that `fix` carries out.
const (
	ByRollcall Actor = "rollcall"
	ByPlan     Actor = "plan"     // whoever writes the plan of an installation
	ByCluster  Actor = "cluster"  // somebody with oc
	ByHost     Actor = "host"     // somebody on the host: ssh, console
	ByOutside  Actor = "outside"  // somebody who runs DNS, DHCP, load balancer, switch, BMC, registry, support
	ByDecision Actor = "decision" // somebody who decides: restore, replace, reinstall
)

// Actors lists the actors, the nearest first.
func Actors() []Actor { return []Actor{ByRollcall, ByPlan, ByCluster, ByHost, ByOutside, ByDecision} }

// Risk is the worst that a step can cause.
type Risk string

// The risks, mildest first.
const (
	RiskNone       Risk = "none"
	RiskReversible Risk = "reversible"
	RiskRestart    Risk = "restart" // pods or services restart
	RiskDrain      Risk = "drain"
	RiskReboot     Risk = "reboot"
	RiskPower      Risk = "power"
	RiskIdentity   Risk = "identity" // a stranger may get a host's identity, which cannot be revoked
	RiskDataLoss   Risk = "data-loss"
)

// Risks lists the risks, mildest first.
func Risks() []Risk {
	return []Risk{RiskNone, RiskReversible, RiskRestart, RiskDrain, RiskReboot, RiskPower, RiskIdentity, RiskDataLoss}
}

// Tried is where tests of Rollcall carry a remedy out.
type Tried string

// The places, the surest first.
const (
	TriedServers    Tried = "servers"    // in the lab: on the product's own servers
	TriedSimulation Tried = "simulation" // at an API server that is played
)

// Recovery is what a decision replaces or restores.
type Recovery string

// The recoveries that do not keep everything.
const (
	RecoverNode      Recovery = "node-replacement"
	RecoverQuorum    Recovery = "quorum-restore"
	RecoverBackup    Recovery = "backup-restore"
	RecoverReinstall Recovery = "reinstall"
)

// Requirement is a condition without which a remedy must not be used.
type Requirement struct {
	That string `json:"that"` // expression
	Says string `json:"says"` // the condition in words: "etcd has quorum"
}

// Step is one thing that a person does.
type Step struct {
	Do      string `json:"do"`                // imperative
	On      string `json:"on,omitempty"`      // "host": on the host itself; else where oc works
	Run     string `json:"run,omitempty"`     // the command, may have placeholders
	Expect  string `json:"expect,omitempty"`  // what it shows, or what to do with it
	Changes bool   `json:"changes,omitempty"` // it changes something
}

// Verify is how to see that a remedy worked.
type Verify struct {
	Run    string   `json:"run,omitempty"`
	Expect string   `json:"expect"`
	Takes  Duration `json:"takes,omitzero"` // how long it usually takes
}

// Advice is a remedy for one finding, with its placeholders filled.
type Advice struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	By       Actor    `json:"by"`
	Where    string   `json:"where,omitempty"`
	Risk     Risk     `json:"risk"`
	RiskText string   `json:"riskText,omitempty"`
	Applies  Outcome  `json:"applies"` // present: every requirement holds; absent: do not use it; unknown: check first
	Requires []string `json:"requires,omitempty"`
	Recovery Recovery `json:"recovery,omitempty"`
	Fix      bool     `json:"fix,omitempty"`
	Steps    []Step   `json:"steps"`
	Verify   Proof    `json:"verify"`
	Undo     string   `json:"undo,omitempty"`
	IfWrong  string   `json:"ifWrong,omitempty"`

	// NeedsProof says that the cause is not proven: of the steps only those are there that read
	// and come before the first change, and no plan is made.
	NeedsProof bool `json:"needsProof,omitempty"`
}

// UntilProven is the advice for a cause that is not proven: what looks whether it is this cause.
// What changes something needs proof, and so does a plan. Advice that changes nothing stays as it is.
func (a Advice) UntilProven() Advice {
	changes := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Changes || strings.HasPrefix(s.Run, "rollcall fix plan") })
	if changes < 0 && a.Risk == RiskNone {
		return a
	}
	last := slices.IndexFunc(a.Steps, func(s Step) bool { return !s.reads() || changes < 0 && s.Run == "" }) // words about a decision
	if last >= 0 {
		a.Steps = slices.Clone(a.Steps[:last])
	}
	a.NeedsProof, a.Fix, a.Undo, a.IfWrong = true, false, "", ""
	return a
}

// reads reports whether a step only looks: its command changes nothing, and neither do its words.
func (s Step) reads() bool {
	if s.Changes || strings.HasPrefix(s.Run, "rollcall fix plan") || tells.MatchString(s.Do) {
		return false
	}
	first, _, _ := strings.Cut(s.Do, " ")
	return s.Run != "" || slices.Contains(looks, first)
}

// looks begin a step without a command that changes nothing.
var looks = []string{"Look", "Read", "See", "Check", "Compare", "Ask", "Find", "Watch", "Decide", "Choose", "On", "Do"}

// tells matches a sentence, or a part of one, that says to change something.
var tells = regexp.MustCompile(`(?i)(?:^|[.;:?] |, (?:then |and |or )?|\band |\bthen )` +
	`(?:correct [a-z]|put it|(?:give|name the servers|apply|remove|boot|bring|repair|add|set|restart|` +
	`re-create|unpause|unlock|install|eject|replace|copy|delete|scale) ` +
	`(?:it|that|them|the|this|these|a|an|one|what|its|yours)\b)`)

// Proof is how to see that advice worked.
type Proof struct {
	Run    string `json:"run,omitempty"`
	Expect string `json:"expect"`
	Takes  string `json:"takes,omitempty"` // how long it usually takes, as "10m"
}

// Actor is who carries the advice out. What somebody has to decide stays a decision.
func (a Advice) Actor() Actor {
	if a.Fix && a.By != ByDecision {
		return ByRollcall
	}
	return a.By
}

// check reports what is wrong with a remedy by itself.
func (r *Remedy) check() (wrong mistakes) {
	wrong.checkID(Where{"id"}, r.ID)
	wrong.need(r.Title, "title", "write what to do, in the imperative")
	if len(r.Steps) == 0 {
		wrong.add(Where{"steps"}, "write - do: WHAT", "is missing")
	}
	if r.Verify.Expect == "" {
		wrong.add(Where{"verify", "expect"}, "write what a person sees when it worked", "is missing")
	}
	oneOf(&wrong, Where{"by"}, r.By, []Actor{ByPlan, ByCluster, ByHost, ByOutside, ByDecision})
	if (r.By == ByOutside) != (r.Where != "") {
		wrong.add(Where{"where"}, "write whose work it is, as DNS; leave it out otherwise", "it is needed for by: outside and only there")
	}
	oneOf(&wrong, Where{"risk"}, r.Risk, Risks())
	if r.Recovery != "" {
		oneOf(&wrong, Where{"recovery"}, r.Recovery, []Recovery{RecoverNode, RecoverQuorum, RecoverBackup, RecoverReinstall})
		if r.By != ByDecision || len(r.Requires) == 0 {
			wrong.add(Where{"recovery"}, "write by: decision and requires", "nothing is given up without proof and a decision")
		}
	}
	if r.Tried != "" {
		oneOf(&wrong, Where{"tried"}, r.Tried, []Tried{TriedServers, TriedSimulation})
	}
	if r.Fix && r.Tried == "" {
		wrong.add(Where{"tried"}, "write servers or simulation, after its test", "is missing: what Rollcall carries out is tried first")
	}
	wrong.checkVersions(r.Versions)
	if r.Risk != RiskNone {
		wrong.need(r.Undo, "undo", "write how to undo a remedy that changes something, or that it cannot be undone")
		wrong.need(r.IfWrong, "ifWrong", "write what it costs if the diagnosis is wrong")
	}
	if len(r.Refs) == 0 {
		wrong.add(Where{"refs"}, "write - {repo: OWNER/NAME, path: PATH}", "is missing: a remedy names its source")
	}
	r.checkSteps(&wrong)
	return wrong
}

func (r *Remedy) checkSteps(wrong *mistakes) {
	changes := false
	for i, s := range r.Steps {
		if s.Do == "" {
			wrong.add(Where{"steps", i, "do"}, "write what to do, in the imperative", "is missing")
		}
		if s.On != "" && s.On != "host" {
			wrong.add(Where{"steps", i, "on"}, "write host, or leave it out", "%q is none of host", s.On)
		}
		checkFolded(wrong, Where{"steps", i, "do"}, s.Do)
		checkFolded(wrong, Where{"steps", i, "expect"}, s.Expect)
		if s.Changes && i == 0 && len(r.Requires) == 0 && !r.Fix {
			wrong.add(Where{"steps", 0}, "begin with a step that looks, or add requires", "a look comes before a change, or a requirement")
		}
		changes = changes || s.Changes
	}
	if !changes && r.Risk != RiskNone && slices.Contains(Risks(), r.Risk) && r.By != ByDecision {
		wrong.add(Where{"risk"}, "write changes: true at the step that does, or risk: none", "%q, and no step changes anything", r.Risk)
	}
	if changes && r.Risk == RiskNone {
		wrong.add(Where{"risk"}, "write the worst that the step can cause", "none, and a step changes something")
	}
	checkFolded(wrong, Where{"verify", "expect"}, r.Verify.Expect)
	for i, q := range r.Requires {
		if q.That == "" || q.Says == "" {
			wrong.add(Where{"requires", i}, "write `that: EXPRESSION` and `says: the condition in words`", "`that` and `says` are needed")
		}
	}
}

// folded matches a command within a sentence. A page to read is not one.
var folded = regexp.MustCompile("(?:^|[\\s`(\"])((?:oc|kubectl) " +
	"(?:-n|get|describe|patch|delete|apply|replace|annotate|label|scale|adm|debug|exec|logs|edit|create|extract|rollout|set|login|config)\\b" +
	"|sudo [a-z-]+|systemctl (?:start|stop|restart|enable|disable|status|show)\\b|(?:crictl|podman) (?:ps|logs|pull|exec|rmi|inspect|image|login|run)\\b" +
	"|journalctl -|openssl (?:s_client|x509|req)\\b|chronyc (?:tracking|sources)\\b|nmcli (?:-|con|device)|rpm-ostree (?:status|cancel|cleanup|rebase)\\b" +
	"|openshift-install (?:agent|create|wait-for|gather|version)\\b" +
	"|rollcall(?:-host)? (?:--?[a-z]|collect|csr|demo|diagnose|fix|list|preflight|scan|watch)[^`\"]*)")

// checkFolded reports a command that is in a sentence: it cannot be copied as a whole, no
// test reads it, and a reader passes over it.
func checkFolded(wrong *mistakes, at Where, text string) {
	if m := folded.FindStringSubmatch(text); m != nil {
		wrong.add(at, "put it into run, in a step of its own where this one has a command", "%q is a command within a sentence", m[1])
	}
}

// locatedText is a text of an entry and where it is.
type locatedText struct {
	at   Where
	text string
}

// texts lists everything of a remedy that may have placeholders.
func (r *Remedy) texts() []locatedText {
	list := []locatedText{
		{Where{"title"}, r.Title}, {Where{"riskText"}, r.RiskText}, {Where{"verify", "run"}, r.Verify.Run},
		{Where{"verify", "expect"}, r.Verify.Expect}, {Where{"undo"}, r.Undo}, {Where{"ifWrong"}, r.IfWrong},
	}
	for i, s := range r.Steps {
		list = append(list, locatedText{Where{"steps", i, "do"}, s.Do}, locatedText{Where{"steps", i, "run"}, s.Run},
			locatedText{Where{"steps", i, "expect"}, s.Expect})
	}
	for i, q := range r.Requires {
		list = append(list, locatedText{Where{"requires", i, "says"}, q.Says})
	}
	return list
}

// Bind returns the fault under which the expressions and placeholders of a remedy are
// compiled: with the facts of both.
func (r *Remedy) Bind(f *Fault) (*Fault, error) {
	both := &Fault{ID: f.ID + "/" + r.ID, For: f.For, Given: maps.Clone(f.Given)}
	if both.Given == nil {
		both.Given = map[string]FactRef{}
	}
	for name, given := range r.Given {
		if other, taken := both.Given[name]; taken && other != given {
			return nil, fmt.Errorf("remedy %s: given %s is the fact %s, and %s in fault %s", r.ID, name, given.Fact, other.Fact, f.ID)
		}
		both.Given[name] = given
	}
	return both, nil
}

// Fill fills the placeholders of a remedy, without judging its requirements. show returns
// the values of an expression, nil where they are not known: a command then has a
// placeholder that a person fills, as <HOST>, and a sentence says "the host".
func (r *Remedy) Fill(f *Fault, s Subject, show func(expr string) []string) Advice {
	say := func(text string) string {
		return strings.TrimSpace(withoutGaps(fill(f, s, text, func(name string, values []string) string {
			if values == nil {
				return gap(name)
			}
			return strings.Join(values, ", ")
		}, show)))
	}
	command := func(text string) string {
		return strings.TrimSpace(fill(f, s, text, func(name string, values []string) string {
			if len(values) == 0 || slices.ContainsFunc(values, unfit) {
				return blank(name)
			}
			return strings.Join(values, " ")
		}, show))
	}
	a := Advice{ID: r.ID, Title: say(r.Title), By: r.By, Where: r.Where, Risk: r.Risk, RiskText: say(r.RiskText), Recovery: r.Recovery, Fix: r.Fix,
		Verify: Proof{Run: command(r.Verify.Run), Expect: say(r.Verify.Expect)}, Undo: say(r.Undo), IfWrong: say(r.IfWrong)}
	if d := r.Verify.Takes.Duration; d > 0 {
		a.Verify.Takes = Span(d)
	}
	for _, step := range r.Steps {
		a.Steps = append(a.Steps, Step{Do: say(step.Do), On: step.On, Run: command(step.Run), Expect: say(step.Expect), Changes: step.Changes})
	}
	return a
}

// fill replaces the placeholders of a text.
func fill(f *Fault, s Subject, text string, write func(name string, values []string) string, show func(expr string) []string) string {
	return hole.ReplaceAllStringFunc(text, func(m string) string {
		name := m[1 : len(m)-1]
		if name == string(f.For) {
			return write(name, []string{s.Name})
		}
		return write(name, show(name))
	})
}

// blank is a placeholder that a person fills.
func blank(name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return "<" + strings.ToUpper(wordStart.ReplaceAllString(name, "${1}_${2}")) + ">"
}

// wordStart is where a word begins in a field's name.
var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

var wordOfCommand = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,\[\]][A-Za-z0-9_./:@%+=,\[\]-]*$`)

// unfit reports whether a value must not be in a command that somebody pastes: it
// comes out of evidence, and evidence is hostile.
func unfit(v string) bool { return !wordOfCommand.MatchString(v) }

// DataRisk reports whether a fault is an error about etcd or one whose remedies replace a
// control-plane node or restore etcd: data or the quorum may be lost.
func (c *Catalog) DataRisk(f *Fault) bool {
	if f.Severity != Error {
		return false
	}
	return slices.Contains(strings.Split(f.ID, "-"), "etcd") || slices.ContainsFunc(f.Remedies, func(id string) bool {
		r, ok := c.Remedy(id)
		return ok && r.Recovery != "" && r.Recovery != RecoverReinstall
	})
}
