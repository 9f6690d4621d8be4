package repair

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

var update = flag.Bool("update", false, "write docs/repair-faults.md and docs/repair-changes.md")

// tried is a repair that is tried: a cluster that needs it, and a plan for it.
type tried struct {
	name   string
	make   func(t *testing.T) (*rig, *Plan)
	points []Point // of a whole run
}

func targets() []tried {
	var list []tried
	for _, c := range changeCases() {
		list = append(list, tried{name: "change-fields: " + c.remedy, make: func(t *testing.T) (*rig, *Plan) {
			r := newChangeRig(t, c)
			return r.rig, r.mustPlan(t)
		}})
	}
	put := func(remedy string, ask Ask, prepare func(*testing.T, *changeRig)) func(t *testing.T) (*rig, *Plan) {
		return func(t *testing.T) (*rig, *Plan) {
			r := putRig(t, remedy)
			prepare(t, r)
			p, err := r.putPlan(t, ask)
			if err != nil {
				t.Fatal(err)
			}
			return r.rig, p
		}
	}
	static := func(remedy string) func(t *testing.T) (*rig, *Plan) {
		return func(t *testing.T) (*rig, *Plan) {
			r := staticRig(t, remedy)
			p, err := r.putPlan(t, r.memberAsk(t))
			if err != nil {
				t.Fatal(err)
			}
			return r.rig, p
		}
	}
	return append(list,
		tried{name: "replace-pod: " + replaceInstaller, make: static(replaceInstaller)},
		tried{name: "remove-member: " + removeDeadMember, make: static(removeDeadMember)},
		tried{name: "put-content: " + bmcCredentials + ", no Secret", make: put(bmcCredentials, bmcAsk, func(*testing.T, *changeRig) {})},
		tried{name: "put-content: " + bmcCredentials + ", wrong values", make: put(bmcCredentials, bmcAsk, func(t *testing.T, r *changeRig) {
			r.put(secretRef(openshift.MachineAPINamespace, "worker-1-bmc"), newContent(t, "secrets", map[string]string{"username": "root", "password": "old"}))
		})},
		tried{name: "put-content, restart-server: " + mcsCertificate, make: put(mcsCertificate, noAsk, func(t *testing.T, r *changeRig) { r.withAuthority(t) })},
		tried{name: "put-content, restart-server: " + mcsCertificate + ", new authority", make: put(mcsCertificate,
			Ask{MCS: CertificateAsk{NewCA: true}}, withoutAuthority)},
		tried{name: "adopt-spec-config, approve-csr, recreate-render: the desync", make: func(t *testing.T) (*rig, *Plan) {
			r := newRig(t, desync(t))
			return r, r.plan(t)
		}},
		tried{name: "adopt-spec-config, approve-csr, align-annotations: the desync", make: func(t *testing.T) (*rig, *Plan) {
			r := newRig(t, desync(t))
			return r, r.alignPlan(t)
		}})
}

// withoutAuthority leaves the old CA in the bundle, without its key, and a pointer with it.
func withoutAuthority(t *testing.T, r *changeRig) {
	ca, err := oneAuthority()
	if err != nil {
		t.Fatal(err)
	}
	r.put(Ref{Version: "v1", Resource: "configmaps", Namespace: "kube-system", Name: "root-ca"}, newContent(t, "configmaps", map[string]string{"ca.crt": ca.cert}))
	r.put(secretRef(openshift.MachineAPINamespace, "worker-user-data"), newContent(t, "secrets",
		map[string]string{"userData": `{"ignition":{"version":"3.2.0","security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}}}}`}))
}

// alignPlan is a plan for what the hosts hold and the render that differ in nothing.
func (r *rig) alignPlan(t *testing.T) *Plan {
	t.Helper()
	ask := r.ask(t)
	ask.Align = true
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Held: r.held(t, renderObject(missing, "server-b"))}).Plan(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Issue(r.dir, ".yaml"); err != nil {
		t.Fatal(err)
	}
	return p
}

// none says that a fault cannot happen at any write of an action.
const none = "does not apply"

// injections are what goes wrong around each write of a repair, and how it must end. try
// returns what is wrong, none, or "".
var injections = []struct {
	name, end string
	try       func(t *testing.T, a tried) string
}{
	{"killed before each write", "resume ends it", func(t *testing.T, a tried) string { return killedAt(t, a, "before write") }},
	{"killed after each write", "resume ends it", func(t *testing.T, a tried) string { return killedAt(t, a, "after write") }},
	{"killed after each write, then undone", "undone, or what stays is named with the reason", killedThenUndone},
	{"another writer, other fields, at each write", "reads again and writes once", otherFields},
	{"another writer, the same fields, at each write", "refused, nothing more written", sameFields},
	{"API unreachable (500) from the start", "nothing written, resume ends it", func(t *testing.T, a tried) string { return deniedFromStart(t, a, 500) }},
	{"API unreachable (500) from each write on", "stops, resume ends it", func(t *testing.T, a tried) string { return deniedAt(t, a, 500) }},
	{"permission lost (403) from the start", "nothing written, resume ends it", func(t *testing.T, a tried) string { return deniedFromStart(t, a, 403) }},
	{"permission lost (403) from each write on", "stops, resume ends it", func(t *testing.T, a tried) string { return deniedAt(t, a, 403) }},
	{"another cluster at the start, and at each resume", "refused, nothing written", otherCluster},
	{"an update begins before each write (guard)", "refused, nothing more written", func(t *testing.T, a tried) string {
		return turns(t, a, "is under way", func(r *rig, _ Step) bool { r.updateBegins(); return true })
	}},
	{"an etcd member becomes unhealthy before each write (guard)", "refused, nothing more written", func(t *testing.T, a tried) string {
		return turns(t, a, "etcd", func(r *rig, s Step) bool {
			if !slices.ContainsFunc(s.Preconditions, func(g Guard) bool { return g.Guard == EtcdQuorum || g.Guard == EtcdMembers }) {
				return false
			}
			r.memberFails()
			return true
		})
	}},
	{"object changed since the plan, before each write", "refused, nothing more written", func(t *testing.T, a tried) string {
		return turns(t, a, "is not as it was", (*rig).changesRead)
	}},
	{"second process, another state directory", "the second writes nothing", secondProcess},
	{"journal cannot be written at the start", "nothing written", func(t *testing.T, a tried) string {
		r, p := a.make(t)
		r.exec.StateDir = "/dev/full/x"
		_, err := r.exec.Apply(t.Context(), p)
		if err == nil || len(r.targetWrites()) > 0 {
			return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
		}
		return ""
	}},
	{"disk full for the journal, at each of its records", "stops, resume ends it", diskFull},
}

// TestInjections tries every fault at every action; docs/repair-faults.md is what was seen.
// The sample has every fault and every action.
func TestInjections(t *testing.T) {
	every := 12
	switch {
	case sample.Whole() || *update:
		every = 1
	case testing.Short():
		every = 16 // for the race detector they are alike
	}
	const path = "../../docs/repair-faults.md"
	have, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Faults during a repair\n\nWhat goes wrong around the writes of each repair, and how it ends. \"Each write\" is a run of its " +
		"own for every write of the plan. Generated by the test `TestInjections` of internal/repair, which fails where a case ends otherwise.\n\n| " +
		"repair | fault | end |\n| --- | --- | --- |\n")
	for i, a := range targets() {
		a.run(t)
		for j, in := range injections {
			if (i+j)%every != 0 {
				continue
			}
			end := in.end
			t.Run(a.name+"/"+in.name, func(t *testing.T) {
				switch wrong := in.try(t, a); wrong {
				case "":
				case none:
					end = none
				default:
					end = "WRONG"
					t.Error(wrong)
				}
			})
			row := fmt.Sprintf("| %s | %s | %s |\n", a.name, in.name, end)
			if every > 1 && !strings.Contains(string(have), row) {
				t.Errorf("%s does not have: %s", path, row)
			}
			b.WriteString(row)
		}
	}
	if every > 1 {
		return
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(have) != b.String() && !*update {
		t.Errorf("%s is not what was seen: run the test with -update", path)
	}
}

// targetWrites are the writes but those of the journal's copy.
func (r *rig) targetWrites() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.writes {
		if !strings.Contains(w, "rollcall-plan-") {
			list = append(list, w)
		}
	}
	return list
}

// run notes the points of a whole run.
func (a *tried) run(t *testing.T) {
	t.Helper()
	r, p := a.make(t)
	r.exec.At = func(at Point) { a.points = append(a.points, at) }
	if o, err := r.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
	}
}

// passed lists the points of a kind.
func (a tried) passed(is func(Point) bool) (list []Point) {
	for _, at := range a.points {
		if is(at) {
			list = append(list, at)
		}
	}
	return list
}

func beforeWrite(p Point) bool { return p.At == "before write" }

// resumes continues a plan to its end, without a write that was made before.
func (r *rig) resumes(t *testing.T, p *Plan) string {
	o, err := r.exec.Resume(t.Context(), p.ID)
	if err != nil || o.State != Repaired {
		return fmt.Sprintf("resume: %v, %+v", err, o)
	}
	return r.eachOnce()
}

func (r *rig) eachOnce() string {
	seen := map[string]bool{}
	for _, w := range r.targetWrites() {
		if seen[w] {
			return "written twice: " + w
		}
		seen[w] = true
	}
	return ""
}

// interrupted runs until the process is killed or ends.
func interrupted(run func() error) (err error, dead bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(killed); !ok {
				panic(v)
			}
			dead = true
		}
	}()
	return run(), false
}

// killedAt ends the process at every point of the kind in turn, in one run.
func killedAt(t *testing.T, a tried, where string) string {
	r, p := a.make(t)
	done := map[Point]bool{}
	r.exec.At = func(at Point) {
		if at.At == where && !done[at] {
			done[at] = true
			panic(killed{at})
		}
	}
	for range 20 {
		err, dead := interrupted(func() error {
			if len(done) == 0 {
				return failure(r.exec.Apply(t.Context(), p))
			}
			return failure(r.exec.Resume(t.Context(), p.ID))
		})
		switch {
		case err != nil:
			return err.Error()
		case !dead && len(done) == 0:
			return "there was no such point"
		case !dead:
			r.exec.At = nil
			return r.resumes(t, p)
		}
	}
	return "it did not end"
}

// killedThenUndone: an undo ends with everything undone, or names the steps that stay.
func killedThenUndone(t *testing.T, a tried) string {
	for n, at := range a.passed(beforeWrite) {
		r, p := a.make(t)
		r.exec.At = func(now Point) {
			if now == (Point{at.Step, "after write"}) {
				panic(killed{now})
			}
		}
		if err, dead := interrupted(func() error { return failure(r.exec.Apply(t.Context(), p)) }); !dead {
			return fmt.Sprintf("write %d was not reached: %v", n+1, err)
		}
		r.exec.At = nil
		o, err := r.exec.Undo(t.Context(), p.ID)
		var person *NeedPerson
		switch {
		case err == nil && o.State == Undone:
		case errors.As(err, &person) && len(person.Left) > 0:
		default:
			return fmt.Sprintf("undo after write %d: %v, %+v", n+1, err, o)
		}
		if _, again := r.exec.Resume(t.Context(), p.ID); err == nil && again == nil {
			return "a plan that is undone was resumed"
		}
	}
	return ""
}

func deniedFromStart(t *testing.T, a tried, code int) string {
	r, p := a.make(t)
	r.denies(code)
	if _, err := r.exec.Apply(t.Context(), p); err == nil || len(r.targetWrites()) > 0 {
		return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
	}
	r.denies(0)
	return r.resumes(t, p)
}

// denies answers a code to all writes but the journal's copy, and, where the code is 500, to
// all reads; 0 ends it.
func (r *rig) denies(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := len(r.writes) > 0
	r.deny = func(verb, key string) int {
		if !strings.Contains(key, "rollcall-plan-") && (verb != "GET" || code == 500 && began) {
			return code
		}
		return 0
	}
}

func deniedAt(t *testing.T, a tried, code int) string {
	for n, at := range a.passed(beforeWrite) {
		r, p := a.make(t)
		r.exec.At = func(now Point) {
			if now == at {
				r.denies(code)
			}
		}
		if _, err := r.exec.Apply(t.Context(), p); err == nil || len(r.targetWrites()) != n {
			return fmt.Sprintf("at write %d: error %v, writes %v", n+1, err, r.targetWrites())
		}
		r.exec.At = nil
		r.denies(0)
		if wrong := r.resumes(t, p); wrong != "" {
			return fmt.Sprintf("after write %d: %s", n+1, wrong)
		}
	}
	return ""
}
