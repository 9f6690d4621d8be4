package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scenario is one row of the table: what is brought up, and what the tool has to
// say about it.
type scenario struct {
	name string // as `lab up` wants it
	// roots are exactly the roots, each "FAULT KIND/NAME", in any order. The name
	// of a request that a kubelet has chosen is "?".
	roots []string
	// hosts are the hosts that are not done, "NAME:STAGE:STATE"; every other one
	// has passed.
	hosts []string
	// verdict is the class; empty: not looked at.
	verdict string
	// consoles are the hosts whose screen somebody looked at.
	consoles []string
	// probe says that the machine config servers are asked, too: what they show is
	// in no object.
	probe bool
	// probeFrom is a node from which the network path to the API is asked, too.
	probeFrom string
	// hosted says that the question is about the hosted cluster, with its control
	// plane's Secrets; the archive is then a dump of HyperShift.
	hosted bool
	// plain is what a must-gather gives, where a probe, a console or an empty
	// list that it cannot contain makes a difference; because says which.
	plain *answer
	// users are those whom the scenario has made and from whom the API withholds lists:
	// what they are told is never healthier.
	users []string
	// long: it waits for something that takes minutes, and so begins first.
	long bool
	// also is what else is looked at of the lab while it stands.
	also func(*testing.T, *world)
	// finds is what else is looked at, of which the tool may be known to get some wrong.
	finds func(*testing.T, *world) []violation
	// onlyIf names the variable of the environment without which the row is left
	// out: it takes more than a small machine has, or a joined row plays it, too.
	onlyIf string
}

// alone is the variable that lets each trouble also be played by itself.
const alone = "ROLLCALL_LAB_ALONE"

type answer struct {
	roots, hosts []string
	verdict      string
	because      string
}

// table is every scenario, by area.
func table() []scenario {
	return slices.Concat(
		healthyRows,
		joined(bareMetalRows, bareMetalTogether),
		hostedRows,
		joined(slices.Concat(configServerRows, machineConfigRows, rollOutRows, kubeletRows, controlPlaneRows, accessRows), together),
		scaleRows(),
	)
}

// bareMetalTogether and together are the rows that are played on one cluster:
// independent troubles, of which each has to be found and none may hide another.
// That is half of what the table is for, and saves half of its time.
var (
	bareMetalTogether = []string{
		"bmc-password-wrong+inspection-silent+mac-duplicate+host-paused+host-detached+host-held-off+power-stuck",
		"bmc-address-wrong+host-switched-off",
	}
	together = []string{
		"worker-old-ca+firstboot-pull-refused+hostname-localhost+csr-machine-no-addresses+csr-no-machine+csr-machine-other-name",
		"mcs-refused-on-vip+vip-outside-machine-network",
		"mcs-certificate-expired+etcd-member-down",
		"mcs-certificate-not-yet-valid+pool-paused",
		"rogue-csr-master+rogue-csr-worker", // told from a host that starts over within an hour only
		"mcs-tls-deleted+kubelet-as-admin+config-drift",
		"mcs-tls-deleted-no-machinesets+rendered-config-pruned",
		"mcs-tls-deleted-4.14+etcd-manifest-moved",
		"csr-machine-too-old+kubelet-certificate-lost",
		"config-drift+node-past-its-certificates",
		"node-deleted+rights-restricted+api-throttled",
	}
)

// later are the rows that only .ci/run full plays: each costs a minute of two processors. What they show is what the
// fixtures of their faults show; of each area rows are left that are played every time.
var later = []string{
	"cluster", // without metal3; "healthy" has it
	"bmc-address-wrong+host-switched-off",
	"hosted-first-worker", "hosted-user-data-outdated", "hosted-payload-failing", "hosted-pod-security",
	"mcs-refused-on-vip+vip-outside-machine-network", "mcs-certificate-not-yet-valid+pool-paused",
	"mcs-tls-deleted+kubelet-as-admin+config-drift", "mcs-tls-deleted-4.14+etcd-manifest-moved",
	"csr-machine-too-old+kubelet-certificate-lost",
	"render-degraded", "controller-config-missing", "controller-down", "kcm-no-leader",
	"scale-500",
}

// joined adds the rows that play several of these at once, and leaves these to
// those who ask for each alone.
func joined(rows []scenario, names []string) []scenario {
	rows = slices.Clone(rows)
	for _, name := range names {
		all := scenario{name: name}
		for part := range strings.SplitSeq(name, "+") {
			i := slices.IndexFunc(rows, func(s scenario) bool { return s.name == part })
			if i < 0 {
				panic("no row " + part)
			}
			all = all.and(rows[i])
			rows[i].onlyIf = alone
		}
		rows = append(rows, all)
	}
	return rows
}

// and is what is said of a cluster that has both troubles.
func (s scenario) and(other scenario) scenario {
	if s.plain != nil || other.plain != nil {
		p, o := s.plainAnswer(), other.plainAnswer()
		s.plain = &answer{
			roots: slices.Concat(p.roots, o.roots), hosts: union(p.hosts, o.hosts),
			because: strings.Trim(p.because+"; "+o.because, "; "),
		}
	}
	s.roots, s.hosts = slices.Concat(s.roots, other.roots), union(s.hosts, other.hosts)
	s.consoles, s.users = slices.Concat(s.consoles, other.consoles), slices.Concat(s.users, other.users)
	s.probe, s.hosted, s.long = s.probe || other.probe, s.hosted || other.hosted, s.long || other.long
	if s.also != nil && other.also != nil {
		panic("two rows of " + s.name + " look at more; one would be left out")
	}
	if s.also == nil {
		s.also = other.also
	}
	if s.finds != nil && other.finds != nil {
		panic("two rows of " + s.name + " look for more; one would be left out")
	}
	if s.finds == nil {
		s.finds = other.finds
	}
	return s
}

// union is both lists: a host that both speak of is listed once.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// plainAnswer is what a must-gather gives.
func (s scenario) plainAnswer() answer {
	if s.plain != nil {
		return *s.plain
	}
	return s.answer()
}

var healthyRows = []scenario{
	{name: "healthy", verdict: "healthy", probeFrom: "control1"},
	// All noise, no fault.
	{
		name: "install-in-progress", verdict: "settling",
		hosts: []string{"control0:ignition-fetched:unknown"},
	},
	{name: "cluster", verdict: "healthy"},
}

// TestScenarios brings every scenario up and asks the tool for the answer: live,
// from the collection, and from a must-gather written of it.
//
// Scenarios that come over a healthy cluster share one that was installed once:
// each begins with a copy of it.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("brings up every scenario of the lab")
	}
	t.Parallel() // in addition to the repairs, which take long
	for _, s := range table() {
		t.Run(s.name, func(t *testing.T) {
			if s.onlyIf != "" && os.Getenv(s.onlyIf) == "" {
				t.Skipf("set %s=1 for it", s.onlyIf)
			}
			if slices.Contains(later, s.name) && !inFull() {
				t.Skip("in .ci/run full")
			}
			s.check(t, up(t, s.name, s.long))
		})
	}
}

// slots are places for labs, each with its own network and its own snapshot. Go lets
// parallel tests begin in an order that is not ours, so all of them do (see testMain),
// and wait here.
type slots struct{ free chan *slot }

type slot struct {
	dir  string // of the lab
	base string // of the snapshot
	once sync.Once
	err  error
}

func newSlots(dir string, n int) slots {
	s := slots{free: make(chan *slot, n)}
	for i := range n {
		place := filepath.Join(dir, fmt.Sprintf("place%d", i))
		s.free <- &slot{dir: filepath.Join(place, "lab"), base: filepath.Join(place, "cluster")}
	}
	return s
}

// take waits for a free place and gives it back at the end of the test. What takes long
// asks first: at the end nothing would run next to it.
func (s slots) take(t *testing.T, long bool) *slot {
	t.Helper()
	if !long {
		time.Sleep(time.Second)
	}
	select {
	case slot := <-s.free:
		t.Cleanup(func() { s.free <- slot })
		return slot
	case <-t.Context().Done():
		t.Fatal("no place for a lab became free")
		return nil
	}
}

// up brings a scenario up in the slot, from its snapshot where the scenario has
// a healthy base, and takes it down at the end of the test.
func (s *slot) up(t *testing.T, scenario string, flags ...string) *world {
	t.Helper()
	w := &world{t: t, dir: s.dir, state: t.TempDir()}
	args := append([]string{scenario}, flags...)
	if base, _, _ := strings.Cut(scenario, "+"); base != "bootstrap-desync" && base != "install-in-progress" {
		args = append(args, "--from", s.cluster(w))
	}
	w.begin(t, args...)
	return w
}

// cluster is the snapshot of the healthy cluster, made when it is first needed.
func (s *slot) cluster(w *world) string {
	w.t.Helper()
	s.once.Do(func() {
		s.err = errors.New("the healthy base was not made") // what ends the test ends this, too
		s.err = s.makeBase(w)
	})
	if s.err != nil {
		w.t.Fatal(s.err)
	}
	return s.base
}

// makeBase installs the healthy cluster and keeps it.
func (s *slot) makeBase(w *world) error {
	for _, args := range [][]string{{"up", "cluster", "--stand", "48h"}, {"snapshot", s.base}} {
		if r := w.lab(append([]string{"--source", source(w.t)}, args...)...); r.code != 0 {
			return fmt.Errorf("make the healthy base: %s\n%s", r, w.supervisorLog())
		}
	}
	return nil
}

// check asks in all three ways.
func (s scenario) check(t *testing.T, w *world) {
	var screens, more []string
	for _, host := range s.consoles {
		screens = append(screens, "--console", host+"="+w.consoleFile(host))
	}
	if s.probe {
		more = []string{"--probe"}
	}
	more = append(more, s.hostedFlags()...)
	if i := slices.IndexFunc(s.roots, func(r string) bool { return strings.HasSuffix(r, drained) }); i >= 0 {
		s.roots = slices.Clone(s.roots)
		s.roots[i] = strings.Replace(s.roots[i], drained, w.theDrained(t), 1)
	}
	s.compare(t, "live", s.answer(), w.live(slices.Concat([]string{"diagnose", "-o", "json"}, screens, more)...))
	if s.probeFrom != "" {
		s.compareFromNode(t, w)
	}
	var found []violation
	for _, user := range s.users {
		found = append(found, w.healthier(t, user)...)
	}
	if s.finds != nil {
		found = append(found, s.finds(t, w)...)
	}
	settle(t, found)

	bundle := filepath.Join(t.TempDir(), "bundle")
	if r := w.live(slices.Concat([]string{"collect", "--to", bundle}, screens, more)...); r.code != 0 && r.code != 2 && r.code != 3 {
		t.Fatalf("collect: %s", r)
	}
	s.compare(t, "collection", s.answer(), w.rollcall("diagnose", "--from", bundle, "-o", "json"))
	if s.also != nil { // after all that asks the cluster
		s.also(t, w)
	}

	want := s.plainAnswer()
	if s.hosted {
		s.compare(t, "dump", want, s.dumped(t, w, bundle, screens))
		return
	}
	gathered := filepath.Join(t.TempDir(), "must-gather")
	if err := plainMustGather(bundle, gathered); err != nil {
		t.Fatal(err)
	}
	s.compare(t, "must-gather", want, w.rollcall(append([]string{"diagnose", "--from", gathered, "-o", "json"}, screens...)...))
}

// compareFromNode walks the network path to the API from a node: through the real API
// server, into the streams of a kubelet.
func (s scenario) compareFromNode(t *testing.T, w *world) {
	node := "node/" + s.probeFrom
	s.compare(t, "from "+node, s.answer(), w.live("diagnose", "--probe-from", node, "-o", "json"))
	bundle := filepath.Join(t.TempDir(), "bundle")
	r := w.live("collect", "--to", bundle, "--probe-from", node)
	answers, err := filepath.Glob(filepath.Join(bundle, "cluster-scoped-resources", "rollcall.dev", "apianswers", "*.yaml"))
	if r.code != 0 || err != nil || len(answers) < 3 {
		t.Fatalf("%d answers of API servers, %v: %s", len(answers), err, r)
	}
	for _, path := range answers {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// The client's own request is made from here. The certificate is the API
		// server's and no one that this kubeconfig, which leads to a proxy, knows.
		mine := strings.HasPrefix(filepath.Base(path), "client-")
		if text := string(data); !mine && !(strings.Contains(text, "vantage: "+node+"\n") && strings.Contains(text, "- path: /readyz\n  status: 200\n")) {
			t.Errorf("%s was not asked from %s, or not to its end:\n%s", filepath.Base(path), node, text)
		}
	}
}

func (s scenario) answer() answer { return answer{roots: s.roots, hosts: s.hosts, verdict: s.verdict} }

// madeUp matches requests that a kubelet or its certificate manager has named.
var madeUp = regexp.MustCompile(`^csr/(node-csr-[\w-]{43}|csr-[a-z0-9]{5})$`)

func (s scenario) compare(t *testing.T, from string, want answer, r result) {
	t.Helper()
	d := parse(t, r)
	got := answer{verdict: d.Verdict.Class}
	for _, root := range d.Roots {
		got.roots = append(got.roots, root.Fault+" "+madeUp.ReplaceAllString(root.Subject.String(), "csr/?"))
	}
	for _, h := range d.Hosts {
		if h.State != "passed" {
			got.hosts = append(got.hosts, h.Name+":"+h.Stage+":"+h.State)
		}
	}
	for _, list := range []*[]string{&want.roots, &want.hosts, &got.roots, &got.hosts} {
		*list = slices.Sorted(slices.Values(*list))
	}
	if !slices.Equal(got.roots, want.roots) || !slices.Equal(got.hosts, want.hosts) || (want.verdict != "" && got.verdict != want.verdict) {
		t.Errorf("%s:\n got roots %q\nwant roots %q\n got hosts %q\nwant hosts %q\n got verdict %s (%s)\nwant verdict %s\npresent: %s\nunexplained: %v",
			from, got.roots, want.roots, got.hosts, want.hosts, got.verdict, d.Verdict.Reason, want.verdict, d.present(), d.Unexplained)
	}
	if wantCode := exitCode(d); r.code != wantCode {
		t.Errorf("%s: exit %d, want %d", from, r.code, wantCode)
	}
}

// exitCode is what the answer's exit code has to be.
func exitCode(d diagnosis) int {
	if len(d.Roots) == 0 && d.Verdict.Class == "undetermined" {
		return 3
	}
	if len(d.Roots) == 0 && d.Verdict.Class == "settling" {
		return 0 // what is present is an effect of what is still normal
	}
	for _, f := range d.Findings {
		if f.Outcome == "present" && f.Severity == "error" {
			return 2
		}
	}
	return 0
}

// plainMustGather writes what of a collection a must-gather holds: the same
// objects and logs in the same layout, without the header, the answers of
// probes, what was read twice and the screens.
func plainMustGather(from, to string) error {
	to = filepath.Join(to, "quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0")
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() && (rel == "reads" || rel == "consoles" || e.Name() == "rollcall.dev") {
			return filepath.SkipDir
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if rel == "rollcall.yaml" || rel == "rollcall.sha256" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
}

// TestTableIsWhole: every trouble that the lab knows stands in the table.
func TestTableIsWhole(t *testing.T) {
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "lab")}
	covered, left := map[string]bool{}, slices.Clone(later)
	for _, s := range table() {
		left = slices.DeleteFunc(left, func(name string) bool { return name == s.name })
		if s.plain != nil && s.plain.because == "" {
			t.Errorf("%s: why is a must-gather's answer another one?", s.name)
		}
		for part := range strings.SplitSeq(s.name, "+") {
			covered[part] = true
		}
	}
	if len(left) > 0 {
		t.Errorf("no rows %q: they are left to .ci/run full", left)
	}
	for _, name := range strings.Fields(w.lab("scenarios", "-o", "name").out) {
		if !covered[name] && !slices.Contains([]string{"bootstrap-desync", "etcd-quorum-lost", "etcd-member-dead", "roll-out"}, name) { // TestDesyncIsNamed, TestQuorumLost, TestFixDeadMember, TestRollOut
			t.Errorf("no row for %s", name)
		}
	}
}
