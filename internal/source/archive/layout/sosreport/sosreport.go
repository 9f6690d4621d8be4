// Package sosreport is the layout of a sosreport: what one machine reports about itself, as
// the output of commands for people (sosreport/sos:sos/report/plugins).
//
// The outputs become the objects that rollcall-host writes. One that ends within a line, or
// without a row that every node has, was cut by sos: it is damage, because what is missing
// from it is not known to be absent.
package sosreport

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Kind is what such an archive is called.
const Kind = "sosreport"

// Layout is that of a sosreport.
var Layout = layout.Layout{
	Kind: Kind, DatedName: Kind,
	Lacks:    "a sosreport has what one host knows, and no objects of the API",
	Proof:    func(dir string, below []string) bool { return dir == commands && len(below) > 1 },
	File:     file,
	Complete: complete,
	Journal:  func(host string) evidence.Supply { return evidence.Supply{Kind: evidence.SupplySOSReport, Host: host} },
}

const (
	commands = "sos_commands"
	// manifestDir is where the kubelet finds static pods; the plugin openshift copies
	// /etc/kubernetes.
	manifestDir = "etc/kubernetes/manifests/"
)

// The outputs that are read (sosreport/sos:sos/report/plugins/{host,chrony,systemd,crio,
// filesys,openshift,date}.py; the names of older releases after the present ones).
var (
	hostnamePaths = []string{"sos_commands/host/hostname", "sos_commands/general/hostname"}
	trackingPaths = []string{"sos_commands/chrony/chronyc_tracking"}
	sourcesPaths  = []string{"sos_commands/chrony/chronyc_-n_sources", "sos_commands/chrony/chronyc_sources"}
	unitsPaths    = []string{"sos_commands/systemd/systemctl_show_service_--all"}
	psPaths       = []string{"sos_commands/crio/crictl_ps_-a"}
	podsPaths     = []string{"sos_commands/crio/crictl_pods"}
	spacePaths    = []string{"sos_commands/filesys/df_-al_-x_autofs", "sos_commands/filesys/df_-al"}
	inodesPaths   = []string{"sos_commands/filesys/df_-aliT_-x_autofs", "sos_commands/filesys/df_-ali_-x_autofs", "sos_commands/filesys/df_-ali"}
	mountsPaths   = []string{"sos_commands/filesys/mount_-l"}
	datePaths     = []string{"sos_commands/date/date_--utc", "sos_commands/date/date", "sos_commands/general/date"}
)

// objects are the outputs that become an object each, and details those that are read with
// them. An object without a reader is the machine's identity.
var (
	objects = []struct {
		resource evidence.Resource
		paths    []string
		read     func(report, context.Context, member.File) (any, error)
	}{
		{evidence.HostIdentities, hostnamePaths, nil},
		{evidence.HostClocks, trackingPaths, report.clock},
		{evidence.HostUnits, unitsPaths, report.units},
		{evidence.HostContainers, psPaths, report.containers},
		{evidence.HostDisks, spacePaths, report.disks},
	}
	details = slices.Concat(sourcesPaths, podsPaths, inodesPaths, mountsPaths, datePaths)
)

func file(e *layout.Entry, dir string, below []string) bool {
	switch dir {
	case commands:
		return journalFile(e, below) || machineFile(e, commands+"/"+strings.Join(below, "/"))
	case "etc":
		return machineFile(e, "etc/"+strings.Join(below, "/"))
	}
	return false
}

// journalFile reads the journals: the whole one of a boot, and those of units
// (sosreport/sos:sos/report/plugins/__init__.py add_journal).
func journalFile(e *layout.Entry, below []string) bool {
	if len(below) != 2 {
		return false
	}
	name, ok := strings.CutPrefix(below[1], "journalctl_--no-pager_")
	if !ok {
		return false
	}
	unit := ""
	if _, after, ok := strings.Cut(name, "--unit_"); ok {
		unit, _, _ = strings.Cut(after, "_--")
		unit = strings.TrimSuffix(unit, ".service")
	} else if below[0] != "logs" {
		return false
	}
	e.Class, e.Whole, e.Text = layout.Text, unit == "", evidence.Text{Kind: evidence.Journal, Unit: unit}
	return true
}

// machineFile finds out whether a file, named below the root of the report, is about the
// machine.
func machineFile(e *layout.Entry, p string) bool {
	for _, o := range objects {
		if slices.Contains(o.paths, p) {
			e.Class, e.Resource = layout.Object, o.resource
			return true
		}
	}
	name, manifest := strings.CutPrefix(p, manifestDir)
	if manifest && !strings.ContainsAny(name, "/") && !strings.HasPrefix(name, ".") || slices.Contains(details, p) {
		e.Class = layout.Detail
		if slices.Contains(datePaths, p) {
			e.Times = times
		}
		return true
	}
	return false
}

// report is one sosreport: its files that are read, by their path below its root.
type report struct {
	*member.Container
	root  string
	files map[string]member.File
}

// complete lets each object of a sosreport find the files next to it.
func complete(_ context.Context, c *member.Container, ix *layout.Index) {
	reports := map[layout.Of]report{}
	add := func(e layout.Entry) report {
		r, ok := reports[e.Of]
		if !ok {
			r = report{c, e.Of.Root, map[string]member.File{}}
			reports[e.Of] = r
		}
		r.files[e.Below] = e.File
		return r
	}
	for _, o := range objects {
		for i, e := range ix.Objects[o.resource] {
			if e.Of.Kind != Kind {
				continue
			}
			r := add(e)
			ix.Objects[o.resource][i].Make = func(ctx context.Context, _ *member.Container, e layout.Entry) (map[string]any, error) {
				return r.object(ctx, e, o.read)
			}
		}
	}
	for _, e := range ix.Details {
		if e.Of.Kind == Kind {
			add(e)
		}
	}
}

// object makes the object of an output.
func (r report) object(ctx context.Context, e layout.Entry, read func(report, context.Context, member.File) (any, error)) (map[string]any, error) {
	named := e.File
	if read != nil {
		named = r.first(hostnamePaths)
	}
	hostname, from := path.Base(r.root), "directory"
	if named.Path != "" {
		raw, err := r.Read(ctx, named, layout.MaxSmall)
		if err != nil {
			return nil, err
		}
		if hostname, err = layout.Hostname(raw); err != nil {
			return nil, err
		}
		from = "hostname"
	}
	var content any = layout.Identity(hostname, from, "", layout.NotInReports)
	if read != nil {
		var err error
		if content, err = read(r, ctx, e.File); err != nil {
			return nil, err
		}
	}
	return layout.MachineObject(e.Resource, strings.ToLower(hostname), e.File.Path, content)
}

// first is the first of some files that the report has.
func (r report) first(paths []string) member.File {
	for _, p := range paths {
		if f, ok := r.files[p]; ok {
			return f
		}
	}
	return member.File{}
}

// printed reads what a command printed. One that ends within a line was cut: what is
// missing then is not known to be absent.
func (r report) printed(ctx context.Context, f member.File, limit int64) (string, error) {
	raw, err := r.Read(ctx, f, limit)
	if err == nil && len(raw) > 0 && raw[len(raw)-1] != '\n' {
		err = errors.New("it ends within a line: it was cut")
	}
	return string(raw), err
}

// maxUnits bounds what systemd lists of all services.
const maxUnits = 32 << 20

// units reads `systemctl show *service --all`. It names the services that systemd has
// loaded: one that it does not name does not run.
func (r report) units(ctx context.Context, f member.File) (any, error) {
	text, err := r.printed(ctx, f, maxUnits)
	if err != nil {
		return nil, err
	}
	list := onhost.ParseUnits([]byte(text))
	for _, name := range []string{"kubelet.service", "crio.service"} { // each node has them: a list without them was cut
		if !slices.ContainsFunc(list, func(u onhost.Unit) bool { return u.Name == name }) {
			return nil, fmt.Errorf("it does not name %s: %.80q", name, strings.TrimSpace(text[:min(len(text), 200)]))
		}
	}
	if i := slices.IndexFunc(list, func(u onhost.Unit) bool { return u.Active == "" }); i >= 0 {
		return nil, fmt.Errorf("the state of %s is missing: it was cut", list[i].Name)
	}
	return onhost.Units{Units: list, At: r.date(ctx)}, nil
}

// date is when the report was made by the machine's clock; zero where nothing shows it.
func (r report) date(ctx context.Context) time.Time {
	for _, p := range datePaths {
		if f, ok := r.files[p]; ok {
			if raw, err := r.Read(ctx, f, layout.MaxSmall); err == nil {
				if t, ok := parseDate(string(raw)); ok {
					return t
				}
			}
		}
	}
	return time.Time{}
}

// times is what an output of date has.
func times(raw []byte) []time.Time {
	if t, ok := parseDate(string(raw)); ok {
		return []time.Time{t}
	}
	return nil
}

// parseDate reads what date prints in the C locale and in the English one. Only UTC is
// read: of other zones there is only an abbreviation.
func parseDate(text string) (time.Time, bool) {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	for _, form := range []string{
		"Mon Jan 2 15:04:05 UTC 2006", "Mon Jan 2 03:04:05 PM UTC 2006", "Mon 2 Jan 2006 03:04:05 PM UTC", "Mon 2 Jan 15:04:05 UTC 2006",
	} {
		if t, err := time.Parse(form, line); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
