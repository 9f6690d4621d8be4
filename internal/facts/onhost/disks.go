package onhost

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Disks is the fact host-disks.
type Disks struct {
	Full       []string `cel:"full"` // file systems below the kubelet's thresholds of eviction
	FullWords  string   `cel:"fullWords"`
	ReadOnly   []string `cel:"readOnly"` // file systems that a node writes to and that are read-only
	EtcdFound  bool     `cel:"etcdFound"`
	EtcdDevice string   `cel:"etcdDevice"`
	EtcdSpins  bool     `cel:"etcdSpins"` // the disk of etcd's data turns, as the kernel says of a disk that is not a hypervisor's
	EtcdKnown  bool     `cel:"etcdKnown"` // the kernel's word on it is worth something
}

var disksFact = facts.DefinePlain("host-disks", fault.Host, "the file systems that a node writes to, and the disk under etcd", needs(evidence.HostDisks), readDisks)

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

func readDisks(ctx context.Context, w *facts.World, s fault.Subject) (Disks, facts.Proof, error) {
	var f Disks
	var p facts.Proof
	d, loc, err := look[onhost.Disks](ctx, w, evidence.HostDisks, s)
	if err != nil {
		return f, p, err
	}
	seen := []string{}
	for _, x := range d.FileSystems {
		fields := []string{"full", "fullWords", "readOnly"}
		switch {
		case x.Error != "":
			unread(&p, evidence.HostDisks, x.Path, x.Error, fields...)
			continue
		case x.Path == "/var/lib/etcd":
			f.etcd(x, loc, &p)
		}
		if slices.Contains(writable, x.Path) && x.ReadOnly {
			f.ReadOnly = append(f.ReadOnly, x.Path)
		}
		what, low := want(x)
		if low && !slices.Contains(seen, x.Mount+x.Type) {
			f.Full = append(f.Full, x.Path)
			if f.FullWords == "" {
				f.FullWords = x.Path + ": " + what
			}
		}
		seen = append(seen, x.Mount+x.Type)
		mode := "writable"
		if x.ReadOnly {
			mode = "read-only"
		}
		if low || x.ReadOnly && slices.Contains(writable, x.Path) || x.Path == "/var" {
			p.Add(at(loc, "df "+x.Path), fmt.Sprintf("mounted at %s (%s, %s): %s", x.Mount, x.Type, mode, what), d.At, fields...)
		}
	}
	return f, p, nil
}

func (f *Disks) etcd(x onhost.FileSystem, loc evidence.Locator, p *facts.Proof) {
	f.EtcdFound, f.EtcdDevice = true, x.Device
	f.EtcdKnown = x.Known && !x.Virtual
	f.EtcdSpins = f.EtcdKnown && x.Rotational
	said := fmt.Sprintf("/var/lib/etcd is on %s %s, rotational: %v", x.Device, x.Model, x.Rotational)
	if !f.EtcdKnown {
		said = fmt.Sprintf("/var/lib/etcd is on %s %s, of which the kernel's word on rotation means nothing", x.Device, x.Model)
	}
	p.Add(at(loc, "/sys/block/"+x.Device+"/queue/rotational"), said, time.Time{}, "etcdFound", "etcdDevice", "etcdSpins", "etcdKnown")
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
