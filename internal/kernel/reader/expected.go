package reader

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// errNoLog is the reason for a missing log of a listed pod while logs of other pods are there: it
// was lost.
var errNoLog error = &evidence.Damage{Detail: "its pod is listed and there is no log of it"}

// errEmptyLog is the reason for an empty log.
var errEmptyLog error = &evidence.Damage{Detail: "it is empty"}

// withoutLog returns the current logs that a query selects and that are missing: of containers
// that have run, in listed pods. Empty if the pods could not be listed.
func (r *Reader) withoutLog(ctx context.Context, q evidence.TextQuery, found []evidence.Text) []evidence.Text {
	there := map[[2]string]bool{} // the pods, by namespace and name
	for _, t := range found {
		if !t.Previous && t.Container == q.Container {
			there[podOf(t)] = true
		}
	}
	return slices.DeleteFunc(r.ran(ctx, q), func(t evidence.Text) bool { return there[podOf(t)] })
}

func podOf(t evidence.Text) [2]string { return [2]string{t.Namespace, t.Pod} }

// silentContainers log nothing until something happens: metal3-ramdisk-logs prints what ramdisks
// send (openshift/ironic-image:scripts/runlogwatch.sh).
var silentContainers = []string{"metal3-ramdisk-logs"}

// forgiveEmpty accepts empty logs of containers that have not run, of silentContainers, and of
// previous runs. All other logs have lines: servers and daemons log when they start.
func (r *Reader) forgiveEmpty(ctx context.Context, q evidence.TextQuery, all []evidence.Text, failed []error) {
	var ran map[[2]string]bool // the pods, by namespace and name
	for i, t := range all {
		if !errors.Is(failed[i], errEmptyLog) || t.Kind != evidence.ContainerLog {
			continue
		}
		if slices.Contains(silentContainers, t.Container) {
			failed[i] = nil
			continue
		}
		if ran == nil {
			ran = map[[2]string]bool{}
			for _, e := range r.ran(ctx, q) {
				ran[podOf(e)] = true
			}
		}
		if t.Previous || !ran[podOf(t)] {
			failed[i] = nil
		}
	}
}

// ran returns a text for each container of the query that has run, as its pod says.
func (r *Reader) ran(ctx context.Context, q evidence.TextQuery) []evidence.Text {
	if q.Kind != evidence.ContainerLog || q.Namespace == "" || q.Container == "" {
		return nil
	}
	pods, err := r.List(ctx, evidence.Pods.In(q.Cluster), q.Namespace)
	if err != nil {
		return nil
	}
	var list []evidence.Text
	for _, o := range pods {
		if !hasRun(o, q.Container) {
			continue
		}
		t := evidence.Text{Kind: q.Kind, Cluster: q.Cluster, Namespace: o.Namespace, Pod: o.Name, Container: q.Container,
			Host: evidence.String(o.Content, "spec", "nodeName"), Path: "the log of pod " + o.Namespace + "/" + o.Name + ", container " + q.Container,
			Open: func(context.Context) (io.ReadCloser, error) { return nil, errNoLog }}
		list = append(list, t)
	}
	return list
}

// isLost reports whether nothing is there of a log that must have lines. A replay has the words of
// the run that was recorded.
func isLost(err error) bool {
	var d *evidence.Damage
	return errors.As(err, &d) && (strings.HasSuffix(d.Detail, errNoLog.Error()) || strings.HasSuffix(d.Detail, errEmptyLog.Error()))
}

// quietLosses returns the pods, by namespace and name, whose missing log does not question a healthy
// cluster: all their containers are ready, and it is the only one that is missing, or most of the query were read.
func (r *Reader) quietLosses(ctx context.Context, q evidence.TextQuery, failed []error) map[[2]string]bool {
	lost := 0
	for _, err := range failed {
		if isLost(err) {
			lost++
		}
	}
	if lost == 0 || lost > 1 && 2*lost >= len(failed) {
		return nil
	}
	pods, err := r.List(ctx, evidence.Pods.In(q.Cluster), q.Namespace)
	if err != nil {
		return nil
	}
	quiet := map[[2]string]bool{}
	for _, p := range pods {
		list, _ := evidence.Field(p.Content, "status", "containerStatuses").([]any)
		quiet[[2]string{p.Namespace, p.Name}] = len(list) > 0 && !slices.ContainsFunc(list, func(raw any) bool {
			c, _ := raw.(map[string]any)
			ready, _ := c["ready"].(bool)
			return !ready
		})
	}
	return quiet
}

// hasRun reports whether a container of a pod runs or has ended.
func hasRun(pod evidence.Object, container string) bool {
	for _, kind := range []string{"containerStatuses", "initContainerStatuses"} {
		list, _ := evidence.Field(pod.Content, "status", kind).([]any)
		for _, e := range list {
			c, _ := e.(map[string]any)
			if evidence.String(c, "name") != container {
				continue
			}
			state, _ := c["state"].(map[string]any)
			last, _ := c["lastState"].(map[string]any)
			return state["running"] != nil || state["terminated"] != nil || last["terminated"] != nil || evidence.Int(c, "restartCount") > 0
		}
	}
	return false
}

// closed is a text that is named and not read.
func closed(t evidence.Text) evidence.Text {
	t.Open, t.Skimmed = nil, nil
	return t
}
