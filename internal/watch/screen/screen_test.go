package screen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

var update = flag.Bool("update", false, "write the golden files")

// options are those of an answer about the samples.
func options(s page.Style) answer.Options {
	return answer.Options{Style: s, Source: "--from ./must-gather.local.5512"}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs; go test -update writes it\n--- want\n%s\n--- got\n%s", path, want, got)
	}
}

// followed is a follower that has seen runs of one diagnosis, the last one now.
func followed(make func() *diagnosis.Diagnosis, change ...func(run int, d *diagnosis.Diagnosis)) (*follow.Follower, []follow.Event) {
	f := follow.New(follow.Rules{Goal: after.Stable, StopOnRoot: true})
	var events []follow.Event
	for i := range 4 {
		d := make()
		d.Now = answertest.Noon.Add(time.Duration(i-3) * 40 * time.Second)
		for _, c := range change {
			c(i, d)
		}
		list := []after.Indicator{
			{ID: after.HostsJoined, Title: "every expected host has joined", Outcome: fault.Absent, Reason: "1 of 3 not: control2 (ignition-fetched)"},
			{ID: after.NoOpenRequest, Title: "no certificate request of an expected host is pending", Outcome: fault.Present},
			{ID: after.EtcdMembers, Title: "every etcd member is available", Outcome: fault.Unknown, Reason: "etcds.operator.openshift.io: forbidden"},
			{ID: after.PoolsUpdated, Title: "every MachineConfigPool is updated", Outcome: fault.NotApplicable, Reason: "the cluster has no MachineConfigPool"},
		}
		events = append(events, f.Step(follow.Run{Diagnosis: d, Indicators: list})...)
	}
	return f, events
}

// moving lets a host of settling() come from an earlier stage.
func moving(run int, d *diagnosis.Diagnosis) {
	for i := range d.Hosts {
		if d.Hosts[i].Name == "control0" && run < 2 {
			d.Hosts[i].Stage, d.Hosts[i].Since = fault.ClientCert, d.Now.Add(-time.Minute)
		}
	}
}

// withoutAPI takes the API away before the last runs.
func withoutAPI(run int, d *diagnosis.Diagnosis) {
	if run >= 2 {
		d.Hosts, d.Roots, d.Verdict.Class = nil, nil, diagnosis.CannotCheck
		d.Groups = diagnosis.Groups{}
		d.Coverage = []evidence.Coverage{{Need: "nodes", State: evidence.Missing, Why: evidence.Unreachable}}
		d.Roots = []diagnosis.Root{{Fault: "api-vip-unreachable", Layer: "api", Cases: []diagnosis.Case{
			{Key: answertest.Key("api-vip-unreachable", fault.Subject{Kind: fault.Cluster}), Title: "nothing answers at the API address 192.0.2.5:6443"}}}}
	}
}

var watchSamples = []struct {
	name string
	make func() *follow.Follower
	next string
}{
	{"desync", func() *follow.Follower { f, _ := followed(answertest.DesyncProven); return f }, "rollcall fix plan --expect control2=192.0.2.22"},
	{"settling", func() *follow.Follower { f, _ := followed(answertest.Settling, moving); return f }, ""},
	{"two-roots", func() *follow.Follower { f, _ := followed(answertest.TwoRoots); return f }, "rollcall diagnose --kubeconfig /home/anna/clusters/prod/auth/kubeconfig"},
	{"away", func() *follow.Follower { f, _ := followed(answertest.Settling, withoutAPI); return f }, "rollcall diagnose"},
	{"first", func() *follow.Follower { return follow.New(follow.Rules{Goal: after.Stable}) }, ""},
}

// TestFrame holds the frames: golden at two sizes, and never wider than the room or
// as high as the terminal, whatever the size.
func TestFrame(t *testing.T) {
	for _, s := range watchSamples {
		v := s.make().View()
		for _, size := range [][2]int{{80, 24}, {40, 10}} {
			lines := Frame(v, answertest.Noon.Add(3*time.Second), Size{Width: size[0], Height: size[1], Next: s.next, Busy: "reading"}, options(page.Style{Width: size[0]}))
			golden(t, fmt.Sprintf("watch-%s-%dx%d.txt", s.name, size[0], size[1]), []byte(strings.Join(lines, "\n")+"\n"))
		}
		for width := 20; width < 170; width += 7 {
			for height := 4; height < 60; height += 3 {
				lines := Frame(v, answertest.Noon, Size{Width: width, Height: height, Next: s.next}, options(page.Style{Width: width}))
				if len(lines) > height-1 {
					t.Errorf("%s at %dx%d: %d lines", s.name, width, height, len(lines))
				}
				for _, l := range lines {
					if n := utf8.RuneCountInString(l); n > width {
						t.Errorf("%s at %dx%d: %d columns: %s", s.name, width, height, n, l)
					}
				}
				if s.next != "" && height > 8 && !strings.Contains(strings.Join(lines, "\n"), "Next: rollcall") {
					t.Errorf("%s at %dx%d: without the next command", s.name, width, height)
				}
			}
		}
	}
}

// TestFrameIsClean: what a cluster names does not reach the terminal as a control.
func TestFrameIsClean(t *testing.T) {
	f, _ := followed(func() *diagnosis.Diagnosis {
		d := answertest.DesyncProven()
		d.Hosts[2].Name = "evil\x1b[2Jhost"
		d.Roots[0].Cases[0].Title = "title \x1b]0;owned\a and \u202e"
		return d
	})
	text := strings.Join(Frame(f.View(), answertest.Noon, Size{Width: 80, Height: 40}, options(page.Style{Width: 80})), "\n")
	if strings.ContainsAny(text, "\x1b\a\u202e") {
		t.Errorf("%q", text)
	}
}

// TestEvents holds each event against the published schema.
func TestEvents(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../../docs/schema/watch.v1alpha1.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[follow.Type]bool{}
	for _, s := range []func() (*follow.Follower, []follow.Event){
		func() (*follow.Follower, []follow.Event) { return followed(answertest.DesyncProven) },
		func() (*follow.Follower, []follow.Event) { return followed(answertest.Settling, moving) },
		func() (*follow.Follower, []follow.Event) { return followed(answertest.Settling, withoutAPI) },
		func() (*follow.Follower, []follow.Event) { return followed(answertest.Undecided) },
	} {
		f, events := s()
		if end, over := f.End(); over {
			events = append(events, f.Finish(end))
		}
		events = append(events, f.Finish(f.TimedOut(time.Minute)), f.Finish(f.Interrupted(130)))
		for _, e := range events {
			seen[e.Type] = true
			var line bytes.Buffer
			if err := JSON(&line, e); err != nil {
				t.Fatal(err)
			}
			if strings.Count(line.String(), "\n") != 1 {
				t.Errorf("not one line: %q", line.String())
			}
			v, err := jsonschema.UnmarshalJSON(&line)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", e.Type, err)
			}
		}
	}
	for _, want := range []follow.Type{follow.Started, follow.HostMoved, follow.CauseFound, follow.SymptomFound, follow.APIUnreachable, follow.Ended} {
		if !seen[want] {
			t.Errorf("no event %s was made", want)
		}
	}
}

// TestEnd: the end names each indicator, and what to do.
func TestEnd(t *testing.T) {
	f, _ := followed(answertest.DesyncProven)
	end, over := f.End()
	if !over || end.ExitCode != 2 {
		t.Fatalf("%+v %t", end, over)
	}
	end.Next = "rollcall fix plan"
	var out bytes.Buffer
	if err := End(&out, end, f.Last(), options(page.Style{})); err != nil {
		t.Fatal(err)
	}
	golden(t, "watch-end.txt", out.Bytes())
	out.Reset()
	if err := after.Write(&out, "After check", end.Indicators, page.Style{ASCII: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "watch-indicators-ascii.txt", out.Bytes())
}
