package onhost

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

func TestLocal(t *testing.T) {
	for server, want := range map[string]bool{
		"https://localhost:6443": true, "https://localhost.localdomain:6443": true, "https://127.0.0.1:6443": true, "https://[::1]:6443": true,
		"https://api-int.a.example:6443": false, "https://192.0.2.5:6443": false, "": false, "::": false,
	} {
		if got := local(server); got != want {
			t.Errorf("local(%q) = %v", server, got)
		}
	}
}

func TestDigest(t *testing.T) {
	if digest("quay.example.com/os@sha256:1") != digest("mirror.example.com:5000/x/os@sha256:1") {
		t.Error("a mirror gives an image another digest")
	}
	if digest("quay.example.com/os:a") == digest("quay.example.com/os:b") {
		t.Error("two tags are one image")
	}
}

func TestWant(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name string
		fsys onhost.FileSystem
		low  bool
	}{
		{"much is free", onhost.FileSystem{Path: "/var/lib/kubelet", Bytes: 100 * gib, Free: 50 * gib, Inodes: 100, InodesFree: 50}, false},
		{"below the node's threshold", onhost.FileSystem{Path: "/var/lib/kubelet", Bytes: 100 * gib, Free: 9 * gib}, true},
		{"above it and below that of images", onhost.FileSystem{Path: "/var/lib/kubelet", Bytes: 100 * gib, Free: 12 * gib}, false},
		{"below that of images", onhost.FileSystem{Path: "/var/lib/containers", Bytes: 100 * gib, Free: 12 * gib}, true},
		{"one that the kubelet does not watch", onhost.FileSystem{Path: "/boot", Bytes: 100 * gib, Free: 5 * gib}, false},
		{"is full", onhost.FileSystem{Path: "/boot", Bytes: 1000 * gib, Free: 5 * gib}, true},
		{"no inodes", onhost.FileSystem{Path: "/var", Bytes: 100 * gib, Free: 50 * gib, Inodes: 1000, InodesFree: 49}, true},
		{"size not known", onhost.FileSystem{Path: "/var"}, false},
	}
	for _, tt := range tests {
		if said, low := want(tt.fsys); low != tt.low {
			t.Errorf("%s: %v (%s)", tt.name, low, said)
		}
	}
}

func TestNewest(t *testing.T) {
	m := onhost.Manifest{Namespace: "openshift-etcd", Pod: "etcd"}
	old, young := time.Unix(1, 0), time.Unix(2, 0)
	c := func(pod, state string, at time.Time) onhost.Container {
		return onhost.Container{Namespace: "openshift-etcd", Pod: pod, Name: "etcd", State: state, Created: at}
	}
	if _, runs := newest([]onhost.Container{c("etcd-m0", "exited", young), c("etcd-m0", "running", old)}, m, "etcd"); !runs {
		t.Error("one of its containers runs")
	}
	if last, runs := newest([]onhost.Container{c("etcd-m0", "exited", young), c("etcd-m0", "exited", old)}, m, "etcd"); runs || last == nil || !last.Created.Equal(young) {
		t.Errorf("%v, %+v", runs, last)
	}
	if last, runs := newest([]onhost.Container{c("etcdguard", "running", young), {Namespace: "other", Pod: "etcd", Name: "etcd", State: "running"}}, m, "etcd"); runs || last != nil {
		t.Errorf("another pod's container counts: %+v", last)
	}
}

func TestState(t *testing.T) {
	u := onhost.Unit{Active: "activating", Sub: "auto-restart", Result: "exit-code", Exit: 255, Restarts: 3, Since: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if got, want := state(u), "activating (auto-restart), result exit-code, exit code 255, started again 3 times, since 2026-03-01T00:00:00Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
