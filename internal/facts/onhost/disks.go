package onhost

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// disks is the fact host-disks.
type disks struct {
	Full       facts.Field[[]string] `cel:"full"` // file systems below the kubelet's thresholds of eviction
	FullWords  facts.Field[string]   `cel:"fullWords"`
	ReadOnly   facts.Field[[]string] `cel:"readOnly"` // file systems that a node writes to and that are read-only
	EtcdFound  facts.Field[bool]     `cel:"etcdFound"`
	EtcdDevice facts.Field[string]   `cel:"etcdDevice"`
	EtcdSpins  facts.Field[bool]     `cel:"etcdSpins"` // the disk of etcd's data turns, as the kernel says of a disk that is not a hypervisor's
	EtcdKnown  facts.Field[bool]     `cel:"etcdKnown"` // the kernel's word on it is worth something
}

var disksFact = facts.Define("host-disks", fault.Host, "the file systems that a node writes to, and the disk under etcd", needs(evidence.HostDisks), readDisks)

// The hard thresholds of eviction that the kubelet has where its configuration names
// none (kubernetes/kubernetes:pkg/kubelet/apis/config/v1beta1/defaults_linux.go
// DefaultEvictionHard): free space of the node's and the images' file systems, and
// free inodes.
const (
	nodeFree   = 10
	imageFree  = 15
	inodesFree = 5
)

// containersPath holds images and the writable layers of containers.
const containersPath = "/var/lib/containers"

// evicted are the file systems whose want the kubelet acts upon.
var evicted = []string{"/var/lib/kubelet", containersPath}

// writable are what a node cannot do without.
var writable = []string{"/etc", "/var", "/var/lib/kubelet", containersPath, "/var/lib/etcd", "/var/log"}

func readDisks(ctx context.Context, w *facts.World, s fault.Subject) (disks, error) {
	var f disks
	d, loc, err := readPart[onhost.Disks](ctx, w, evidence.HostDisks, s)
	if err != nil {
		return f, err
	}
	var full, readOnly, seen []string
	words, missed := "", onhost.FileSystem{}
	for _, x := range d.FileSystems {
		if x.Error != "" {
			missed = x
			continue
		}
		if x.Path == "/var/lib/etcd" {
			f.etcd(x, loc)
		}
		mode, needed := "writable", slices.Contains(writable, x.Path)
		if x.ReadOnly {
			mode = "read-only"
		}
		if needed && x.ReadOnly {
			readOnly = append(readOnly, x.Path)
		}
		what, low := want(x)
		if low && !slices.Contains(seen, x.Mount+x.Type) {
			full = append(full, x.Path)
			if words == "" {
				words = x.Path + ": " + what
			}
			seen = append(seen, x.Mount+x.Type)
		}
		if low || x.ReadOnly && needed || x.Path == "/var" {
			item := shows(loc, "df "+x.Path, fmt.Sprintf("mounted at %s (%s, %s): %s", x.Mount, x.Type, mode, what), d.At)
			facts.Prove(item, &f.Full, &f.FullWords, &f.ReadOnly)
		}
	}
	f.Full.Set(full)
	f.FullWords.Set(words)
	f.ReadOnly.Set(readOnly)
	if missed.Error != "" && len(full) == 0 {
		unread(evidence.HostDisks, missed.Path, missed.Error, &f.Full, &f.FullWords)
	}
	if missed.Error != "" && len(readOnly) == 0 {
		unread(evidence.HostDisks, missed.Path, missed.Error, &f.ReadOnly)
	}
	facts.Complete(&f)
	if _, err := w.List(ctx, evidence.HostDisks, ""); err != nil && f.EtcdKnown.Value() { // whether the disk is virtual may not be shown
		if err := facts.Miss(err, &f.EtcdSpins, &f.EtcdKnown); err != nil {
			return f, err
		}
	}
	if missed.Path == "/var/lib/etcd" {
		unread(evidence.HostDisks, missed.Path, missed.Error, &f.EtcdFound, &f.EtcdDevice, &f.EtcdSpins, &f.EtcdKnown)
	}
	return f, nil
}

func (f *disks) etcd(x onhost.FileSystem, loc evidence.Locator) {
	known := x.Known && !x.Virtual
	said := fmt.Sprintf("/var/lib/etcd is on %s %s, rotational: %v", x.Device, x.Model, x.Rotational)
	if !known {
		said = fmt.Sprintf("/var/lib/etcd is on %s %s, of which the kernel's word on rotation means nothing", x.Device, x.Model)
	}
	item := shows(loc, "/sys/block/"+x.Device+"/queue/rotational", said, time.Time{})
	f.EtcdFound.Set(true, item)
	f.EtcdDevice.Set(x.Device, item)
	f.EtcdKnown.Set(known, item)
	f.EtcdSpins.Set(known && x.Rotational, item)
}

// want says how much is free and whether the kubelet would evict pods for it.
func want(x onhost.FileSystem) (string, bool) {
	if x.Bytes == 0 {
		return "size not known", false
	}
	free := x.Free * 100 / x.Bytes
	said := fmt.Sprintf("%d %% of %.1f GiB free", free, float64(x.Bytes)/(1<<30))
	limit := uint64(nodeFree)
	if x.Path == containersPath {
		limit = imageFree
	}
	low := slices.Contains(evicted, x.Path) && free < limit || free < 1
	if x.Inodes > 0 && x.InodesFree*100/x.Inodes < inodesFree {
		said += fmt.Sprintf(", %d %% of its inodes", x.InodesFree*100/x.Inodes)
		low = true
	}
	return said, low
}
