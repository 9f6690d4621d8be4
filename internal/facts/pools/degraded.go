package pools

import (
	"context"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Degraded is the last error of a daemon that marked its Node Degraded.
type Degraded struct {
	Degraded facts.Field[bool]   `cel:"degraded"`
	Class    facts.Field[string] `cel:"class"` // of the error; see Class
	Error    facts.Field[string] `cel:"error"` // its first line, shortened
}

// The annotation is the error that the daemon has now
// (openshift/machine-config-operator:pkg/daemon/writer.go SetDegraded). Its log is asked
// only where the annotation is empty.
var degradedFact = facts.Define("host-degraded", fault.Host, "the last error of a machine-config-daemon that reports Degraded",
	append(inventory.Needs(), evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace)), readDegraded)

func readDegraded(ctx context.Context, w *facts.World, s fault.Subject) (Degraded, error) {
	var d Degraded
	w.Concerns(func(t evidence.Text) bool { return t.Kind == evidence.ContainerLog }) // consoles place hosts on the roll only
	o, err := inventory.NodeOf(ctx, w, s.Name)
	if err != nil {
		return d, err
	}
	n := configOf(o)
	d.Degraded.Set(n.state == "Degraded", n.item())
	reason := n.complaint()
	if n.cause != "" || n.state != "Degraded" {
		d.Class.Set(string(n.class), reason)
		d.Error.Set(shortError(n.cause), reason)
		return d, nil
	}
	if o.Part() { // it may have a reason, of which the log has an older one
		return d, facts.Miss(o.NotShown("metadata.annotations."+openshift.ConfigReasonAnnotation), &d.Class, &d.Error)
	}
	text, shown, err := lastComplaint(ctx, w, s.Name)
	if err := facts.Miss(err, &d.Class, &d.Error); err != nil {
		return d, err
	}
	if err == nil && text != "" {
		d.Class.Set(string(classOf(text)), shown)
		d.Error.Set(shortError(text), shown)
		return d, nil
	}
	d.Class.Set(string(otherComplaint), n.item())
	d.Error.Set("it reports no error") // known only where its whole log was read
	return d, nil
}

// lastComplaint returns the last error of a node's daemon that is in its log, "" where
// there is none.
func lastComplaint(ctx context.Context, w *facts.World, name string) (string, evidence.Item, error) {
	logs, err := daemonLines(ctx, w)
	if err != nil {
		return "", evidence.Item{}, err
	}
	w.ConcernsOf(logs.nodes, name)
	var d daemon
	d.follow(logs.lines[name])
	return d.complaint, d.complained, nil
}

// shortError is the first line of an error, cut around what says why and short enough for a title. The log prints the
// error quoted.
func shortError(text string) string {
	text = strings.Trim(strings.TrimSpace(text), `"`)
	text, _, _ = strings.Cut(strings.ReplaceAll(text, `\n`, "\n"), "\n")
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), `\"`, `"`)
	const most = 160
	return excerpt.AroundIn(text, deciding(text), most)
}

// Complaint is what a Node's daemon wrote to it: its state and its last error.
func Complaint(node evidence.Object) (state, reason string, shown evidence.Item) {
	n := configOf(node)
	if n.cause == "" {
		return n.state, "", n.item()
	}
	return n.state, n.cause, n.complaint()
}

// OSRetries returns how often in a row a node's daemon has tried to update the OS without
// success, the last of these lines, and when the first was written.
func OSRetries(ctx context.Context, w *facts.World, name string) (count int64, last string, shown evidence.Item, since time.Time, err error) {
	logs, err := daemonLines(ctx, w)
	if err != nil {
		return 0, "", evidence.Item{}, time.Time{}, err
	}
	if err := logs.gap(ctx, w, name); err != nil { // the last line decides
		return 0, "", evidence.Item{}, time.Time{}, err
	}
	var d daemon
	d.follow(logs.lines[name])
	return d.retries, d.retry, d.proof[retryOS], d.since, nil
}
