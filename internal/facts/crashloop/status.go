package crashloop

import (
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// status is what the pod's status says of a container and of its last run that ended.
type status struct {
	container, waiting, reason, message string
	restarts, exit                      int64
	running                             bool
	started, ended                      time.Time
}

func statusOf(pod evidence.Object, container string) (status, bool) {
	list, _ := evidence.Field(pod.Content, "status", "containerStatuses").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "name") != container {
			continue
		}
		_, running := evidence.Field(c, "state", "running").(map[string]any)
		s := status{
			container: container,
			waiting:   evidence.String(c, "state", "waiting", "reason"),
			restarts:  evidence.Int(c, "restartCount"),
			running:   running,
		}
		run, ok := evidence.Field(c, "state", "terminated").(map[string]any)
		if !ok {
			run, _ = evidence.Field(c, "lastState", "terminated").(map[string]any)
		}
		s.reason, s.message, s.exit = evidence.String(run, "reason"), evidence.String(run, "message"), evidence.Int(run, "exitCode")
		s.started, s.ended = evidence.Time(run, "startedAt"), evidence.Time(run, "finishedAt")
		return s, true
	}
	return status{}, false
}

// A run that lasts for less than shortRun and ended less than lately ago, for the
// third time, is one of a loop. The kubelet waits for five minutes at most before it
// starts a container again (kubernetes/kubernetes:pkg/kubelet/kubelet.go MaxCrashLoopBackOff).
const (
	shortRun = 10 * time.Minute
	lately   = 15 * time.Minute
	often    = 3
)

func (s status) loops(now time.Time) bool {
	if s.waiting == "CrashLoopBackOff" {
		return true
	}
	return s.restarts >= often && !s.ended.IsZero() && now.Sub(s.ended) < lately && s.ended.Sub(s.started) < shortRun
}

func (s status) item(pod evidence.Object) evidence.Item {
	text := fmt.Sprintf("container %s was restarted %d times", s.container, s.restarts)
	if s.waiting != "" {
		text += ", waits: " + s.waiting
	}
	if !s.ended.IsZero() {
		text += fmt.Sprintf(", last run ended with %d %s", s.exit, s.reason)
	}
	return pod.Shows("status.containerStatuses["+s.container+"]", text, s.ended)
}
