package machine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// neededPaths are what a node writes to.
var neededPaths = []string{"/etc", "/var", "/var/lib/kubelet", "/var/lib/containers", "/var/lib/etcd", "/var/log", "/boot"}

func (s *Source) disks(ctx context.Context) (part, error) {
	if !s.live {
		return part{}, s.copied(evidence.HostDisks)
	}
	mounts, err := s.mounts()
	if err != nil {
		return part{}, &evidence.Unavailable{Need: evidence.Objects(evidence.HostDisks, ""), Why: evidence.Damaged, Detail: "read the mounts: " + plain(err)}
	}
	d := onhost.Disks{FileSystems: []onhost.FileSystem{}, At: s.now()}
	for _, p := range neededPaths {
		if at, err := s.tree.resolve(p); err == nil {
			d.FileSystems = append(d.FileSystems, s.fileSystem(p, "/"+at, mounts))
		}
	}
	return part{d, "/proc/1/mountinfo"}, ctx.Err()
}

// mount is one line of mountinfo.
type mount struct {
	device, point, kind string
	readOnly            bool
}

// mounts reads the mounts of the machine's first process.
func (s *Source) mounts() ([]mount, error) {
	raw, _, err := s.tree.read("/proc/1/mountinfo", 4<<20)
	if err != nil {
		return nil, err
	}
	return parseMounts(string(raw)), nil
}

// parseMounts reads mountinfo (proc(5)): ID, parent, major:minor, root, point,
// options, optional fields up to "-", type, source, options of the file system.
func parseMounts(text string) []mount {
	var list []mount
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		f := strings.Fields(in.Text())
		dash := slices.Index(f, "-")
		if len(f) < 7 || dash < 6 || len(f) < dash+2 {
			continue
		}
		m := mount{device: f[2], point: unescape(f[4]), kind: f[dash+1], readOnly: hasOption(f[5], "ro")}
		if len(f) > dash+3 {
			m.readOnly = m.readOnly || hasOption(f[dash+3], "ro")
		}
		list = append(list, m)
	}
	return list
}

func hasOption(list, option string) bool { return slices.Contains(strings.Split(list, ","), option) }

// unescape undoes the octal escapes of blanks in mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// mountOf is the last mount whose point is the path or above it.
func mountOf(p string, mounts []mount) (mount, bool) {
	var best mount
	found := false
	for _, m := range mounts {
		if (m.point == "/" || m.point == p || strings.HasPrefix(p, m.point+"/")) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

func (s *Source) fileSystem(name, at string, mounts []mount) onhost.FileSystem {
	fsys := onhost.FileSystem{Path: name}
	if m, ok := mountOf(at, mounts); ok {
		fsys.Mount, fsys.Type, fsys.ReadOnly = m.point, m.kind, m.readOnly
		s.device(&fsys, m.device)
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
