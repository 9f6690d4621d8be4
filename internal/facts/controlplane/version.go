package controlplane

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Version is the fact cluster-version.
type Version struct {
	Installing     facts.Field[bool]      `cel:"installing"` // no version was ever completed
	Updating       facts.Field[bool]      `cel:"updating"`   // completed once, and on the update to another version
	Created        facts.Field[time.Time] `cel:"created"`    // of the ClusterVersion: when the installation began
	Started        facts.Field[time.Time] `cel:"started"`    // of the newest step
	Completed      facts.Field[time.Time] `cel:"completed"`  // of the first installation
	Current        facts.Field[string]    `cel:"current"`    // last completed
	Desired        facts.Field[string]    `cel:"desired"`
	Message        facts.Field[string]    `cel:"message"` // of Progressing
	Failing        facts.Field[bool]      `cel:"failing"`
	FailingMessage facts.Field[string]    `cel:"failingMessage"`
	FailingReason  facts.Field[string]    `cel:"failingReason"`
	FailingSince   facts.Field[time.Time] `cel:"failingSince"` // whatever its reason was since then
	FailingOf      facts.Field[string]    `cel:"failingOf"`    // the first operator that Failing names, "" where it names none
	WaitsFor       facts.Field[[]string]  `cel:"waitsFor"`     // operators that it names as what it waits for, sorted
}

// VersionFact is the fact cluster-version.
func VersionFact() facts.Fact {
	return facts.Define("cluster-version", fault.Cluster, "whether the cluster finished its installation, and what the version operator says",
		[]evidence.Need{evidence.Objects(evidence.ClusterVersions, "")}, readVersion)
}

func readVersion(ctx context.Context, w *facts.World, _ fault.Subject) (Version, error) {
	var v Version
	o, err := clusterVersion(ctx, w)
	if err != nil {
		return v, err
	}
	v.Created.Set(o.Created(), o.Shows("metadata.creationTimestamp", o.Created().Format(time.RFC3339), o.Created()))
	desired := evidence.String(o.Content, "status", "desired", "version")
	v.Desired.Set(desired, o.Shows("status.desired.version", desired, time.Time{}))
	list := conditions.Of(o)
	progressing, failing := conditions.Find(list, "Progressing"), conditions.Find(list, "Failing")
	if progressing.Type == "" {
		_ = facts.Miss(conditions.NotReported(evidence.ClusterVersions, "version", "Progressing"), &v.Message, &v.Failing)
	} else {
		v.Message.Set(progressing.Message, progressing.Item())
	}
	if progressing.Type != "" && failing.Type == "" { // it is removed where nothing fails (openshift/cluster-version-operator:pkg/cvo/status.go)
		v.Failing.Set(false, progressing.Item())
	}
	if failing.Type != "" {
		v.Failing.Set(failing.Status == "True", failing.Item())
		v.FailingReason.Set(failing.Reason, failing.Item())
		v.FailingMessage.Set(failing.Message, failing.Item())
		v.FailingSince.Set(failing.Since, failing.Item())
		if named := waitsFor(failing.Message); len(named) > 0 {
			v.FailingOf.Set(named[0], failing.Item())
		}
	}
	v.WaitsFor.Set(waitsFor(progressing.Message + "\n" + failing.Message))
	v.history(o)
	if progressing.Type != "" {
		facts.Prove(progressing.Item(), &v.Updating, &v.WaitsFor, &v.Started)
		if v.Installing.Value() { // that it is over need not be shown wherever it was asked
			v.Installing.Prove(progressing.Item())
		}
	}
	facts.Complete(&v)
	return v, nil
}

func clusterVersion(ctx context.Context, w *facts.World) (evidence.Object, error) {
	o, ok, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.ClusterVersions, ""), Why: evidence.NotCollected, Detail: "there is no ClusterVersion"}
	}
	return o, err
}

// operatorsNamed are the sentences in which the version operator names operators
// (openshift/cluster-version-operator:pkg/cvo/internal/operatorstatus.go
// checkOperatorHealth, pkg/cvo/status.go convertErrorToProgressing,
// pkg/payload/task.go SummaryForReason).
var operatorsNamed = []*regexp.Regexp{
	regexp.MustCompile(`(?i)cluster operators? ([a-z0-9, -]+?) (?:is|are) (?:not available|degraded|updating versions)`),
	regexp.MustCompile(`(?i)cluster operators? ([a-z0-9, -]+?) (?:does|do) not declare expected versions`),
	regexp.MustCompile(`(?i)wait has exceeded 40 minutes for these operators: ([a-z0-9, -]+)`),
	regexp.MustCompile(`(?i)waiting (?:up to 40 minutes )?on ([a-z0-9, -]+?)(?: over 30 minutes(?: and (machine-config) over 90 minutes)?|` +
		` over 90 minutes|$|\n)`),
	regexp.MustCompile(`(?i)some cluster operators are still updating: ([a-z0-9, -]+)`),
}

var operatorName = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// waitsFor returns the operators that a message of the version operator names.
func waitsFor(message string) []string {
	var names []string
	for _, re := range operatorsNamed {
		for _, m := range re.FindAllStringSubmatch(message, -1) {
			for _, name := range strings.Split(strings.Join(m[1:], ","), ",") {
				if name = strings.TrimSpace(name); operatorName.MatchString(name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// history reads what was installed when, newest first
// (openshift/api:config/v1/types_cluster_version.go UpdateHistory).
func (v *Version) history(o evidence.Object) {
	list, _ := evidence.Field(o.Content, "status", "history").([]any)
	current, completed := "", false
	for i, e := range list {
		h, _ := e.(map[string]any)
		if i == 0 {
			v.Started.Set(evidence.Time(h, "startedTime"))
		}
		if evidence.String(h, "state") == "Completed" {
			if !completed {
				current, completed = evidence.String(h, "version"), true
			}
			v.Completed.Set(evidence.Time(h, "completionTime"), o.Shows("status.history", "completed "+evidence.String(h, "version"),
				evidence.Time(h, "completionTime")))
		}
	}
	if !completed && o.Annotation(evidence.PartMark) == "fields" { // what is not shown may say that one was
		_ = facts.Miss(o.NotShown("status.history"), &v.Installing, &v.Updating, &v.Current)
		return
	}
	if len(list) == 0 {
		u := &evidence.Unavailable{
			Need:   evidence.Objects(evidence.ClusterVersions, ""),
			Why:    evidence.NotCollected,
			Detail: "status.history is empty: the version operator has not reported yet",
		}
		_ = facts.Miss(u, &v.Updating, &v.Current, &v.Started)
		v.Installing.Set(true, o.Shows("status.history", "no version was completed", time.Time{}))
		return
	}
	desired := v.Desired.Value()
	v.Current.Set(current, o.Shows("status.history", "last completed: "+current, time.Time{}))
	v.Installing.Set(!completed)
	if completed && current == "" {
		_ = facts.Miss(o.NotShown("status.history"), &v.Updating, &v.Current)
		return
	}
	v.Updating.Set(current != "" && desired != "" && desired != current)
}
