package repair

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/repair-faults.md")

// tried is one action with the cluster in which it is tried.
type tried struct {
	name string
	make func(t *testing.T) *changeRig
	plan func(t *testing.T, r *changeRig) *Plan
}

func targets() []tried {
	var list []tried
	for _, c := range changeCases() {
		list = append(list, tried{"change-fields: " + c.remedy, func(t *testing.T) *changeRig { return newChangeRig(t, c) },
			func(t *testing.T, r *changeRig) *Plan { return r.mustPlan(t) }})
	}
	put := func(ask Ask) func(t *testing.T, r *changeRig) *Plan {
		return func(t *testing.T, r *changeRig) *Plan {
			p, err := r.putPlan(t, ask)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	return append(list,
		tried{"put-content: " + bmcCredentials, func(t *testing.T) *changeRig { return putRig(t, bmcCredentials) }, put(bmcAsk)},
		tried{"put-content, restart-server: " + mcsCertificate, func(t *testing.T) *changeRig {
			r := putRig(t, mcsCertificate)
			r.withAuthority(t)
			return r
		}, put(noAsk)})
}

// injections are what goes wrong around a write, and how it must end.
var injections = []struct {
	name, end string
	try       func(t *testing.T, r *changeRig, p *Plan) string
}{
	{"killed before each write", "resume ends it", func(t *testing.T, r *changeRig, p *Plan) string { return killedAt(t, r, p, "before write") }},
	{"killed after each write", "resume ends it", func(t *testing.T, r *changeRig, p *Plan) string { return killedAt(t, r, p, "after write") }},
	{"API unreachable (500)", "nothing written, resume ends it", func(t *testing.T, r *changeRig, p *Plan) string {
		return denies(t, r, p, 500)
	}},
	{"permission lost (403)", "nothing written, resume ends it", func(t *testing.T, r *changeRig, p *Plan) string {
		return denies(t, r, p, 403)
	}},
	{"another cluster", "refused, nothing written", func(t *testing.T, r *changeRig, p *Plan) string {
		r.edit(clusterVersionRef(), "x", func(o Object) { o["spec"].(map[string]any)["clusterID"] = "other" })
		return refuses(t, r, p, "this is cluster other")
	}},
	{"an update begins (guard)", "refused, nothing written", func(t *testing.T, r *changeRig, p *Plan) string {
		r.edit(clusterVersionRef(), "x", func(o Object) {
			o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Progressing", "status": "True"}}
		})
		return refuses(t, r, p, "is under way")
	}},
	{"object changed since the plan", "refused, nothing written", func(t *testing.T, r *changeRig, p *Plan) string {
		r.edit(p.Steps[0].Reads[0].Object, "x", func(o Object) {
			f := splitPointer(p.Steps[0].Reads[0].Fields[0])
			at := o
			for _, e := range f[:len(f)-1] {
				next, ok := at[e].(map[string]any)
				if !ok {
					next = map[string]any{}
					at[e] = next
				}
				at = next
			}
			at[f[len(f)-1]] = "changed"
		})
		return refuses(t, r, p, "is not as it was")
	}},
	{"second process, another state directory", "the second writes nothing", func(t *testing.T, r *changeRig, p *Plan) string {
		if _, err := r.exec.Apply(t.Context(), p); err != nil {
			return err.Error()
		}
		before := len(r.targetWrites())
		second := *r.exec
		second.StateDir = t.TempDir()
		if _, err := p.Issue(second.StateDir, ".yaml"); err != nil {
			return err.Error()
		}
		_, err := second.Apply(t.Context(), p)
		if err == nil || len(r.targetWrites()) != before {
			return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
		}
		return ""
	}},
	{"journal cannot be written", "nothing written", func(t *testing.T, r *changeRig, p *Plan) string {
		r.exec.StateDir = "/dev/full/x"
		_, err := r.exec.Apply(t.Context(), p)
		if err == nil || len(r.targetWrites()) > 0 {
			return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
		}
		return ""
	}},
}

// targetWrites are the writes but those of the journal's copy.
func (r *changeRig) targetWrites() (list []string) {
	for _, w := range r.writes {
		if !strings.Contains(w, "rollcall-plan-") {
			list = append(list, w)
		}
	}
	return list
}

func refuses(t *testing.T, r *changeRig, p *Plan, want string) string {
	_, err := r.exec.Apply(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) > 0 {
		return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
	}
	return ""
}

func denies(t *testing.T, r *changeRig, p *Plan, code int) string {
	r.deny = func(verb, key string) int {
		if verb != "GET" && !strings.Contains(key, "rollcall-plan-") {
			return code
		}
		return 0
	}
	if _, err := r.exec.Apply(t.Context(), p); err == nil || len(r.targetWrites()) > 0 {
		return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
	}
	r.deny = nil
	return resumes(t, r, p)
}

func resumes(t *testing.T, r *changeRig, p *Plan) string {
	o, err := r.exec.Resume(t.Context(), p.ID)
	if err != nil || o.State != Repaired {
		return fmt.Sprintf("resume: %v, %+v", err, o)
	}
	seen := map[string]bool{}
	for _, w := range r.targetWrites() {
		if seen[w] {
			return "written twice: " + w
		}
		seen[w] = true
	}
	return ""
}

// killedAt ends the process at every point of the kind in turn, in one run.
func killedAt(t *testing.T, r *changeRig, p *Plan, where string) string {
	done := map[Point]bool{}
	run := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(killed); !ok {
					panic(v)
				}
				err = errors.New("killed")
			}
		}()
		r.exec.At = func(at Point) {
			if at.At == where && !done[at] {
				done[at] = true
				panic(killed{at})
			}
		}
		if len(done) == 0 {
			_, err = r.exec.Apply(t.Context(), p)
		} else {
			_, err = r.exec.Resume(t.Context(), p.ID)
		}
		return err
	}
	for range 10 {
		if err := run(); err == nil {
			break
		} else if err.Error() != "killed" {
			return err.Error()
		}
	}
	r.exec.At = nil
	if len(done) == 0 {
		return "there was no such point"
	}
	return resumes(t, r, p)
}

// TestInjections tries every fault at every action; docs/repair-faults.md is what was seen.
func TestInjections(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Faults during a repair\n\nWhat goes wrong around the writes of each action, and how it ends. Generated by the test `TestInjections` of internal/repair, which fails where a case ends otherwise.\n\n| action | fault | end |\n| --- | --- | --- |\n")
	for _, a := range targets() {
		for _, in := range injections {
			end := in.end
			t.Run(a.name+"/"+in.name, func(t *testing.T) {
				r := a.make(t)
				if wrong := in.try(t, r, a.plan(t, r)); wrong != "" {
					end = "WRONG"
					t.Error(wrong)
				}
			})
			fmt.Fprintf(&b, "| %s | %s | %s |\n", a.name, in.name, end)
		}
	}
	const path = "../../docs/repair-faults.md"
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != b.String() {
		t.Errorf("%s is not what was seen (%v): run the test with -update", path, err)
	}
}
