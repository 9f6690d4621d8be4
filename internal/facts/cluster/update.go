package cluster

import (
	"regexp"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// towards is what the version operator says while it applies a release
// (openshift/cluster-version-operator:pkg/cvo/status.go updateClusterVersionStatus). Done and total are manifests
// of the release; it begins again at zero when the operator restarts.
var towards = regexp.MustCompile(`Working towards (\S+): (\d+) of (\d+) done \((\d+)% complete\)`)

// update reads the update or the first installation that is under way; nil where none is, and where the version
// operator does not say that it is progressing.
func update(version evidence.Object) *diagnosis.Update {
	progressing := conditions.Find(conditions.Of(version), "Progressing")
	history, _ := evidence.Field(version.Content, "status", "history").([]any)
	if len(history) == 0 || progressing.Status != "True" {
		return nil
	}
	newest, _ := history[0].(map[string]any)
	if evidence.String(newest, "state") != "Partial" {
		return nil
	}
	u := &diagnosis.Update{To: evidence.String(newest, "version"), Began: evidence.Time(newest, "startedTime"), First: !completed(version)}
	if m := towards.FindStringSubmatch(progressing.Message); m != nil && m[1] == u.To {
		u.Done, _ = strconv.Atoi(m[2]) // digits; of more than an int holds it is not known
		u.Total, _ = strconv.Atoi(m[3])
	}
	return u
}
