package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

func allText(t testing.TB, s *Source, q evidence.TextQuery) string {
	t.Helper()
	texts, err := s.Texts(t.Context(), q)
	if err != nil {
		t.Fatalf("Texts(%s): %v", q, err)
	}
	var b strings.Builder
	for _, x := range texts {
		in, err := x.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatalf("read %s: %v", x.Path, err)
		}
		b.Write(raw)
	}
	return b.String()
}

func isKind(t testing.TB, s *Source, kind, now string) {
	t.Helper()
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := ""
	if !d.Now.IsZero() {
		at = d.Now.Format(time.RFC3339)
	}
	if d.Kind != kind || at != now {
		t.Errorf("it is %q as of %q, want %q as of %q", d.Kind, at, kind, now)
	}
}

const insightsTree = `
-- insights-operator/gathers.json --
{"status_reports": []}
-- config/id --
1b2c
-- config/version.json --
{"metadata": {"name": "version"}, "spec": {"clusterID": "c-1"}}
-- config/node/worker1.json --
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "worker1", "creationTimestamp": "2026-01-02T10:00:00Z"}}
-- config/node/logs/worker1.log --
E0102 10:00:00.000000 1 kubelet.go:1] certificate has expired
-- config/clusteroperator/dns.json --
{"metadata": {"name": "dns"}}
-- config/clusteroperator/operator.openshift.io/etcd/cluster.json --
{"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "name": "cluster", "spec": {"managementState": "Managed"}}
-- config/certificatesigningrequests/csr-1.json --
{"metadata": {"name": "csr-1"}}
-- config/pod/openshift-etcd/etcd-1.json --
{"metadata": {"name": "etcd-1", "namespace": "openshift-etcd"}}
-- config/pod/openshift-etcd/logs/etcd-1/etcd_previous.log --
one line
-- machinesets/openshift-machine-api/workers.json --
{"metadata": {"name": "workers", "namespace": "openshift-machine-api"}}
-- events/openshift-etcd.json --
{"items": [{"namespace": "openshift-etcd", "reason": "x"}]}
`

func TestInsights(t *testing.T) {
	s := open(t, insightsTree)
	isKind(t, s, Insights, "2026-01-02T10:00:00Z")
	for r, want := range map[evidence.Resource]string{
		evidence.ClusterVersions: "version", evidence.Nodes: "worker1", evidence.ClusterOperators: "dns",
		evidence.MachineSets: "openshift-machine-api/workers",
	} {
		if got := names(t, s, r, ""); !slices.Equal(got, []string{want}) {
			t.Errorf("%s are %v, want %s", r, got, want)
		}
	}
	if _, err := s.List(t.Context(), evidence.EtcdOperators, ""); why(t, err) != evidence.NotCollected {
		t.Errorf("an operator's own resource is %v, want not collected: Insights keeps its name and spec only", err)
	}
	for _, r := range []evidence.Resource{evidence.CSRs, evidence.Pods} {
		list, err := s.List(t.Context(), r, "")
		if len(list) != 0 || why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "only") {
			t.Errorf("List(%s) = %d objects, %v; want none, because the others would read as absent", r, len(list), err)
		}
	}
	if _, err := s.List(t.Context(), evidence.BareMetalHosts, ""); why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "no BareMetalHosts") {
		t.Errorf("the error is %v, want that Insights never has them", err)
	}
	if _, err := s.List(t.Context(), evidence.Events, ""); why(t, err) != evidence.NotCollected {
		t.Errorf("events without an object are %v, want not collected", err)
	}
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet", Host: "worker1"}); !strings.Contains(got, "has expired") {
		t.Errorf("the kubelet's lines are %q", got)
	}
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-etcd", Container: "etcd"}); got != "one line\n" {
		t.Errorf("the log is %q", got)
	}
}

// TestInsightsWithoutEndings: until 4.4 the names in an Insights archive had no ending, and
// of the Nodes only those were kept that were not Ready.
func TestInsightsWithoutEndings(t *testing.T) {
	s := open(t, `
-- config/id --
1b2c
-- config/version --
{"kind": "ClusterVersion", "metadata": {"name": "version", "creationTimestamp": "2020-01-02T10:00:00Z"}}
-- config/clusteroperator/dns --
{"kind": "ClusterOperator", "metadata": {"name": "dns"}}
-- config/node/worker1.example.com --
{"kind": "Node", "metadata": {"name": "worker1.example.com"}}
-- config/metrics --
# HELP up
`)
	isKind(t, s, Insights, "2020-01-02T10:00:00Z")
	for r, want := range map[evidence.Resource]string{evidence.ClusterVersions: "version", evidence.ClusterOperators: "dns"} {
		if got := names(t, s, r, ""); !slices.Equal(got, []string{want}) {
			t.Errorf("%s are %v, want %s", r, got, want)
		}
	}
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 0 || !strings.Contains(err.Error(), "not Ready") {
		t.Errorf("nodes are %d, %v; want none, because those that are Ready were not kept", len(list), err)
	}
}

// TestNoLayoutWithoutProof holds that names alone do not make a layout.
func TestNoLayoutWithoutProof(t *testing.T) {
	s := open(t, `
-- mg/cluster-scoped-resources/core/nodes/a.yaml --
kind: Node
metadata: {name: a}
-- mg/config/node/b.json --
{"metadata": {"name": "b"}}
-- mg/serial/c-serial.log --
a line
`)
	if got := names(t, s, evidence.Nodes, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("nodes are %v, want those of the tree only", got)
	}
	if _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console}); err == nil {
		t.Error("a file in serial/ counts as a console")
	}
}

const bundleTree = `
-- log-bundle-20260102101112/bootstrap/journals/bootkube.log --
Jan 02 10:00:01 boot bootkube.sh[7]: Waiting for etcd
-- log-bundle-20260102101112/bootstrap/journals/journal.log --
Jan 02 10:00:02 boot kubelet[1]: of the kubelet
Jan 02 10:00:03 boot crio[2]: of cri-o
-- log-bundle-20260102101112/control-plane/192.0.2.5/journals/kubelet.log --
Jan 02 10:10:00 control1 hyperkube[9]: not registered
-- log-bundle-20260102101112/bootstrap/containers/machine-config-server-0123456789abcdef.log --
I0102 10:09:00.000000 1 api.go:1] Pool master requested
-- log-bundle-20260102101112/bootstrap/containers/machine-config-server-0123456789abcdef.inspect --
{"status": {"labels": {"io.kubernetes.container.name": "machine-config-server", "io.kubernetes.pod.name": "bootstrap-machine-config-operator-boot", "io.kubernetes.pod.namespace": "openshift-machine-config-operator"}}}
-- log-bundle-20260102101112/resources/nodes.json --
-- log-bundle-20260102101112/resources/clusteroperators.json --
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "dns"}}]}
-- log-bundle-20260102101112/resources/csr.json --
{"apiVersion": "v1", "kind": "List", "items": []}
-- log-bundle-20260102101112/serial/c-master-0-serial.log --
login:
`

func TestLogBundle(t *testing.T) {
	s := open(t, bundleTree)
	isKind(t, s, LogBundle, "2026-01-02T10:10:00Z")
	if got := names(t, s, evidence.ClusterOperators, ""); !slices.Equal(got, []string{"dns"}) {
		t.Errorf("operators are %v", got)
	}
	for _, r := range []evidence.Resource{evidence.Nodes, evidence.CSRs} { // 0 bytes; a List that does not say of what
		if _, err := s.List(t.Context(), r, ""); why(t, err) != evidence.NotCollected {
			t.Errorf("List(%s): %v, want not collected", r, err)
		}
	}
	if got, want := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}),
		"Jan 02 10:00:02 boot kubelet[1]: of the kubelet\n\nJan 02 10:10:00 control1 hyperkube[9]: not registered\n"; got != want {
		t.Errorf("the kubelets say %q, want %q", got, want)
	}
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-machine-config-operator", Container: "machine-config-server"}
	if got := allText(t, s, q); !strings.Contains(got, "Pool master requested") {
		t.Errorf("the machine config server's log is %q", got)
	}
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.Console, Host: "c-master-0"}); got != "login:\n" {
		t.Errorf("the console shows %q", got)
	}
	_, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "nodeip-configuration"})
	if err != nil { // the whole journal may have it
		t.Errorf("a unit that only the whole journal may have: %v", err)
	}
}

func TestSOSReport(t *testing.T) {
	s := open(t, `
-- sosreport-control1-2026-01-03-abc/sos_commands/logs/journalctl_--no-pager_--catalog_--boot --
Jan 02 10:00:02 control1 hyperkube[1]: certificate has expired
-- an explanation of the catalog
Jan 02 10:00:05 control1 chronyd[2]: no source
-- sosreport-control1-2026-01-03-abc/sos_commands/crio/journalctl_--no-pager_--unit_crio --
Jan 02 10:00:03 control1 crio[2]: pulling
-- sosreport-control1-2026-01-03-abc/etc/config/node/x.json --
{"metadata": {"name": "x"}}
`)
	isKind(t, s, SOSReport, "2026-01-02T10:00:05Z")
	if got, want := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}), "Jan 02 10:00:02 control1 hyperkube[1]: certificate has expired\n\n\n"; got != want {
		t.Errorf("the kubelet says %q, want %q", got, want)
	}
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "crio"}); !strings.Contains(got, "pulling") {
		t.Errorf("cri-o says %q", got)
	}
	_, err := s.List(t.Context(), evidence.Nodes, "")
	if why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "no objects of the API") {
		t.Errorf("nodes of a sosreport: %v", err)
	}
}

// export writes an entry of a journal in export format; fields with an end of
// line in them are written as bytes.
func export(fields ...string) string {
	var b strings.Builder
	b.WriteString(exportStart + "s=1\n")
	for i := 0; i < len(fields); i += 2 {
		if name, value := fields[i], fields[i+1]; strings.ContainsAny(value, "\n\x00") {
			b.WriteString(name + "\n")
			b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(value))))
			b.WriteString(value + "\n")
		} else {
			b.WriteString(name + "=" + value + "\n")
		}
	}
	return b.String() + "\n"
}

func agentJournal() string {
	return export("__REALTIME_TIMESTAMP", "1767348000000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "kubelet", "_PID", "7", "_SYSTEMD_UNIT", "kubelet.service", "MESSAGE", "one=1") +
		export("__REALTIME_TIMESTAMP", "1767348001000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "agent", "MESSAGE", "two\nlines \x00 and __CURSOR=x") +
		export("__REALTIME_TIMESTAMP", "1767348002000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "systemd", "UNIT", "kubelet.service", "_SYSTEMD_UNIT", "init.scope", "MESSAGE", "Started Kubelet.")
}

func TestAgentGather(t *testing.T) {
	fsys := tree(t, "-- agent-gather-20260102/journal.export --\n"+agentJournal())
	s, err := Bytes(t.Context(), packXZ(t, packTar(t, fsys, "")), "a.tar.xz")
	if err != nil {
		t.Fatal(err)
	}
	isKind(t, s, AgentGather, "2026-01-02T10:00:02Z")
	const first, last = "Jan  2 10:00:00 control1 kubelet[7]: one=1\n", "Jan  2 10:00:02 control1 systemd: Started Kubelet.\n"
	if got, want := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}), first+"\n"+last; got != want {
		t.Errorf("the kubelet says %q, want %q", got, want)
	}
	if got, want := allText(t, s, evidence.TextQuery{Kind: evidence.Journal}), first+"Jan  2 10:00:01 control1 agent: two lines   and __CURSOR=x\n"+last; got != want {
		t.Errorf("the journal is %q, want %q", got, want)
	}
}

func TestHostileExport(t *testing.T) {
	huge := "__CURSOR=x\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, 1<<62))
	for name, raw := range map[string]string{
		"cut off in a field": agentJournal()[:len(agentJournal())-40], "huge": huge, "no name": strings.Repeat("a", 1000) + "\n",
		"no end": "__CURSOR=x\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, 1)) + "ab\n\n", "cut off behind a field": "__CURSOR=x\nA=b\n",
	} {
		if _, err := io.ReadAll(exportLines(strings.NewReader(raw), "")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	long := export("MESSAGE", strings.Repeat("x\n", maxField)) + export("MESSAGE", "next")
	raw, err := io.ReadAll(exportLines(strings.NewReader(long), ""))
	if err != nil || bytes.Count(raw, []byte("\n")) != 2 || len(raw) > maxField+1000 {
		t.Errorf("a long field gives %d bytes, %d lines, %v", len(raw), bytes.Count(raw, []byte("\n")), err)
	}
}

// FuzzExport holds that every journal ends, and gives at most as many lines as it
// has ends of lines.
func FuzzExport(f *testing.F) {
	f.Add([]byte(agentJournal()))
	f.Add([]byte(agentJournal()[:100]))
	f.Add([]byte("MESSAGE\n\x05\x00\x00\x00\x00\x00\x00\x00a\nb\nc\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, _ := io.ReadAll(exportLines(bytes.NewReader(raw), ""))
		if bytes.Count(out, []byte("\n")) > bytes.Count(raw, []byte("\n")) {
			t.Errorf("%d lines of %d", bytes.Count(out, []byte("\n")), bytes.Count(raw, []byte("\n")))
		}
	})
}

// FuzzUnitLines holds that the numbers of lines stay.
func FuzzUnitLines(f *testing.F) {
	f.Add([]byte("Jan 02 10:00:02 a kubelet[1]: x\nJan 02 10:00:02 a crio[1]: y\nz"))
	f.Add([]byte(strings.Repeat("y", 70<<10) + "\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := io.ReadAll(unitLines(bytes.NewReader(raw), "kubelet"))
		if err != nil || bytes.Count(out, []byte("\n")) != bytes.Count(raw, []byte("\n")) {
			t.Errorf("%q gives %q, %v", raw, out, err)
		}
	})
}

func TestHyperShiftDump(t *testing.T) {
	const dump = `
-- output/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --
metadata: {name: version}
spec: {clusterID: management}
-- output/namespaces/clusters-a/core/pods.yaml --
apiVersion: v1
items:
- kind: Pod
  metadata: {name: ignition-server-1, namespace: clusters-a}
kind: PodList
-- output/namespaces/clusters-a/core/pods/logs/ignition-server-1-ignition-server.log --
token not found
-- output/hostedcluster-a/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --
metadata: {name: version}
spec: {clusterID: hosted}
-- output/hostedcluster-a/cluster-scoped-resources/core/nodes/w1.yaml --
metadata: {name: w1}
`
	s := open(t, dump)
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Kind != HyperShift || len(d.Notes) != 1 || d.Notes[0].Need != "hosted cluster a" || d.Notes[0].State != evidence.Missing {
		t.Errorf("it is %q with %+v, want a dump that leaves out hosted cluster a", d.Kind, d.Notes)
	}
	list, err := s.List(t.Context(), evidence.ClusterVersions, "")
	if err != nil || len(list) != 1 || evidence.String(list[0].Content, "spec", "clusterID") != "management" {
		t.Errorf("the cluster is %v, %v, want the management cluster", list, err)
	}
	if _, err := s.List(t.Context(), evidence.Nodes, ""); why(t, err) != evidence.NotCollected {
		t.Errorf("hosted nodes are mixed in: %v", err)
	}
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "clusters-a", Container: "ignition-server"})
	if err != nil || len(texts) != 1 || texts[0].Pod != "ignition-server-1" {
		t.Errorf("the ignition server's log is %v, %v", texts, err)
	}
	_, hosted, _ := strings.Cut(dump, "kind: PodList\n")
	_, hosted, _ = strings.Cut(hosted, "token not found\n")
	if got := names(t, open(t, hosted), evidence.Nodes, ""); !slices.Equal(got, []string{"w1"}) {
		t.Errorf("a hosted cluster's tree alone gives %v", got)
	}
}

// machinesIn returns what machines tell of themselves, by their names.
func machinesIn[T any](t *testing.T, s *Source, r evidence.Resource) map[string]T {
	t.Helper()
	list, err := s.List(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]T{}
	for _, o := range list {
		v, err := evidence.Decode[T](o)
		if err != nil {
			t.Fatal(err)
		}
		all[o.Name] = v
	}
	return all
}

const unsynchronised = `Reference ID    : 00000000 ()
Stratum         : 0
System time     : 0.000000000 seconds fast of NTP time
Leap status     : Not synchronised
`

// TestSOSMachine: the machine of a sosreport is one of the cluster, by the name that it
// has, with what chrony printed.
func TestSOSMachine(t *testing.T) {
	const root = "sosreport-x-2026-01-03-abc/"
	s := open(t, "-- "+root+"sos_commands/host/hostname --\nlocalhost.localdomain\n"+
		"-- "+root+"sos_commands/chrony/chronyc_tracking --\n"+unsynchronised+
		"-- "+root+"sos_commands/chrony/chronyc_-n_sources --\nMS Name/IP address         Stratum Poll Reach LastRx Last sample\n=====\n"+
		"^? 192.0.2.123                   0  10     0     -     +0ns[   +0ns] +/-    0ns\n^* 192.0.2.124   2   6   377    23   +12us[ +15us] +/-   10ms\n")
	id := machinesIn[onhost.Identity](t, s, evidence.HostIdentities)["localhost.localdomain"]
	if id.Hostname != "localhost.localdomain" || id.Runtime.Error == "" || id.Client.Error == "" {
		t.Errorf("identity %+v", id)
	}
	c, ok := machinesIn[onhost.Clock](t, s, evidence.HostClocks)["localhost.localdomain"]
	if !ok || c.Synchronised || len(c.Sources) != 2 || c.Sources[0].Reach != 0 || c.Sources[1].Reach != 255 || c.SourcesError != "" {
		t.Errorf("clock %+v", c)
	}
}

// TestSOSMachineDamaged: what chronyc could not say is not a clock, and a table that is
// not there is not an empty one.
func TestSOSMachineDamaged(t *testing.T) {
	const root = "sosreport-x-2026-01-03-abc/sos_commands/"
	for _, text := range []string{"", "506 Cannot talk to daemon\n", "System time : soon\nLeap status : Normal\n"} {
		s := open(t, "-- "+root+"host/hostname --\nm0\n-- "+root+"chrony/chronyc_tracking --\n"+text)
		if _, err := s.List(t.Context(), evidence.HostClocks, ""); err == nil || why(t, err) != evidence.Damaged {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := open(t, "-- "+root+"host/hostname --\nm0\n-- "+root+"chrony/chronyc_tracking --\n"+unsynchronised+"-- "+root+"chrony/chronyc_-n_sources --\n506 Cannot talk to daemon\n")
	if c := machinesIn[onhost.Clock](t, s, evidence.HostClocks)["m0"]; c.SourcesError == "" {
		t.Errorf("clock %+v", c)
	}
	s = open(t, "-- "+root+"host/hostname --\nm0 and more\n-- "+root+"logs/journalctl_--no-pager_--catalog_--boot --\nJan 02 10:00:02 m0 a[1]: b\n")
	if _, err := s.List(t.Context(), evidence.HostIdentities, ""); why(t, err) != evidence.Damaged {
		t.Errorf("a host name that is none: %v", err)
	}
}

// TestBundleMachines: each directory of a log bundle's control plane is a machine, by
// its name or, where that is localhost, by its address.
func TestBundleMachines(t *testing.T) {
	const root = "log-bundle-20260102101112/control-plane/"
	s := open(t, bundleTree+"-- "+root+"192.0.2.6/network/hostname.txt --\nlocalhost\n-- "+root+"192.0.2.6/journals/kubelet.log --\nJan 02 10:10:00 localhost kubelet[9]: a\n"+
		"-- "+root+"192.0.2.7/journals/kubelet.log --\nJan 02 10:10:00 localhost kubelet[9]: a\n"+
		"-- "+root+"192.0.2.8/journals/kubelet.log --\nJan 02 10:10:00 localhost kubelet[9]: a\nJan 02 10:11:00 control4 kubelet[9]: a\n")
	got := machinesIn[onhost.Identity](t, s, evidence.HostIdentities)
	for name, want := range map[string]onhost.Identity{
		"control1": {Hostname: "control1", Addresses: []string{"192.0.2.5"}}, "192.0.2.6": {Hostname: "localhost", Addresses: []string{"192.0.2.6"}},
		"192.0.2.7": {Addresses: []string{"192.0.2.7"}}, "control4": {Hostname: "control4", Addresses: []string{"192.0.2.8"}},
	} {
		if id, ok := got[name]; !ok || id.Hostname != want.Hostname || !slices.Equal(id.Addresses, want.Addresses) {
			t.Errorf("%s: %+v", name, id)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d machines, want 4", len(got))
	}
}
