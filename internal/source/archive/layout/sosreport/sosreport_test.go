package sosreport_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/sosreport"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

func TestSOSReport(t *testing.T) {
	s := layouttest.Open(t, `
-- sosreport-control1-2026-01-03-abc/sos_commands/logs/journalctl_--no-pager_--catalog_--boot --
Jan 02 10:00:02 control1 hyperkube[1]: certificate has expired
-- an explanation of the catalog
Jan 02 10:00:05 control1 chronyd[2]: no source
-- sosreport-control1-2026-01-03-abc/sos_commands/crio/journalctl_--no-pager_--unit_crio --
Jan 02 10:00:03 control1 crio[2]: pulling
-- sosreport-control1-2026-01-03-abc/etc/config/node/x.json --
{"metadata": {"name": "x"}}
`)
	layouttest.IsKind(t, s, sosreport.Kind, "2026-01-02T10:00:05Z")
	if got, want := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}), "Jan 02 10:00:02 control1 hyperkube[1]: "+
		"certificate has expired\n\n\n"; got != want {
		t.Errorf("the kubelet says %q, want %q", got, want)
	}
	if got := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "crio"}); !strings.Contains(got, "pulling") {
		t.Errorf("cri-o says %q", got)
	}
	_, err := s.List(t.Context(), evidence.Nodes, "")
	if layouttest.Why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "no objects of the API") {
		t.Errorf("nodes of a sosreport: %v", err)
	}
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
	s := layouttest.Open(t, "-- "+root+"sos_commands/host/hostname --\nlocalhost.localdomain\n"+
		"-- "+root+"sos_commands/chrony/chronyc_tracking --\n"+unsynchronised+
		"-- "+root+"sos_commands/chrony/chronyc_-n_sources --\nMS Name/IP address         Stratum Poll Reach LastRx Last sample\n=====\n"+
		"^? 192.0.2.123                   0  10     0     -     +0ns[   +0ns] +/-    0ns\n^* 192.0.2.124   2   6   377    23   +12us[ +15us] +/-   10ms\n")
	id := layouttest.Machines[onhost.Identity](t, s, evidence.HostIdentities)["localhost.localdomain"]
	if id.Hostname != "localhost.localdomain" || id.Runtime.Error == "" || id.Client.Error == "" {
		t.Errorf("identity %+v", id)
	}
	c, ok := layouttest.Machines[onhost.Clock](t, s, evidence.HostClocks)["localhost.localdomain"]
	if !ok || c.Synchronised || len(c.Sources) != 2 || c.Sources[0].Reach != 0 || c.Sources[1].Reach != 255 || c.SourcesError != "" {
		t.Errorf("clock %+v", c)
	}
}

// TestSOSMachineDamaged: what chronyc could not say is not a clock, and a table that is
// not there is not an empty one.
func TestSOSMachineDamaged(t *testing.T) {
	const root = "sosreport-x-2026-01-03-abc/sos_commands/"
	for _, text := range []string{"", "506 Cannot talk to daemon\n", "System time : soon\nLeap status : Normal\n"} {
		s := layouttest.Open(t, "-- "+root+"host/hostname --\nm0\n-- "+root+"chrony/chronyc_tracking --\n"+text)
		if _, err := s.List(t.Context(), evidence.HostClocks, ""); err == nil || layouttest.Why(t, err) != evidence.Damaged {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := layouttest.Open(t, "-- "+root+"host/hostname --\nm0\n-- "+root+"chrony/chronyc_tracking --\n"+unsynchronised+"-- "+root+"chrony/chronyc_-n_sources "+
		"--\n506 Cannot talk to daemon\n")
	if c := layouttest.Machines[onhost.Clock](t, s, evidence.HostClocks)["m0"]; c.SourcesError == "" {
		t.Errorf("clock %+v", c)
	}
	s = layouttest.Open(t, "-- "+root+"host/hostname --\nm0 and more\n-- "+root+"logs/journalctl_--no-pager_--catalog_--boot --\nJan 02 10:00:02 m0 a[1]: b\n")
	if _, err := s.List(t.Context(), evidence.HostIdentities, ""); layouttest.Why(t, err) != evidence.Damaged {
		t.Errorf("a host name that is none: %v", err)
	}
}

const sosRoot = "sosreport-m0-2026-01-03-abc/"

// sosTree is a sosreport of m0 with some files, named below its root.
func sosTree(files ...string) string {
	text := "-- " + sosRoot + "sos_commands/host/hostname --\nm0\n-- " + sosRoot + "sos_commands/date/date_--utc --\nSat Jan  3 10:00:00 UTC 2026\n"
	for i := 0; i+1 < len(files); i += 2 {
		text += "-- " + sosRoot + files[i] + " --\n" + files[i+1]
	}
	return text
}

const staticPod = `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "kube-apiserver", "namespace": "openshift-kube-apiserver"}, "spec": {"containers": [{"name": "kube-apiserver"}]}}
`

func TestSOSContainers(t *testing.T) {
	at := time.Date(2026, 1, 3, 10, 0, 0, 0, time.UTC)
	want := []onhost.Container{
		{Namespace: "openshift-etcd", Pod: "etcd-m0", Name: "etcd", State: "running", Attempt: 3, Created: at.Add(-time.Hour)},
		{Namespace: "openshift-kube-apiserver", Pod: "kube-apiserver-m0", Name: "kube-apiserver", State: "exited", Attempt: 12, Created: at.Add(-48 * time.Hour)},
	}
	s := layouttest.Open(t, sosTree("sos_commands/crio/crictl_ps_-a", sosreport.CrictlPS, "sos_commands/crio/"+
		"crictl_pods", sosreport.CrictlPods, "etc/kubernetes/manifests/kube-apiserver-pod.yaml", staticPod))
	c := layouttest.Machines[onhost.Containers](t, s, evidence.HostContainers)["m0"]
	if diff := cmp.Diff(want, c.Containers); diff != "" || !c.At.Equal(at) || c.RuntimeError != "" {
		t.Errorf("containers: %s%+v", diff, c)
	}
	if len(c.Manifests) != 1 || c.ManifestError != "" || c.Manifests[0].Pod != "kube-apiserver" || !slices.Equal(c.Manifests[0].Containers,
		[]string{"kube-apiserver"}) {
		t.Errorf("static pods: %+v %s", c.Manifests, c.ManifestError)
	}
	named := strings.NewReplacer("POD ID", "POD ID              POD                 NAMESPACE", "aaaaaaaaaaaaa", "aaaaaaaaaaaaa       etcd-m0             "+
		"openshift-etcd",
		"bbbbbbbbbbbbb", "bbbbbbbbbbbbb       kube-apiserver-m0   openshift-kube-apiserver").Replace(sosreport.CrictlPS)
	s = layouttest.Open(t, sosTree("sos_commands/crio/crictl_ps_-a", named))
	if c := layouttest.Machines[onhost.Containers](t, s, evidence.HostContainers)["m0"]; !cmp.Equal(want, c.Containers) || c.ManifestError == "" {
		t.Errorf("a table with the pods, and no manifests: %+v", c)
	}
	s = layouttest.Open(t, sosTree("sos_commands/crio/crictl_ps_-a", "FATA[0010] failed to connect: failed to connect, make sure you are running as root "+
		"and the runtime has been started: context deadline exceeded\n"))
	if c := layouttest.Machines[onhost.Containers](t, s, evidence.HostContainers)["m0"]; c.RuntimeError == "" {
		t.Errorf("a runtime that does not answer: %+v", c)
	}
}

// TestSOSContainersUnknown: a container whose pod is not named is not one that is missing.
func TestSOSContainersUnknown(t *testing.T) {
	for name, files := range map[string][]string{
		"no list of pods": {"sos_commands/crio/crictl_ps_-a", sosreport.CrictlPS},
		"a pod is not listed": {"sos_commands/crio/crictl_ps_-a", sosreport.CrictlPS, "sos_commands/crio/crictl_pods", strings.Replace(sosreport.CrictlPods,
			"bbbbbbbbbbbbb", "ccccccccccccc", 1)},
		"a row is cut away": {"sos_commands/crio/crictl_ps_-a", strings.SplitAfter(sosreport.CrictlPS, "aaaaaaaaaaaaa\n")[0], "sos_commands/crio/" +
			"crictl_pods", sosreport.CrictlPods},
		"no crictl": {"sos_commands/crio/crictl_ps_-a", "timeout: failed to run command 'crictl': No such file or directory\n"},
		"cut before its end": {"sos_commands/crio/crictl_ps_-a", strings.Split(sosreport.CrictlPS, "       etcd ")[0], "sos_commands/crio/" +
			"crictl_pods", sosreport.CrictlPods},
		"empty": {"sos_commands/crio/crictl_ps_-a", ""},
	} {
		if _, err := layouttest.Open(t, sosTree(files...)).List(t.Context(), evidence.HostContainers, ""); err == nil || layouttest.Why(t, err) != evidence.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSOSUnits(t *testing.T) {
	s := layouttest.Open(t, sosTree("sos_commands/systemd/systemctl_show_service_--all",
		"Type=notify\nId=kubelet.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nNRestarts=41\nExecMainStatus=255\n"+
			"StateChangeTimestamp=Sat 2026-01-03 09:59:50 UTC\n\n"+
			"Id=sshd.service\nLoadState=loaded\nActiveState=active\n\nId=crio.service\nLoadState=loaded\nActiveState=active\nSubState=running\n\n"+
			"Id=chronyd.service\nLoadState=not-found\nActiveState=inactive\n"))
	u := layouttest.Machines[onhost.Units](t, s, evidence.HostUnits)["m0"]
	want := []onhost.Unit{{Name: "kubelet.service", Load: "loaded", Active: "activating", Sub: "auto-restart", Result: "exit-code", Restarts: 41, Exit: 255,
		Since: time.Date(2026, 1, 3, 9, 59, 50, 0, time.UTC)},
		{Name: "crio.service", Load: "loaded", Active: "active", Sub: "running"}}
	if diff := cmp.Diff(want, u.Units); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "Failed to connect to bus\n", "Id=sshd.service\nLoadState=loaded\n",
		"Id=kubelet.service\nLoadState=loaded\nActiveState=active\n", "Id=kubelet.service\nLoadState=loaded\nActiveState=active\n\nId=crio.service\n" +
			"LoadState=loaded\n",
		"Id=crio.service\nLoadState=loaded\nActiveState=active\n\nId=kubelet.service\nLoadState=loaded\nActiveSta"} {
		if _, err := layouttest.Open(t, sosTree("sos_commands/systemd/systemctl_show_service_--all", text)).List(t.Context(), evidence.HostUnits,
			""); err == nil || layouttest.Why(t, err) != evidence.Damaged {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const mountList = `/dev/sda4 on / type xfs (rw,relatime,seclabel) [root]
/dev/sda4 on /var type xfs (rw,relatime,seclabel,prjquota) [root]
/dev/sda3 on /boot type ext4 (ro,nosuid,nodev,relatime,seclabel) [boot]
`

func TestSOSDisks(t *testing.T) {
	s := layouttest.Open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", sosreport.DFSpace, "sos_commands/filesys/"+
		"df_-aliT_-x_autofs", sosreport.DFInodes, "sos_commands/filesys/mount_-l", mountList))
	byPath := map[string]onhost.FileSystem{}
	for _, x := range layouttest.Machines[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		byPath[x.Path] = x
	}
	if x := byPath["/var/lib/containers"]; x.Mount != "/var" || x.ReadOnly || x.Bytes != 125000000*1024 || x.Free != 5000000*1024 ||
		x.InodesFree != 61700000 || x.Error != "" {
		t.Errorf("images: %+v", x)
	}
	if x := byPath["/boot"]; !x.ReadOnly || x.Inodes != 0 || x.Error != "" {
		t.Errorf("boot: %+v", x)
	}
	s = layouttest.Open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", strings.ReplaceAll(sosreport.DFSpace, " /var\n", " /elsewhere\n"),
		"sos_commands/filesys/mount_-l", mountList))
	for _, x := range layouttest.Machines[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		if x.Mount == "/var" && x.Error == "" {
			t.Errorf("df does not list it: %+v", x)
		}
	}
	s = layouttest.Open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", sosreport.DFSpace, "sos_commands/filesys/"+
		"mount_-l", strings.SplitAfter(mountList, "[root]\n")[0]))
	for _, x := range layouttest.Machines[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		if x.Path != "/etc" && x.Error == "" {
			t.Errorf("the list of mounts is cut: %+v", x)
		}
	}
	for name, files := range map[string][]string{
		"no list of mounts": {"sos_commands/filesys/df_-al_-x_autofs", sosreport.DFSpace},
		"no table":          {"sos_commands/filesys/df_-al_-x_autofs", "df: /run/user: Permission denied\n", "sos_commands/filesys/mount_-l", mountList},
		"no mounts":         {"sos_commands/filesys/df_-al_-x_autofs", sosreport.DFSpace, "sos_commands/filesys/mount_-l", "mount: failed\n"},
	} {
		if _, err := layouttest.Open(t, sosTree(files...)).List(t.Context(), evidence.HostDisks, ""); err == nil || layouttest.Why(t, err) != evidence.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManifestsWithoutReport: files below etc/kubernetes/manifests are plain ones where no
// sosreport is around them.
func TestManifestsWithoutReport(t *testing.T) {
	s := layouttest.Open(t, "-- copied/etc/kubernetes/manifests/a.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
