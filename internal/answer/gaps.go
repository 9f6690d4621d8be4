package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

// unchecked shows what was not checked and what would supply it: first what
// faults were left unknown by.
func (t *text) unchecked() {
	notRun := t.d.NotRun()
	groups := t.d.Groups.Gaps
	if len(groups) == 0 && notRun == 0 {
		return
	}
	t.Blank()
	if notRun == 0 && !t.o.Wide {
		t.Para(0, page.Span{}, page.Dim, page.Count(len(groups), "thing", "things")+" could not be read, and no check needed more: -o wide lists them")
		return
	}
	if !t.o.Wide && (t.decided() || otherProduct(t.d)) {
		t.Para(0, page.Span{}, page.Dim, t.checksNotRun(notRun)+": -o wide lists why")
		t.missingLogs()
		return
	}
	heading := "Not checked"
	if notRun > 0 {
		heading += " (" + t.checksNotRun(notRun) + ")"
	}
	t.Head(0, heading)
	groups, flags := t.notAsked(groups)
	for i, g := range groups {
		if i == fewGaps && !t.o.Wide {
			t.Para(0, page.Plain.Span("- "), page.Dim, moreHint(len(groups)-i))
			break
		}
		t.gap(g)
	}
	if len(flags) > 0 {
		t.Para(0, page.Plain.Span("- "), page.Plain, "not asked for: "+strings.Join(flags, ", "))
	}
}

// missingLogs says which logs are missing below a verdict that stands without them.
func (t *text) missingLogs() {
	if t.d.Source.Kind == "live" {
		return // there they are left out on purpose
	}
	for _, c := range t.d.Coverage {
		if strings.HasPrefix(c.Need, string(evidence.ContainerLog)+" ") && c.State == evidence.Partial {
			t.Para(2, page.Span{}, page.Dim, squeeze(t.Clean(needWords(c.Need)+", only in part: "+c.Reason), fewExcerpt, t.Sign(page.Ellipsis)))
		}
	}
}

// decided reports whether nothing that could not be read decides anything: nothing that was
// read is damaged, and every cause is proven, or the premises of a healthy answer were read.
func (t *text) decided() bool {
	if slices.ContainsFunc(t.d.Coverage, func(c evidence.Coverage) bool { return c.Damaged }) {
		return false
	}
	return t.d.Verdict.Class == diagnosis.Healthy || len(t.d.Roots) > 0 && t.d.Verdict.Cause == diagnosis.CauseKnown &&
		!slices.ContainsFunc(t.d.Roots, func(r diagnosis.Root) bool {
			return slices.ContainsFunc(r.Cases, func(c diagnosis.Case) bool { return c.Confidence != diagnosis.Proven })
		})
}

const (
	fewGaps    = 3
	fewGetting = 2
)

// notAsked parts the gaps that a flag would fill, which are said in one line, from
// the others.
func (t *text) notAsked(groups []diagnosis.Gap) (rest []diagnosis.Gap, flags []string) {
	if t.o.Wide {
		return groups, nil
	}
	needs := map[string][]string{} // by flag
	for _, g := range groups {
		if len(g.Supply) == 1 && t.o.isFlag(g.Supply[0]) {
			if slices.Contains(t.o.Skip, g.Supply[0].Kind) {
				continue
			}
			how := t.o.supply(g.Supply[0])
			if _, known := needs[how]; !known {
				flags = append(flags, how)
			}
			needs[how] = append(needs[how], needsOf(g)...)
		} else {
			rest = append(rest, g)
		}
	}
	return rest, each(flags, func(how string) string { return how + " (" + some(needs[how], fewNames) + ")" })
}

// ofCluster are the names of sources of which it is not proven of which cluster they are, where that is what a gap is about.
func ofCluster(g diagnosis.Gap) []string {
	var names []string
	for _, need := range g.Needs {
		name, ok := strings.CutPrefix(need, clusterOf)
		if !ok {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// clusterOf begins the needs of archive.Join.
const clusterOf = "cluster of "

func (t *text) gap(g diagnosis.Gap) {
	line := some(needsOf(g), t.names())
	if reason := reasonOf(g); reason != "" {
		line += ": " + reason
	}
	if names := ofCluster(g); len(names) > 0 {
		line = some(names, t.names()) + ": " + g.Reason
	}
	t.Para(0, page.Plain.Span("- "), page.Plain, squeeze(t.Clean(line), t.limit(fewExcerpt+2), t.Sign(page.Ellipsis)))
	for i, s := range t.ways(g) {
		if i == fewGetting && !t.o.Wide {
			t.Para(2, page.Span{}, page.Dim, moreHint(len(t.ways(g))-i))
			return
		}
		t.Lead(2, page.Plain.Span("get it: "), "  ", page.Cyan, s, 0)
	}
}

// ways are how to get what is missing, each once.
func (t *text) ways(g diagnosis.Gap) []string {
	var list []string
	for _, s := range g.Supply {
		if how := t.o.supply(s); !slices.Contains(list, how) {
			list = append(list, how)
		}
	}
	return list
}

// needWords says a need in field terms.
func needWords(need string) string {
	resource, namespace, inside := strings.Cut(need, " -n ")
	switch {
	case resource == evidence.MCSProbes.String():
		return "the answers of the machine config servers"
	case resource == evidence.NetProbes.String():
		return "the network of the plan"
	case resource == evidence.APIProbes.String():
		return "the network path to the API"
	case resource == evidence.BootstrapServices.String():
		return "what the bootstrap host got done"
	case resource == evidence.PointerUserDataHints.String():
		return "pointer Ignition configs"
	case onHost(resource):
		return hostWords[resource]
	case need == string(evidence.Console):
		return "screens of hosts"
	case strings.HasPrefix(need, evidence.RunOnHost):
		return need
	case strings.HasPrefix(need, "time of "), strings.HasPrefix(need, clusterOf), strings.HasPrefix(need, "year of "): // a file, with its ending
		return need
	case strings.HasPrefix(need, "log "):
		return "logs of " + strings.TrimPrefix(need, "log ")
	case strings.HasPrefix(need, "journal "):
		return "journal of " + strings.TrimPrefix(need, "journal ")
	}
	name, _, _ := strings.Cut(resource, ".")
	if inside {
		name += " in " + namespace
	}
	return name
}

// hostWords say what a machine tells of itself.
var hostWords = map[string]string{
	evidence.HostIdentities.String():  "the machine's name and credentials",
	evidence.HostConfigs.String():     "the machine-config-daemon's files",
	evidence.HostUnits.String():       "the machine's units",
	evidence.HostClocks.String():      "the machine's clock",
	evidence.HostResolutions.String(): "names as the machine resolves them",
	evidence.HostContainers.String():  "the machine's containers",
	evidence.HostDisks.String():       "the machine's file systems",
}

func onHost(need string) bool { return evidence.IsOnHost(need) }

func (t *text) checksNotRun(n int) string {
	return fmt.Sprintf("%d of %s not run", n, page.Count(t.d.Stats.Faults, "check", "checks"))
}
