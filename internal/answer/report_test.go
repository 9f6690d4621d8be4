package answer

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

var update = flag.Bool("update", false, "write the golden files")

var samples = []struct {
	name string
	make func() *diagnosis.Diagnosis
}{
	{"desync", answertest.DesyncProven}, {"healthy", answertest.Healthy}, {"settling", answertest.Settling}, {"undecided", answertest.Undecided},
	{"two-roots", answertest.TwoRoots}, {"unreadable", answertest.Unreadable}, {"accepted", accepted}, {"part-accepted", partAccepted},
}

func options(s page.Style) Options {
	return Options{
		Style: s, Source: "--from ./must-gather.local.5512",
		Refused: map[string]Remedy{
			"patch-annotations-blindly": {Title: "patch the nodes' annotations by hand"},
			"approve-everything":        {Title: "approve every pending request"},
		},
		Plan: func(r diagnosis.Case, _ string, only bool) string {
			if only {
				return "rollcall fix plan"
			}
			return "rollcall fix plan --root " + r.Fault + "@" + r.Subject.String()
		},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
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

func TestScreens(t *testing.T) {
	for _, s := range samples {
		for _, style := range []struct {
			name  string
			style page.Style
		}{
			{"80", page.Style{Width: 80}}, {"160", page.Style{Width: 160}},
			{"80-colour", page.Style{Width: 80, Color: true}}, {"80-ascii", page.Style{Width: 80, ASCII: true}},
		} {
			t.Run(s.name+"/"+style.name, func(t *testing.T) {
				var out bytes.Buffer
				if err := renderText(&out, s.make(), options(style.style)); err != nil {
					t.Fatal(err)
				}
				golden(t, fmt.Sprintf("diagnose-%s-%s.txt", s.name, style.name), out.Bytes())
				fits(t, out.String(), style.style)
				out.Reset()
				if err := Roll(&out, s.make(), options(style.style)); err != nil {
					t.Fatal(err)
				}
				golden(t, fmt.Sprintf("roll-%s-%s.txt", s.name, style.name), out.Bytes())
				fits(t, out.String(), style.style)
			})
		}
		t.Run(s.name+"/wide", func(t *testing.T) {
			var out bytes.Buffer
			o := options(page.Style{Width: 120})
			o.Wide = true
			if err := renderText(&out, s.make(), o); err != nil {
				t.Fatal(err)
			}
			golden(t, "diagnose-"+s.name+"-wide.txt", out.Bytes())
			out.Reset()
			o.All = true
			if err := WideRoll(&out, s.make(), o); err != nil {
				t.Fatal(err)
			}
			golden(t, "roll-"+s.name+"-wide.txt", out.Bytes())
		})
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// fits checks that a line is only longer than the screen where it cannot be broken:
// a command, a name or a path.
func fits(t *testing.T, text string, s page.Style) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		seen := escape.ReplaceAllString(line, "")
		if !s.Color && seen != line {
			t.Errorf("colour without being asked: %q", line)
		}
		if s.ASCII && len(seen) != utf8.RuneCountInString(seen) {
			t.Errorf("not ASCII: %q", seen)
		}
		if n := utf8.RuneCountInString(seen); n > s.Width && !strings.Contains(seen, "rollcall ") && len(strings.Fields(seen)) > 2 {
			t.Errorf("%d of %d columns: %q", n, s.Width, seen)
		}
	}
}

// TestFirstScreen holds the promise of the first 24 lines: verdict, cause, what to do,
// which hosts.
func TestFirstScreen(t *testing.T) {
	var out bytes.Buffer
	if err := renderText(&out, answertest.DesyncProven(), options(page.Style{Width: 80})); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	first := strings.Join(lines[:24], "\n")
	for _, want := range []string{"CAUSE KNOWN", "which was never in the", "What to do: ", "rollcall fix plan", "Hosts: 3 of 3"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in\n%s", want, first)
		}
	}
}

// TestOneScreen holds the promise that the answer is short.
func TestOneScreen(t *testing.T) {
	for _, c := range []struct {
		width, lines int
	}{{80, 52}, {100, 46}, {160, 42}} {
		var out bytes.Buffer
		if err := renderText(&out, answertest.DesyncProven(), options(page.Style{Width: c.width})); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n > c.lines {
			t.Errorf("%d lines at %d columns, at most %d", n, c.width, c.lines)
		}
	}
}

// TestColourIsNeverTheOnlySign compares the words with and without color.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	for _, s := range samples {
		var with, without bytes.Buffer
		if err := renderText(&with, s.make(), options(page.Style{Width: 100, Color: true})); err != nil {
			t.Fatal(err)
		}
		if err := renderText(&without, s.make(), options(page.Style{Width: 100})); err != nil {
			t.Fatal(err)
		}
		if got := escape.ReplaceAllString(with.String(), ""); got != without.String() {
			t.Errorf("%s: the text depends on colour", s.name)
		}
	}
}

// TestForeignTextIsHarmless puts what an attacker would write into every string.
func TestForeignTextIsHarmless(t *testing.T) {
	const evil = "a\x1b[2J\x1b]0;owned\x07b\r\nc\u202ed\u200b\x9be\x00f"
	d := answertest.DesyncProven()
	d.Source.Name, d.Cluster.Version = evil, evil
	first := &d.Roots[0].Cases[0]
	first.Title, first.Evidence[0].Excerpt, first.Evidence[0].Locator.Path = evil, evil, evil
	d.Roots[0].Refused, first.RuledOut[0].Fault = []string{evil}, evil
	d.Findings[1].Title, d.Hosts[0].Name, d.Hosts[0].Role, d.Hosts[1].Why = evil, evil, evil, evil
	d.Coverage[0].Reason, d.Coverage[0].State = evil, "missing"
	d.Timeline[0].Text = evil
	for _, ascii := range []bool{false, true} {
		for _, wide := range []bool{false, true} {
			var out bytes.Buffer
			o := options(page.Style{Width: 80, ASCII: ascii})
			o.Wide, o.All = wide, true
			for _, write := range []func() error{
				func() error { return renderText(&out, d, o) }, func() error { return Roll(&out, d, o) },
				func() error { return WideRoll(&out, d, o) }, func() error { return HostNames(&out, d, true) },
			} {
				if err := write(); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range out.String() {
				if r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError {
					t.Fatalf("%U reaches the terminal (ascii %v, wide %v)", r, ascii, wide)
				}
			}
			if strings.Contains(out.String(), "\nc\\u202e") {
				t.Error("a line break of foreign text breaks the line")
			}
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 59 * time.Minute: "59m", time.Hour: "1h",
		61 * time.Minute: "1h1m", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 50 * time.Hour: "2d2h", -time.Second: "in the future",
	} {
		if got := fault.Span(d); got != want {
			t.Errorf("fault.Span(%v) = %q, want %q", d, got, want)
		}
	}
}

// TestLeadingCause: a headline that calls the cause known names one that is proven, also where one that is only likely explains
// more; a cause that the verdict does not go by is not named.
func TestLeadingCause(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *diagnosis.Diagnosis)
		want   string
	}{
		{"the first is likely, the second proven", func(d *diagnosis.Diagnosis) { d.Roots[1].Severity = fault.Error },
			"BROKEN, CAUSE KNOWN: the certificate that signs kubelets expired (one of 2 causes)"},
		{"both are proven", func(d *diagnosis.Diagnosis) {
			d.Roots[1].Severity, d.Roots[0].Cases[0].Confidence = fault.Error, diagnosis.Proven
		}, "BROKEN, CAUSE KNOWN: the machine-approver does not run (the first of 2 causes)"},
		{"the first is a note", func(d *diagnosis.Diagnosis) { d.Roots[0].Severity, d.Roots[1].Severity = fault.Info, fault.Error },
			"BROKEN, CAUSE KNOWN: the certificate that signs kubelets expired (one of 2 causes)"},
		{"none is proven", func(d *diagnosis.Diagnosis) { d.Verdict.Cause = diagnosis.CauseLikely },
			"BROKEN, LIKELY CAUSE: the machine-approver does not run (the first of 2 causes); not proven"},
	} {
		d := answertest.TwoRoots()
		d.Verdict = diagnosis.Verdict{Class: diagnosis.RecoverableInPlace, Cause: diagnosis.CauseKnown, Fix: fault.ByCluster}
		c.change(d)
		var out bytes.Buffer
		if err := renderText(&out, d, options(page.Style{Width: 200})); err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(head, c.want) {
			t.Errorf("%s: %q, want %q", c.name, head, c.want)
		}
	}
}
