package message

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// output is one output of a command, with what it shows: "good", or a part of a fault or failure.
type output struct{ shows, program, text string }

func outputsOfCommands(t *testing.T) (list []output) {
	t.Helper()
	raw, err := os.ReadFile("testdata/commands.outputs")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(raw), "\n-- ")[1:] {
		shows, text, ok := strings.Cut(part, " --\n")
		typed, isTyped := logline.Command([]byte(strings.SplitN(text, "\n", 2)[0]))
		if !ok || !isTyped {
			t.Fatalf("no command in %q", part)
		}
		list = append(list, output{shows, strings.Fields(string(typed))[0], text + "\n"})
	}
	return list
}

// TestOutputsOfCommands: an output that shows trouble has a symptom, and one that does not has none.
func TestOutputsOfCommands(t *testing.T) {
	x := builtIn(t)
	for _, o := range outputsOfCommands(t) {
		r, got := readText(t, x, o.text), ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got += m.Fault + m.Failure + "; "
		}
		for _, e := range r.Errors {
			got += e.Says + "; "
		}
		if o.shows == "good" && got != "" || o.shows != "good" && !strings.Contains(got, o.shows) {
			t.Errorf("%q shows %q, want %q", strings.SplitN(o.text, "\n", 2)[0], got, o.shows)
		}
	}
}

// notRead are programs in remedies whose output is no evidence: they filter, change or move what
// others print, or are Rollcall itself.
var notRead = words(`rollcall rollcall-host oc grep egrep echo printf head tail sed awk cut tr sort uniq wc jq yq base64 sha256sum tee xargs ls mv cp rm mkdir chmod chown touch
	test sleep true false set for do done if then fi else while case esac exit cd export umask sh bash env read unset eval . [ { } ( ) sudo ssh scp chroot nsenter timeout watch nohup date
	journalctl openshift-install vi vim virsh hostnamectl arping nvme lspci du ethtool coreos-installer`)

func words(text string) map[string]bool { return set(strings.Fields(text)...) }

// often is in how many remedies a program is that needs an output: commands are only cut at their
// separators here, and a word in quotes looks like a program once.
const often = 3

// TestProgramsOfRemedies: each program that several remedies tell to run has an output that was tried, or none
// that says how a host is.
func TestProgramsOfRemedies(t *testing.T) {
	tried := map[string]bool{}
	for _, o := range outputsOfCommands(t) {
		tried[o.program] = true
	}
	between := regexp.MustCompile(`[;|\n]|&&|\$\(|-- chroot /host |-- `)
	missing := map[string]map[string]bool{} // the remedies, by program
	for _, r := range builtIn(t).catalog.Remedies() {
		for _, step := range r.Steps {
			for _, part := range between.Split(step.Run, -1) {
				program := firstProgram(part)
				if program != "" && !tried[program] && !notRead[program] {
					if missing[program] == nil {
						missing[program] = map[string]bool{}
					}
					missing[program][r.ID] = true
				}
			}
		}
	}
	for program, remedies := range missing {
		if len(remedies) >= often {
			t.Errorf("%d remedies: no output of %s in testdata/commands.outputs", len(remedies), program)
		}
	}
}

var programName = regexp.MustCompile(`^[a-z][a-z0-9_-]+$`)

// firstProgram is the name of the program of one command, "" where that is none that is known by its
// name alone.
func firstProgram(command string) string {
	for word := range strings.FieldsSeq(command) {
		if word == "sudo" || strings.Contains(word, "=") || strings.HasPrefix(word, "-") {
			continue
		}
		if word = path.Base(word); programName.MatchString(word) {
			return word
		}
		return ""
	}
	return ""
}
