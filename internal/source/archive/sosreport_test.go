package archive

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

const sosRoot = "sosreport-m0-2026-01-03-abc/"

// sosTree is a sosreport of m0 with some files, named below its root.
func sosTree(files ...string) string {
	text := "-- " + sosRoot + "sos_commands/host/hostname --\nm0\n-- " + sosRoot + "sos_commands/date/date_--utc --\nSat Jan  3 10:00:00 UTC 2026\n"
	for i := 0; i+1 < len(files); i += 2 {
		text += "-- " + sosRoot + files[i] + " --\n" + files[i+1]
	}
	return text
}

const (
	crictlPS = `time="2026-01-03T09:59:59Z" level=warning msg="runtime connect using default endpoints"
CONTAINER           IMAGE                                                              CREATED             STATE               NAME                ATTEMPT             POD ID
0123456789abc       quay.io/example/etcd@sha256:0123                                   About an hour ago   Running             etcd                3                   aaaaaaaaaaaaa
1123456789abc       1123456789abc1123456789abc1123456789abc1123456789abc                2 days ago          Exited              kube-apiserver      12                  bbbbbbbbbbbbb
`
	crictlPods = `POD ID              CREATED             STATE               NAME                NAMESPACE                  ATTEMPT             RUNTIME
aaaaaaaaaaaaa       3 days ago          Ready               etcd-m0             openshift-etcd             0                   (default)
bbbbbbbbbbbbb       3 days ago          Ready               kube-apiserver-m0   openshift-kube-apiserver   0                   (default)
`
	staticPod = `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "kube-apiserver", "namespace": "openshift-kube-apiserver"}, "spec": {"containers": [{"name": "kube-apiserver"}]}}
`
)

func TestSOSContainers(t *testing.T) {
	at := time.Date(2026, 1, 3, 10, 0, 0, 0, time.UTC)
	want := []onhost.Container{
		{Namespace: "openshift-etcd", Pod: "etcd-m0", Name: "etcd", State: "running", Attempt: 3, Created: at.Add(-time.Hour)},
		{Namespace: "openshift-kube-apiserver", Pod: "kube-apiserver-m0", Name: "kube-apiserver", State: "exited", Attempt: 12, Created: at.Add(-48 * time.Hour)},
	}
	s := open(t, sosTree("sos_commands/crio/crictl_ps_-a", crictlPS, "sos_commands/crio/crictl_pods", crictlPods, "etc/kubernetes/manifests/kube-apiserver-pod.yaml", staticPod))
	c := machinesIn[onhost.Containers](t, s, evidence.HostContainers)["m0"]
	if diff := cmp.Diff(want, c.Containers); diff != "" || !c.At.Equal(at) || c.RuntimeError != "" {
		t.Errorf("containers: %s%+v", diff, c)
	}
	if len(c.Manifests) != 1 || c.ManifestError != "" || c.Manifests[0].Pod != "kube-apiserver" || !slices.Equal(c.Manifests[0].Containers, []string{"kube-apiserver"}) {
		t.Errorf("static pods: %+v %s", c.Manifests, c.ManifestError)
	}
	named := strings.NewReplacer("POD ID", "POD ID              POD                 NAMESPACE", "aaaaaaaaaaaaa", "aaaaaaaaaaaaa       etcd-m0             openshift-etcd",
		"bbbbbbbbbbbbb", "bbbbbbbbbbbbb       kube-apiserver-m0   openshift-kube-apiserver").Replace(crictlPS)
	s = open(t, sosTree("sos_commands/crio/crictl_ps_-a", named))
	if c := machinesIn[onhost.Containers](t, s, evidence.HostContainers)["m0"]; !cmp.Equal(want, c.Containers) || c.ManifestError == "" {
		t.Errorf("a table with the pods, and no manifests: %+v", c)
	}
	s = open(t, sosTree("sos_commands/crio/crictl_ps_-a", "FATA[0010] failed to connect: failed to connect, make sure you are running as root and the runtime has been started: context deadline exceeded\n"))
	if c := machinesIn[onhost.Containers](t, s, evidence.HostContainers)["m0"]; c.RuntimeError == "" {
		t.Errorf("a runtime that does not answer: %+v", c)
	}
}

// TestSOSContainersUnknown: a container whose pod is not named is not one that is missing.
func TestSOSContainersUnknown(t *testing.T) {
	for name, files := range map[string][]string{
		"no list of pods":     {"sos_commands/crio/crictl_ps_-a", crictlPS},
		"a pod is not listed": {"sos_commands/crio/crictl_ps_-a", crictlPS, "sos_commands/crio/crictl_pods", strings.Replace(crictlPods, "bbbbbbbbbbbbb", "ccccccccccccc", 1)},
		"a row is cut away":   {"sos_commands/crio/crictl_ps_-a", strings.SplitAfter(crictlPS, "aaaaaaaaaaaaa\n")[0], "sos_commands/crio/crictl_pods", crictlPods},
		"no crictl":           {"sos_commands/crio/crictl_ps_-a", "timeout: failed to run command 'crictl': No such file or directory\n"},
		"cut before its end":  {"sos_commands/crio/crictl_ps_-a", strings.Split(crictlPS, "       etcd ")[0], "sos_commands/crio/crictl_pods", crictlPods},
		"empty":               {"sos_commands/crio/crictl_ps_-a", ""},
	} {
		if _, err := open(t, sosTree(files...)).List(t.Context(), evidence.HostContainers, ""); err == nil || why(t, err) != evidence.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSOSUnits(t *testing.T) {
	s := open(t, sosTree("sos_commands/systemd/systemctl_show_service_--all",
		"Type=notify\nId=kubelet.service\nLoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nNRestarts=41\nExecMainStatus=255\nStateChangeTimestamp=Sat 2026-01-03 09:59:50 UTC\n\n"+
			"Id=sshd.service\nLoadState=loaded\nActiveState=active\n\nId=crio.service\nLoadState=loaded\nActiveState=active\nSubState=running\n\nId=chronyd.service\nLoadState=not-found\nActiveState=inactive\n"))
	u := machinesIn[onhost.Units](t, s, evidence.HostUnits)["m0"]
	want := []onhost.Unit{{Name: "kubelet.service", Load: "loaded", Active: "activating", Sub: "auto-restart", Result: "exit-code", Restarts: 41, Exit: 255, Since: time.Date(2026, 1, 3, 9, 59, 50, 0, time.UTC)},
		{Name: "crio.service", Load: "loaded", Active: "active", Sub: "running"}}
	if diff := cmp.Diff(want, u.Units); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "Failed to connect to bus\n", "Id=sshd.service\nLoadState=loaded\n",
		"Id=kubelet.service\nLoadState=loaded\nActiveState=active\n", "Id=kubelet.service\nLoadState=loaded\nActiveState=active\n\nId=crio.service\nLoadState=loaded\n",
		"Id=crio.service\nLoadState=loaded\nActiveState=active\n\nId=kubelet.service\nLoadState=loaded\nActiveSta"} {
		if _, err := open(t, sosTree("sos_commands/systemd/systemctl_show_service_--all", text)).List(t.Context(), evidence.HostUnits, ""); err == nil || why(t, err) != evidence.Damaged {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const (
	dfSpace = `Filesystem     1K-blocks     Used Available Use% Mounted on
proc                   0        0         0    - /proc
/dev/sda4      125000000 120000000   5000000  96% /
/dev/sda4      125000000 120000000   5000000  96% /var
/dev/sda3         372607   150000    198908  44% /boot
`
	dfInodes = `Filesystem     Type      Inodes  IUsed    IFree IUse% Mounted on
/dev/sda4      xfs     62000000 300000 61700000    1% /var
`
	mountList = `/dev/sda4 on / type xfs (rw,relatime,seclabel) [root]
/dev/sda4 on /var type xfs (rw,relatime,seclabel,prjquota) [root]
/dev/sda3 on /boot type ext4 (ro,nosuid,nodev,relatime,seclabel) [boot]
`
)

func TestSOSDisks(t *testing.T) {
	s := open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", dfSpace, "sos_commands/filesys/df_-aliT_-x_autofs", dfInodes, "sos_commands/filesys/mount_-l", mountList))
	byPath := map[string]onhost.FileSystem{}
	for _, x := range machinesIn[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		byPath[x.Path] = x
	}
	if x := byPath["/var/lib/containers"]; x.Mount != "/var" || x.ReadOnly || x.Bytes != 125000000*1024 || x.Free != 5000000*1024 || x.InodesFree != 61700000 || x.Error != "" {
		t.Errorf("images: %+v", x)
	}
	if x := byPath["/boot"]; !x.ReadOnly || x.Inodes != 0 || x.Error != "" {
		t.Errorf("boot: %+v", x)
	}
	s = open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", strings.ReplaceAll(dfSpace, " /var\n", " /elsewhere\n"), "sos_commands/filesys/mount_-l", mountList))
	for _, x := range machinesIn[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		if x.Mount == "/var" && x.Error == "" {
			t.Errorf("df does not list it: %+v", x)
		}
	}
	s = open(t, sosTree("sos_commands/filesys/df_-al_-x_autofs", dfSpace, "sos_commands/filesys/mount_-l", strings.SplitAfter(mountList, "[root]\n")[0]))
	for _, x := range machinesIn[onhost.Disks](t, s, evidence.HostDisks)["m0"].FileSystems {
		if x.Path != "/etc" && x.Error == "" {
			t.Errorf("the list of mounts is cut: %+v", x)
		}
	}
	for name, files := range map[string][]string{
		"no list of mounts": {"sos_commands/filesys/df_-al_-x_autofs", dfSpace},
		"no table":          {"sos_commands/filesys/df_-al_-x_autofs", "df: /run/user: Permission denied\n", "sos_commands/filesys/mount_-l", mountList},
		"no mounts":         {"sos_commands/filesys/df_-al_-x_autofs", dfSpace, "sos_commands/filesys/mount_-l", "mount: failed\n"},
	} {
		if _, err := open(t, sosTree(files...)).List(t.Context(), evidence.HostDisks, ""); err == nil || why(t, err) != evidence.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManifestsWithoutReport: files below etc/kubernetes/manifests are plain ones where no
// sosreport is around them.
func TestManifestsWithoutReport(t *testing.T) {
	s := open(t, "-- copied/etc/kubernetes/manifests/a.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestParseDate(t *testing.T) {
	want := time.Date(2026, 11, 5, 13, 49, 14, 0, time.UTC)
	for _, text := range []string{"Thu Nov  5 13:49:14 UTC 2026\n", "Thu Nov  5 01:49:14 PM UTC 2026", "Thu 05 Nov 2026 01:49:14 PM UTC", "Thu  5 Nov 13:49:14 UTC 2026"} {
		if got, ok := parseDate(text); !ok || !got.Equal(want) {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"", "Thu Nov  5 13:49:14 CET 2026", "2026"} {
		if got, ok := parseDate(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzSOS(f *testing.F) {
	f.Add(crictlPS, dfSpace)
	f.Add(crictlPods, dfInodes)
	f.Fuzz(func(t *testing.T, list, disks string) {
		rows, err := table(list, wantedContainers...)
		if err != nil && rows != nil {
			t.Error("rows and an error")
		}
		for _, r := range rows {
			ago(r["CREATED"], time.Unix(0, 0))
		}
		for point, u := range df(disks, 1024) {
			if point == "" || u.all > 1<<60 {
				t.Errorf("%q: %+v", point, u)
			}
		}
		parseDate(list)
	})
}
