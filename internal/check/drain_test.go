package check

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// Pods and budgets of namespace shop that a case puts on w0.
const (
	podFile    = "namespaces/shop/pods/NAME/NAME.yaml"
	budgetFile = "namespaces/shop/policy/poddisruptionbudgets/NAME.yaml"
	spent      = "{observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1}"
	broken     = "{observedGeneration: 1, currentHealthy: 0, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 1}"
	byLabel    = "selector: {matchLabels: {app: cart}}"
	replica    = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: cart-5d, uid: c1, controller: true}]"
	running    = `{phase: Running, conditions: [{type: Ready, status: "True"}]}`
	failing    = `{phase: Running, conditions: [{type: Ready, status: "False"}]}`
)

func addPod(files fstest.MapFS, root, name, meta, status string) {
	files[root+strings.ReplaceAll(podFile, "NAME", name)] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
		", namespace: shop, labels: {app: cart}, " + meta + "}\nspec: {nodeName: w0}\nstatus: " + status + "\n")}
}

func addBudget(files fstest.MapFS, root, name, spec, status string) {
	files[root+strings.ReplaceAll(budgetFile, "NAME", name)] = &fstest.MapFile{Data: []byte("apiVersion: policy/v1\nkind: PodDisruptionBudget\n" +
		"metadata: {name: " + name + ", namespace: shop, generation: 1}\nspec: {" + spec + "}\nstatus: " + status + "\n")}
}

// rootOf is the folder of an archive that its objects are in.
func rootOf(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	for name := range files {
		if before, _, found := strings.Cut(name, "namespaces/shop/"); found {
			return before
		}
	}
	t.Fatal("the archive has no namespace shop")
	return ""
}

// TestDrainBudgets: each cell was judged by hand, after the API server's eviction.go and kubectl's drain.
func TestDrainBudgets(t *testing.T) {
	for _, c := range []struct {
		name, meta, pod, spec, status string
		flags                         string
		verdict                       Verdict
		why                           string
	}{
		{"spent, the pod is Ready", replica, running, byLabel, spent, "", Unsafe, "PodDisruptionBudget cart -n shop (1 of 1 pods are Ready, none may go"},
		{"an expression covers it", replica, running, "selector: {matchExpressions: [{key: app, operator: In, values: [cart]}]}", spent, "", Unsafe, "cart"},
		{"an expression leaves it out", replica, running, "selector: {matchExpressions: [{key: app, operator: NotIn, values: [cart]}]}", spent, "", Safe, ""},
		{"an expression narrows a label", replica, running,
			byLabel[:len(byLabel)-1] + ", matchExpressions: [{key: app, operator: DoesNotExist}]}", spent, "", Safe, ""},
		{"a selector of a form that is not known", replica, running, "selector: {matchExpressions: [{key: app, operator: Like}]}", spent, "", Unknown,
			"which pods PodDisruptionBudget cart -n shop selects"},
		{"a pod of a DaemonSet stays", strings.Replace(replica, "ReplicaSet", "DaemonSet", 1), running, byLabel, spent, "", Safe, ""},
		{"a mirror pod stays", "annotations: {kubernetes.io/config.mirror: x}", running, byLabel, spent, "", Safe, ""},
		{"a pod that has ended", replica, "{phase: Succeeded}", byLabel, spent, "", Safe, ""},
		{"a pod that is Pending", replica, "{phase: Pending}", byLabel, spent, "", Safe, ""},
		{"AlwaysAllow, the pod is Ready", replica, running, byLabel + ", unhealthyPodEvictionPolicy: AlwaysAllow", spent, "", Unsafe, "none may go"},
		{"AlwaysAllow, the pod is not Ready", replica, failing, byLabel + ", unhealthyPodEvictionPolicy: AlwaysAllow", broken, "", Safe, ""},
		{"IfHealthyBudget, not met", replica, failing, byLabel + ", unhealthyPodEvictionPolicy: IfHealthyBudget", broken, "", Unsafe, "0 of 1"},
		{"IfHealthyBudget, met by others", replica, failing, byLabel + ", unhealthyPodEvictionPolicy: IfHealthyBudget", spent, "", Safe, ""},
		{"no policy, not met", replica, failing, byLabel, broken, "", Unsafe, "0 of 1"},
		{"no policy, met by others", replica, failing, byLabel, spent, "", Safe, ""},
		{"no policy, nothing is desired", replica, failing, byLabel, "{observedGeneration: 1, currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, " +
			"expectedPods: 1}", "", Unsafe, "none may go"},
		{"it allows one", replica, running, byLabel, strings.Replace(spent, "disruptionsAllowed: 0", "disruptionsAllowed: 1", 1), "", Safe, ""},
		{"pods that cannot be counted", replica, running, byLabel, strings.Replace(spent, "expectedPods: 1", "expectedPods: 0", 1), "", Unsafe, "none may go"},
		{"no status", replica, running, byLabel, "{}", "", Unknown, "what PodDisruptionBudget cart -n shop allows"},
		{"a status of an older generation", replica, running, byLabel, "{observedGeneration: 0, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1, " +
			"expectedPods: 2}", "", Unknown, "newest generation"},
		{"--force and a pod without an owner", "uid: c2", running, "selector: {matchLabels: {app: x}}", spent, "--force", Person, "creates again: cart-1"},
		{"--force and a pod with one", replica, running, "selector: {matchLabels: {app: x}}", spent, "--force", Safe, ""},
	} {
		files := stateFS(t, "healthy")
		root := rootOf(t, files)
		maps.DeleteFunc(files, func(name string, _ *fstest.MapFile) bool {
			return strings.Contains(name, "/pods/machine-config-daemon-fdw0k/")
		}) // has no owner
		addPod(files, root, "cart-1", c.meta, c.pod)
		addBudget(files, root, "cart", c.spec, c.status)
		q := question(t, files)
		q.Text = strings.TrimSpace("oc adm drain w0 --ignore-daemonsets " + c.flags)
		r, err := Answer(t.Context(), q)
		if err != nil || r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %v, %s: %s", c.name, err, r.Verdict, r.Why)
		}
		if q.Whole = false; c.verdict == Safe {
			if r, err := Answer(t.Context(), q); err != nil || r.Verdict != Unknown {
				t.Errorf("%s, in an archive: %v, %s: %s", c.name, err, r.Verdict, r.Why)
			}
		}
	}
}

// TestDrainTwoBudgets: the API server refuses an eviction that two budgets cover, though both allow it.
func TestDrainTwoBudgets(t *testing.T) {
	files := stateFS(t, "healthy")
	root := rootOf(t, files)
	addPod(files, root, "cart-1", replica, running)
	addBudget(files, root, "cart", byLabel, strings.Replace(spent, "Allowed: 0", "Allowed: 1", 1))
	addBudget(files, root, "cart-too", byLabel, strings.Replace(spent, "Allowed: 0", "Allowed: 1", 1))
	q := question(t, files)
	q.Text = "oc adm drain w0"
	if r, err := Answer(t.Context(), q); err != nil || r.Verdict != Unsafe || !strings.Contains(r.Why, "more than one PodDisruptionBudget (cart, cart-too)") {
		t.Errorf("%v, %s: %s", err, r.Verdict, r.Why)
	}
}

// TestDrainsTogether: who drains the last two workers has no place for the pods.
func TestDrainsTogether(t *testing.T) {
	q := *stateQuestion(t, "healthy")
	q.Text = "oc adm drain w0 w1"
	if r, err := Answer(t.Context(), &q); err != nil || r.Verdict != Unsafe || !strings.Contains(r.Why, "no other node") {
		t.Errorf("%v, %s: %s", err, r.Verdict, r.Why)
	}
}

// TestDrainOfArchive: no archive shows that a drain is safe, whatever it has, and its age is named.
func TestDrainOfArchive(t *testing.T) {
	for state := range states {
		for _, node := range []string{"w0", "w1", "m0", "vm-7"} {
			q := *stateQuestion(t, state)
			q.Text, q.Whole, q.Asked = "oc adm drain "+node+" --ignore-daemonsets --delete-emptydir-data", false, q.Diagnosis.Now.Add(75*time.Hour)
			r, err := Answer(t.Context(), &q)
			if err != nil || r.Verdict == Safe || r.Verdict == Reads {
				t.Errorf("%s in %s: %v, %s: %s", node, state, err, r.Verdict, r.Why)
			}
			if state == "healthy" && node == "w0" && (r.Verdict != Unknown || !strings.Contains(r.Why, "(3 days ago)")) {
				t.Errorf("%s: %s", r.Verdict, r.Why)
			}
		}
	}
}
