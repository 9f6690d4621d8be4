package onhost

import (
	"bufio"
	"slices"
	"strings"
)

// NeededPaths are what a node writes to, and /boot.
var NeededPaths = []string{"/etc", "/var", "/var/lib/kubelet", "/var/lib/containers", "/var/lib/etcd", "/var/log", "/boot"}

// Mount is one mount of a machine.
type Mount struct {
	Device      string // major:minor, where it is known
	Point, Kind string
	ReadOnly    bool
}

// ParseMountInfo reads mountinfo (proc(5)): ID, parent, major:minor, root, point,
// options, optional fields up to "-", type, source, options of the file system.
func ParseMountInfo(text string) []Mount {
	var list []Mount
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		f := strings.Fields(in.Text())
		dash := slices.Index(f, "-")
		if len(f) < 7 || dash < 6 || len(f) < dash+2 {
			continue
		}
		m := Mount{Device: f[2], Point: unescape(f[4]), Kind: f[dash+1], ReadOnly: hasOption(f[5], "ro")}
		if len(f) > dash+3 {
			m.ReadOnly = m.ReadOnly || hasOption(f[dash+3], "ro")
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

// ParseMountList reads what mount prints: "SOURCE on POINT type KIND (OPTIONS)", with the
// label of the file system behind it (mount(8), -l).
func ParseMountList(text string) []Mount {
	var list []Mount
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, " on ")
		point, rest, typed := strings.Cut(rest, " type ")
		kind, rest, optioned := strings.Cut(rest, " (")
		options, _, closed := strings.Cut(rest, ")")
		if ok && typed && optioned && closed && strings.HasPrefix(point, "/") {
			list = append(list, Mount{Point: point, Kind: kind, ReadOnly: hasOption(options, "ro")})
		}
	}
	return list
}

// MountOf is the last mount whose point is the path or above it.
func MountOf(p string, mounts []Mount) (Mount, bool) {
	var best Mount
	found := false
	for _, m := range mounts {
		if (m.Point == "/" || m.Point == p || strings.HasPrefix(p, m.Point+"/")) && (!found || len(m.Point) >= len(best.Point)) {
			best, found = m, true
		}
	}
	return best, found
}
