package browse

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// podColumns are those of a Pod (k8s.io/kubernetes:pkg/printers/internalversion/printers.go).
func podColumns() []column {
	status := []string{"metadata.deletionTimestamp", "spec.containers.name", "spec.initContainers.name", "spec.initContainers.restartPolicy",
		"status.phase", "status.reason", "status.conditions.type", "status.conditions.status", "status.conditions.reason"}
	for _, list := range []string{"status.containerStatuses.", "status.initContainerStatuses."} {
		for _, field := range []string{"name", "restartCount", "ready", "started", "state", "lastState.terminated.finishedAt"} {
			status = append(status, list+field)
		}
	}
	return []column{
		made("READY", func(o object) string { s := podState(o); return fmt.Sprintf("%d/%d", s.ready, s.of) }, status...),
		made("STATUS", func(o object) string { return podState(o).word }, status...),
		made("RESTARTS", func(o object) string { return podState(o).restarted(o) }, status...),
		age(),
		madeWide("IP", func(o object) string { return or(o.text("status", "podIP"), none) }, "status.podIP"),
		madeWide("NODE", func(o object) string { return or(o.text("spec", "nodeName"), none) }, "spec.nodeName"),
		madeWide("NOMINATED NODE", func(o object) string { return or(o.text("status", "nominatedNodeName"), none) }, "status.nominatedNodeName"),
		madeWide("READINESS GATES", readinessGates, "spec.readinessGates", "status.conditions.type", "status.conditions.status"),
	}
}

// pod is what the columns of a Pod are about.
type pod struct {
	word      string
	ready, of int
	restarts  int64
	last      time.Time // of the restarts
}

func (p pod) restarted(o object) string {
	if p.restarts == 0 || p.last.IsZero() {
		return strconv.FormatInt(p.restarts, 10)
	}
	return fmt.Sprintf("%d (%s ago)", p.restarts, o.since(p.last))
}

// podState is how oc sums up a Pod: its phase, then what its init containers wait for, then what its
// containers wait for or ended with.
func podState(o object) pod {
	p := pod{word: o.text("status", "phase"), of: len(o.items("spec", "containers"))}
	if reason := o.text("status", "reason"); reason != "" {
		p.word = reason
	}
	if c := conditionOf(o, "PodScheduled"); evidence.String(c, "reason") == "SchedulingGated" {
		p.word = "SchedulingGated"
	}
	sidecars := sidecarsOf(o)
	p.of += len(sidecars)
	initializing := p.initialize(o, sidecars)
	if !initializing || evidence.String(conditionOf(o, "Initialized"), "status") == "True" {
		p.run(o)
	}
	if o.text("metadata", "deletionTimestamp") != "" && p.word != "Succeeded" && p.word != "Failed" {
		p.word = "Terminating"
		if o.text("status", "reason") == "NodeLost" {
			p.word = "Unknown"
		}
	}
	return p
}

// sidecarsOf are the init containers that go on running.
func sidecarsOf(o object) map[string]bool {
	names := map[string]bool{}
	for _, c := range o.items("spec", "initContainers") {
		if evidence.String(c, "restartPolicy") == "Always" {
			names[evidence.String(c, "name")] = true
		}
	}
	return names
}

// initialize reads the init containers up to the one that has not ended; true where there is one.
func (p *pod) initialize(o object, sidecars map[string]bool) bool {
	statuses := o.items("status", "initContainerStatuses")
	for i, c := range statuses {
		p.add(c)
		ended, hasEnded := evidence.Field(c, "state", "terminated").(map[string]any)
		waiting := evidence.String(c, "state", "waiting", "reason")
		started, _ := c["started"].(bool)
		switch {
		case hasEnded && evidence.Int(ended, "exitCode") == 0:
			continue
		case sidecars[evidence.String(c, "name")] && started:
			if ready, _ := c["ready"].(bool); ready {
				p.ready++
			}
			continue
		case hasEnded:
			p.word = "Init:" + endWord(ended)
		case waiting != "" && waiting != "PodInitializing":
			p.word = "Init:" + waiting
		default:
			p.word = fmt.Sprintf("Init:%d/%d", i, len(o.items("spec", "initContainers")))
		}
		return true
	}
	return false
}

// run reads the containers; what is said of the first one counts most.
func (p *pod) run(o object) {
	p.restarts, p.last = 0, time.Time{}
	for _, c := range o.items("status", "initContainerStatuses") {
		if sidecarsOf(o)[evidence.String(c, "name")] {
			p.add(c)
		}
	}
	running := false
	statuses := o.items("status", "containerStatuses")
	for i := len(statuses) - 1; i >= 0; i-- {
		c := statuses[i]
		p.add(c)
		ended, hasEnded := evidence.Field(c, "state", "terminated").(map[string]any)
		ready, _ := c["ready"].(bool)
		switch waiting := evidence.String(c, "state", "waiting", "reason"); {
		case waiting != "":
			p.word = waiting
		case hasEnded:
			p.word = endWord(ended)
		case ready && evidence.Field(c, "state", "running") != nil:
			running = true
			p.ready++
		}
	}
	if p.word == "Completed" && running {
		p.word = "NotReady"
		if evidence.String(conditionOf(o, "Ready"), "status") == "True" {
			p.word = "Running"
		}
	}
}

// add counts the restarts of a container.
func (p *pod) add(c map[string]any) {
	p.restarts += evidence.Int(c, "restartCount")
	if t := evidence.Time(c, "lastState", "terminated", "finishedAt"); t.After(p.last) {
		p.last = t
	}
}

// endWord is why a container ended.
func endWord(ended map[string]any) string {
	switch reason, signal := evidence.String(ended, "reason"), evidence.Int(ended, "signal"); {
	case reason != "":
		return reason
	case signal != 0:
		return fmt.Sprintf("Signal:%d", signal)
	}
	return fmt.Sprintf("ExitCode:%d", evidence.Int(ended, "exitCode"))
}

func conditionOf(o object, kind string) map[string]any {
	for _, c := range o.items("status", "conditions") {
		if evidence.String(c, "type") == kind {
			return c
		}
	}
	return nil
}

func readinessGates(o object) string {
	gates := o.items("spec", "readinessGates")
	if len(gates) == 0 {
		return none
	}
	passed := 0
	for _, g := range gates {
		if evidence.String(conditionOf(o, evidence.String(g, "conditionType")), "status") == "True" {
			passed++
		}
	}
	return fmt.Sprintf("%d/%d", passed, len(gates))
}
