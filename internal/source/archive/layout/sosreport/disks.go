package sosreport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// disks reads df, with the space and with the inodes, and mount.
func (r report) disks(ctx context.Context, f member.File) (any, error) {
	read := func(f member.File, wanted string) (string, error) {
		if f.Path == "" {
			return "", errors.New("the sosreport has no " + wanted)
		}
		return r.printed(ctx, f, maxTable)
	}
	text, err := read(f, "")
	if err != nil {
		return nil, err
	}
	space := df(text, 1024)
	if len(space) == 0 {
		return nil, fmt.Errorf("df printed no table: %.80q", strings.TrimSpace(text))
	}
	text, err = read(r.first(mountsPaths), "list of its mounts")
	mounts := onhost.ParseMountList(text)
	if err == nil && len(mounts) == 0 {
		err = errors.New("mount printed no list")
	}
	if err != nil {
		return nil, err // without it, what is read-only is not known
	}
	text, err = read(r.first(inodesPaths), "")
	inodes := df(text, 1)
	if err != nil {
		inodes = nil // they count where they are known
	}
	d := onhost.Disks{FileSystems: []onhost.FileSystem{}, At: r.date(ctx)}
	for _, p := range onhost.NeededPaths {
		m, ok := onhost.MountOf(p, mounts)
		if !ok {
			continue
		}
		x := onhost.FileSystem{Path: p, Mount: m.Point, Type: m.Kind, ReadOnly: m.ReadOnly}
		if of, ok := space[m.Point]; ok {
			x.Bytes, x.Free = of.all, of.free
		} else {
			x.Error = "df does not list " + m.Point
		}
		for point := range space { // a list of mounts that was cut names the one above
			if len(point) > len(m.Point) && (point == p || strings.HasPrefix(p, point+"/")) {
				x.Error = "mount does not list " + point
			}
		}
		x.Inodes, x.InodesFree = inodes[m.Point].all, inodes[m.Point].free
		d.FileSystems = append(d.FileSystems, x)
	}
	return d, nil
}

// used is the size of a file system, or its inodes, and how much of it is free.
type used struct{ all, free uint64 }

// df reads a table of df by where the file systems are mounted; of two at one place the
// later one counts. Sizes are in unit bytes. "-" is what df does not know.
func df(text string, unit uint64) map[string]used {
	list := map[string]used{}
	all, at := -1, -1
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if at < 0 {
			if slices.Contains(fields, "Mounted") && slices.Contains(fields, "Filesystem") {
				at = slices.Index(fields, "Mounted")
				all = slices.IndexFunc(fields, func(f string) bool { return f == "1K-blocks" || f == "Inodes" })
			}
			if at >= 0 && (all < 0 || all+3 >= at) {
				return nil
			}
			continue
		}
		if len(fields) <= at {
			continue
		}
		total, err := strconv.ParseUint(fields[all], 10, 64)
		free, also := strconv.ParseUint(fields[all+2], 10, 64)
		if err != nil || also != nil || total > 1<<50 || free > 1<<50 {
			continue
		}
		list[strings.Join(fields[at:], " ")] = used{total * unit, free * unit}
	}
	return list
}
