package logline

import (
	"bytes"
	"regexp"
	"strings"
)

// Unit is what systemd reports about one of its units.
type Unit struct {
	Name   string // with its kind, kubelet.service; "" where only the description is given
	Words  string // its description, as "Kubernetes Kubelet"; "" where only the name is given
	Failed bool
	Done   bool // started, finished or succeeded
}

var (
	unitFailed = [][]byte{[]byte("Failed with result '"), []byte("Main process exited, code="), []byte("Control process exited, code="),
		[]byte("Start request repeated too quickly"), []byte("start operation timed out")}
	unitDone = [][]byte{[]byte("Succeeded."), []byte("Deactivated successfully")}
)

// Job reads a message of systemd about a unit (src/core/job.c and unit.c of systemd).
func Job(message []byte) (Unit, bool) {
	for _, done := range []string{"Started ", "Finished "} {
		if rest, ok := bytes.CutPrefix(message, []byte(done)); ok {
			u := described(rest)
			u.Done = true
			return u, true
		}
	}
	for _, failed := range []string{"Failed to start ", "Dependency failed for "} {
		if rest, ok := bytes.CutPrefix(message, []byte(failed)); ok {
			u := described(rest)
			u.Failed = true
			return u, true
		}
	}
	unit, rest, ok := bytes.Cut(message, []byte(": "))
	if !ok || !name(unit) || bytes.IndexByte(unit, '.') < 0 {
		return Unit{}, false
	}
	u := Unit{Name: string(unit)}
	for _, words := range unitDone {
		u.Done = u.Done || bytes.HasPrefix(rest, words)
	}
	for _, words := range unitFailed {
		u.Failed = u.Failed || bytes.HasPrefix(rest, words)
	}
	if exited, ok := bytes.CutPrefix(rest, unitFailed[1]); ok && bytes.Contains(exited, []byte("status=0")) {
		u.Failed = false
	}
	return u, u.Failed || u.Done
}

// jobRuns is what systemd writes on a console while it starts a unit that takes long (src/core/manager.c of
// systemd, manager_print_jobs_in_progress). A message of the kernel can stand behind it in the same line.
const jobRuns = "start job is running for "

// Starting is the unit that a line of a console says systemd is starting.
func Starting(message []byte) (Unit, bool) {
	_, rest, ok := bytes.Cut(message, []byte(jobRuns))
	if !ok {
		return Unit{}, false
	}
	if at := runningTime.FindIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return described(bytes.TrimSpace(rest)), true
}

// runningTime is for how long a job runs, and behind a slash its limit.
var runningTime = regexp.MustCompile(` \((?:\d+(?:\.\d+)?[a-z]+ ?)+ ?/`)

// described reads "Kubernetes Kubelet." and "kubelet.service - Kubernetes Kubelet.".
func described(rest []byte) Unit {
	text := strings.TrimSuffix(string(rest), ".")
	if unit, words, ok := strings.Cut(text, " - "); ok && strings.Contains(unit, ".") && !strings.Contains(unit, " ") {
		return Unit{Name: unit, Words: words}
	}
	if strings.HasSuffix(text, ".service") && !strings.Contains(text, " ") {
		return Unit{Name: text}
	}
	return Unit{Words: text}
}

// unitLevel is the level of a message of systemd.
func unitLevel(message []byte) Level {
	if u, ok := Job(message); ok && u.Failed {
		return Error
	}
	return NoLevel
}

// Of reports whether lines of a program belong to a unit: bootkube.sh to bootkube.service,
// machine-config-daemon to machine-config-daemon-pull.service, kubenswrapper to the kubelet.
func (u Unit) Of(program string) bool {
	if u.Name == "" || program == "" {
		return false
	}
	unit, _, _ := strings.Cut(u.Name, ".")
	program = strings.TrimSuffix(program, ".sh")
	isKubelet := program == "kubenswrapper" || program == "hyperkube"
	return unit == program || strings.HasPrefix(unit, program+"-") || unit == "kubelet" && isKubelet
}

// boots are how a text shows that a host begins to boot: of journald, and of the kernel.
var boots = [][]byte{[]byte("-- Reboot --"), []byte("-- Boot "), []byte("Linux version ")}

// booted are how a text shows that a boot is done: of systemd, and of the login prompt of a console.
var booted = [][]byte{[]byte("Reached target Multi-User System"), []byte("Reached target multi-user.target"), []byte("Reached target Graphical Interface"),
	[]byte("Reached target graphical.target"), []byte("Startup finished in ")}

// Booted reports whether a line shows that the boot of its host is done.
func Booted(l Line) bool {
	for _, words := range booted {
		if bytes.HasPrefix(l.Message, words) {
			return true
		}
	}
	host, ok := bytes.CutSuffix(l.Message, []byte(" login:"))
	return ok && name(host)
}

// Boot reports whether a line begins a boot of its host. Line is as it stands in the text,
// and l is what Parse made of it.
func Boot(line []byte, l Line) bool {
	text := bytes.TrimLeft(line, "> \t")
	return bytes.HasPrefix(text, boots[0]) || bytes.HasPrefix(text, boots[1]) ||
		l.Form == Log && bytes.HasPrefix(l.Message, boots[2]) && (len(l.Program) == 0 || string(l.Program) == "kernel")
}

// release3 are the services of OpenShift 3, which have names of their own: from 4 on the node's is the kubelet, and the others are
// static pods (openshift/openshift-ansible release-3.11:roles/openshift_node/templates/node.service.j2).
var release3 = [][]byte{[]byte("origin-node"), []byte("origin-master"), []byte("atomic-openshift-node"), []byte("atomic-openshift-master")}

// Release3 reports whether a line is of a service of OpenShift 3.
func Release3(l Line) bool {
	for _, name := range release3 {
		if rest, ok := bytes.CutPrefix(l.Program, name); ok && (len(rest) == 0 || rest[0] == '-') {
			return true
		}
	}
	return false
}
