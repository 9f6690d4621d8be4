package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// The files of a sosreport in which the machine tells of itself
// (sosreport/sos:sos/report/plugins/{host,chrony,systemd,crio,filesys,openshift,date}.py;
// the names of older releases after the present ones).
var (
	sosHostnames = []string{"sos_commands/host/hostname", "sos_commands/general/hostname"}
	sosTracking  = []string{"sos_commands/chrony/chronyc_tracking"}
	sosSources   = []string{"sos_commands/chrony/chronyc_-n_sources", "sos_commands/chrony/chronyc_sources"}
	sosUnits     = []string{"sos_commands/systemd/systemctl_show_service_--all"}
	sosPS        = []string{"sos_commands/crio/crictl_ps_-a"}
	sosPods      = []string{"sos_commands/crio/crictl_pods"}
	sosSpace     = []string{"sos_commands/filesys/df_-al_-x_autofs", "sos_commands/filesys/df_-al"}
	sosInodes    = []string{"sos_commands/filesys/df_-aliT_-x_autofs", "sos_commands/filesys/df_-ali_-x_autofs", "sos_commands/filesys/df_-ali"}
	sosMounts    = []string{"sos_commands/filesys/mount_-l"}
	sosDates     = []string{"sos_commands/date/date_--utc", "sos_commands/date/date", "sos_commands/general/date"}
)

// sosManifests is where the kubelet finds static pods; the plugin openshift copies
// /etc/kubernetes.
const sosManifests = "etc/kubernetes/manifests/"

// sosObjects are the files that become an object each, and sosBeside those that are read with them.
var (
	sosObjects = []struct {
		resource evidence.Resource
		paths    []string
	}{
		{evidence.HostIdentities, sosHostnames}, {evidence.HostClocks, sosTracking}, {evidence.HostUnits, sosUnits},
		{evidence.HostContainers, sosPS}, {evidence.HostDisks, sosSpace},
	}
	sosBeside = slices.Concat(sosSources, sosPods, sosInodes, sosMounts, sosDates)
)

// sosParts read the object of a resource.
var sosParts = map[evidence.Resource]func(*Source, context.Context, map[string]file, file) (any, error){
	evidence.HostClocks: (*Source).sosClock, evidence.HostUnits: (*Source).sosUnitList,
	evidence.HostContainers: (*Source).sosContainers, evidence.HostDisks: (*Source).sosDisks,
}

// sosMachine finds out whether a file of a sosreport, named below its root, tells of the
// machine.
func sosMachine(e *entry, p string) bool {
	for _, o := range sosObjects {
		if slices.Contains(o.paths, p) {
			e.class, e.resource, e.machine = object, o.resource, &machineFile{path: p}
			return true
		}
	}
	name, manifest := strings.CutPrefix(p, sosManifests)
	if manifest && !strings.ContainsAny(name, "/") && !strings.HasPrefix(name, ".") || slices.Contains(sosBeside, p) {
		e.class, e.machine = detail, &machineFile{path: p}
		return true
	}
	return false
}

// sosMachines lets each object of a sosreport find the files next to it.
func (b *builder) sosMachines() {
	reports := map[of]map[string]file{}
	add := func(e entry) {
		if e.machine == nil || e.machine.path == "" {
			return
		}
		if reports[e.of] == nil {
			reports[e.of] = map[string]file{}
		}
		reports[e.of][e.machine.path] = e.file
		e.machine.report = reports[e.of]
	}
	for _, o := range sosObjects {
		for _, e := range b.s.objects[o.resource] {
			add(e)
		}
	}
	for _, e := range b.small {
		add(e)
	}
}

// first is the first of some files that a sosreport has.
func first(report map[string]file, paths []string) file {
	for _, p := range paths {
		if f, ok := report[p]; ok {
			return f
		}
	}
	return file{}
}

// printed reads what a command printed. One that ends within a line was cut: what is
// missing then is not known to be absent.
func (s *Source) printed(ctx context.Context, f file, limit int64) (string, error) {
	raw, err := s.read(ctx, f, limit)
	if err == nil && len(raw) > 0 && raw[len(raw)-1] != '\n' {
		err = errors.New("it ends within a line: it was cut")
	}
	return string(raw), err
}

// maxUnits bounds what systemd says of all services.
const maxUnits = 32 << 20

// sosUnitList reads `systemctl show *service --all`. It names the services that systemd has
// loaded: one that it does not name does not run.
func (s *Source) sosUnitList(ctx context.Context, report map[string]file, f file) (any, error) {
	text, err := s.printed(ctx, f, maxUnits)
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
	return onhost.Units{Units: list, At: s.sosDate(ctx, report)}, nil
}

// sosDate is when the report was made by the machine's clock; zero where nothing shows it.
func (s *Source) sosDate(ctx context.Context, report map[string]file) time.Time {
	for _, p := range sosDates {
		if f, ok := report[p]; ok {
			if raw, err := s.read(ctx, f, maxSmallFile); err == nil {
				if t, ok := parseDate(string(raw)); ok {
					return t
				}
			}
		}
	}
	return time.Time{}
}

// parseDate reads what date prints in the C locale and in the English one. Only UTC is
// read: of other zones there is only an abbreviation.
func parseDate(text string) (time.Time, bool) {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	for _, form := range []string{"Mon Jan 2 15:04:05 UTC 2006", "Mon Jan 2 03:04:05 PM UTC 2006", "Mon 2 Jan 2006 03:04:05 PM UTC", "Mon 2 Jan 15:04:05 UTC 2006"} {
		if t, err := time.Parse(form, line); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
