package catalogpages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// look is how a person sees that a host has reached a stage. internal/hosts/stages decides the
// same from the same objects.
type look struct {
	stage   fault.Stage
	run     string
	reached string
}

// looks has one look for each stage.
func looks() []look {
	const bmh = "oc -n openshift-machine-api get baremetalhost HOST -o jsonpath="
	const mcd = `machineconfiguration\.openshift\.io/`
	return []look{
		{fault.Planned, "oc -n openshift-machine-api get baremetalhosts,machines.machine.openshift.io", "a BareMetalHost or a Machine of the host is " +
			"in the list"},
		{fault.Powered, bmh + `'{.status.poweredOn}'`, "`true`"},
		{fault.Inspected, bmh + `'{.status.operationHistory.inspect.end}'`, "a time"},
		{fault.Imaged, bmh + `'{.status.provisioning.state}'`, "`provisioned` or `externally provisioned`"},
		{fault.IgnitionFetched, "oc -n openshift-machine-config-operator logs -l k8s-app=machine-config-server --tail=-1",
			"the address of the host asked for a config and no error follows. On its console, Ignition no longer repeats the request to port 22623"},
		{fault.FirstBoot, "oc get csr", "there is a request for the host. On the host, `systemctl is-active kubelet` prints `active`"},
		{fault.ClientCert, "oc get csr", "the request of the host with the signer `kubernetes.io/kube-apiserver-client-kubelet` is `Approved,Issued`"},
		{fault.Registered, "oc get node HOST", "the Node exists"},
		{fault.NetworkReady, "oc describe node HOST", "the message of the condition Ready does not name `NetworkPluginNotReady`"},
		{fault.Ready, "oc get node HOST", "STATUS is `Ready`"},
		{fault.ServingCert, "oc get csr", "the request of the host with the signer `kubernetes.io/kubelet-serving` is `Approved,Issued`, and none " +
			"is `Pending`"},
		{fault.EtcdMember, "oc -n openshift-etcd get pod etcd-HOST", "all its containers are ready"},
		{fault.StaticPods, "oc -n openshift-kube-apiserver get pod kube-apiserver-HOST", "all its containers are ready"},
		{fault.ConfigDone, `oc get node HOST -o jsonpath='{.metadata.annotations.` + mcd + `state}'`,
			"`Done`, and the annotation `currentConfig` equals the rendered config that the pool wants"},
	}
}

// joinPath is the decision tree of a host that does not join.
func (b *book) joinPath() string {
	d := newDoc("A host does not join: decision tree")
	d.para("Find the first stage that the host has not reached. `rollcall` shows it; the commands below find it by hand. " +
		"Then check the faults of this stage from the top: a fault comes before those that it can cause.")
	var lines []string
	list := looks()
	for i, l := range list {
		lines = append(lines, node(l.stage)+"{"+label(string(l.stage)+" reached?")+"}")
		next := "done([" + label("the host has joined") + "])"
		if i+1 < len(list) {
			next = node(list[i+1].stage)
		}
		lines = append(lines, node(l.stage)+" -->|"+label("yes")+"| "+next)
		lines = append(lines, node(l.stage)+" -->|"+label("no")+"| no_"+node(l.stage)+"["+label(tableWords(l.stage, len(b.blocking(l.stage))))+"]")
	}
	d.graph("TD", lines)
	d.para("`inspected` is only for hosts that Metal3 manages. `etcd-member` and `static-pods` are only for the control plane. " +
		"A later stage proves the earlier ones, unless the Node no longer reports.")
	d.para("The commands are for a cluster with its own control plane. For a hosted cluster, `rollcall` reads the management cluster too: see " +
		link("hosted control planes", "../hosted.md") + ".")
	for i, l := range list {
		b.stage(d, l, i+1)
	}
	return d.String()
}

// tableWords say where the chart leads when a stage is not reached.
func tableWords(s fault.Stage, n int) string {
	if n == 0 {
		return "no fault of its own"
	}
	return page.Count(n, "fault", "faults") + ": table " + string(s)
}

// node names a stage in the flow chart.
func node(s fault.Stage) string { return "stage_" + strings.ReplaceAll(string(s), "-", "_") }

func (b *book) stage(d *doc, l look, n int) {
	d.head(2, string(l.stage))
	d.para(fmt.Sprintf("Stage %d of %d: %s.", n, len(fault.Stages()), prose(answer.StageMeans(l.stage))))
	d.block(0, "sh", l.run)
	d.para("Reached when: " + l.reached + ".")
	blocking := b.blocking(l.stage)
	if len(blocking) == 0 {
		d.para("No fault of the catalog blocks a host here by itself. Look at the stages before it.")
		return
	}
	d.para("Not reached: check these faults in this order.")
	var own, hosted [][]string
	for _, f := range blocking {
		row := []string{b.faultLink("", f), title(f), string(f.For), b.decides(f), b.comesFrom(f)}
		if fault.ControlPlaneOf(f) == fault.HostedControlPlane {
			hosted = append(hosted, row)
		} else {
			own = append(own, row)
		}
	}
	head := []string{"fault", "what it is", "subject", "look that decides", "can come from"}
	if len(own) > 0 {
		d.table(head, own)
	}
	if len(hosted) > 0 {
		d.para("Only on hosted clusters:")
		d.table(head, hosted)
	}
}

// comesFrom names the surest causes of a fault, of any stage. Its page has all.
func (b *book) comesFrom(f *fault.Fault) string {
	const most = 3
	var list []string
	causes := once(b.causes[f.ID])
	for i, n := range causes {
		if i == most {
			more := fmt.Sprintf("%d more", len(causes)-most)
			if b.linked {
				more = link(more, "faults/"+f.ID+".md#causes-and-effects")
			}
			list = append(list, more)
			break
		}
		list = append(list, b.faultLink("", n.fault))
	}
	return strings.Join(list, ", ")
}

// decides is the first look of the first remedy of a fault, else what its check reads.
func (b *book) decides(f *fault.Fault) string {
	if len(f.Remedies) > 0 {
		r, _ := b.Remedy(f.Remedies[0]) // Load has checked that it is there
		for _, s := range plainAdvice(r).Steps {
			switch {
			case s.Changes:
			case s.Run == "":
				return prose(s.Do)
			case strings.Contains(s.Run, "\n") || len(s.Run) > longestCell:
				return prose(s.Do) + " Command: " + b.remedyLink("", r)
			default:
				return code(s.Run) + where(s)
			}
		}
	}
	if f.TextOnly() {
		return "`rollcall scan FILE`"
	}
	return "`rollcall diagnose` (" + factsOf(f) + ")"
}

// longestCell is the longest command in a table.
const longestCell = 120

func where(s fault.Step) string {
	if s.On == "host" {
		return " on the host"
	}
	return ""
}

// factsOf names the facts that decide a fault.
func factsOf(f *fault.Fault) string {
	var list []string
	for _, name := range sortedKeys(f.Given) {
		if v := code(f.Given[name].Fact); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return strings.Join(list, ", ")
}

// blocking lists the faults that stop a host at a stage: first those that no other of
// them can cause, then what these can cause.
func (b *book) blocking(s fault.Stage) []*fault.Fault {
	var rest []*fault.Fault
	for _, f := range b.Faults {
		if f.Blocks == s {
			rest = append(rest, f)
		}
	}
	reach, explained := map[string]map[string]bool{}, map[string]int{}
	for _, f := range rest {
		reach[f.ID] = b.reachable(f)
		for _, other := range rest {
			if reach[f.ID][other.ID] {
				explained[f.ID]++
			}
		}
	}
	var sorted []*fault.Fault
	for len(rest) > 0 {
		var free, later []*fault.Fault
		for _, f := range rest {
			// Faults of a ring reach one another: none of them waits for the others.
			if slices.ContainsFunc(rest, func(c *fault.Fault) bool { return reach[c.ID][f.ID] && !reach[f.ID][c.ID] }) {
				later = append(later, f)
			} else {
				free = append(free, f)
			}
		}
		slices.SortFunc(free, func(a, b *fault.Fault) int {
			return cmp.Or(cmp.Compare(explained[b.ID], explained[a.ID]), cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.ID, b.ID))
		})
		sorted, rest = append(sorted, free...), later
	}
	return sorted
}

// reachable returns all faults that a fault can cause, also through others.
func (b *book) reachable(f *fault.Fault) map[string]bool {
	seen := map[string]bool{}
	open := []*fault.Fault{f}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, n := range b.effects[at.ID] {
			if !seen[n.fault.ID] {
				seen[n.fault.ID] = true
				open = append(open, n.fault)
			}
		}
	}
	return seen
}
