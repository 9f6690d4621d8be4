package controlplane

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Version is the fact cluster-version.
type Version struct {
	Installing     bool      `cel:"installing"` // no version was ever completed
	Updating       bool      `cel:"updating"`   // completed once, and on the way to another version
	Created        time.Time `cel:"created"`    // of the ClusterVersion: when the installation began
	Started        time.Time `cel:"started"`    // of the newest step
	Completed      time.Time `cel:"completed"`  // of the first installation
	Current        string    `cel:"current"`    // last completed
	Desired        string    `cel:"desired"`
	Message        string    `cel:"message"` // of Progressing
	Failing        bool      `cel:"failing"`
	FailingMessage string    `cel:"failingMessage"`
	FailingReason  string    `cel:"failingReason"`
	WaitsFor       []string  `cel:"waitsFor"` // operators that it names as what it waits for, sorted
}

// VersionFact is the fact cluster-version.
func VersionFact() facts.Fact {
	return facts.DefinePlain("cluster-version", fault.Cluster, "whether the cluster finished its installation, and what the version operator says",
		[]evidence.Need{evidence.Objects(evidence.ClusterVersions, "")}, readVersion)
}

func readVersion(ctx context.Context, w *facts.World, _ fault.Subject) (Version, facts.Proof, error) {
	var v Version
	var p facts.Proof
	o, err := clusterVersion(ctx, w)
	if err != nil {
		return v, p, err
	}
	v.Created = o.Created()
	v.Desired = evidence.String(o.Content, "status", "desired", "version")
	v.history(o)
	list := conditions.Of(o)
	progressing, failing := conditions.Find(list, "Progressing"), conditions.Find(list, "Failing")
	v.Message = progressing.Message
	v.Failing, v.FailingReason, v.FailingMessage = failing.Status == "True", failing.Reason, failing.Message
	v.WaitsFor = waitsFor(v.Message + "\n" + v.FailingMessage)
	shows := []string{"updating", "message", "waitsFor", "started"}
	if v.Installing { // that it is over need not be shown wherever it was asked
		shows = append(shows, "installing")
	}
	p.Add(progressing.Loc, "Progressing="+progressing.Status+": "+progressing.Message, progressing.Since, shows...)
	if v.Failing {
		p.Add(failing.Loc, "Failing=True "+failing.Reason+": "+failing.Message, failing.Since, "failing", "failingMessage", "failingReason")
	}
	return v, p, nil
}

func clusterVersion(ctx context.Context, w *facts.World) (evidence.Object, error) {
	o, ok, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.ClusterVersions, ""), Why: evidence.NotCollected, Detail: "there is no ClusterVersion"}
	}
	return o, err
}

// naming are the sentences in which the version operator names operators
// (openshift/cluster-version-operator:pkg/cvo/internal/operatorstatus.go
// checkOperatorHealth, pkg/cvo/status.go convertErrorToProgressing,
// pkg/payload/task.go SummaryForReason).
var naming = []*regexp.Regexp{
	regexp.MustCompile(`(?i)cluster operators? ([a-z0-9, -]+?) (?:is|are) (?:not available|degraded|updating versions)`),
	regexp.MustCompile(`(?i)cluster operators? ([a-z0-9, -]+?) (?:does|do) not declare expected versions`),
	regexp.MustCompile(`(?i)wait has exceeded 40 minutes for these operators: ([a-z0-9, -]+)`),
	regexp.MustCompile(`(?i)waiting (?:up to 40 minutes )?on ([a-z0-9, -]+?)(?: over 30 minutes(?: and (machine-config) over 90 minutes)?| over 90 minutes|$|\n)`),
	regexp.MustCompile(`(?i)some cluster operators are still updating: ([a-z0-9, -]+)`),
}

var operatorName = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// waitsFor returns the operators that a message of the version operator names.
func waitsFor(message string) []string {
	var names []string
	for _, re := range naming {
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
	for i, e := range list {
		h, _ := e.(map[string]any)
		if i == 0 {
			v.Started = evidence.Time(h, "startedTime")
		}
		if evidence.String(h, "state") == "Completed" {
			if v.Current == "" {
				v.Current = evidence.String(h, "version")
			}
			v.Completed = evidence.Time(h, "completionTime")
		}
	}
	v.Installing = v.Current == ""
	v.Updating = !v.Installing && v.Desired != "" && v.Desired != v.Current
}
