package machine

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

func (s *Source) disks(ctx context.Context) (part, error) {
	if !s.live {
		return part{}, s.copied(evidence.HostDisks)
	}
	mounts, err := s.mounts()
	if err != nil {
		return part{}, &evidence.Unavailable{Need: evidence.Objects(evidence.HostDisks, ""), Why: evidence.Damaged, Detail: "read the mounts: " + plain(err)}
	}
	d := onhost.Disks{FileSystems: []onhost.FileSystem{}, At: s.now()}
	for _, p := range onhost.NeededPaths {
		if at, err := s.tree.resolve(p); err == nil {
			d.FileSystems = append(d.FileSystems, s.fileSystem(p, "/"+at, mounts))
		}
	}
	return part{d, "/proc/1/mountinfo"}, ctx.Err()
}

// mounts reads the mounts of the machine's first process.
func (s *Source) mounts() ([]onhost.Mount, error) {
	raw, _, err := s.tree.read("/proc/1/mountinfo", 4<<20)
	if err != nil {
		return nil, err
	}
	return onhost.ParseMountInfo(string(raw)), nil
}

func (s *Source) fileSystem(name, at string, mounts []onhost.Mount) onhost.FileSystem {
	fsys := onhost.FileSystem{Path: name}
	if m, ok := onhost.MountOf(at, mounts); ok {
		fsys.Mount, fsys.Type, fsys.ReadOnly = m.Point, m.Kind, m.ReadOnly
		s.device(&fsys, m.Device)
	}
	f, err := s.tree.root.OpenFile(strings.TrimPrefix(at, "/"), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		fsys.Error = plain(err)
		return fsys
	}
	defer f.Close()
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		fsys.Error = fmt.Sprintf("statfs: %v", err)
		return fsys
	}
	size := uint64(st.Bsize) // its type differs between architectures
	fsys.Bytes, fsys.Free, fsys.Inodes, fsys.InodesFree = st.Blocks*size, st.Bavail*size, st.Files, st.Ffree
	return fsys
}

// device finds the disk under a file system and what the kernel says of it.
func (s *Source) device(fsys *onhost.FileSystem, number string) {
	at, err := s.tree.resolve("/sys/dev/block/" + number)
	if err != nil {
		return // no disk: tmpfs, overlay, btrfs
	}
	dir := "/" + at
	for range 4 { // a partition, on a LUKS device, on a RAID
		if s.tree.stat(dir + "/partition").Exists {
			dir = path.Dir(dir)
		}
		slaves, err := s.tree.list(dir+"/slaves", 2)
		if err != nil || len(slaves) != 1 {
			break
		}
		next, err := s.tree.resolve(dir + "/slaves/" + slaves[0])
		if err != nil {
			break
		}
		dir = "/" + next
	}
	fsys.Device = path.Base(dir)
	fsys.Model = strings.Join(strings.Fields(s.tree.text(dir+"/device/vendor")+" "+s.tree.text(dir+"/device/model")), " ")
	n, err := strconv.Atoi(s.tree.text(dir + "/queue/rotational"))
	fsys.Known, fsys.Rotational = err == nil, n == 1
	fsys.Virtual = strings.HasPrefix(fsys.Device, "vd") || strings.HasPrefix(fsys.Device, "xvd") || virtualModel(fsys.Model)
}

// virtualModel knows the disks of hypervisors, which call themselves rotational
// whatever lies under them.
func virtualModel(model string) bool {
	m := strings.ToLower(model)
	return slices.ContainsFunc([]string{"qemu", "vmware", "virtual", "vbox", "msft"}, func(v string) bool { return strings.Contains(m, v) })
}
