package archive

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// bundleFile reads what `openshift-install gather bootstrap` keeps
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/installer-gather.sh,
// installer-masters-gather.sh). The lines of its journals name their host.
func bundleFile(e *entry, dir string, rest []string) bool {
	switch {
	case dir == "resources" && len(rest) == 1 && strings.HasSuffix(rest[0], ".json"):
		e.class, e.mixed = object, true
		return true
	case dir == "serial" && len(rest) == 1 && strings.HasSuffix(rest[0], "-serial.log"):
		e.class = text
		e.text = evidence.Text{Kind: evidence.Console, Host: strings.TrimSuffix(rest[0], "-serial.log"), Path: e.file.path}
		return true
	case dir == "bootstrap" && len(rest) == 2 && rest[0] == "services":
		return serviceFile(e, rest[1])
	case dir == "bootstrap" && len(rest) == 2:
		return bundleText(e, rest[0], rest[1])
	case dir == "control-plane" && len(rest) == 3:
		return bundleMachine(e, rest) || bundleText(e, rest[1], rest[2])
	}
	return false
}

var containerFile = regexp.MustCompile(`^(.+)-[0-9a-f]{12,64}\.(log|inspect)$`)

func bundleText(e *entry, dir, name string) bool {
	switch dir {
	case "journals":
		unit, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".log")
		if !ok || unit == "" {
			return false
		}
		e.whole = unit == "journal"
		if e.whole {
			unit = ""
		}
		e.text = evidence.Text{Kind: evidence.Journal, Unit: unit}
	case "containers":
		m := containerFile.FindStringSubmatch(name)
		if m == nil {
			return false
		}
		if m[2] == "inspect" {
			e.class = detail
			return true
		}
		e.text = evidence.Text{Kind: evidence.ContainerLog, Container: m[1]}
	default:
		return false
	}
	e.class, e.text.Path = text, e.file.path
	return true
}

// nameContainers gives a bundle's container logs the namespace and pod that
// `crictl inspect` told. A log without it has none, and no question finds it.
func (b *builder) nameContainers(ctx context.Context) {
	pods := map[string]evidence.Text{}
	for _, e := range b.small {
		if e.class != detail || e.of.layout != LogBundle {
			continue
		}
		raw, err := b.s.read(ctx, e.file, maxSmallFile)
		if err != nil || len(raw) == 0 {
			continue
		}
		var answer struct {
			Status struct {
				Labels map[string]string `json:"labels"`
			} `json:"status"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			b.damage(e.file.path, err)
			continue
		}
		l := answer.Status.Labels
		pods[strings.TrimSuffix(e.file.path, ".inspect")] = evidence.Text{
			Namespace: l["io.kubernetes.pod.namespace"], Pod: l["io.kubernetes.pod.name"], Container: l["io.kubernetes.container.name"],
		}
	}
	for i := range b.s.texts {
		t := &b.s.texts[i].text
		if p, ok := pods[strings.TrimSuffix(t.Path, ".log")]; ok && b.s.texts[i].of.layout == LogBundle {
			t.Namespace, t.Pod = p.Namespace, p.Pod
			if p.Container != "" {
				t.Container = p.Container
			}
		}
	}
}

// sosJournal reads the journals of a sosreport: the whole one of a boot, and those
// of units (sosreport/sos:sos/report/plugins/__init__.py add_journal).
func sosJournal(e *entry, rest []string) bool {
	if len(rest) != 2 {
		return false
	}
	name, ok := strings.CutPrefix(rest[1], "journalctl_--no-pager_")
	if !ok {
		return false
	}
	unit := ""
	if _, after, ok := strings.Cut(name, "--unit_"); ok {
		unit, _, _ = strings.Cut(after, "_--")
		unit = strings.TrimSuffix(unit, ".service")
	} else if rest[0] != "logs" {
		return false
	}
	e.class, e.whole = text, unit == ""
	e.text = evidence.Text{Kind: evidence.Journal, Unit: unit, Path: e.file.path}
	return true
}
