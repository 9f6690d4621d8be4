package logbundle

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"cmp"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"regexp"
	"strconv"
)

// bootkube is the service that starts a cluster, on the bootstrap host.
const bootkube = "bootkube"

// bootkubeSays are the lines with which bootkube.sh begins a stage, and the stage's name
// in the records that it also writes
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootkube.sh.template).
var bootkubeSays = []struct{ line, stage string }{
	{"Moving OpenShift manifests in with", "openshift-manifests"},
	{"Rendering Cluster Version Operator", "cvo-bootstrap"},
	{"Rendering CEO", "etcd-bootstrap"},
	{"Rendering cluster config", "config-bootstrap"},
	{"Rendering Kubernetes API server", "kube-apiserver-bootstrap"},
	{"Rendering Kubernetes Controller Manager", "kube-controller-manager-bootstrap"},
	{"Rendering Kubernetes Scheduler", "kube-scheduler-bootstrap"},
	{"Rendering Ingress Operator", "ingress-operator-bootstrap"},
	{"Rendering MCO", "mco-bootstrap"},
	{"Rendering CCO", "cco-bootstrap"},
	{"etcdctl failed. Retrying", "wait-for-etcd"},
	{"Starting cluster-bootstrap", "cb-bootstrap"},
	{"Waiting for CEO", "wait-for-ceo"},
}

// bootkubePasses are the lines of what bootkube.sh runs in a stage: the stage continues, or
// has ended. A journal that begins after the stage's own line has only these
// (openshift/cluster-bootstrap:pkg/start/status.go waitUntilPodsRunning, pkg/start/start.go Run,
// openshift/cluster-etcd-operator:pkg/cmd/waitforceo/waitforceo.go).
var bootkubePasses = []struct {
	line, stage string
	done        bool
}{
	{"Pod Status:", "cb-bootstrap", false},
	{"All self-hosted control plane components successfully started", "cb-bootstrap", true},
	{"Sending bootstrap-success event", "cb-bootstrap", true},
	{"Sending bootstrap-finished event", "cb-bootstrap", true},
	{"waiting on condition EtcdRunningInCluster", "wait-for-ceo", false},
	{"Cluster etcd operator bootstrapped successfully", "wait-for-ceo", true},
}

// bootkubeService makes the records of bootkube from its journal, where the archive has none
// of any service: a journal may be all that somebody kept, of a bundle or alone.
func bootkubeService(ctx context.Context, a layout.Deriving, r evidence.Resource) (layout.Derived, error) {
	if r != evidence.BootstrapServices || len(a.Objects[r]) > 0 { // then that bootkube has none says that it never ran
		return layout.Derived{}, nil
	}
	now, err := a.Now(ctx) // it gives the lines their year
	if err != nil {
		return layout.Derived{}, err
	}
	j, complete, err := readBootkube(ctx, a, now)
	if err != nil || complete && j.path == "" {
		return layout.Derived{}, err
	}
	var d layout.Derived
	next := ""
	if j.path != "" {
		next = j.records[0].Timestamp
		d.Objects = append(d.Objects, evidence.Object{
			Resource: r, Name: bootkube, Content: j.object(bootkube, j.path, j.damage), Loc: evidence.Locator{Path: j.path},
		})
	}
	before, err := oneshotServices(ctx, a, now, next)
	d.Objects = append(d.Objects, before...)
	return d, err
}

// readBootkube follows the first journal that shows that bootkube has not come to its end. complete: that of a bundle
// shows that it has.
func readBootkube(ctx context.Context, a layout.Deriving, now time.Time) (found bootkubeJournal, complete bool, err error) {
	for _, e := range a.Texts {
		ofBundle := e.Of.Kind == Kind && onBootstrap(e) && (e.Whole || e.Text.Unit == bootkube)
		if e.Text.Kind != evidence.Journal || !e.Free && !ofBundle {
			continue
		}
		in, err := layout.OpenLines(ctx, a.Container, e, "")
		if err != nil {
			continue // reading the text says why
		}
		j := bootkubeJournal{recorder: recorder{now: now}, path: e.File.Path}
		err = errors.Join(j.read(member.WithContext(ctx, io.LimitReader(in, layout.MaxLines))), in.Close())
		if ctx.Err() != nil {
			return bootkubeJournal{}, false, ctx.Err()
		}
		if len(j.records) == 0 { // no line shows a stage
			continue
		}
		if ofBundle && j.complete() {
			complete = true
			continue
		}
		if j.damage = err; err == nil && a.Cut != "" {
			j.damage = errors.New(a.Cut)
		}
		return j, complete, nil
	}
	return bootkubeJournal{}, complete, nil
}

// bootkubeJournal follows the lines of bootkube.
type bootkubeJournal struct {
	recorder
	path    string // "" where no line of a journal shows a stage
	damage  error  // why the journal ends early
	open    string
	failure string        // the last line that names an error
	said    string        // the last line of the program
	back    time.Duration // by how much the first failure was before the text, as the restart counter shows
	failed  bool          // a failure was in the text
	pods    []podSeen     // of those that cluster-bootstrap waits for
}

// podSeen is a pod of the control plane and its status when it was last logged: Ready is
// what is waited for (openshift/cluster-bootstrap:pkg/start/status.go statusController).
type podSeen struct{ name, status string }

// pod follows a line "Pod Status:NAMESPACE/NAME STATUS".
func (j *bootkubeJournal) pod(message string) {
	_, rest, ok := strings.Cut(message, "Pod Status:")
	f := strings.Fields(rest)
	if !ok || len(f) != 2 {
		return
	}
	if i := slices.IndexFunc(j.pods, func(p podSeen) bool { return p.name == f[0] }); i >= 0 {
		j.pods[i].status = f[1]
	} else if len(j.pods) < maxPods {
		j.pods = append(j.pods, podSeen{f[0], f[1]})
	}
}

// maxPods bounds the pods that are waited for; bootkube.sh names 4.
const maxPods = 20

// complete reports whether bootkube ended in success. In a bundle from which records are
// missing that proves nothing of the services that went before.
func (j *bootkubeJournal) complete() bool {
	last := j.records[len(j.records)-1]
	return last.Phase == "service end" && last.Result == "success"
}

// message is the error of a stage that failed, with the pods that it waited for.
func (j *bootkubeJournal) message(stage string) string {
	var open []string
	for _, p := range j.pods {
		if p.status != "Ready" {
			_, name, _ := strings.Cut(p.name, "/")
			open = append(open, name+" "+p.status)
		}
	}
	if j.failure == "" || stage != "cb-bootstrap" || len(open) == 0 {
		return j.failure
	}
	return "Error: not Ready: " + strings.Join(open, ", ") + "; " + strings.TrimPrefix(j.failure, "Error: ")
}

func (j *bootkubeJournal) read(r io.Reader) error {
	return journal.EachLine(r, func(line []byte) bool {
		_, id, ok := journal.Head(line)
		if ok && (string(id) == "bootkube.sh" || string(id) == "systemd") {
			j.line(string(id), string(line))
		}
		return true
	})
}

func (j *bootkubeJournal) line(id, line string) {
	_, message, _ := strings.Cut(line, "]: ")
	if id != "systemd" && strings.TrimSpace(message) != "" {
		j.said = message
	}
	if id == "systemd" {
		j.unit(line, message)
		return
	}
	switch {
	case strings.Contains(message, "bootkube.service complete"):
		j.ends(line, "success")
		j.add(line, serviceRecord{Phase: "service end", Result: "success"})
	case strings.HasPrefix(message, "Error: "):
		j.failure = message
	}
	j.pod(message)
	for _, s := range bootkubePasses {
		if strings.Contains(message, s.line) {
			j.passes(line, s.stage, s.done)
		}
	}
	for _, s := range bootkubeSays {
		if strings.HasPrefix(message, s.line) && j.open != s.stage {
			j.ends(line, "success")
			j.open = s.stage
			j.add(line, serviceRecord{Phase: "stage start", Stage: s.stage})
		}
	}
}

// passes notes that a stage continues or has ended.
func (j *bootkubeJournal) passes(line, stage string, done bool) {
	switch {
	case j.open == stage && !done:
		return
	case j.open != stage && len(j.records) > 0 && j.records[len(j.records)-1].Stage == stage: // it has ended before
		return
	case j.open != stage:
		j.ends(line, "success")
		j.open = stage
		j.add(line, serviceRecord{Phase: "stage start", Stage: stage})
	}
	if done {
		j.ends(line, "success")
	}
}

// unit follows what systemd logs of the unit.
func (j *bootkubeJournal) unit(line, message string) {
	switch {
	case strings.HasPrefix(message, "bootkube.service: Scheduled restart job"):
		if m := restartCounter.FindStringSubmatch(message); m != nil && !j.failed && len(j.records) == 0 {
			n, _ := strconv.Atoi(m[1]) // at most 6 digits
			j.back = time.Duration(n) * restartDelay
		}
	case strings.HasPrefix(message, "Started ") && strings.Contains(message, "Bootstrap a Kubernetes cluster"):
		j.open, j.failure, j.said, j.pods = "", "", "", nil
		j.add(line, serviceRecord{Phase: "service start"})
	case strings.HasPrefix(message, "bootkube.service: Failed with result"):
		message := cmp.Or(j.message(j.open), j.said)
		if j.open != "" {
			j.ends(line, "failure")
		}
		j.add(line, serviceRecord{Phase: "service end", Result: "failure", ErrorMessage: message})
		j.failed = true
	}
}

// restartDelay is RestartSec of bootkube.service
// (openshift/installer:data/data/bootstrap/systemd/common/units/bootkube.service.template): a counter
// of N shows that it failed for at least N times as long.
const restartDelay = 5 * time.Second

var restartCounter = regexp.MustCompile(`restart counter is at (\d{1,6})\.`)

// ends ends the stage that is open.
func (j *bootkubeJournal) ends(line, result string) {
	if j.open == "" {
		return
	}
	r := serviceRecord{Phase: "stage end", Stage: j.open, Result: result}
	if result == "failure" {
		r.ErrorMessage = j.message(j.open)
	}
	j.open = ""
	j.add(line, r)
}

func (j *bootkubeJournal) add(line string, r serviceRecord) {
	earlier := time.Duration(0)
	if !j.failed {
		earlier = j.back
	}
	j.recorder.add(line, r, earlier)
}
